"""Report the contents of manifests, for `exset info` and `exset stats`; yield names of records."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from exset.core.text import size
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import NUMBER_DTYPES, ElementType
from exset.runtime.reports.report import Report, memory_of, some
from exset.runtime.reports.statistics import Spread

CLASSES = 10_000
"""A column with more distinct fields than this does not contain classes."""
SHOWN = 8
"""The most classes that are shown to people."""


def report(model: Manifest, detailed: bool = False) -> Report:
    """Report the numbers of a manifest, without reading its files.

    detailed: add classes, errors and statistics of each column.
    """
    from exset.runtime.aeon.selection import cache_name, uid

    types = [kind.value for kind in model.types]
    distinct = [len(set(model.column(column))) for column in range(model.width)]
    empty = int(np.count_nonzero(model.fields.lengths == 0))
    key, memory = uid(model), memory_of(model)
    made = Report()
    made.add(dialect=model.dialect.value, records=len(model), types=types, fields=model.width)
    made.add(distinct=distinct, empty=empty, bytes=int(model.fields.data.size))
    made.add(uid=key, memory=memory)
    made.row("dialect", model.dialect.value)
    made.row("records", f"{len(model):,}")
    for column, count in enumerate(distinct):
        kind = types[column] if column < len(types) else "dropped"
        made.row(f"column {column}", kind, f"{count:,} different")
    made.row("fields", size(model.fields.data.size), f"{empty:,} of them empty")
    made.row("cache", cache_name(key))
    made.row("memory", size(memory))
    if detailed:
        made.add(columns=[_column(made, model, column) for column in range(len(types))])
    return made


def _column(made: Report, model: Manifest, index: int) -> dict[str, object]:
    from exset.runtime.aeon.elements import elements

    found, kind = elements(model, index), model.types[index]
    is_number = kind in NUMBER_DTYPES
    spread = Spread.of(found.numbers if is_number else found.strings.lengths)
    counts: Counter[bytes | None] = Counter()
    if kind not in (ElementType.FILE, ElementType.BINARY):
        counts.update(model.column(index))
    if len(counts) > CLASSES:
        counts.clear()
    classes = {
        (field or b"").decode("utf-8", "surrogateescape"): count
        for field, count in counts.most_common()
    }
    what = "" if is_number else " bytes"
    if spread.count:
        between = f"{spread.low:g} to {spread.high:g}{what}"
        made.row(f"in column {index}", between, f"mean {spread.mean:.4g}")
    made.row("", some(len(found.errors), "fields that aeon cannot read"))
    more = len(classes) - SHOWN
    shown = [f"{name} {count:,}" for name, count in [*classes.items()][:SHOWN]]
    made.row("", *shown, f"and {more:,} more" if more > 0 else "")
    return {
        "kind": kind.value,
        "errors": len(found.errors),
        "spread": spread.to_dict(),
        "classes": classes,
    }


def record_names(model: Manifest) -> Iterator[bytes]:
    """Yield the first field of each record."""
    return (name or b"" for name in (model.column(0) if len(model) else ()))
