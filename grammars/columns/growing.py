"""Columns to which values are appended. They join many chunks that need not all stay in memory."""

from typing import Final, Generic

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs, T, compact
from exset.grammars.columns.strings import Strings

_LEAST: Final = 1 << 12
_SHARE: Final = 16
"""An array that is full grows by one part in so many: its unused end takes memory."""


class Growing(Generic[T]):
    """An array [n] that grows when arrays of the same dtype are appended to it."""

    def __init__(self, dtype: type[T]) -> None:
        self._array = np.empty(0, dtype)
        self._size = 0

    def add(self, values: NDArray[T]) -> None:
        """Copy values to the end of the array."""
        begin, self._size = self._size, self._size + len(values)
        if self._size > self._array.size:
            more = max(self._array.size // _SHARE, _LEAST)
            self._array.resize(max(self._size, self._array.size + more), refcheck=False)
        self._array[begin : self._size] = values

    def __getitem__(self, index: int) -> T:
        """Return the value at `index`. It must be the index of a value that has been added."""
        value: T = self._array[index]
        return value

    def array(self) -> NDArray[T]:
        """Return the array, read-only. If all values are equal, it is a constant column.

        Call `add` no more after this.
        """
        self._array.resize(self._size, refcheck=False)
        return compact(self._array)


class GrowingOffsets:
    """The offsets [n + 1] of n rows of a ragged column. They grow when the offsets of more rows are
    appended.
    """

    def __init__(self) -> None:
        self._ends = Growing(np.int64)
        self._ends.add(np.zeros(1, np.int64))
        self._last = 0

    def add(self, offsets: Longs) -> None:
        """Append rows, given by their offsets, which begin with 0."""
        self._ends.add(offsets[1:] + self._last)
        self._last += int(offsets[-1])

    def array(self) -> Longs:
        """Return the offsets. Call `add` no more after this."""
        return self._ends.array()


class GrowingStrings:
    """A column of strings, to which columns of strings are appended."""

    def __init__(self) -> None:
        self._data, self._offsets = Growing(np.uint8), GrowingOffsets()
        self._present = Growing(np.bool_)

    def add(self, strings: Strings) -> None:
        """Copy strings to the end of the column."""
        self._data.add(strings.data)
        self._offsets.add(strings.offsets)
        self._present.add(strings.present)

    def column(self) -> Strings:
        """Return the column. Call `add` no more after this."""
        return Strings.unchecked(
            data=self._data.array(), offsets=self._offsets.array(), present=self._present.array()
        )
