"""Give the columns of a CSV file the types that its sidecar declares."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import side_by_side
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.column_types import absent, cast
from exset.grammars.tables.columns import Numbers, TableColumn, Text
from exset.grammars.tables.sidecar import check_rows, metadata_of
from exset.grammars.tables.table import Table

_REAL: Final = np.dtype(np.float64)
_TIE: Final = 1 << 28
_TAIL: Final = (1 << 29) - 1  # the bits that rounding to binary32 drops


def typed(columns: Mapping[str, TableColumn], rows: int, value: Mapping[str, Any]) -> Table:
    """Return a table of the columns, with the types and the metadata that a sidecar declares.

    columns: as CSV has them, with a column for each number of an array. value: the content of the
    sidecar. Raises ValueError if they do not fit each other.
    """
    check_rows(value, rows)
    left = dict(columns)
    made: dict[str, TableColumn] = {}
    for name, kind in value["columns"].items():
        wanted = absent(kind, rows)
        if isinstance(wanted, Numbers) and len(wanted.shape) == 1:
            names = [f"{name}:{unit}" for unit in range(wanted.shape[0])]
            made[name] = _stacked(names, left, wanted, kind)
        else:
            made[name] = _typed(name, left, wanted, kind)
    if left:
        raise ValueError(f"it does not name the column {next(iter(left))!r}")
    return Table(made, rows, metadata_of(value))


def _typed(name: str, left: dict[str, TableColumn], wanted: TableColumn, kind: str) -> Any:
    """Remove the column `name` from `left`, and return it with the type of the column `wanted`.

    kind: the name of this type; for a column of arrays, of their numbers.
    """
    if name not in left:
        raise ValueError(f"there is no column {name!r}")
    column = left.pop(name)
    made: TableColumn | None = None
    if isinstance(wanted, Numbers):
        made = _numbers(column, wanted.values.dtype)
    elif isinstance(wanted, Strings) and isinstance(column, Text):
        made = type(wanted).unchecked(**vars(column))
    if made is None:
        raise ValueError(f"the column {name!r} is not {kind}")
    return made


def _stacked(
    names: list[str], left: dict[str, TableColumn], wanted: Numbers, kind: str
) -> TableColumn:
    """Remove the columns `names` from `left`, and return them as one column of arrays.

    wanted: a column with the type of the result. kind: the type of the numbers. If no given column
    has a value in a row, the row of the result has none.
    """
    if not names:
        raise ValueError("CSV cannot store empty arrays")
    given = [left.get(each) for each in names]
    floats = [each for each in given if isinstance(each, Numbers) and each.values.dtype == _REAL]
    dtype = wanted.values.dtype
    if dtype.kind == "f" and len(floats) == len(given):
        for each in names:
            del left[each]
        values = reals(side_by_side([each.values for each in floats]), dtype)
        return Numbers.of(values, np.any([each.present for each in floats], axis=0))
    units = [_typed(each, left, wanted, kind) for each in names]
    values = np.stack([each.values for each in units], axis=1)
    return Numbers.of(values, np.any([each.present for each in units], axis=0))


def _numbers(column: TableColumn, dtype: np.dtype[Any]) -> Numbers | None:
    """Return a column as numbers of a dtype, or None if this would change a value."""
    if isinstance(column, Numbers):
        if dtype.kind == "M":  # a year
            return Numbers.of(column.values.astype(np.str_).astype(dtype), column.present)
        if dtype.kind == "m" and column.values.dtype == np.int64:
            return Numbers.of(column.values.view(dtype), column.present)
        if dtype.kind == "f" and column.values.dtype == np.float64:
            return Numbers.of(reals(column.values, dtype), column.present)
        return cast(column, dtype, ())
    if not isinstance(column, Text):
        return None
    texts, present = np.array([each or "" for each in column], np.str_), column.lengths > 0
    if not present.any():
        return Numbers.of(np.zeros(len(column), dtype), present)
    if dtype.kind == "M":
        return Numbers.of(texts.astype(dtype), present)
    if dtype.kind != "b" or not np.isin(texts[present], ("true", "false")).all():
        return None
    return Numbers.of(texts == "true", present)


def reals(values: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert numbers that were read from decimals to the dtype from which they were written.

    Each decimal was the shortest for a number of this dtype. Reading a decimal as float64 may give
    exactly the middle between two numbers of the dtype. Then the result is the one whose shortest
    decimal it was.
    """
    with np.errstate(over="ignore"):
        made = values.astype(dtype)
    if dtype == np.float32:
        for at in zip(*np.nonzero(values.view(np.int64) & _TAIL == _TIE), strict=True):
            near = made[at]
            sides = np.nextafter(near, np.array([-np.inf, np.inf], np.float32))
            made[at] = next((each for each in sides if float(str(each)) == values[at]), near)
    return made
