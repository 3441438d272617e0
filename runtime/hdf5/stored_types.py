"""Convert the types of columns to types in HDF5 files with a group for each row, and back.

LBANN's HDF5 files have only integers, floats and text: bool is stored as uint8, float16 as float32,
dates as int64, and bytes as arrays of uint8. The metadata of the file store the original types.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.strings import Strings
from exset.grammars.tables.column_types import absent, as_lists
from exset.grammars.tables.columns import Lists, Numbers, TableColumn
from exset.runtime.hdf5.metadata import NAMES


def stored_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype with which HDF5 stores numbers that have the dtype `dtype` in a table."""
    if dtype.kind in "mM":
        return np.dtype(np.int64)
    return np.dtype({"bool": "uint8", "float16": "float32"}.get(dtype.name, dtype.name))


def restored(
    columns: dict[str, TableColumn], types: object, own: Mapping[str, Any], rows: int
) -> dict[str, TableColumn] | None:
    """Return the columns with the types that they had before exset wrote them.

    types: {column name: type}, from the metadata. own: the metadata of exset, with the original
    names of columns whose names HDF5 does not allow. Returns None if another program has changed
    the fields since exset wrote them.
    """
    names = own.get(NAMES)
    names = names if isinstance(names, dict) else {}
    left = {names.get(name, name): column for name, column in columns.items()}
    found: dict[str, TableColumn] = {}
    try:
        for name, kind in types.items() if isinstance(types, dict) else ():
            column = left.pop(name, None)
            wanted = absent(str(kind), rows if column is None else 0)
            found[name] = wanted if column is None else _typed(column, wanted)
    except (ValueError, TypeError):
        return None
    return None if left or not isinstance(types, dict) else found


def _typed(column: TableColumn, wanted: TableColumn) -> TableColumn:
    """Return the column `column` with the type of the column `wanted`.

    Raises ValueError if exset does not store the type of `wanted` as the type of `column`.
    """
    if isinstance(wanted, Numbers):
        if not isinstance(column, Numbers) or column.shape != wanted.shape:
            raise ValueError
        return Numbers.of(_as_dtype(column.values, wanted.values.dtype), column.present)
    if isinstance(wanted, Strings) and isinstance(column, Strings):
        return type(wanted)(column.data, column.offsets, column.present)
    lists = as_lists(column)
    if lists is None:
        raise ValueError
    if isinstance(wanted, Lists):
        return Lists(_typed(lists.items, wanted.items), lists.offsets, lists.present)
    if not isinstance(wanted, Strings) or not isinstance(lists.items, Numbers):
        raise ValueError
    return type(wanted)(lists.items.values, lists.offsets, lists.present)


def _as_dtype(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    if values.dtype != stored_dtype(dtype):
        raise ValueError
    if dtype.kind in "mM":
        return values.view(dtype)
    return values.astype(dtype, copy=False)
