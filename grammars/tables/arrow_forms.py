"""Change tables so that files of Arrow data can store them, and change them back when read.

Older readers of Parquet cannot read lists of fixed length if rows have no value or the lists are
nested. So exset stores such arrays as lists of any length. Where every row has a record, a reader
makes columns of the records' fields, with a dot in the name. A JSON object in the metadata, the
forms, says what the columns were: {"columns": {"a": "float32[2]", "b": {"list": "text"}, "c":
{"record": {"d": "int8"}}}}.
"""

import re
from collections.abc import Container, Iterator, Mapping
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from exset.grammars.columns.arrays import constant, same
from exset.grammars.tables.columns import (
    ITEM,
    ColumnPath,
    Lists,
    Numbers,
    Records,
    TableColumn,
    type_of,
)
from exset.grammars.tables.fixed import as_nested_lists, as_numbers
from exset.grammars.tables.table import Table

Form: TypeAlias = "str | dict[str, Any]"
"""A type of numbers, `text`, `bytes`, {"list": form} or {"record": forms}, in JSON."""

FORMS: Final = "columns"
"""The member of the metadata in a file with the forms of the columns."""

_TYPE: Final = re.compile(r"(\w+(?:\[\d*[a-zA-Z]+\])?)(?:\[(\d+(?:, \d+)*)\])?")
_SHAPES: Final = 32  # the most dimensions that NumPy had before 2.0


def to_store(table: Table, absent: Container[ColumnPath]) -> Table:
    """Return the table as the file stores it, with the forms in its metadata.

    absent: the paths of the columns that have rows without a value anywhere in the file; `table`
    may be only a chunk of the file. Raises ValueError for names and dtypes that Arrow does not
    have.
    """
    columns: dict[str, TableColumn] = {}
    taken: set[str] = set()
    for name, column in table.columns.items():
        check_name(name)
        for flat in _flat_names((name,), column, absent):
            if flat in taken:
                raise ValueError(f"two columns would be read as {flat!r}")
            taken.add(flat)
        columns[name] = _stored(column, (name,), absent)
    if not columns and table.rows:
        raise ValueError("rows without columns")
    forms = {name: form_of(column) for name, column in table.columns.items()}
    return Table(columns, table.rows, {**table.metadata, FORMS: forms})


def from_stored(table: Table, most: int) -> Table:
    """Return the table from which `to_store` made this one. Columns that do not fit their forms
    stay unchanged.

    most: how many bytes a column of arrays may need; a larger one stays unchanged.
    """
    forms = table.metadata.get(FORMS)
    if not isinstance(forms, dict):
        return table
    left = dict(table.columns)
    columns: dict[str, TableColumn] = {}
    for name, form in forms.items():
        found = _taken(name, form, left, table.rows, most, 0)
        if found is not None:
            columns[name] = found
    metadata = {name: value for name, value in table.metadata.items() if name != FORMS}
    return Table({**columns, **left}, table.rows, metadata)


def form_of(column: TableColumn) -> Form:
    """Return the form of a column, as JSON: such as "text" or {"list": "text"}."""
    if isinstance(column, Lists):
        return {"list": form_of(column.items)}
    if isinstance(column, Records):
        return {"record": {name: form_of(field) for name, field in column.fields.items()}}
    return type_of(column)


def check_name(name: str) -> None:
    """Raise ValueError for a name that Arrow data cannot have."""
    if "\0" in name:
        raise ValueError("a name with a NUL character")
    name.encode()


def _flat_names(
    path: ColumnPath, column: TableColumn, absent: Container[ColumnPath]
) -> Iterator[str]:
    """Yield the names of the columns that a reader makes from one column: several for a record.

    path: the names that lead to the column. absent: the paths of the columns that have rows
    without a value.
    """
    if isinstance(column, Records) and path not in absent:
        for key, field in column.fields.items():
            yield from _flat_names((*path, key), field, absent)
    else:
        yield ".".join(path)


