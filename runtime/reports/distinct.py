"""Count the different values of columns that come in chunks."""

from collections.abc import Hashable, Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

_PARTS: Final = 64
_FEW: Final = 1 << 14


class Distinct:
    """The number of different values, by their hashes of 64 bits: 8 bytes of memory for each.

    Two values may have the same hash: of ten million different values, with a probability of 3e-6.
    """

    def __init__(self) -> None:
        self._edges = np.linspace(-(2.0**63), 2.0**63, _PARTS + 1)[1:-1].astype(np.int64)
        self._known: list[NDArray[np.int64]] = [np.zeros(0, np.int64)] * _PARTS
        self._new: list[list[NDArray[np.int64]]] = [[] for _ in range(_PARTS)]

    def add(self, values: Iterable[Hashable]) -> None:
        """Add values, which may be known."""
        hashes = np.unique(np.fromiter(map(hash, values), np.int64))
        # Each part has an interval of hashes, so that only a part is sorted at a time.
        parts = np.split(hashes, np.searchsorted(hashes, self._edges))
        for number, part in enumerate(parts):
            if part.size:
                self._new[number].append(part.copy())
                if sum(map(len, self._new[number])) > max(_FEW, self._known[number].size // 4):
                    self._join(number)

    def count(self) -> int:
        """Return how many different values were added."""
        for number in range(_PARTS):
            self._join(number)
        return sum(map(len, self._known))

    def _join(self, number: int) -> None:
        self._known[number] = np.unique(np.concatenate([self._known[number], *self._new[number]]))
        self._new[number].clear()
