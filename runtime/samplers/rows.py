"""The rows of a layout, and how they lie over one another in an epoch.

Row by row the columns are put in another order, so that the same classes do not meet again and
again. Of all orders in which the class that goes on from the row before does not meet itself each
row has one, made of two affine maps: `turn` moves the columns that the class does not have in the
row before, `skew` those that it does not have in this one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from exset.runtime.arrays import namespace_of
from exset.runtime.training.generator import number


@dataclass(frozen=True)
class Affine:
    """A bijection of [0, size): x to x * times + plus, modulo a size below 2**32."""

    size: int
    times: int
    plus: int

    @classmethod
    def drawn(cls, size: int, key: int) -> "Affine":
        """Return one that the key decides."""
        times = 1 + number(key, 0) % max(size - 1, 1)
        while gcd(times, size) > 1:
            times = times % size + 1
        return cls(size, times, number(key, 1) % max(size, 1))

    def __call__(self, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return where it takes values, uint64 in and out."""
        found = values * np.uint64(self.times)
        found += np.uint64(self.plus)
        # NumPy divides by one number much faster than it takes remainders.
        whole: NDArray[np.uint64] = found // np.uint64(self.size)
        whole *= np.uint64(self.size)
        found -= whole
        return found


@dataclass(frozen=True)
class Row:
    """A row of so many cells, from cell `first` of the layout on, that lies under another."""

    first: int
    wide: int
    turn: Affine | None
    """Of the first columns of the row before; None: they stay."""
    skew: Affine | None
    """Of the last columns; None: they stay."""

    def under(self, above: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return which of its cells lie under those of the row before, uint64 in and out."""
        xp = namespace_of(above)
        cells = above
        if self.turn is not None:
            cells = xp.where(cells < np.uint64(self.turn.size), self.turn(cells), cells)
        if self.skew is not None:
            kept = np.uint64(self.wide - self.skew.size)
            # Below `kept` the difference wraps around, and what comes of it is not taken.
            cells = xp.where(cells < kept, cells, self.skew(cells - kept) + kept)
        return cells


def borders(wide: int, distinct: int, short: int) -> NDArray[np.int64]:
    """The first cell of each row, and the end of the last: `short` rows are narrower by one."""
    widths = np.full(wide, distinct)
    widths[:short] -= 1
    return np.concatenate([[0], np.cumsum(widths)])


def rows(
    firsts: NDArray[np.int64],
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    key: int | None,
) -> Iterator[Row]:
    """Yield the rows; firsts: as `borders`. No key: the columns stay as they are.

    before, after: how many cells the class at a row's first cell has before and from there on, both
    0 if it begins there.
    """
    for index, first in enumerate(firsts[:-1].tolist()):
        wide = int(firsts[index + 1]) - first
        turn = skew = None
        if key is not None and index:
            row_key = number(key, index)
            going, gone = (int(each[index]) for each in (after, before))
            turn = _drawn(wide - gone, number(row_key, 0))
            skew = _drawn(wide - going, number(row_key, 1))
        yield Row(first, wide, turn, skew)


def _drawn(size: int, key: int) -> Affine | None:
    return Affine.drawn(size, key) if size > 1 else None
