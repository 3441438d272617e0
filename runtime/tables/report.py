"""Report the contents of a table, for `exset info` and `exset stats`."""

from collections.abc import Iterable

from exset.core.text import safe, size
from exset.grammars.tables.columns import Numbers
from exset.grammars.tables.table import Table
from exset.runtime.reports.report import Report, memory_of, some
from exset.runtime.reports.statistics import Spread

_SHOWN = 40
"""The most columns that are shown to people."""


def report(chunks: Iterable[Table], detailed: bool = False) -> Report:
    """Report the rows and columns of a table, from its chunks; detailed: statistics of numbers."""
    rows = memory = 0
    absent: dict[str, int] = {}
    types: dict[str, str] = {}
    spreads: dict[str, Spread] = {}
    metadata: dict[str, object] = {}
    for table in chunks:
        rows += len(table)
        types |= table.types
        metadata |= table.metadata
        for name, column in table.columns.items():
            memory += memory_of(column)
            absent[name] = absent.get(name, 0) + int((~column.present).sum())
            if detailed and isinstance(column, Numbers) and column.values.dtype.kind in "biuf":
                spreads.setdefault(name, Spread()).add(Spread.of(column.values[column.present]))
    made = Report()
    family = str(metadata.get("family", ""))
    made.add(rows=rows, columns=types, absent=absent, family=family or None, memory=memory)
    made.row("rows", f"{rows:,}")
    made.row("made of", family and f"a table of the family {safe(family)}")
    lines = [
        f"{safe(name)}: {kind}" + (f", {found}" if (found := some(absent[name], "absent")) else "")
        for name, kind in types.items()
    ]
    made.row("columns", f"{len(types):,}")
    made.texts("", lines, _SHOWN)
    made.row("memory", size(memory))
    if detailed:
        made.add(statistics={name: spread.to_dict() for name, spread in spreads.items()})
        for name, spread in [*spreads.items()][:_SHOWN]:
            made.row(safe(name), str(spread))
    return made
