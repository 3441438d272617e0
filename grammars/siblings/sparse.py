"""Sparse rows in a table: a column of lists of indices and one of lists of values, or a dense
array.
"""

from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import LimitError
from exset.core.limits import Limits, limit_hint
from exset.core.source import Source
from exset.grammars.columns.arrays import Flags, Longs, as_doubles
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.tables.columns import Lists, Numbers, TableColumn

LARGEST = (1 << 31) - 1
"""The largest index that programs read."""


@dataclass(frozen=True)
class Sparse:
    """Sparse rows: the indices and the values of all rows, row after row; offsets int64 [rows +
    1].
    """

    index: Longs
    values: NDArray[Any]
    offsets: Longs

    @classmethod
    def of_dense(cls, values: NDArray[Any]) -> "Sparse":
        """Return the rows of an array [rows, units] without the zeros; -0.0 counts as a value."""
        rows, units = np.nonzero((values != 0) | np.signbit(as_doubles(values)))
        return cls(units, values[rows, units], np.searchsorted(rows, np.arange(len(values) + 1)))

    @classmethod
    def of_columns(
        cls, index: TableColumn | None, value: TableColumn | None, name: str, patterns: Patterns
    ) -> "Sparse | None":
        """Return the rows of a column of lists of indices and a column of lists of values; None
        for columns of other types.

        name: the name of the column of indices. Raises FormatError for lists of different lengths,
        and for indices out of range.
        """
        if not (isinstance(index, Lists) and isinstance(value, Lists)):
            return None
        units, values = index.items, value.items
        if not (is_single(units, "iu") and is_single(values, "biuf")):
            return None
        if (index.offsets != value.offsets).any():
            row = int((index.lengths != value.lengths).argmax())
            patterns.refuse(name, "the lists of indices and of values differ in length", row)
        numbers = units.values.astype(np.int64)
        wrong = np.flatnonzero((numbers < 0) | (numbers >= LARGEST))
        if wrong.size:
            row = int(np.searchsorted(index.offsets, wrong[0], "right")) - 1
            patterns.refuse(name, f"an index is not from 0 to {LARGEST - 1:,}", row)
        return cls(numbers, values.values, index.offsets)

    def dense(self, width: int, source: Source, limits: Limits) -> NDArray[Any]:
        """Return the rows as an array [rows, width]. Raises LimitError for an array beyond the
        limits.
        """
        rows = self.offsets.size - 1
        size = self.values.itemsize * width * rows
        if size > max(limits.max_array, 1000 * len(source.data)):
            message = f"dense rows of {width:,} units have {size:,} bytes"
            raise LimitError(message, source=source, hint=limit_hint("max_array"))
        found = np.zeros((rows, width), self.values.dtype)
        found[np.repeat(np.arange(rows), np.diff(self.offsets)), self.index] = self.values
        return found

    def late(self) -> Flags:
        """Return a mask of the indices that are not larger than the index before them in the same
        row.
        """
        is_late = np.zeros(self.index.size, np.bool_)
        is_late[1:] = np.diff(self.index) <= 0
        is_late[self.offsets[:-1][np.diff(self.offsets) > 0]] = False
        return is_late


def is_single(column: TableColumn | None, kinds: str) -> TypeGuard[Numbers]:
    """Return whether a column has single numbers. kinds: the letters of the dtype kinds it may
    have.
    """
    return isinstance(column, Numbers) and not column.shape and column.values.dtype.kind in kinds
