"""The base classes of read-only tables and columns. They compare by value, and select and join
rows.

Copies and pickles are also read-only, and a constant column needs no space in them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Generic, NamedTuple, Self, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from exset.core.text import counted, out_of_bounds
from exset.grammars.columns.arrays import Indices, concat, frozen, same, take
from exset.grammars.columns.inputs import numbers_like, raw

Item = TypeVar("Item", covariant=True)


class FrozenColumns:
    """The base class of frozen dataclasses whose fields are columns: arrays or other tables."""

    @classmethod
    def unchecked(cls, **columns: object) -> Self:
        """Make a table of these columns without checking them.

        Use this only for columns that are known to be valid, such as parts of checked columns.
        """
        table = object.__new__(cls)
        for name, column in columns.items():
            object.__setattr__(
                table, name, frozen(column) if isinstance(column, np.ndarray) else column
            )
        return table

    def with_unchecked(self, **columns: object) -> Self:
        """Return the table with some columns replaced. As with `unchecked`, nothing is checked."""
        return self.unchecked(**{**vars(self), **columns})

    def with_columns(self, **columns: object) -> Self:
        """Return the table with some columns replaced, and check it as the constructor does.

        Give a column as an array or a list: numbers, or text or bytes for strings. None becomes a
        row without a value. Raises ValueError, which names the column, for wrong values, and
        TypeError for an unknown name.
        """
        changed = dict(vars(self))
        for name, column in columns.items():
            if name not in changed:
                has = f"{type(self).__name__} has {', '.join(changed)}"
                raise TypeError(f"unknown column {name!r}: {has}")
            changed[name] = _like(name, changed[name], column)
        return type(self)(**changed)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self is other or all(
            same(column, vars(other)[name])
            if isinstance(column, np.ndarray)
            else column == vars(other)[name]
            for name, column in vars(self).items()
        )

    def __getstate__(self) -> dict[str, object]:
        return {name: _packed(column) for name, column in vars(self).items()}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update((name, _unpacked(column)) for name, column in state.items())
        self._freeze()

    def _freeze(self) -> None:
        for name, column in vars(self).items():
            if isinstance(column, np.ndarray):
                object.__setattr__(self, name, frozen(column))


class Rows(FrozenColumns, ABC):
    """The base class of tables. All columns of a table have the same number of rows."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({counted(len(self), 'row')})"

    def _row(self, index: SupportsIndex) -> int:
        """Return the number of a row, counted from the start. The index -1 means the last row.

        Raises IndexError for an index out of bounds, and TypeError for an index that is not an
        integer.
        """
        try:
            return range(len(self))[index]
        except IndexError:
            name = type(self).__name__
            raise IndexError(f"{name}: {out_of_bounds('row', index, len(self))}") from None
        except TypeError:
            found = f"{type(self).__name__}: expected an integer or a slice"
            raise TypeError(f"{found}, not {type(index).__name__}") from None

    def take(self, indices: Indices) -> Self:
        """Return the rows at the indices, int64 [k]. Raises IndexError for an index out of bounds.

        Consecutive rows are a view.
        """
        return self.unchecked(
            **{
                name: take(column, indices)
                if isinstance(column, np.ndarray)
                else column.take(indices)
                for name, column in vars(self).items()
            }
        )

    @classmethod
    def concat(cls, tables: Sequence[Self]) -> Self:
        """Join the rows of one or more tables."""
        joined: dict[str, object] = {}
        for name, column in vars(tables[0]).items():
            parts = [vars(table)[name] for table in tables]
            joined[name] = concat(parts) if isinstance(column, np.ndarray) else column.concat(parts)
        return cls.unchecked(**joined)


class Column(Rows, Generic[Item]):
    """The base class of columns. An index returns an item, and a slice returns a column of the
    slice's rows.
    """

    @classmethod
    def listed(cls, what: str, items: object) -> object:
        """Make a column from the items in a list. The base class returns `items` unchanged.

        Raises ValueError for a wrong item. what: the column's name, with which the message begins.
        """
        return items

    def replaced(self, what: str, items: object) -> object:
        """Make a column of this column's type from the items in a list. what: as for `listed`."""
        return self.listed(what, items)

    @abstractmethod
    def _item(self, row: int) -> Item:
        """Return the item in a row. row: from 0 to the number of rows - 1."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Item | Self:
        if isinstance(index, slice):
            return self.take(np.arange(*index.indices(len(self))))
        return self._item(self._row(index))

    def __iter__(self) -> Iterator[Item]:
        return (self._item(row) for row in range(len(self)))


def _like(what: str, column: object, given: object) -> object:
    """Convert a new value of a column to the type of the old value `column`.

    given: the new value: an array, a list or a column. what: the column's name, for the message.
    Raises ValueError if the new value does not fit.
    """
    if isinstance(given, FrozenColumns):
        return given
    if isinstance(column, np.ndarray):
        return numbers_like(what, column, given)
    if isinstance(column, Column):
        return column.replaced(what, given)
    return raw(what, given) if isinstance(column, bytes) else given


class _Repeated(NamedTuple):
    """The pickled form of a constant column: its value, as an array [1], and its length."""

    value: NDArray[np.generic]
    n: int


def _packed(column: object) -> object:
    if isinstance(column, np.ndarray) and column.size > 1 and column.strides[0] == 0:
        return _Repeated(column[:1], column.size)
    return column


def _unpacked(column: object) -> object:
    if isinstance(column, _Repeated):
        return np.broadcast_to(column.value[0], (column.n,))
    return column
