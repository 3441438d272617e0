"""Kernels for CSV: read the numbers of a column, and write cells as text."""

from typing import Final

import numpy as np

from exset.core.kernels import Kernels, entry_kernel, kernel
from exset.grammars.columns.arrays import Bytes, Flags, Ints, Longs
from exset.parsers.engine.conversion import decimal, rounded
from exset.parsers.shared.shortest import put_integer, put_real

KERNELS: Final = Kernels(
    "exset.parsers.engine.conversion",
    "exset.parsers.shared.shortest",
    "exset.parsers.tables.csv_kernels",
)

# The kinds of cells; integers and reals that are LONG are converted outside of the kernel.
(EMPTY, INTEGER, REAL, LONG_INTEGER, LONG_REAL, NO_NUMBER) = range(6)

TEXT_ROOM: Final = 2
"""The most bytes of a cell of text for each of its bytes, and besides them."""
NUMBER_ROOM: Final = 24
"""More bytes than any number needs."""

_INFINITY: Final = np.frombuffer(b"infinity", np.uint8)
_NAN: Final = np.frombuffer(b"nan", np.uint8)
_DIGITS: Final = 18  # fit in 63 bits
_EXPONENT: Final = 0x7F800000
_MAGNITUDE: Final = 0x7FFFFFFF
(_QUOTE, _PLUS, _MINUS, _POINT, _ZERO, _LETTER_E) = b'"+-.0e'


@entry_kernel
def read_numbers(
    buffer: Bytes, starts: Longs, ends: Longs, is_text: Flags, kinds: Bytes, numbers: Longs
) -> None:
    """Fill the kind and the number of each cell, column by column; the cells are in rows.

    numbers: integers, or the bits of reals. is_text: whether a column is text. The kernel sets it
    at the first cell of a column that is not a number, and skips the rest of this column.
    """
    width = len(is_text)
    rows = len(starts) // width
    for row in range(rows):
        for column in range(width):
            if not is_text[column]:
                cell, to = row * width + column, column * rows + row
                kind, numbers[to] = _number(buffer, starts[cell], ends[cell])
                is_text[column] = kind == NO_NUMBER
                kinds[to] = kind


@kernel
def _number(buffer: Bytes, begin: int, end: int) -> tuple[int, int]:
    """Return the kind of a cell, and its number: an integer, or the bits of a real."""
    if begin == end:
        return EMPTY, 0
    negative = buffer[begin] == _MINUS
    begin += negative
    at, mantissa = begin, 0
    while at < end and 48 <= buffer[at] <= 57:
        mantissa = mantissa * 10 + (int(buffer[at]) - 48)
        at += 1
    digits = at - begin
    if digits > 1 and buffer[begin] == _ZERO:
        return NO_NUMBER, 0
    if at == end and digits > 0 and not (negative and buffer[begin] == _ZERO):
        if digits > _DIGITS:
            return LONG_INTEGER, 0
        return INTEGER, -mantissa if negative else mantissa
    point = at
    if at < end and buffer[at] == _POINT:
        at += 1
        while at < end and 48 <= buffer[at] <= 57:
            mantissa = mantissa * 10 + (int(buffer[at]) - 48)
            at += 1
        digits += at - point - 1
    decimals = max(at - point - 1, 0)
    if at == end and 0 < digits <= _DIGITS:
        real = rounded(mantissa, -decimals)
    else:
        real = _other_real(buffer, begin, end, at, digits, negative)
    if real < 0:
        return (LONG_REAL, 0) if real == -1.0 else (NO_NUMBER, 0)
    return REAL, int(np.float64(-real if negative else real).view(np.int64))


@kernel
def _other_real(buffer: Bytes, begin: int, end: int, at: int, digits: int, negative: bool) -> float:
    """Return the value of `inf`, `nan`, or a numeral with an exponent or many digits.

    Return -1 if it needs exact arithmetic, and -2 if it is not a number.

    begin: after the sign. at: after the digits, of which there are `digits`.
    """
    if _is_word(buffer, begin, end, _INFINITY, 3) or _is_word(buffer, begin, end, _INFINITY, 8):
        return np.inf
    if _is_word(buffer, begin, end, _NAN, 3) and not negative:
        return np.nan
    if digits == 0:
        return -2.0
    if at < end and buffer[at] | 32 == _LETTER_E:
        at += 1
        if at < end and (buffer[at] == _PLUS or buffer[at] == _MINUS):
            at += 1
        if _after_digits(buffer, at, end) == at:
            return -2.0
        at = _after_digits(buffer, at, end)
    if at < end:
        return -2.0
    mantissa, exponent = decimal(buffer, begin, end)
    return rounded(mantissa, exponent) if mantissa >= 0 else -1.0


