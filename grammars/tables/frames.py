"""Convert tables to DataFrames of pandas and to Datasets of xarray."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from exset.grammars.columns.arrays import as_singles
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn, Text, type_of
from exset.grammars.tables.unit_columns import split_units

if TYPE_CHECKING:
    import pandas
    import xarray

INDEX = ("example", "event")
"""The columns that become the index of a DataFrame, unless they have lists or records."""


def to_pandas(columns: Mapping[str, TableColumn], rows: int) -> "pandas.DataFrame":
    """Return a DataFrame, in which a column of arrays becomes the columns `NAME:0`, `NAME:1` and
    so on.

    Text gets pandas' dtype for text. Bytes, lists, records and arrays of many numbers become
    objects. Raises ImportError without pandas.
    """
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from None
    series = {name: _series(column) for name, column in split_units(columns).items()}
    frame = pandas.DataFrame(series, index=pandas.RangeIndex(rows))
    nested = {name for name, column in columns.items() if isinstance(column, Lists | Records)}
    index = [name for name in INDEX if name in series and name not in nested]
    return frame.set_index(index) if index else frame


def _series(column: TableColumn) -> Any:
    import pandas

    if isinstance(column, Text):
        return pandas.Series(list(column), dtype="str")
    if not isinstance(column, Numbers) or column.shape:
        return pandas.Series([_plain(column, row) for row in range(len(column))], dtype=object)
    values, kind = column.values, column.values.dtype.kind
    if column.present.all():
        return pandas.Series(values)
    if kind in "mM":
        return pandas.Series(np.where(column.present, values, np.array("NaT", values.dtype)))
    if kind == "f":
        # Only the nullable dtypes of pandas keep absent rows and NaN apart.
        if values.dtype.itemsize < 4:
            values = as_singles(values)
        return pandas.Series(pandas.arrays.FloatingArray(values.copy(), ~column.present))
    if kind == "b":
        return pandas.Series(pandas.arrays.BooleanArray(values.copy(), ~column.present))
    return pandas.Series(pandas.arrays.IntegerArray(values.copy(), ~column.present))


def with_nan(columns: Mapping[str, TableColumn], frame: Any) -> dict[str, TableColumn]:
    """Return the columns with the NaN of a DataFrame restored: pandas exports NaN to Arrow as
    null.

    Rows of pandas' nullable dtypes that have no value still have none.
    """
    found = dict(columns)
    for label, dtype in frame.dtypes.items():
        name = str(label)
        if isinstance(dtype, np.dtype) and dtype.kind == "f" and name in found:
            found[name] = Numbers.of(frame[label].to_numpy())
    return found


def is_pandas(data: object) -> bool:
    """Return whether an object is a DataFrame of pandas, without importing pandas."""
    return type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "dtypes")


def _plain(column: TableColumn, row: int) -> object:
    """Return the value in a row as a Python list or dict, which pandas shows and stores well."""
    item = column[row]
    if isinstance(item, Numbers | Strings | Lists | Records):
        return [_plain(item, inner) for inner in range(len(item))]
    if isinstance(item, dict) and isinstance(column, Records):
        return {name: _plain(field, row) for name, field in column.fields.items()}
    return item


def to_xarray(columns: Mapping[str, TableColumn]) -> "xarray.Dataset":
    """Return a Dataset with the dimension `row`, and a dimension `NAME_unit` for each column of
    arrays.

    A float without a value becomes NaN. For integers, bools and dates, a variable `NAME.present`
    says which rows have a value. Raises ImportError without xarray, ValueError for columns of lists
    and records.
    """
    for name, column in columns.items():
        if isinstance(column, Lists | Records):
            raise ValueError(f"{name}: xarray has no {type_of(column)}: drop the column first")
    try:
        import xarray
    except ImportError:
        raise ImportError("to_xarray() needs xarray: pip install xarray") from None
    variables: dict[str, Any] = {}
    for name, column in columns.items():
        if isinstance(column, Lists | Records):
            continue
        if isinstance(column, Strings):
            items = np.empty(len(column), object)
            items[:] = list(column)
            variables[name] = ("row", items)
            continue
        suffixes = [""] if len(column.shape) == 1 else [str(axis) for axis in range(9)]
        dimensions = [f"{name}_unit{suffixes[axis]}" for axis in range(len(column.shape))]
        values = column.values
        if not column.present.all():
            if values.dtype.kind == "f":
                values = values.copy()
                values[~column.present] = np.nan
            else:
                variables[f"{name}.present"] = ("row", column.present)
        variables[name] = (("row", *dimensions), values)
    return xarray.Dataset(variables).set_coords([name for name in INDEX if name in variables])
