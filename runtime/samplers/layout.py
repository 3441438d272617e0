"""How many batches can have N classes that are all distinct, and which slots go there.

A slot is M samples of one class; class c has g(c) slots, of which f(h) = sum of min(g(c), h) can
stand in h batches without a class that meets itself.

**No plan has more distinct batches.** Say D of them are distinct. With B = floor(G/N) full batches,
they hold N slots each, so f(D) >= N*D. With B = ceil(G/N) batches, R = B*N - G places of the last
are filled from classes that are not in it, so only N - R of its slots are to be placed. If it is
among the D, the other D - 1 hold N slots each; if not, all D do; so either way

    f(D) >= N*D - R   and   f(D - 1) >= N*(D - 1).                                        (*)

**One has as many.** f is concave and f(0) = 0, so what satisfies (*) for D does for all below D,
and the largest D is found by bisection. Lower the classes with the most slots until N*D - R are
left in all: u(c) <= min(g(c), D). Lay them out class after class into rows, R rows of D - 1 cells
and then N - R of D, those of u(c) = D last; a column is a batch, and the last column, which the
short rows lack, is the last batch. A class covers no more cells, one after another, than a row
that it is in has, so it never meets itself, also where it goes on in the next row. Those of
u(c) = D fill whole rows, since there are at most N - R of them: the sum of min(u(c), D - 1) is
N*D - R less their number, and at least N*(D - 1), by (*) and because the largest are lowered
first. The first R classes cover at most R*(D - 1) cells, so that none of them is in the last
column: they fill its R places. What was lowered away, G - (N*D - R) slots, goes to the other
B - D batches, class after class, to one batch after the other.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exset.runtime.arrays import namespace_of


@dataclass(frozen=True)
class Layout:
    """The numbers of a plan that no epoch changes.

    `wide` is N, `slots` G, `batches` B, `short` R, `distinct` D; u(c) is min(g(c), `level`), less
    one for `excess` classes of those that are at the level.
    """

    wide: int
    slots: int
    batches: int
    short: int
    distinct: int
    level: int
    excess: int

    @property
    def placed(self) -> int:
        """How many slots go to the distinct batches."""
        return self.wide * self.distinct - self.short

    @property
    def others(self) -> int:
        """How many batches are not distinct."""
        return self.batches - self.distinct

    def lowered(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many slots each class has in the distinct batches: u.

        Of the classes that are at the level, the last are lowered by one more.
        """
        xp = namespace_of(slots)
        placed: NDArray[np.int64] = xp.minimum(slots, self.level)
        if self.excess:
            level = xp.flatnonzero(placed == self.level)
            placed[level[-self.excess :]] -= 1
        return placed


def lay_out(slots: NDArray[np.int64], wide: int, *, fill: bool) -> Layout:
    """Find the most distinct batches for the slots of each class, one at least, N classes or more.

    fill: whether the last batch is filled, instead of what is too little for a batch being left.
    """
    ordered = np.sort(slots)
    sums = np.concatenate([[0], np.cumsum(ordered)]).tolist()
    total = int(sums[-1])
    batches = -(-total // wide) if fill else total // wide
    short = max(batches * wide - total, 0)

    def most(high: int) -> int:
        """The slots that can stand in so many distinct batches: f."""
        fewer = int(np.searchsorted(ordered, high))
        return int(sums[fewer]) + high * (len(ordered) - fewer)

    def possible(count: int) -> bool:
        return most(count) >= wide * count - short and most(count - 1) >= wide * (count - 1)

    distinct = _largest(possible, batches)
    placed = wide * distinct - short
    level = _largest(lambda high: most(high - 1) < placed, distinct)
    return Layout(wide, total, batches, short, distinct, level, most(level) - placed)


def _largest(holds: Callable[[int], bool], high: int) -> int:
    """The largest number from 1 to high for which it holds, as it does for 1 and all below."""
    low = 1
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
