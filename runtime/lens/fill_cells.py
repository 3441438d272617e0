"""Filling a dense array: runs of cells are written where none meet, or the last of those that do.

Later ranges override earlier ones, as in Lens. No backend promises which of two writes to one cell
is the last, so where ranges of one event may overlap it is found by sorting.
"""

from dataclasses import dataclass
from types import ModuleType

from exset.grammars.columns.arrays import Floats, Longs
from exset.runtime.arrays import evenly, spread, windows
from exset.runtime.lens.runs import Columns, Runs

_FEW = 16
"""How many lengths of dense ranges are copied each at once."""
_LONG = 8
"""From which length, on the average, that is faster than cell by cell."""


@dataclass(frozen=True)
class Filling:
    """The runs of one side of a set: dense and sparse ones, in the order of their uses."""

    columns: Columns
    dense: Runs
    sparse: Runs
    several: bool
    """Whether an event has several ranges."""

    def covers(self, events: int, units: int) -> bool:
        """Whether every event has one dense range, of all units."""
        dense = self.dense
        if self.several or dense.start.size < events or events == 0:
            return False
        return int((dense.stop - dense.start).min()) == units

    def paint(self, xp: ModuleType, out: Floats) -> None:
        """Write all cells of an array [events, units] that ranges give; float32, contiguous."""
        flat = out.reshape(-1)
        if self.several and self._overlap(xp):
            cells, values = self.settled(xp)
            flat[cells] = values
            return
        if self.dense.start.size:
            self._paint_dense(xp, flat)
        if self.sparse.start.size:
            flat[self.sparse.cells(xp)] = self._sparse_values(xp)

    def settled(self, xp: ModuleType) -> tuple[Longs, Floats]:
        """The cells that ranges give, rising, and the value of each: int64 [c], float32 [c]."""
        cells = xp.concatenate([self.dense.cells(xp), self.sparse.cells(xp)])
        source = spread(xp, self.dense.source, self.dense.stop - self.dense.start)
        values = xp.empty(cells.size, xp.float32)
        values[: source.size] = self.columns.values[source]
        values[source.size :] = self._sparse_values(xp)
        uses = [runs.each(xp, runs.use) for runs in (self.dense, self.sparse)]
        order = xp.lexsort(xp.stack([xp.concatenate(uses), cells]))
        cells = cells[order]
        final = xp.ones(cells.size, xp.bool_)
        final[:-1] = cells[1:] != cells[:-1]
        return cells[final], values[order][final]

    def _sparse_values(self, xp: ModuleType) -> Floats | float:
        """The value of each sparse cell, or of all."""
        value = self.columns.value
        return (
            value if isinstance(value, float) else value[self.sparse.each(xp, self.sparse.source)]
        )

    def _overlap(self, xp: ModuleType) -> bool:
        """Whether two runs have a cell in common."""
        start = xp.concatenate([self.dense.start, self.sparse.start])
        stop = xp.concatenate([self.dense.stop, self.sparse.stop])
        if bool((start[1:] >= stop[:-1]).all()):
            return False
        order = xp.argsort(start)
        return not bool((start[order][1:] >= stop[order][:-1]).all())

    def _paint_dense(self, xp: ModuleType, flat: Floats) -> None:
        """Write dense runs that do not overlap: all of one length at once, if there are few."""
        start, source, length = self.dense.start, self.dense.source, self.dense.stop
        length = length - start
        wide = int(length.max())
        if wide == int(length.min()):
            _copy(xp, flat, start, self.columns.values, source, wide)
            return
        lengths = _few(length)
        if lengths is None or int(length.sum()) < _LONG * length.size:
            flat[self.dense.cells(xp)] = self.columns.values[spread(xp, source, length)]
            return
        for wide in lengths:
            which = xp.flatnonzero(length == wide)
            _copy(xp, flat, start[which], self.columns.values, source[which], wide)


def _copy(
    xp: ModuleType, flat: Floats, start: Longs, values: Floats, source: Longs, wide: int
) -> None:
    """Copy runs of one length; those that lie evenly are copied through views alone."""
    windows(xp, flat, wide)[evenly(start)] = windows(xp, values, wide)[evenly(source)]


def _few(length: Longs) -> list[int] | None:
    """The distinct lengths, if there are no more than a few."""
    found: list[int] = []
    left = length
    while left.size:
        if len(found) == _FEW:
            return None
        found.append(int(left[0]))
        left = left[left != found[-1]]
    return found
