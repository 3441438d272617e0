"""The columns of tables, after Arrow's data model: numbers, text, bytes, lists and records.

Each row has a value or none (Arrow: null); `present` says which. NaN is a value. Bytes are
`Strings`. A row without a value is stored as 0 or as an empty list, so equal columns have equal
arrays.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, SupportsIndex, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from exset.core.text import counted, invalid_utf8
from exset.grammars.columns.arrays import (
    Flags,
    Indices,
    Longs,
    as_flags,
    bits,
    check_column,
    check_offsets,
    compact,
    concat,
    concat_offsets,
    constant,
    every,
    frozen,
    offsets_of,
    row_indices,
    run_of,
    same,
    take,
)
from exset.grammars.columns.rows import Column
from exset.grammars.columns.strings import Strings

_NOT_ASCII: Final = 0x80

NUMBER_KINDS: Final = "biufmM"
"""The kinds of dtypes of numbers: bool, integers, floats, durations and dates."""


@dataclass(frozen=True, eq=False, repr=False)
class Numbers(Column[Any]):
    """A column of numbers, or of arrays of one shape: values [n, ...], present bool [n].

    values: bool, integers, floats, or dates and durations of NumPy, in native byte order; a row
    with NaT has no value. Raises ValueError for another dtype or length.
    """

    values: NDArray[Any]
    present: Flags

    def __post_init__(self) -> None:
        values = self.values
        if not isinstance(values, np.ndarray) or not values.ndim:
            raise ValueError("values: expected an array of one dimension or more")
        if values.dtype.kind not in NUMBER_KINDS or values.dtype.itemsize > 8:
            raise ValueError(f"a table cannot store values of the dtype {values.dtype}")
        if not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        if values.dtype.kind == "b":
            values = as_flags(values)
        check_column("present", self.present, np.bool_, len(values))
        if values.dtype.kind in "mM" and (missing := np.isnat(values)).any():
            object.__setattr__(self, "present", self.present & ~missing)
        if not every(self.present) and bits(values[~self.present]).any():
            values = values.copy()
            values[~self.present] = np.zeros((), values.dtype)
        object.__setattr__(self, "values", values)
        self._freeze()

    @classmethod
    def of(cls, values: NDArray[Any], present: Flags | None = None) -> Self:
        """Return a column of numbers; by default all rows are present.

        Raises ValueError for a dtype that a column of numbers cannot have.
        """
        if present is None:
            present = constant(True, len(values), np.bool_)
        return cls(values, compact(present))

    @classmethod
    def concat(cls, columns: Sequence[Self]) -> Self:
        """Join the rows of one or more columns of one type."""
        values, present = [each.values for each in columns], [each.present for each in columns]
        return cls.unchecked(values=concat(values), present=concat(present))

    def __len__(self) -> int:
        return len(self.values)

    def _item(self, row: int) -> object:
        if not self.present[row]:
            return None
        item = self.values[row]
        return item.item() if self.values.ndim == 1 else item

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of each row; () for single numbers."""
        return self.values.shape[1:]

    @property
    def type(self) -> str:
        """The type as text, such as `float32[20]`."""
        return f"{self.values.dtype}{list(self.shape) if self.shape else ''}"


