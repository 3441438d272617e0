"""Make columns of tables from arrays and lists."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from exset.core.text import counted
from exset.grammars.columns.arrays import Flags
from exset.grammars.columns.blobs import Blobs
from exset.grammars.columns.inputs import items_of, shown
from exset.grammars.columns.ragged import Ragged, Reals
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn, Text

_BEYOND: Final = float(1 << 63)
"""The first number that int64 cannot hold."""


def column_of(name: str, given: object, n: int | None = None) -> TableColumn:
    """Make a column from an array, a list, a `Ragged`, a `Reals`, a `Blobs`, or a column.

    name: the column's name, for messages. The items of a list are numbers, text, bytes, arrays of
    one shape, lists of these, or mappings; None is a row without a value. n: the number of rows
    that the column must have. Raises ValueError, which names the column, for other values.
    """
    try:
        column = _column(given)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{name}: {error}") from None
    if n is not None and len(column) != n:
        raise ValueError(f"{name}: expected {counted(n, 'row')}, not {len(column)}")
    return column


def _column(given: object) -> TableColumn:
    if isinstance(given, Numbers | Strings | Lists | Records):
        return given
    if isinstance(given, Ragged):
        return Lists.of(Numbers.of(given.values), given.lengths)
    if isinstance(given, Reals):
        return Numbers.of(given.values, given.present)
    if isinstance(given, Blobs):
        return Strings.from_spans(given.data, given.starts, given.starts + given.lengths)
    if isinstance(given, np.ndarray) and given.dtype.kind != "O":
        return _array(given)
    return _listed(items_of("a column", given, "values"))


def _array(array: NDArray[Any]) -> TableColumn:
    if array.ndim == 0:
        raise ValueError("expected one value for each row, not a single value")
    if array.dtype.kind == "U":
        return Text.listed("text", array.tolist())
    if array.dtype.kind == "S":
        return Strings.listed("bytes", array.tolist())
    if isinstance(array, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(array).reshape(len(array), -1)
        present: Flags = ~np.any(mask, axis=1)
        return Numbers.of(array.filled(0), present)
    return Numbers.of(array)


def _listed(rows: list[object]) -> TableColumn:
    """Make a column from a list of values; the first that is not None decides the type of the
    column.
    """
    first = next((row for row in rows if row is not None), None)
    if isinstance(first, str):
        _check_kind(rows, str)
        return Text.listed("text", rows)
    if isinstance(first, bytes | bytearray | memoryview):
        _check_kind(rows, bytes | bytearray | memoryview)
        return Strings.listed(
            "bytes", [None if row is None else bytes(cast(bytes, row)) for row in rows]
        )
    present = np.array([row is not None for row in rows], np.bool_)
    if isinstance(first, Mapping):
        names = dict.fromkeys(
            str(key) for row in rows if row is not None for key in cast("Mapping[str, object]", row)
        )
        fields = {
            name: _listed(
                [
                    None if row is None else cast("Mapping[str, object]", row).get(name)
                    for row in rows
                ]
            )
            for name in names
        }
        return Records(fields, present)
    if isinstance(first, np.ndarray):
        return _arrays(rows, first, present)
    if isinstance(first, Sequence):
        lists = [[] if row is None else list(cast("Sequence[object]", row)) for row in rows]
        lengths = np.array([len(each) for each in lists], np.int64)
        return Lists.of(_listed([item for each in lists for item in each]), lengths, present)
    return _numbers(rows, present)


def _arrays(rows: list[object], first: NDArray[Any], present: NDArray[np.bool_]) -> TableColumn:
    """Make a column from arrays: a column of arrays if all have the same shape, else one of lists.

    first: the first array. present: which rows are arrays; the others are None.
    """
    arrays = [None if row is None else np.asarray(row) for row in rows]
    shapes = {array.shape for array in arrays if array is not None}
    if len(shapes) == 1:
        zeros = np.zeros_like(first)
        return Numbers.of(
            np.stack([zeros if array is None else array for array in arrays]), present
        )
    if any(len(shape) != 1 for shape in shapes):
        raise ValueError("arrays of different shapes must have one dimension")
    full = [array for array in arrays if array is not None]
    lengths = np.array([0 if array is None else len(array) for array in arrays], np.int64)
    return Lists.of(_array(np.concatenate(full)), lengths, present)


def _numbers(rows: list[object], present: NDArray[np.bool_]) -> Numbers:
    """Make a column of single numbers: bool, int64, uint64 or float64.

    present: which rows are numbers; the others are None.
    """
    values = array_of([0 if row is None else row for row in rows])
    if not rows:
        values = np.empty(0, np.float64)
    elif values.dtype.kind not in "biuf" or values.ndim != 1:
        wrong = next((row for row in rows if not isinstance(row, int | float | None)), rows[0])
        raise ValueError(f"expected numbers, text, bytes or lists of one kind, not {shown(wrong)}")
    if all(isinstance(row, bool | np.bool_ | None) for row in rows) and rows:
        values = values.astype(np.bool_)
    return Numbers.of(values, present)


def array_of(values: list[Any]) -> NDArray[Any]:
    """Return an array of numbers, or of lists of them, as `numpy.array` does.

    Whole numbers from 0 to 2^64 - 1 become uint64 if int64 is too small for some of them; NumPy
    makes float64 of them, which rounds.
    """
    array = np.array(values)
    if array.dtype.kind == "f" and (array >= _BEYOND).any():
        exact = np.array(values, np.object_)
        if all(isinstance(each, int) for each in exact.flat):
            with suppress(OverflowError):
                return exact.astype(np.uint64)
    return array


def _check_kind(rows: list[object], kind: Any) -> None:
    for row in rows:
        if row is not None and not isinstance(row, kind):
            raise ValueError(f"expected values of one kind, not {shown(row)}")
