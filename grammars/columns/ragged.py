"""Columns: the flat arrays in which the models of all families store their data.

Columns of numbers are plain NumPy arrays. Columns of strings, of rows of numbers, and of numbers
that may be missing are small classes, whose fields are arrays. All columns are read-only, slices
are views, and equality is by value: bitwise for floats, so that -0.0 differs from 0.0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Self

import numpy as np
from numpy.typing import NDArray

from exset.core.text import counted
from exset.grammars.columns import arrays
from exset.grammars.columns.arrays import Flags, Floats, Indices, Longs, T
from exset.grammars.columns.inputs import float_row, items_of, numbers_like, shown
from exset.grammars.columns.rows import Column
from exset.grammars.columns.strings import Strings

__all__ = ["Ragged", "Reals", "Strings"]


@dataclass(frozen=True, eq=False, repr=False)
class Ragged(Column[NDArray[T]], Generic[T]):
    """A column of rows of numbers. The rows may differ in length.

    values: the numbers of all rows, row by row. offsets: int64 [n + 1]; row i is
    values[offsets[i]:offsets[i + 1]]. Raises ValueError for offsets that do not fit.
    """

    values: NDArray[T]
    offsets: Longs

    def __post_init__(self) -> None:
        if not isinstance(self.values, np.ndarray) or self.values.ndim != 1:
            raise ValueError("values: expected a one-dimensional array")
        arrays.check_offsets("offsets", self.offsets, self.values.size)
        self._freeze()

    def replaced(self, what: str, items: object) -> Self:
        """Make a column of the given rows of numbers, with the dtype of this column.

        Raises ValueError for a row that is not a list of such numbers. what: the column's name,
        with which the message begins.
        """
        rows = []
        for i, item in enumerate(items_of(what, items, "rows of numbers")):
            rows.append(numbers_like(f"{what}[{i}]", self.values, item))
            if rows[-1].ndim != 1:
                raise ValueError(f"{what}[{i}]: expected one row of numbers, not {shown(item)}")
        lengths = np.array([row.size for row in rows], np.int64)
        return type(self)(
            np.concatenate([self.values[:0], *rows]), arrays.offsets_of(arrays.compact(lengths))
        )

    @classmethod
    def empty(cls, n: int, dtype: type[T]) -> Self:
        """Return a column of n empty rows."""
        return cls.unchecked(values=np.empty(0, dtype), offsets=arrays.constant(0, n + 1, np.int64))

    @classmethod
    def concat(cls, columns: Sequence[Self]) -> Self:
        """Join the rows of one or more columns."""
        return cls.unchecked(
            values=arrays.concat([column.values for column in columns]),
            offsets=arrays.concat_offsets([column.offsets for column in columns]),
        )

    def __len__(self) -> int:
        return self.offsets.size - 1

    def _item(self, row: int) -> NDArray[T]:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def __repr__(self) -> str:
        return f"Ragged({counted(len(self), 'row')}, {self.values.size} {self.values.dtype})"

    @property
    def lengths(self) -> Longs:
        """The length of each row: int64 [n]."""
        return np.diff(self.offsets)

    def take(self, indices: Indices) -> Self:
        """Return the rows at the indices, int64 [k].

        Raises IndexError for an index out of bounds.
        """
        values, offsets = arrays.gather_ragged(self.values, self.offsets, indices)
        return self.unchecked(values=values, offsets=offsets)


@dataclass(frozen=True, eq=False, repr=False)
class Reals(Column[float | None]):
    """A column of real numbers. Rows may have no value.

    values: float32 [n]. present: bool [n]. A row without a value is stored as 0. Raises ValueError
    for arrays of other dtypes or lengths.
    """

    values: Floats
    present: Flags

    def __post_init__(self) -> None:
        arrays.check_column("values", self.values, np.float32)
        arrays.check_column("present", self.present, np.bool_, self.values.size)
        if (~self.present & (self.values.view(np.uint32) != 0)).any():
            object.__setattr__(self, "values", np.where(self.present, self.values, np.float32(0)))
        self._freeze()

    @classmethod
    def listed(cls, what: str, items: object) -> Self:
        """Make a column of the given numbers. None becomes a row without a value.

        Raises ValueError for other items. what: the column's name, with which the message begins.
        """
        rows = items_of(what, items, "numbers")
        present = np.array([row is not None for row in rows], np.bool_)
        values = float_row(what, [0.0 if row is None else row for row in rows])
        return cls(values, present)

    @classmethod
    def empty(cls, n: int) -> Self:
        """Return a column of n rows without a value."""
        values, present = arrays.constant(0, n, np.float32), arrays.constant(False, n, np.bool_)
        return cls.unchecked(values=values, present=present)

    def __len__(self) -> int:
        return self.present.size

    def _item(self, row: int) -> float | None:
        return float(self.values[row]) if self.present[row] else None

    def __repr__(self) -> str:
        return f"Reals({np.count_nonzero(self.present)} of {len(self)} present)"
