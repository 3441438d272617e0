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
    """Rows of numbers: the numbers of all rows, row after row; row i has
    values[offsets[i]:offsets[i + 1]].
    """

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
        """Return the indices of the rows in which the mask is true for at least one number.

        mask: one bool for each number, row after row.
        """
        return np.unique(rows_of(np.flatnonzero(mask), self.offsets))

    def column(self, is_array: bool) -> TableColumn:
        """Return the rows as a column of a table: of arrays if `is_array`, else of lists.

        The rows of arrays must have the same length.
        """
        if is_array:
            width = int(self.offsets[-1]) // max(self.offsets.size - 1, 1)
            return Numbers.of(self.values.reshape(self.offsets.size - 1, width))
        return Lists.of(Numbers.of(self.values), self.lengths)


def is_single(column: TableColumn | None, kinds: str) -> TypeGuard[Numbers]:
    """Return whether a column has single numbers. kinds: the letters of NumPy's dtype kinds
    that it may have, such as "iu".
    """
    return isinstance(column, Numbers) and not column.shape and column.values.dtype.kind in kinds


def rows_of(items: Longs, offsets: Longs) -> Longs:
    """Return for each item the index of the row that contains it.

    items: indices among the items of all rows. offsets: row i has the items offsets[i] to
    offsets[i + 1] - 1.
    """
    return np.searchsorted(offsets, items, "right") - 1
