"""Report the contents of a table, for `exset info` and `exset stats`."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.core.text import safe, size
from exset.grammars.tables.columns import Numbers
from exset.grammars.tables.table import Table
from exset.runtime.reports.report import Report, memory_of, some
from exset.runtime.reports.statistics import Spread

_BLOCK: Final = 1 << 16
_SHOWN: Final = 40
"""The most columns that are shown to people."""


def report(chunks: Iterable[Table], detailed: bool = False) -> Report:
    """Report the rows and columns of a table, from its chunks; detailed: statistics of numbers."""
    rows = memory = 0
    absent: dict[str, int] = {}
    types: dict[str, str] = {}
    spreads: dict[str, _Blocks] = {}
    metadata: dict[str, object] = {}
    for table in chunks:
        rows += len(table)
        types |= table.types
        metadata |= table.metadata
        for name, column in table.columns.items():
            memory += memory_of(column)
            absent[name] = absent.get(name, 0) + int((~column.present).sum())
            if detailed and isinstance(column, Numbers) and column.values.dtype.kind in "biuf":
                values = column.values[column.present].reshape(-1)
                spreads.setdefault(name, _Blocks()).add(values)
    made = Report()
    family = str(metadata.get("family", ""))
    made.add(rows=rows, columns=types, absent=absent, family=family or None, memory=memory)
    made.row("rows", f"{rows:,}")
    made.row("made of", family and f"a table of the family {safe(family)}")
    lines = [
        f"{safe(name)}: {kind}" + (f", {few}" if (few := some(absent[name], "absent")) else "")
        for name, kind in types.items()
    ]
    made.row("columns", f"{len(types):,}")
    made.texts("", lines, _SHOWN)
    made.row("memory", size(memory))
    if detailed:
        found = {name: running.result() for name, running in spreads.items()}
        made.add(statistics={name: spread.to_dict() for name, spread in found.items()})
        for name, spread in [*found.items()][:_SHOWN]:
            made.row(safe(name), str(spread))
    return made


class _Blocks:
    """Computes the spread of numbers that come in chunks, from blocks of equal size.

    So rounding does not depend on the chunks.
    """

    def __init__(self) -> None:
        self._spread = Spread()
        self._rest: list[NDArray[Any]] = []
        self._size = 0

    def add(self, values: NDArray[Any]) -> None:
        """Add the next numbers."""
        self._rest.append(values)
        self._size += values.size
        if self._size >= _BLOCK:
            values = np.concatenate(self._rest)
            whole = values.size - values.size % _BLOCK
            for at in range(0, whole, _BLOCK):
                self._spread.add(Spread.of(values[at : at + _BLOCK]))
            self._rest, self._size = [values[whole:].copy()], values.size - whole

    def result(self) -> Spread:
        """Return the spread of all numbers. Add no numbers after this call."""
        if self._rest:
            self._spread.add(Spread.of(np.concatenate(self._rest)))
        return self._spread
