"""Rows of numbers: of arrays, or of lists of different lengths."""

from dataclasses import dataclass
from math import prod
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Flags, Longs
from exset.grammars.tables.columns import Lists, Numbers, TableColumn


@dataclass(frozen=True)
class Rows:
    """The numbers of all rows, row after row; row i has values[offsets[i]:offsets[i + 1]]."""

    values: NDArray[Any]
    offsets: Longs

    @classmethod
    def of(cls, column: TableColumn | None) -> "Rows | None":
        """Return the rows of a column of numbers, arrays or lists; None for another column."""
        if isinstance(column, Lists) and is_single(column.items, "biuf"):
            return cls(column.items.values, column.offsets)
        if isinstance(column, Numbers) and column.values.dtype.kind in "biuf":
            return cls.of_array(column.values.reshape(len(column), prod(column.shape)))
        return None

    @classmethod
    def of_array(cls, values: NDArray[Any]) -> "Rows":
        """Return the rows of an array [rows, numbers]."""
        return cls(values.reshape(-1), np.arange(len(values) + 1) * values.shape[1])

    @property
    def lengths(self) -> Longs:
        """How many numbers each row has: int64 [rows]."""
        return np.diff(self.offsets)

    def having(self, mask: Flags) -> Longs:
        """Return the rows that have a number in a mask of all numbers."""
        return np.unique(rows_of(np.flatnonzero(mask), self.offsets))

    def column(self, is_array: bool) -> TableColumn:
        """Return a column of arrays, if rows have the same length, or of lists."""
        if is_array:
            width = int(self.offsets[-1]) // max(self.offsets.size - 1, 1)
            return Numbers.of(self.values.reshape(self.offsets.size - 1, width))
        return Lists.of(Numbers.of(self.values), self.lengths)


def is_single(column: TableColumn | None, kinds: str) -> TypeGuard[Numbers]:
    """Return whether a column has single numbers. kinds: the letters of the dtype kinds it may
    have.
    """
    return isinstance(column, Numbers) and not column.shape and column.values.dtype.kind in kinds


def rows_of(items: Longs, offsets: Longs) -> Longs:
    """Return the rows of the given items; row i has the items offsets[i]:offsets[i + 1]."""
    return np.searchsorted(offsets, items, "right") - 1
