"""Find how many batches can have N distinct classes, and which slots these batches get.

A slot is M samples of one class. Class c has g(c) slots, and u(c) of them are in distinct batches,
which are batches of N distinct classes. At most f(h) = sum of min(g(c), h) slots fit in h batches
in which no class occurs twice. The layout is a table in which each column is a batch. It has N
rows. The first R rows have D - 1 cells, and the others have D cells. docs/samplers.md proves that
no plan has more distinct batches.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from exset.grammars.columns.arrays import Longs
from exset.runtime.arrays import namespace_of


@dataclass(frozen=True)
class Layout:
    """A plan of the batches of an epoch, as numbers that are the same in all epochs.

    width: N. slots: G, the number of slots. batches: B, the number of batches. short: R, the number
    of slots that the last batch lacks. distinct: D, the number of batches with N distinct classes.
    level, excess: class c has u(c) = min(g(c), level) slots in distinct batches, but `excess` of
    the classes with u(c) = level have one slot less.
    """

    width: int
    slots: int
    batches: int
    short: int
    distinct: int
    level: int
    excess: int

    @property
    def placed(self) -> int:
        """The number of slots in distinct batches."""
        return self.width * self.distinct - self.short

    @property
    def others(self) -> int:
        """The number of batches that are not distinct."""
        return self.batches - self.distinct

    def lowered(self, slots: Longs) -> Longs:
        """Return u, the number of slots of each class in distinct batches: int64 [classes].

        The last `excess` of the classes with `level` slots have one slot less.
        """
        xp = namespace_of(slots)
        placed: Longs = xp.minimum(slots, self.level)
        if self.excess:
            level = xp.flatnonzero(placed == self.level)
            placed[level[-self.excess :]] -= 1
        return placed


def lay_out(slots: Longs, width: int, *, fill: bool) -> Layout:
    """Find the plan that has the most batches of N distinct classes.

    slots: the number of slots of each class, int64 [classes], all at least 1. width: N, at most the
    number of classes. fill: fill up the last batch, instead of dropping its slots.
    """
    ordered = np.sort(slots)
    sums = np.concatenate([[0], np.cumsum(ordered)]).tolist()
    total = int(sums[-1])
    batches = -(-total // width) if fill else total // width
    short = max(batches * width - total, 0)

    def most(high: int) -> int:
        """Return how many slots fit in `high` batches if no class may occur twice in a batch."""
        fewer = int(np.searchsorted(ordered, high))
        return int(sums[fewer]) + high * (len(ordered) - fewer)

    def possible(count: int) -> bool:
        return most(count) >= width * count - short and most(count - 1) >= width * (count - 1)

    distinct = _largest(possible, batches)
    placed = width * distinct - short
    level = _largest(lambda high: most(high - 1) < placed, distinct)
    return Layout(width, total, batches, short, distinct, level, most(level) - placed)


def _largest(holds: Callable[[int], bool], high: int) -> int:
    """Return the largest number from 1 to `high` for which `holds` is true.

    If `holds` is true for a number, it must be true for all smaller numbers.
    """
    low = 1
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
