"""Tables as flat arrays by name, for formats that store arrays but no nested columns.

A column `x` of numbers is the array `x`. Text, bytes and lists are `x.values` and `x.offsets`,
int64 [rows + 1]. The items of all lists are stored like a column called `x.values`. A field of a
record is stored like a column called `x.FIELD`. A column in which some rows have no value also has
`x.present`, bool. A JSON object, the forms of the columns, says how to restore the table from the
arrays.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import constant
from exset.grammars.tables.columns import (
    ITEM,
    ColumnPath,
    Lists,
    Numbers,
    Records,
    TableColumn,
    Text,
)
from exset.grammars.tables.survey import Survey
from exset.grammars.tables.table import Table

Array: TypeAlias = NDArray[Any]
Form: TypeAlias = "str | dict[str, Any]"
"""The form of a column in JSON: `numbers`, `text`, `bytes`, {"list": form}, {"record": forms}."""

KEY: Final = "exset"
"""The name of the JSON value with the metadata of a table, and with the forms of its columns."""


def flattened(
    table: Table, absent: Collection[ColumnPath] | None = None
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the arrays of a table by name, and a JSON object with its metadata and its forms.

    absent: for a chunk of a table, the paths of the columns that must have an array `x.present`.
    Raises ValueError if two columns need an array of the same name. An array `x.present` that the
    column `x` does not need must not be there for another column: a reader would use it for `x`.
    """
    arrays: dict[str, Array | None] = {}
    forms = {
        name: _flatten(name, column, arrays, (name,), absent)
        for name, column in table.columns.items()
    }
    needed = {name: array for name, array in arrays.items() if array is not None}
    return needed, {**table.metadata, "columns": forms, "rows": table.rows}


def _flatten(
    name: str,
    column: TableColumn,
    arrays: dict[str, Array | None],
    path: ColumnPath,
    absent: Collection[ColumnPath] | None,
) -> Form:
    is_needed = not column.present.all() if absent is None else path in absent
    _put(arrays, f"{name}.present", column.present if is_needed else None)
    if isinstance(column, Numbers):
        _put(arrays, name, column.values)
        return "numbers"
    if isinstance(column, Records):
        return {
            "record": {
                key: _flatten(f"{name}.{key}", field, arrays, (*path, key), absent)
                for key, field in column.fields.items()
            }
        }
    _put(arrays, f"{name}.offsets", column.offsets)
    if isinstance(column, Lists):
        return {"list": _flatten(f"{name}.values", column.items, arrays, (*path, ITEM), absent)}
    _put(arrays, f"{name}.values", column.data)
    return "text" if isinstance(column, Text) else "bytes"


def lengths_of(forms: Mapping[str, Form], survey: Survey) -> tuple[dict[str, int], set[str]]:
    """Return the length of each array of a table by name, and the names of the arrays that
    have offsets.

    forms: the forms of the columns, by name. survey: the totals over the whole table.
    """
    lengths: dict[str, int] = {}
    offsets: set[str] = set()
    for name, form in forms.items():
        for array, length, has_offsets in _lengths(name, form, (name,), survey.rows, survey):
            lengths[array] = length
            if has_offsets:
                offsets.add(array)
    return lengths, offsets


def _lengths(
    name: str, form: Form, path: ColumnPath, rows: int, survey: Survey
) -> Iterator[tuple[str, int, bool]]:
    """Yield for each array of a column its name, its length and whether it contains offsets.

    name: how the names of the column's arrays begin. path: the names that lead to the column in
    the table.
    rows: the number of rows of the column.
    """
    if path in survey.absent:
        yield f"{name}.present", rows, False
    match form:
        case "numbers":
            yield name, rows, False
        case "text" | "bytes":
            yield f"{name}.offsets", rows + 1, True
            yield f"{name}.values", survey.totals[path], False
        case {"list": item}:
            yield f"{name}.offsets", rows + 1, True
            yield from _lengths(f"{name}.values", item, (*path, ITEM), survey.totals[path], survey)
        case {"record": dict() as fields}:
            for key, inner in fields.items():
                yield from _lengths(f"{name}.{key}", inner, (*path, key), rows, survey)


