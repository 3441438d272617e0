"""Sparse rows in a table: a column of lists of indices and one of lists of values, or a dense
array.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import LimitError
from exset.core.limits import Limits, limit_hint
from exset.core.source import Source
from exset.grammars.columns.arrays import Flags, Longs, as_doubles
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.siblings.rows import is_single, rows_of
from exset.grammars.tables.columns import Lists

LARGEST = (1 << 31) - 1
"""The largest index that programs read."""


@dataclass(frozen=True)
class Sparse:
    """Sparse rows: for each stored number, its index in the row and its value, row after row.

    offsets: int64 [rows + 1]; row i has the numbers offsets[i]:offsets[i + 1].
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
    def of_columns(cls, patterns: Patterns, name: str, value: str) -> "Sparse | None":
        """Make sparse rows from two columns of a table, which count as stored; None if there
        are no such columns.

        name: the column of lists of indices. value: the column of lists of values. Raises
        FormatError for lists of different lengths, and for indices out of range.
        """
        index, values = patterns.others.get(name), patterns.others.get(value)
        if not (isinstance(index, Lists) and isinstance(values, Lists)):
            return None
        units, reals = index.items, values.items
        if not (is_single(units, "iu") and is_single(reals, "biuf")):
            return None
        patterns.stored.update((name, value))
        wrong = np.flatnonzero(index.lengths != values.lengths)
        patterns.refuse_rows(name, "the row has different numbers of indices and values", wrong)
        numbers = units.values.astype(np.int64)
        wrong = rows_of(np.flatnonzero((numbers < 0) | (numbers >= LARGEST)), index.offsets)
        problem = f"an index is outside the range from 0 to {LARGEST - 1:,}"
        patterns.refuse_rows(name, problem, wrong)
        return cls(numbers, reals.values, index.offsets)

    def dense(self, width: int, source: Source, limits: Limits) -> NDArray[Any]:
        """Return the rows as an array [rows, width]. Raises LimitError for an array beyond the
        limits.
        """
        rows = self.offsets.size - 1
        what = f"dense rows of {width:,} units"
        check_size(self.values.itemsize * width * rows, what, source, limits)
        found = np.zeros((rows, width), self.values.dtype)
        found[np.repeat(np.arange(rows), np.diff(self.offsets)), self.index] = self.values
        return found

    def late(self) -> Flags:
        """Return for each index whether it is not larger than the index before it in the same
        row.
        """
        is_late = np.zeros(self.index.size, np.bool_)
        is_late[1:] = np.diff(self.index) <= 0
        is_late[self.offsets[:-1][np.diff(self.offsets) > 0]] = False
        return is_late


def check_size(size: int, what: str, source: Source, limits: Limits) -> None:
    """Raise LimitError if `size`, the bytes of some arrays, is too large for the source.

    The limit depends on the number of bytes of `source`. what: the arrays, for the message.
    """
    if size > limits.most_bytes(len(source.data)):
        message = f"{what} have {size:,} bytes"
        raise LimitError(message, source=source, hint=limit_hint("max_array"))
