"""Find how many batches can have N distinct classes, and which slots they get.

A slot is M samples of one class. Class c has g(c) slots, and u(c) of them are in distinct batches.
At most f(h) = sum of min(g(c), h) slots fit in h batches in which no class occurs twice. The
layout is a table in which each column is a batch. The first R of its N rows have D - 1 cells, the
others D. docs/samplers.md proves that no plan has more distinct batches.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from exset.grammars.columns.arrays import Longs
from exset.runtime.arrays import namespace_of


@dataclass(frozen=True)
class Layout:
    """A plan of the batches of an epoch, as numbers that are the same in all epochs.

    `width` is N. `slots` is G, how many slots there are. `batches` is B, how many batches. `short`
    is R, how many slots the last batch lacks. `distinct` is D, how many batches have N distinct
    classes. u(c) is min(g(c), `level`), minus one for `excess` of the classes at the level.
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

        The last `excess` classes at the level have one slot less.
        """
        xp = namespace_of(slots)
        placed: Longs = xp.minimum(slots, self.level)
        if self.excess:
            level = xp.flatnonzero(placed == self.level)
            placed[level[-self.excess :]] -= 1
        return placed


def lay_out(slots: Longs, width: int, *, fill: bool) -> Layout:
    """Find the plan with the most batches of N distinct classes.

    `slots`: the number of slots of each class, int64 [classes], at least one each. `width`: N, at
    most the number of classes. `fill`: fill up the last batch, instead of dropping its slots.
    """
    ordered = np.sort(slots)
    sums = np.concatenate([[0], np.cumsum(ordered)]).tolist()
    total = int(sums[-1])
    batches = -(-total // width) if fill else total // width
    short = max(batches * width - total, 0)

    def most(high: int) -> int:
        """Return the most slots that fit in `high` batches without a class twice in a batch."""
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

    It must be true for all numbers below that one.
    """
    low = 1
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