def _put(arrays: dict[str, Array | None], name: str, array: Array | None) -> None:
    """Add an array, or None to keep its name free.

    Raises ValueError if two columns would share the name.
    """
    if name in arrays:
        raise ValueError(f"two columns need an array called {name!r}: rename one of them")
    arrays[name] = array


def from_foreign(arrays: Mapping[str, Array | TableColumn]) -> tuple[Table, bool]:
    """Return a table made from arrays that exset did not write, and whether their lengths differ.

    If all arrays have the same length, each element along the first axis becomes a row. If their
    lengths differ, the table has one row that contains the whole arrays. `x.values` with
    `x.offsets` becomes a column of lists, and an array of records becomes a column for each field.
    A value that is a column already is used as it is. Raises ValueError for a dtype that tables do
    not have.
    """
    given = dict(_columns(arrays))
    lengths = {len(column) for column in given.values() if not isinstance(column, np.generic)}
    is_single = len(lengths) > 1 or any(isinstance(each, np.generic) for each in given.values())
    if not is_single:
        return Table.of(given), False
    return Table.of({name: _as_one_row(column) for name, column in given.items()}), True


def foreign_forms(
    arrays: "Mapping[str, tuple[np.dtype[Any] | None, tuple[int, ...]]]",
) -> dict[str, Any] | None:
    """Return the forms of the columns that `from_foreign` makes from arrays with these dtypes.

    arrays: the dtype and the shape of each array; the dtype of text is None. Return None if the
    forms also depend on the values in the arrays.
    """
    forms: dict[str, Form] = {}
    rows: set[int] = set()
    for name, (dtype, shape) in arrays.items():
        if not shape or (dtype is not None and (dtype.kind not in "biuf" or dtype.itemsize > 8)):
            return None
        stem, _, part = name.rpartition(".")
        is_ragged = bool(stem) and f"{stem}.values" in arrays and f"{stem}.offsets" in arrays
        if is_ragged and part == "values":
            forms[stem] = {"list": "numbers" if dtype is not None else "text"}
        elif is_ragged and part == "offsets":
            rows.add(shape[0] - 1)
        else:
            forms[name] = "numbers" if dtype is not None else "text"
            rows.add(shape[0])
    return {"columns": forms, "rows": rows.pop()} if len(rows) == 1 else None


def _columns(arrays: Mapping[str, Array | TableColumn]) -> "list[tuple[str, Any]]":
    found: list[tuple[str, Any]] = []
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            found.append((name, array))
            continue
        stem, _, part = name.rpartition(".")
        is_ragged = f"{stem}.values" in arrays and f"{stem}.offsets" in arrays
        if part in ("values", "offsets") and stem and is_ragged:
            if part == "values":
                found.append((stem, _ragged(stem, array, arrays[f"{stem}.offsets"])))
        else:
            found += _fields(name, array)
    return found


def _fields(name: str, array: Array) -> "list[tuple[str, Any]]":
    """Return pairs of a name and an array; an array of records gives a pair `name.field` for each
    field.

    A field that is itself an array of records is split in the same way.
    """
    if not array.dtype.names:
        return [(name, array if array.ndim else array[()])]
    names = array.dtype.names
    return [each for field in names for each in _fields(f"{name}.{field}", array[field])]


def _ragged(name: str, values: Array, offsets: Any) -> Lists:
    try:
        rows = np.asarray(offsets, np.int64)
        return Lists(Numbers.of(values), rows, constant(True, rows.size - 1, np.bool_))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: {error}") from None


def _as_one_row(column: Any) -> Any:
    if isinstance(column, np.generic):
        return np.array([column])
    if isinstance(column, np.ndarray) and column.dtype.kind not in "US":
        return column[np.newaxis]
    if isinstance(column, np.ndarray):
        return [list(column)]
    return Lists.of(column, np.array([len(column)], np.int64))
