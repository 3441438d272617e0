"""Split columns of arrays into a column for each unit, `inputs.onset:0`, and join them again.

Cells of CSV and pandas have single numbers only.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import side_by_side
from exset.grammars.tables.columns import Numbers, TableColumn

_MOST: Final = 1 << 17
"""How many columns an array becomes at most: a small file may have a wide array without rows."""
_UNIT: Final = re.compile(r"(.+):(0|[1-9][0-9]{0,8})", re.DOTALL)


def split_units(columns: Mapping[str, TableColumn]) -> dict[str, TableColumn]:
    """Return columns in which arrays of one dimension are split into columns of numbers,
    `NAME:UNIT`. Arrays that are too wide stay whole.
    """
    split: dict[str, TableColumn] = {}
    for name, column in columns.items():
        if isinstance(column, Numbers) and len(column.shape) == 1 and not is_too_wide(column):
            for unit in range(column.shape[0]):
                split[f"{name}:{unit}"] = Numbers.of(column.values[:, unit], column.present)
        else:
            split[name] = column
    return split


def join_units(columns: Mapping[str, TableColumn]) -> dict[str, TableColumn]:
    """Return columns in which columns of numbers `NAME:0` to `NAME:K` are joined to one column of
    arrays.

    If no unit has a value in a row, the row of the result has none. Columns stay as they are if one
    of the units is missing, or if no common type holds their integers exactly.
    """
    units: dict[str, dict[int, Numbers]] = {}
    for name, column in columns.items():
        found = _UNIT.fullmatch(name)
        if found and isinstance(column, Numbers) and not column.shape:
            units.setdefault(found[1], {})[int(found[2])] = column
    whole = {
        name: array
        for name, parts in units.items()
        if sorted(parts) == list(range(len(parts))) and name not in columns
        if (array := _joined(parts)) is not None
    }
    joined: dict[str, TableColumn] = {}
    for name, column in columns.items():
        found = _UNIT.fullmatch(name)
        if found and found[1] in whole and int(found[2]) in units[found[1]]:
            joined.setdefault(found[1], whole[found[1]])
        else:
            joined[name] = column
    return joined


def is_too_wide(column: Numbers) -> bool:
    """Return whether the rows of a column have too many numbers for a column each."""
    return math.prod(column.shape) > _MOST


def unit_groups(names: Iterable[str]) -> dict[str, list[str]]:
    """Find the columns that are the units of an array, such as `inputs:0`; return their names
    by the name of the array, `inputs`.
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        if found := _UNIT.fullmatch(name):
            groups.setdefault(found[1], []).append(name)
    return groups


def is_unit(name: str) -> bool:
    """Return whether a column's name ends with the number of a unit, such as `inputs:0`."""
    return _UNIT.fullmatch(name) is not None


def _joined(parts: dict[int, Numbers]) -> Numbers | None:
    """Join columns to one column of arrays. parts: the column of each unit, by its number.

    If only some units of a row have a value, the others become NaN. Return None if the units have
    different types, and no common type holds all integers exactly.
    """
    ordered = [parts[unit] for unit in range(len(parts))]
    dtype = _common_type(ordered)
    present = np.any([part.present for part in ordered], axis=0)
    if any((part.present != present).any() for part in ordered):
        dtype = np.result_type(dtype, np.float32)
    values = side_by_side([part.values.astype(dtype, copy=False) for part in ordered])
    if values.base is not None and not all(part.present.all() for part in ordered):
        values = values.copy()
    for unit, part in enumerate(ordered):
        if part.values.dtype.kind in "iu" and not _is_same(values[:, unit], part.values):
            return None
        if (missing := present & ~part.present).any():
            values[missing, unit] = np.nan
    return Numbers.of(values, present)


def _common_type(columns: list[Numbers]) -> np.dtype[Any]:
    """Return a dtype that holds the values of all columns.

    Signed and unsigned integers together become unsigned if none is negative.
    """
    dtypes = [each.values.dtype for each in columns]
    if {dtype.kind for dtype in dtypes} == {"i", "u"}:
        least = min((each.values.min(initial=0) for each in columns), default=0)
        if least >= 0:
            return np.dtype(np.uint64)
    return np.result_type(*dtypes)


def _is_same(values: NDArray[Any], integers: NDArray[Any]) -> bool:
    with np.errstate(invalid="ignore"):
        return bool((values.astype(integers.dtype) == integers).all())
