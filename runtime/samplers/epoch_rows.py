"""The rows of an epoch's layout: their runs of slots, and the orders of their columns.

In each row the columns have a different order, so that the same classes are not always together in
a batch. A class that continues from the row before must not get a column twice. Each row uses an
order made of two affine maps. `turn` moves the columns that do not have this class in the row
before. `skew` moves the columns that do not have it in the row itself.
"""

from dataclasses import dataclass
from math import gcd

import numpy as np

from exset.grammars.columns.arrays import Longs
from exset.runtime.arrays import namespace_of, repeat, spread
from exset.runtime.training.generator import Words, number


@dataclass(frozen=True)
class Runs:
    """The slots of all batches, in runs. A run is consecutive slots of one class.

    classes: the class of each run. firsts: the number of the run's first slot among the slots of
    its class. begins, ends: the positions of a run among all slots. All arrays are int64 [runs].
    """

    classes: Longs
    firsts: Longs
    begins: Longs
    ends: Longs

    @classmethod
    def of(cls, classes: Longs, firsts: Longs, counts: Longs) -> "Runs":
        """Make runs of slots.

        classes: the class of each run. firsts: the number, in its class, of the run's first slot.
        counts: the number of slots of each run.
        """
        ends = namespace_of(counts).cumsum(counts)
        return cls(classes, firsts, ends - counts, ends)

    def at(self, places: Longs) -> tuple[Longs, Longs]:
        """Return two arrays for the slots at these positions: their classes, and their numbers in
        their classes.
        """
        run = namespace_of(places).searchsorted(self.ends, places, side="right")
        return self.classes[run], self.firsts[run] + (places - self.begins[run])

    @property
    def slots(self) -> tuple[Longs, Longs]:
        """Two arrays for the slots at all positions: their classes, and their numbers in their
        classes.
        """
        xp, counts = namespace_of(self.ends), self.ends - self.begins
        return repeat(xp, self.classes, counts), spread(xp, self.firsts, counts)


@dataclass(frozen=True)
class Affine:
    """A bijection of [0, size). It maps x to (x * times + plus) modulo `size`, which is below
    2**32.
    """

    size: int
    times: int
    plus: int

    @classmethod
    def drawn(cls, size: int, key: int) -> "Affine | None":
        """Return a random bijection that the key decides. Return None if `size` is 1 or less."""
        if size <= 1:
            return None
        times = 1 + number(key, 0) % (size - 1)
        while gcd(times, size) > 1:
            times = times % size + 1
        return cls(size, times, number(key, 1) % size)

    def __call__(self, values: Words) -> Words:
        """Return the image of each value: uint64."""
        found = values * np.uint64(self.times)
        found += np.uint64(self.plus)
        # NumPy divides by a constant much faster than it computes remainders.
        whole: Words = found // np.uint64(self.size)
        whole *= np.uint64(self.size)
        found -= whole
        return found


@dataclass(frozen=True)
class Row:
    """A row of the layout. It has `width` cells. The first cell has the number `first`.

    turn, skew: the order of the row's columns.
    """

    first: int
    width: int
    turn: Affine | None = None
    """Moves the first columns of the row before; None: no move."""
    skew: Affine | None = None
    """Moves the last columns; None: no move."""

    def under(self, above: Words) -> Words:
        """Return the cells of this row that are in the same columns as the cells `above` of the
        previous row.

        A cell is its number in its row: uint64.
        """
        xp = namespace_of(above)
        cells = above
        if self.turn is not None:
            cells = xp.where(cells < np.uint64(self.turn.size), self.turn(cells), cells)
        if self.skew is not None:
            kept = np.uint64(self.width - self.skew.size)
            # Below `kept` the difference wraps around; `where` ignores it there.
            cells = xp.where(cells < kept, cells, self.skew(cells - kept) + kept)
        return cells