@dataclass(frozen=True, eq=False, repr=False)
class Text(Strings):
    """A column of text, stored as `Strings` in UTF-8. Raises ValueError for bytes that are not
    UTF-8.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if (wrong := first_wrong_text(self)) is not None:
            raise ValueError(f"text: row {wrong} is not UTF-8")

    def _item(self, row: int) -> str | None:  # type: ignore[override]
        found = super()._item(row)
        return None if found is None else found.decode()

    def __iter__(self) -> Iterator[str | None]:  # type: ignore[override]
        return (None if each is None else each.decode() for each in super().__iter__())

    def text(self, index: SupportsIndex) -> str | None:
        """Return the text of a row."""
        return cast("str | None", self[index])


def text_or_bytes(strings: Strings) -> Strings:
    """Return strings as a column of `Text` if all are UTF-8, else unchanged, as bytes."""
    if isinstance(strings, Text) or first_wrong_text(strings) is not None:
        return strings
    return Text.unchecked(**vars(strings))


def first_wrong_text(strings: Strings) -> int | None:
    """Return the number of the first row that is not UTF-8; None if all are."""
    if (at := invalid_utf8(strings.data.data)) is not None:
        return int(np.searchsorted(strings.offsets, at, "right")) - 1
    if strings.data.max(initial=0) < _NOT_ASCII:
        return None
    begins = strings.offsets[:-1][strings.lengths > 0]
    inside = (strings.data[begins] & 0xC0) == 0x80  # a row begins within a character
    if not inside.any():
        return None
    return int(np.searchsorted(strings.offsets, begins[inside.argmax()], "left")) - 1


@dataclass(frozen=True, eq=False, repr=False)
class Lists(Column[Any]):
    """A column of lists.

    items: a column with the items of all lists. offsets: int64 [n + 1]; row i has the items
    offsets[i]:offsets[i + 1]. present: bool [n]. Raises ValueError for offsets that do not fit.
    """

    items: "TableColumn"
    offsets: Longs
    present: Flags

    def __post_init__(self) -> None:
        check_offsets("offsets", self.offsets, len(self.items))
        check_column("present", self.present, np.bool_, self.offsets.size - 1)
        if (~self.present & (self.offsets[1:] > self.offsets[:-1])).any():
            raise ValueError("present: a list that is not present has items")
        self._freeze()

    @classmethod
    def of(cls, items: "TableColumn", lengths: Longs, present: Flags | None = None) -> Self:
        """Return a column of lists of the given lengths; by default all rows are present."""
        if present is None:
            present = constant(True, lengths.size, np.bool_)
        return cls(items, offsets_of(compact(lengths)), compact(present))

    @classmethod
    def concat(cls, columns: Sequence[Self]) -> Self:
        """Join the rows of one or more columns of one type."""
        return cls.unchecked(
            items=concat_columns([each.items for each in columns]),
            offsets=concat_offsets([each.offsets for each in columns]),
            present=concat([each.present for each in columns]),
        )

    def __len__(self) -> int:
        return self.present.size

    def _item(self, row: int) -> "TableColumn | None":
        if not self.present[row]:
            return None
        found: TableColumn = self.items[int(self.offsets[row]) : int(self.offsets[row + 1])]
        return found

    @property
    def lengths(self) -> Longs:
        """The length of each list: int64 [n]."""
        return np.diff(self.offsets)

    @property
    def type(self) -> str:
        """The type as text, such as `list<float32>`."""
        return f"list<{type_of(self.items)}>"

    def take(self, indices: Indices) -> Self:
        """Return the rows at the indices, int64 [k]. Raises IndexError if one is out of bounds."""
        begins, lengths = take(self.offsets[:-1], indices), take(self.lengths, indices)
        items: Indices
        if (run := run_of(indices, len(self))) is not None:
            items = slice(int(self.offsets[run.start]), int(self.offsets[run.stop]))
        else:
            items = row_indices(begins, lengths)
        return self.unchecked(
            items=self.items.take(items),
            offsets=offsets_of(lengths),
            present=take(self.present, indices),
        )


class Row(dict[str, Any]):
    """A row of a table, or a record, as a dict of values by name. Numbers are compared bitwise."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        return self.keys() == other.keys() and all(
            _same_value(value, other[name]) for name, value in self.items()
        )


@dataclass(frozen=True, eq=False, repr=False)
class Records(Column[Any]):
    """A column of records (Arrow: structs), such as the dicts of JSON.

    fields: a column of n rows for each field, by name. present: bool [n]. In a row without a
    record, no field has a value. Raises ValueError for fields of other lengths.
    """

    fields: "dict[str, TableColumn]"
    present: Flags

    def __post_init__(self) -> None:
        check_column("present", self.present, np.bool_)
        for name, column in self.fields.items():
            if len(column) != self.present.size:
                expected = counted(self.present.size, "row")
                raise ValueError(f"{name}: expected {expected}, not {len(column)}")
        if not self.present.all():
            fields = {name: masked(column, self.present) for name, column in self.fields.items()}
            object.__setattr__(self, "fields", fields)
        self._freeze()

    @classmethod
    def concat(cls, columns: Sequence[Self]) -> Self:
        """Join the rows of one or more columns of one type."""
        return cls.unchecked(
            fields=concat_fields([each.fields for each in columns]),
            present=concat([each.present for each in columns]),
        )

    def __len__(self) -> int:
        return self.present.size

    def _item(self, row: int) -> Row | None:
        if not self.present[row]:
            return None
        return Row((name, column[row]) for name, column in self.fields.items())

    @property
    def type(self) -> str:
        """The type as text, such as `record<group: text, values: list<float32>>`."""
        fields = (f"{name}: {type_of(column)}" for name, column in self.fields.items())
        return f"record<{', '.join(fields)}>"

    def take(self, indices: Indices) -> Self:
        """Return the rows at the indices, int64 [k]. Raises IndexError if one is out of bounds."""
        return self.unchecked(
            fields={name: column.take(indices) for name, column in self.fields.items()},
            present=take(self.present, indices),
        )


