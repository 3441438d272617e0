"""Slots in a row, run after run."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exset.runtime.arrays import namespace_of


@dataclass(frozen=True)
class Runs:
    """Slots in a row, run after run: each of one class, its slots from `firsts` on.

    begins, ends: the places of a run among all slots. All are int64.
    """

    classes: NDArray[np.int64]
    firsts: NDArray[np.int64]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def of(
        cls, classes: NDArray[np.int64], firsts: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> "Runs":
        """Return runs of so many slots each."""
        ends = namespace_of(counts).cumsum(counts)
        return cls(classes, firsts, ends - counts, ends)

    def at(self, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return of which classes the slots at some places are, and which of their slots."""
        run = namespace_of(places).searchsorted(self.ends, places, side="right")
        return self.classes[run], self.firsts[run] + (places - self.begins[run])

    @property
    def slots(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What `at` returns for all places in order."""
        if (xp := namespace_of(self.ends)) is not np:  # CuPy repeats by no array
            return self.at(xp.arange(int(self.ends[-1])))
        counts = self.ends - self.begins
        places = np.arange(self.ends[-1])
        places += np.repeat(self.firsts - self.begins, counts)
        return np.repeat(self.classes, counts), places