@kernel
def _after_digits(buffer: Bytes, at: int, end: int) -> int:
    while at < end and 48 <= buffer[at] <= 57:
        at += 1
    return at


@kernel
def _is_word(buffer: Bytes, begin: int, end: int, word: Bytes, size: int) -> bool:
    """Return whether a cell equals the first `size` bytes of a word, in upper or lower case."""
    if end - begin != size:
        return False
    same = 0
    for place in range(size):
        same += buffer[begin + place] | 32 == word[place]
    return same == size


@entry_kernel
def put_text(
    data: Bytes, offsets: Longs, present: Flags, special: Flags, out: Bytes, ends: Longs
) -> None:
    """Write cells of text, in quotation marks if needed; an absent one is empty.

    special: for each of 256 bytes, whether a cell with this byte needs quotation marks.
    """
    at = 0
    for row in range(len(present)):
        begin, end = offsets[row], offsets[row + 1]
        is_quoted = present[row] and begin == end
        for place in range(begin, end):
            is_quoted = is_quoted or special[data[place]]
        if is_quoted:
            out[at] = _QUOTE
            at += 1
        for place in range(begin, end):
            out[at] = data[place]
            at += 1
            if data[place] == _QUOTE:
                out[at] = _QUOTE
                at += 1
        if is_quoted:
            out[at] = _QUOTE
            at += 1
        ends[row] = at


@entry_kernel
def put_integers(
    values: Longs, present: Flags, width: int, between: int, out: Bytes, ends: Longs
) -> None:
    """Write rows of `width` integers above -2**63, with the byte `between` between them.

    The cells of an absent row are empty. ends: where each row ends in `out`.
    """
    at = 0
    for row in range(len(present)):
        for cell in range(row * width, (row + 1) * width):
            if cell > row * width:
                out[at] = between
                at += 1
            if present[row]:
                at = put_integer(out, at, values[cell])
        ends[row] = at


@entry_kernel
def put_float32s(
    bits: Ints, present: Flags, width: int, between: int, out: Bytes, ends: Longs
) -> None:
    """Write rows of binary32 numbers, given by their bits, as `put_integers` writes integers.

    They are the shortest decimals, with a point or an exponent.
    """
    at = 0
    for row in range(len(present)):
        for cell in range(row * width, (row + 1) * width):
            if cell > row * width:
                out[at] = between
                at += 1
            if present[row]:
                at = _put_float32(out, at, bits[cell])
        ends[row] = at


@kernel
def _put_float32(out: Bytes, at: int, bits: int) -> int:
    if bits & _MAGNITUDE >= _EXPONENT:
        return _put_word(out, at, bits)
    return _put_point(out, at, put_real(out, at, bits))


@kernel
def _put_word(out: Bytes, at: int, bits: int) -> int:
    """Write `nan`, `inf` or `-inf`."""
    if bits & _MAGNITUDE > _EXPONENT:
        out[at], out[at + 1], out[at + 2] = 110, 97, 110
        return at + 3
    if bits < 0:
        out[at] = _MINUS
        at += 1
    out[at], out[at + 1], out[at + 2] = 105, 110, 102
    return at + 3


@kernel
def _put_point(out: Bytes, begin: int, at: int) -> int:
    """Write `.0` after a number without a point and without an exponent."""
    for place in range(begin, at):
        if out[place] == _POINT or out[place] == _LETTER_E:
            return at
    out[at] = _POINT
    out[at + 1] = _ZERO
    return at + 2


@entry_kernel
def place_cells(data: Bytes, ends: Longs, out: Bytes, at: Longs, after: int) -> None:
    """Copy the cells of a column into all rows, each with the byte `after`.

    at: the index in `out` for the cell of each row, which becomes that of the next cell.
    """
    begin = 0
    for row in range(len(ends)):
        to, size = at[row], ends[row] - begin
        target, cell = out[to : to + size], data[begin : ends[row]]
        for place in range(size):
            target[place] = cell[place]
        out[to + size] = after
        at[row] = to + size + 1
        begin = ends[row]