def _same_value(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and same(one, other)
    if isinstance(one, float) and isinstance(other, float):
        return same(np.array([one]), np.array([other]))
    return bool(one == other)


TableColumn: TypeAlias = Numbers | Strings | Lists | Records
"""A column of a table; `Strings` are bytes, or text if they are `Text`."""

ColumnPath: TypeAlias = tuple[str, ...]
"""The path of a column: its name, then the names of fields, and `ITEM` for the items of lists."""

ITEM: Final = "[]"


def type_of(column: TableColumn) -> str:
    """Return the type of a column as text, such as `int32`, `float32[20]`, `text`, `list<text>`."""
    if isinstance(column, Strings):
        return "text" if isinstance(column, Text) else "bytes"
    return column.type


def masked(column: TableColumn, present: Flags) -> TableColumn:
    """Return the column without the values of the rows for which `present` is false. Rows that had
    no value still have none.
    """
    if not (column.present & ~present).any():
        return column
    present = column.present & present
    if isinstance(column, Numbers):
        return Numbers.of(column.values, present)
    if isinstance(column, Lists):
        return dense_lists(column.items, column.offsets, present)
    if isinstance(column, Records):
        return Records(column.fields, present)
    strings = Strings.from_spans(column.data, column.offsets[:-1], column.offsets[1:], present)
    return Text.unchecked(**vars(strings)) if isinstance(column, Text) else strings


def spread(column: TableColumn, rows: Longs, count: int) -> TableColumn:
    """Return a column of `count` rows. It has the rows of `column` in the given places; the other
    rows have no value.

    rows: int64, ascending: the new row of each old one.
    """
    present = constant(False, count, np.bool_)
    if rows.size:
        present = np.zeros(count, np.bool_)
        present[rows] = column.present
    if isinstance(column, Numbers):
        values = np.zeros((count, *column.shape), column.values.dtype)
        values[rows] = column.values
        return Numbers.unchecked(values=values, present=present)
    if isinstance(column, Records):
        fields = {name: spread(each, rows, count) for name, each in column.fields.items()}
        return Records.unchecked(fields=fields, present=present)
    offsets = constant(0, count + 1, np.int64)
    if rows.size:
        offsets = np.zeros(count + 1, np.int64)
        offsets[1:][rows] = column.lengths
        offsets = frozen(np.cumsum(offsets, out=offsets))
    inside = {"items": column.items} if isinstance(column, Lists) else {"data": column.data}
    return type(column).unchecked(**inside, offsets=offsets, present=present)


def dense_lists(items: TableColumn, offsets: Longs, present: Flags) -> Lists:
    """Make a column of lists, and drop items of rows that have no list. Arrow allows such items,
    but exset does not.

    items: the items of all lists. offsets: row i has the items offsets[i]:offsets[i + 1]. present:
    for each row, whether it is present.
    """
    lengths = np.where(present, np.diff(offsets), 0)
    if lengths.sum() != offsets[-1]:
        items = items.take(row_indices(offsets[:-1], lengths))
    return Lists.of(items, lengths, present)


def concat_columns(columns: "Sequence[TableColumn]") -> "TableColumn":
    """Join the rows of one or more columns of one type."""
    first: Any = columns[0]
    joined: TableColumn = first.concat(columns)
    return joined


def concat_fields(parts: "Sequence[Mapping[str, TableColumn]]") -> "dict[str, TableColumn]":
    """Join the columns of one or more tables, or of records, that have the same names."""
    return {name: concat_columns([part[name] for part in parts]) for name in parts[0]}
