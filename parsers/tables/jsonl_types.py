"""Give the values of JSON Lines the types that a sidecar declares."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from exset.grammars.tables.build import array_of, column_of
from exset.grammars.tables.column_types import absent, cast
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text, type_of
from exset.grammars.tables.sidecar import check_rows, metadata_of
from exset.grammars.tables.table import Table
from exset.parsers.tables.csv_types import reals


def typed(values: Mapping[str, Sequence[Any]], rows: int, value: Mapping[str, Any]) -> Table:
    """Return a table of values, with the types and the metadata that a sidecar declares.

    values: by name, a value for each row. value: the content of the sidecar. Raises ValueError if
    they do not fit each other.
    """
    check_rows(value, rows)
    if unknown := [name for name in values if name not in value["columns"]]:
        raise ValueError(f"it does not name the column {unknown[0]!r}")
    none = [None] * rows
    columns = {
        name: _typed(name, values.get(name, none), kind) for name, kind in value["columns"].items()
    }
    return Table(columns, rows, metadata_of(value))


def _typed(name: str, values: Sequence[Any], kind: str) -> TableColumn:
    try:
        if "record<" in kind:
            column = column_of(name, values)
        else:
            column = _column(values, absent(kind, len(values)))
    except (TypeError, OverflowError, RecursionError):
        raise ValueError(f"the column {name!r} is not {kind}") from None
    if type_of(column) != kind:
        raise ValueError(f"the column {name!r} is {type_of(column)}, not {kind}")
    return column


def _column(values: Sequence[Any], wanted: TableColumn) -> TableColumn:
    present = np.array([each is not None for each in values], np.bool_)
    if isinstance(wanted, Text):
        return Text.listed("text", values)
    if isinstance(wanted, Lists):
        lists = [[] if each is None else each for each in values]
        items = _column(list(chain.from_iterable(lists)), wanted.items)
        return Lists.of(items, np.array(list(map(len, lists)), np.int64), present)
    if not isinstance(wanted, Numbers):
        raise ValueError("a column has bytes, which JSON cannot store")
    dtype, shape = wanted.values.dtype, wanted.shape
    zero = np.zeros(shape, dtype).tolist()
    given = array_of([zero if each is None else each for each in values])
    if given.shape != (len(values), *shape) and given.size:
        raise ValueError("the arrays have another shape")
    given = given.reshape(len(values), *shape)
    if dtype.kind == "f":
        return Numbers.of(reals(given.astype(np.float64), dtype), present)
    made = cast(Numbers.of(given.astype(dtype) if not given.size else given, present), dtype, shape)
    if made is None:
        raise ValueError(f"a number does not fit {dtype}")
    return made
