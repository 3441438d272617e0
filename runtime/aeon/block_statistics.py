"""What a block or an archive holds, in more numbers than `exset info` gives: by columns."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass

import numpy as np

from exset.core.text import size
from exset.grammars.aeon.block import Block
from exset.io.content_types import suffix_of
from exset.runtime.aeon.block_summary import Summary, summarise
from exset.runtime.reports.statistics import Spread

MOST = 100
"""Columns that are looked at."""
_SHOWN = 4


@dataclass(frozen=True)
class Column:
    """What the elements of a column are like."""

    bytes: Spread
    """Of each element."""
    contents: dict[str, int]
    """How many begin as files of a suffix do."""


@dataclass(frozen=True)
class Statistics:
    """A summary, and what each of the first columns is like; an archive is one column."""

    summary: Summary
    columns: tuple[Column, ...]

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON."""
        columns = [
            {"bytes": asdict(column.bytes), "contents": column.contents}
            for column in self.columns
            if column.bytes.count
        ]
        return {**self.summary.to_dict(), "columns": columns}

    def rows(self) -> list[tuple[str, str]]:
        """Return the numbers as (label, text), for people."""
        rows = self.summary.rows()
        for number, column in enumerate(self.columns):
            spread = column.bytes
            if spread.count:
                low, high, mean = (size(int(x)) for x in (spread.low, spread.high, spread.mean))
                kinds = [f"{count:,} {name}" for name, count in column.contents.items()]
                said = f"{low} to {high}, {mean} in the mean; {', '.join(kinds[:_SHOWN])}"
                rows.append((f"column {number}", said))
        return rows


def describe(model: Block) -> Statistics:
    """Return the numbers of a block or an archive."""
    width = model.width if model.header is not None else 1
    columns = []
    for number in range(min(width or 0, MOST)):
        data = model.elements.data.take(np.arange(number, len(model.elements), width or 1))
        kinds = Counter(suffix_of(blob) for blob in data)
        columns.append(Column(Spread.of(data.lengths), dict(kinds.most_common())))
    return Statistics(summarise(model), tuple(columns))
