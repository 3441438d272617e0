"""Write the cells of one column of CSV as text."""

from typing import Any, Final, NamedTuple

import numpy as np

from exset.grammars.columns.arrays import Bytes, Flags, Longs, as_singles
from exset.grammars.tables.columns import Numbers, Text
from exset.parsers.tables import csv_kernels as k

_EMPTY: Final = b'""'
_LEAST: Final = 1e-4
_MOST: Final = 1e10
"""Where `parsers.shared.shortest` begins to write exponents."""


class Cells(NamedTuple):
    """The cells of a column, one after another in `data`; ends: int64 [n], where each cell ends."""

    data: Bytes
    ends: Longs


def text_cells(text: Text, special: tuple[bytes, ...], *, has_marks: bool) -> Cells:
    """Return the cells of a column of text, in quotation marks if needed.

    special: the bytes that a cell cannot have without quotation marks. has_marks: put all present
    cells in quotation marks.
    """
    flags = np.full(256, has_marks, np.bool_)
    flags[[byte[0] for byte in special]] = True
    rows = len(text)
    out = np.empty(k.TEXT_ROOM * (text.data.size + rows), np.uint8)
    ends = np.empty(rows, np.int64)
    put = k.KERNELS.choose(k.put_text, k.KERNELS.use_compiled(out.size))
    data, offsets, present = map(np.ascontiguousarray, (text.data, text.offsets, text.present))
    put(data, offsets, present, flags, out, ends)
    return Cells(out, ends)


def number_cells(column: Numbers, delimiter: bytes, is_alone: bool) -> Cells:
    """Return the cells of a column of numbers; an array becomes several cells with delimiters.

    is_alone: whether the table has no other column, so that empty cells need quotation marks.
    """
    width = column.values[:1].size if len(column) else 1
    values, present = column.values.reshape(-1), np.ascontiguousarray(column.present)
    if values.dtype.kind == "m":
        values = values.view(np.int64)
    is_integer = values.dtype.kind in "iu" and _fits(values)
    if (is_alone and not present.all()) or not (is_integer or values.dtype.kind in "bf"):
        return _joined([_text(value) for value in values], present, width, delimiter, is_alone)
    if is_integer:
        form, stored = k.WHOLE, np.ascontiguousarray(values, np.int64)
    elif values.dtype == np.bool_:
        form, stored = k.FLAG, values.astype(np.int64)
    elif values.dtype == np.float64:
        form, stored = k.DOUBLE, np.ascontiguousarray(values).view(np.int64)
    else:
        form, stored = k.SINGLE, as_singles(values).view(np.int32).astype(np.int64)
    out = np.empty(k.NUMBER_ROOM * len(values), np.uint8)
    ends = np.empty(len(column), np.int64)
    put = k.KERNELS.choose(k.put_numbers, k.KERNELS.use_compiled(out.size))
    put(stored, form, present, width, delimiter[0], out, ends)
    return Cells(out, ends)


def _fits(values: Any) -> bool:
    """Return whether all integers are above -2**63 and below 2**63."""
    if not values.size:
        return True
    return int(values.min()) > -(1 << 63) and int(values.max()) < 1 << 63


def _text(value: Any) -> bytes:
    """Return a number as text; a real as its shortest decimal, with a point or an exponent."""
    kind = value.dtype.kind
    if kind == "b":
        return b"true" if value else b"false"
    if kind == "M":
        return str(np.datetime_as_string(value)).encode()
    if kind != "f":
        return b"%d" % int(value)
    real: Any = as_singles(value) if value.dtype == np.float16 else value
    if not np.isfinite(real):
        return str(real).encode()
    if abs(real) >= _MOST or 0 < abs(real) < _LEAST:
        return np.format_float_scientific(real, trim="-", exp_digits=2).encode()
    return np.format_float_positional(real, trim="0").encode()


def _joined(
    cells: list[bytes], present: Flags, width: int, delimiter: bytes, is_alone: bool
) -> Cells:
    """Join `width` cells for each row, with delimiters between; a row without a value has empty
    cells.

    is_alone: whether the table has no other column, so that empty cells need quotation marks.
    """
    missing = [_EMPTY if is_alone else b""] * width
    rows = [
        delimiter.join(cells[row * width : (row + 1) * width] if has else missing)
        for row, has in enumerate(present.tolist())
    ]
    ends = np.cumsum(np.array([len(row) for row in rows], np.int64))
    return Cells(np.frombuffer(b"".join(rows), np.uint8), ends)
