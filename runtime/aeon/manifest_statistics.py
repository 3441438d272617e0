"""What a manifest holds, in more numbers than `exset info` gives: classes, lengths, spreads."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass

from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.runtime.aeon.elements import elements
from exset.runtime.aeon.manifest_summary import Summary, summarise
from exset.runtime.reports.statistics import Spread

SHOWN = 8
"""How many classes are shown to people."""
CLASSES = 10_000
"""How many different fields a column may have to be one of classes."""


@dataclass(frozen=True)
class Column:
    """What a column is like."""

    kind: str
    errors: int
    """Elements that aeon fails to make, files left out."""
    spread: Spread
    """Of numbers, or of the lengths in bytes of strings and blobs, or of paths."""
    classes: dict[str, int]
    """How often each field is there, the most frequent first.

    None of a column of files or blobs, and none where too many differ.
    """


@dataclass(frozen=True)
class Statistics:
    """A summary, and what each column is like."""

    summary: Summary
    columns: tuple[Column, ...]

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON; what is not finite is null."""
        columns = []
        for column in self.columns:
            numbers = asdict(column.spread).items()
            spread = {name: value if math.isfinite(value) else None for name, value in numbers}
            columns.append({**asdict(column), "spread": spread})
        return {**self.summary.to_dict(), "columns": columns}

    def rows(self) -> list[tuple[str, str]]:
        """Return the numbers as (label, text), for people."""
        rows = self.summary.rows()
        for number, column in enumerate(self.columns):
            spread = column.spread
            if spread.count:
                what = "" if column.kind.startswith("ASCII") else " bytes"
                said = f"{spread.low:g} to {spread.high:g}{what}, {spread.mean:.4g} in the mean"
                rows.append((f"in column {number}", said))
            if column.errors:
                rows.append(("", f"{column.errors:,} that aeon fails on"))
            shown = [f"{name} {count:,}" for name, count in column.classes.items()]
            more = [f"and {len(shown) - SHOWN:,} more"] if len(shown) > SHOWN else []
            if shown:
                rows.append(("", ", ".join(shown[:SHOWN] + more)))
        return rows


def describe(model: Manifest) -> Statistics:
    """Return the numbers of a manifest; no file is looked at."""
    return Statistics(summarise(model), tuple(_column(model, i) for i in range(len(model.types))))


def _column(model: Manifest, index: int) -> Column:
    found = elements(model, index)
    kind = model.types[index]
    is_number = kind in (ElementType.ASCII_INT, ElementType.ASCII_FLOAT)
    counts: Counter[bytes | None] = Counter()
    if kind not in (ElementType.FILE, ElementType.BINARY):
        counts.update(model.column(index))
    classes = {
        (field or b"").decode("utf-8", "surrogateescape"): count
        for field, count in counts.most_common()
        if len(counts) <= CLASSES
    }
    return Column(
        kind=kind.value,
        errors=len(found.errors),
        spread=Spread.of(found.numbers if is_number else found.strings.lengths),
        classes=classes,
    )