def _stored(column: TableColumn, path: ColumnPath, absent: Container[ColumnPath]) -> TableColumn:
    if isinstance(column, Numbers):
        column = _with_unit(column)
        if len(path) > 1 or path in absent or not prod(column.shape):
            return as_nested_lists(column)
    elif isinstance(column, Lists):
        items = _stored(column.items, (*path, ITEM), absent)
        return Lists(items, column.offsets, column.present)
    elif isinstance(column, Records):
        for name in column.fields:
            check_name(name)
        fields = {
            name: _stored(field, (*path, name), absent) for name, field in column.fields.items()
        }
        return Records(fields, column.present)
    return column


def _with_unit(column: Numbers) -> Numbers:
    """Return dates and durations in a unit that Parquet has.

    Raises ValueError for times that no such unit can store exactly.
    """
    kind, values = column.values.dtype.kind, column.values
    if kind not in "mM":
        return column
    unit, count = np.datetime_data(values.dtype)
    if count == 1 and unit in ("ms", "us", "ns", "s" if kind == "m" else "D"):
        return column
    if unit not in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns") or (
        kind == "m" and unit in ("Y", "M")
    ):
        raise ValueError(f"times with the unit {unit!r}")
    new = unit if unit in ("us", "ns") else "ms"
    try:
        changed = values.astype(f"{kind}8[{new}]")
        is_same = same(changed.astype(values.dtype), values)
    except OverflowError:  # NumPy before 2.5 gives other times instead
        is_same = False
    if not is_same:
        raise ValueError(f"times beyond the range of the unit {new!r}")
    return Numbers.of(changed, column.present)


def _taken(
    name: str, form: object, left: dict[str, TableColumn], rows: int, most: int, depth: int
) -> TableColumn | None:
    """Remove a column from `left`, restore it to its form, and return it; None if it is missing.

    A record may be in `left` as a column for each of its fields. rows: of the table. most: as for
    `from_stored`. depth: how many records contain the column.
    """
    if name in left:
        return _fitted(left.pop(name), form, most)
    if depth > _SHAPES or not isinstance(form, dict) or not isinstance(form.get("record"), dict):
        return None
    forms = form["record"]
    fields = {
        key: _taken(f"{name}.{key}", inner, left, rows, most, depth + 1)
        for key, inner in forms.items()
    }
    found = {key: field for key, field in fields.items() if field is not None}
    if len(found) == len(forms):
        return Records(found, constant(True, rows, np.bool_))
    left.update({f"{name}.{key}": field for key, field in found.items()})
    return None


def _fitted(column: TableColumn, form: object, most: int) -> TableColumn:
    """Return a column converted to the type that `form` describes, or unchanged if its values do
    not fit.

    most: as for `from_stored`.
    """
    if isinstance(form, str) and isinstance(column, Numbers | Lists):
        numbers = _as_numbers(column, form, most)
        return column if numbers is None else numbers
    if not isinstance(form, dict):
        return column
    if isinstance(column, Lists):
        return Lists(_fitted(column.items, form.get("list"), most), column.offsets, column.present)
    forms = form.get("record")
    if isinstance(column, Records) and isinstance(forms, Mapping):
        fields = {
            name: _fitted(field, forms.get(name), most) for name, field in column.fields.items()
        }
        return Records(fields, column.present)
    return column


def _as_numbers(column: Numbers | Lists, form: str, most: int) -> Numbers | None:
    """Return a column as numbers of the type `form`, such as `float32[2]`; None if they do not
    fit or would need more than `most` bytes.

    Also return None if the column has this type already.
    """
    found = _TYPE.fullmatch(form)
    if found is None or form == type_of(column):
        return None
    shape = tuple(int(size) for size in found[2].split(", ")) if found[2] else ()
    if len(shape) > _SHAPES or prod(shape) * len(column) * 8 > max(most, 1):
        return None
    numbers = as_numbers(column, shape)
    try:
        dtype = np.dtype(found[1])
    except TypeError:
        return None
    if numbers is None or numbers.values.dtype == dtype:
        return numbers
    if dtype.kind not in "iumM" or (dtype.kind != numbers.values.dtype.kind and dtype.kind in "mM"):
        return None
    changed = numbers.values.astype(dtype)
    if not same(changed.astype(numbers.values.dtype), numbers.values):
        return None
    return Numbers.of(changed, numbers.present)
