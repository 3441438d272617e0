"""The types of columns as text, such as `int32`, `float32[20]`, `text` or `list<bytes>`."""

import re
from math import prod
from typing import Any, Final

import numpy as np

from exset.grammars.columns.arrays import constant
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text

_UNIT: Final = r"\d{0,4}(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)"
_NUMBERS: Final = re.compile(
    rf"(bool|u?int(?:8|16|32|64)|float(?:16|32|64)|(?:datetime|timedelta)64(?:\[{_UNIT}\])?)"
    r"(?:\[((?:\d+)(?:, \d+)*)\])?"
)
_LIST, _END, _DEEPEST = "list<", ">", 32


def absent(kind: str, rows: int) -> TableColumn:
    """Return a column of the given type, such as "int32", whose rows have no value. Raises
    ValueError for an unknown type.
    """
    inner = kind
    while inner.startswith(_LIST) and inner.endswith(_END):
        inner = inner[len(_LIST) : -len(_END)]
    depth = (len(kind) - len(inner)) // len(_LIST + _END)
    column = _absent(inner, 0 if depth else rows)
    if column is None or depth > _DEEPEST:
        raise ValueError(f"{kind!r} is not a type of a column")
    for outer in range(depth - 1, -1, -1):
        count = 0 if outer else rows
        column = Lists.of(column, constant(0, count, np.int64), constant(False, count, np.bool_))
    return column


def _absent(kind: str, rows: int) -> TableColumn | None:
    """Return a column of text, bytes or numbers, whose rows have no value; None if `kind` is
    another type.
    """
    if kind in ("text", "bytes"):
        empty = Strings.empty(rows)
        return Text.unchecked(**vars(empty)) if kind == "text" else empty
    if (match := _NUMBERS.fullmatch(kind)) is None:
        return None
    try:
        shape = tuple(map(int, match[2].split(", "))) if match[2] else ()
        zeros = np.broadcast_to(np.zeros((), match[1]), (rows, *shape))
    except (TypeError, ValueError, OverflowError):
        return None
    return Numbers.unchecked(values=zeros, present=constant(False, rows, np.bool_))


def as_lists(column: TableColumn) -> Lists | None:
    """Return a column of single values, or of arrays of one dimension, as a column of lists; a
    column of lists unchanged; None for others.
    """
    if isinstance(column, Lists):
        return column
    if isinstance(column, Numbers) and len(column.shape) < 2:
        size = column.shape[0] if column.shape else 1
        lengths = np.where(column.present, np.int64(size), 0)
        return Lists.of(
            Numbers.of(column.values[column.present].reshape(-1)), lengths, column.present
        )
    if isinstance(column, Strings):
        lengths = column.present.astype(np.int64)
        return Lists.of(column.take(np.flatnonzero(column.present)), lengths, column.present)
    return None


def cast(column: Numbers, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Numbers | None:
    """Return a column of numbers with another dtype and shape of each row; None if this would
    change a value.
    """
    if prod(column.shape) != prod(shape):
        return None
    with np.errstate(all="ignore"):
        values = column.values.astype(dtype)
    is_same = (values == column.values) | ((values != values) & (column.values != column.values))
    if not is_same.all():
        return None
    return Numbers.of(values.reshape(len(column), *shape), column.present)
