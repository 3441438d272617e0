"""Count the different values of columns that come in chunks."""

from collections.abc import Hashable, Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

_PARTS: Final = 64
_BATCH: Final = 1 << 17
_FEW: Final = 1 << 13


class Distinct:
    """Counts the different values among all added values. Each different value needs 8 bytes of
    memory.

    Values are counted by hashes of 64 bits. Two values may have the same hash: among ten million
    different values, with probability 3e-6.
    """

    def __init__(self) -> None:
        # Each part has an interval of hashes, so that only a part is sorted at a time.
        self._edges = np.linspace(-(2.0**63), 2.0**63, _PARTS + 1)[1:-1].astype(np.int64)
        self._known: list[NDArray[np.int64]] = [np.zeros(0, np.int64)] * _PARTS
        self._new: list[list[NDArray[np.int64]]] = [[] for _ in range(_PARTS)]
        self._batch: list[NDArray[np.int64]] = []

    def add(self, values: Iterable[Hashable]) -> None:
        """Add values; values that were added before change nothing."""
        self._batch.append(np.fromiter(map(hash, values), np.int64))
        if sum(map(len, self._batch)) >= _BATCH:
            self._divide()

    def count(self) -> int:
        """Return how many different values were added."""
        self._divide()
        for number in range(_PARTS):
            self._join(number)
        return sum(map(len, self._known))

    def _divide(self) -> None:
        hashes = _distinct([np.zeros(0, np.int64), *self._batch])
        self._batch.clear()
        parts = np.split(hashes, np.searchsorted(hashes, self._edges))
        for number, part in enumerate(parts):
            self._new[number].append(part.copy())
            if sum(map(len, self._new[number])) > max(_FEW, self._known[number].size // 8):
                self._join(number)

    def _join(self, number: int) -> None:
        self._known[number] = _distinct([self._known[number], *self._new[number]])
        self._new[number].clear()


def _distinct(arrays: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the different numbers, sorted. (np.unique would build a large hash table.)"""
    joined = np.concatenate(arrays)
    joined.sort()
    is_new = np.ones(joined.size, np.bool_)
    np.not_equal(joined[1:], joined[:-1], out=is_new[1:])
    return joined[is_new]
