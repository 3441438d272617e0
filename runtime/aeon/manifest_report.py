"""Report the contents of manifests, for `exset info` and `exset stats`."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from exset.core.text import size
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import NUMBER_DTYPES, ElementType
from exset.runtime.reports.column_memory import ColumnMemory
from exset.runtime.reports.distinct import Distinct
from exset.runtime.reports.report import Report, some
from exset.runtime.reports.statistics import RunningSpread

CLASSES = 10_000
"""A column with more distinct fields than this does not contain classes."""
SHOWN = 8
"""The most classes that are shown to people."""


def cells(manifest: Manifest, index: int) -> list[tuple[str, object]]:
    """Return the pairs (type, field) of the record `index`. The type is the type of the field's
    column.
    """
    return [*zip(manifest.types, manifest[index], strict=True)]


def report(chunks: Iterable[Manifest], detailed: bool = False) -> Report:
    """Report counts and sizes of a manifest, which is read in chunks. The manifest's files are not
    read.

    detailed: add classes, errors and statistics of each column.
    """
    from exset.runtime.aeon.selection import cache_name, uid

    made, records, empty, nbytes, key, memory = Report(), 0, 0, 0, "0", ColumnMemory()
    distinct: list[Distinct] = []
    columns: list[_Column] = []
    for model in chunks:
        records += len(model)
        empty += int(np.count_nonzero(model.fields.lengths == 0))
        nbytes += int(model.fields.data.size)
        key = uid(model, key)
        memory.add(model)
        distinct = distinct or [Distinct() for _ in range(model.width)]
        columns = columns or [_Column(kind) for kind in model.types if detailed]
        for index, counted in enumerate(distinct):
            counted.add(model.column(index))
        for index, column in enumerate(columns):
            column.add(model, index)
    different = [each.count() for each in distinct]
    types = [kind.value for kind in model.types]
    made.add(dialect=model.dialect.value, records=records, types=types, fields=model.width)
    made.add(distinct=different, empty=empty, bytes=nbytes, uid=key, memory=memory.total())
    made.row("dialect", model.dialect.value)
    made.row("records", f"{records:,}")
    described = []
    for index, count in enumerate(different):
        kind = types[index] if index < len(types) else "dropped"
        of_column = columns[index : index + 1]  # empty unless `detailed`
        about = [column.spread_text() for column in of_column]
        made.row(f"column {index}", kind, f"{count:,} different", *about)
        described += [column.details(made) for column in of_column]
    made.row("fields", size(nbytes), f"{empty:,} of them empty")
    made.row("cache", cache_name(key))
    made.row("memory", size(memory.total()))
    if detailed:
        made.add(columns=described)
    return made


class _Column:
    """Collects statistics of one column of a manifest, from its chunks."""

    def __init__(self, kind: ElementType) -> None:
        self.kind = kind
        self.errors = 0
        self.spread = RunningSpread()
        self.has_classes = kind not in (ElementType.FILE, ElementType.BINARY)
        self.classes: Counter[bytes | None] = Counter()

    def add(self, model: Manifest, index: int) -> None:
        """Add the fields of column `index` of a chunk."""
        from exset.runtime.aeon.elements import elements

        found = elements(model, index)
        self.errors += len(found.errors)
        self.spread.add(found.numbers if self.kind in NUMBER_DTYPES else found.strings.lengths)
        if self.has_classes:
            self.classes.update(model.column(index))
            self.has_classes = len(self.classes) <= CLASSES

    def spread_text(self) -> str:
        """Return a text with the range and the mean of the numbers, or of the strings' lengths."""
        spread, _ = self.spread.result()
        what = "" if self.kind in NUMBER_DTYPES else " bytes"
        between = f"{spread.low:g} to {spread.high:g}{what}, mean {spread.mean:.4g}"
        return between if spread.count else ""

    def details(self, made: Report) -> dict[str, object]:
        """Add rows to a report, and return the numbers for JSON."""
        spread, _ = self.spread.result()
        counts = self.classes.most_common() if self.has_classes else []
        classes = {(name or b"").decode("utf-8", "surrogateescape"): n for name, n in counts}
        made.row("", some(self.errors, "fields that aeon cannot read"))
        more = len(classes) - SHOWN
        shown = [f"{name}: {count:,}" for name, count in [*classes.items()][:SHOWN]]
        made.row("", *shown, f"and {more:,} more" if more > 0 else "")
        return {
            "kind": self.kind.value,
            "errors": self.errors,
            "spread": spread.to_dict(),
            "classes": classes,
        }
