"""Convert columns of tables to the types of Lens. Errors name the column and the row."""

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import FormatError, Place
from exset.core.text import safe
from exset.grammars.columns.arrays import Floats, Ints, as_singles
from exset.grammars.columns.ragged import Reals
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Numbers, TableColumn, type_of


def table_error(
    message: str, column: str, row: int | None = None, hint: str | None = None
) -> NoReturn:
    """Raise FormatError about a column of a table.

    row: if not None, the error is about the column's value in this row, from 0.
    """
    at = "" if row is None else f"[{row}]"
    place = Place("table", field=f"columns[{column!r}]{at}")
    raise FormatError(message, place=place, hint=hint, code="lens-table")


def is_number(column: TableColumn) -> bool:
    """Return whether a column has single numbers: bool, integers or floats."""
    return isinstance(column, Numbers) and not column.shape and column.values.dtype.kind in "biuf"


def floats(name: str, values: NDArray[np.generic]) -> Floats:
    """Return numbers rounded to float32. Raises FormatError for a number that is too large.

    name: of the column, for errors.
    """
    if values.dtype == np.float32:
        return values.view(np.float32)
    if values.dtype.kind not in "biuf":
        table_error(f"{safe(name)}: expected numbers, not {values.dtype}", name)
    rounded = as_singles(values)
    if values.dtype.kind != "b" and (far := np.isinf(rounded) & np.isfinite(values)).any():
        at = int(far.reshape(len(far), -1).any(axis=1).argmax())
        table_error(f"{safe(name)}: a number does not fit in float32", name, at)
    return rounded


def ints(name: str, column: Numbers) -> Ints:
    """Return the numbers of a column as int32, with 0 for rows without a value.

    name: of the column, for errors.
    """
    values = column.values
    if values.dtype.kind not in "iu":
        table_error(f"{safe(name)}: expected integers, not {column.type}", name)
    if values.dtype == np.int32:
        return values.view(np.int32)
    limits = np.iinfo(np.int32)
    if (wrong := (values < limits.min) | (values > limits.max)).any():
        at = int(wrong.argmax())
        table_error(f"{safe(name)}: {values[at]} does not fit in 32 bits", name, at)
    return values.astype(np.int32)


def reals(name: str, column: Numbers) -> Reals:
    """Return a column of single numbers, rounded to float32. Rows without a value still have none.

    name: of the column, for errors.
    """
    return Reals(floats(name, column.values), column.present)


def strings(name: str, column: TableColumn) -> Strings:
    """Return a column of text, bytes or integers (in decimal) as strings. name: of the column, for
    errors.
    """
    if isinstance(column, Strings):
        return Strings.unchecked(**vars(column))
    if not column.present.any():
        return Strings.empty(len(column))
    if isinstance(column, Numbers) and not column.shape and column.values.dtype.kind in "iu":
        return Strings.of(None if row is None else str(row) for row in iter(column))
    table_error(f"{safe(name)}: expected text, bytes or integers, not {type_of(column)}", name)
