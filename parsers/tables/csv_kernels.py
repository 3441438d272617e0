"""Kernels for CSV: read the numbers of a column, and write cells as text."""

from typing import Final

import numpy as np

from exset.core.kernels import Kernels, entry_kernel, inline_kernel, kernel
from exset.grammars.columns.arrays import Bytes, Flags, LongRows, Longs
from exset.parsers.engine.conversion import TENS, decimal, eight_digits, rounded
from exset.parsers.shared.shortest import put_integer, put_real
from exset.parsers.shared.shortest_double import DOUBLE_ROOM, put_double

KERNELS: Final = Kernels(
    "exset.parsers.engine.conversion",
    "exset.parsers.shared.shortest",
    "exset.parsers.shared.shortest_double",
    "exset.parsers.tables.csv_kernels",
)

# The kinds of cells; integers and reals that are LONG are converted outside of the kernel.
(EMPTY, INTEGER, REAL, LONG_INTEGER, LONG_REAL, NO_NUMBER) = range(6)

TEXT_ROOM: Final = 2
"""The most bytes of a cell of text for each of its bytes, and besides them."""
NUMBER_ROOM: Final = DOUBLE_ROOM
"""More bytes than any number needs."""

# How `put_numbers` writes numbers.
(WHOLE, SINGLE, DOUBLE, FLAG) = range(4)

_INFINITY: Final = np.frombuffer(b"infinity", np.uint8)
_NAN: Final = np.frombuffer(b"nan", np.uint8)
_TRUE: Final = np.frombuffer(b"true", np.uint8)
_FALSE: Final = np.frombuffer(b"false", np.uint8)
_DIGITS: Final = 18  # fit in 63 bits
_EXPONENT: Final = 0x7F800000
_MAGNITUDE: Final = 0x7FFFFFFF
_DOUBLE_EXPONENT: Final = 0x7FF << 52
_DOUBLE_MAGNITUDE: Final = (1 << 63) - 1
(_QUOTE, _PLUS, _MINUS, _POINT, _ZERO, _LETTER_E) = b'"+-.0e'


@entry_kernel
def read_numbers(
    buffer: Bytes,
    starts: Longs,
    ends: Longs,
    columns: LongRows,
    kinds: Bytes,
    numbers: Longs,
    firsts: Longs,
    steps: Longs,
) -> None:
    """Read the cells of all columns: store the kind of each cell, and its number.

    The number is an integer, or the bits of a real. starts, ends: the cells, row by row. The
    results for column `i` are stored at `firsts[i]`, `firsts[i] + steps[i]`, and so on. columns:
    [columns, 3], filled: a bit for each kind of cell that the column has, its smallest integer,
    and its largest. A column with a cell that is not a number is text, and its other cells are
    skipped.
    """
    width = len(columns)
    rows = len(starts) // width
    for row in range(rows):
        for column in range(width):
            seen = columns[column, 0]
            if seen & (1 << NO_NUMBER):
                continue
            cell, to = row * width + column, firsts[column] + row * steps[column]
            kind, number = _number(buffer, int(starts[cell]), int(ends[cell]))
            kinds[to], numbers[to] = kind, number
            columns[column, 0] = seen | 1 << kind
            if kind == INTEGER:
                if number < columns[column, 1]:
                    columns[column, 1] = number
                if number > columns[column, 2]:
                    columns[column, 2] = number


@kernel
def _number(buffer: Bytes, begin: int, end: int) -> tuple[int, int]:
    """Read the cell buffer[begin:end]: return its kind, and its number.

    The number is an integer, or the bits of a real.
    """
    if begin == end:
        return EMPTY, 0
    negative = buffer[begin] == _MINUS
    begin += int(negative)
    whole = _whole(buffer, begin, end)
    if whole > 0 or (whole == 0 and end == begin + 1 and not negative):
        if buffer[begin] == _ZERO and end > begin + 1:
            return NO_NUMBER, 0
        return INTEGER, -whole if negative else whole
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
    decimals = 0
    if at < end and buffer[at] == _POINT:
        at += 1
        point = at
        if digits + end - at <= _DIGITS:  # read most digits in two groups of up to eight
            while end - at > 16 and 48 <= buffer[at] <= 57:
                mantissa = mantissa * 10 + (int(buffer[at]) - 48)
                at += 1
            if 8 < end - at <= 16:
                part = eight_digits(buffer, end - 8, end - at - 8)
                if part >= 0:
                    mantissa = mantissa * int(TENS[end - at - 8]) + part
                    at = end - 8
            if 0 < end - at <= 8:
                part = eight_digits(buffer, end, end - at)
                if part >= 0:
                    mantissa = mantissa * int(TENS[end - at]) + part
                    at = end
        while at < end and 48 <= buffer[at] <= 57:
            mantissa = mantissa * 10 + (int(buffer[at]) - 48)
            at += 1
        decimals = at - point
        digits += decimals
    if at == end and 0 < digits <= _DIGITS:
        real = rounded(mantissa, -decimals)
    else:
        real = _other_real(buffer, begin, end, at, digits, negative)
    if real < 0:
        return (LONG_REAL, 0) if real == -1.0 else (NO_NUMBER, 0)
    return REAL, int(np.float64(-real if negative else real).view(np.int64))


@inline_kernel
def _whole(buffer: Bytes, begin: int, end: int) -> int:
    """Return the integer buffer[begin:end] of up to 16 digits, read in groups of up to eight.

    Returns -1 for any other bytes.
    """
    size = end - begin
    if size > 16 or (size > 1 and buffer[begin + 1] == _POINT):
        return -1
    low = eight_digits(buffer, end, min(size, 8))
    if size <= 8 or low < 0:
        return low
    high = eight_digits(buffer, end - 8, size - 8)
    return high if high < 0 else high * int(TENS[8]) + low


@kernel
def _other_real(buffer: Bytes, begin: int, end: int, at: int, digits: int, negative: bool) -> float:
    """Return the value of `inf`, of `nan`, or of a numeral with an exponent or many digits.

    Returns -1 if the value needs exact arithmetic, and -2 if the cell is not a number. begin: the
    index after the sign. at: the index after the first `digits` digits.
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
    """Return whether buffer[begin:end] is the first `size` bytes of a word, ignoring case."""
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
    """Write cells of text to `out`, in quotation marks if needed; no value is an empty cell.

    data, offsets: the texts. special: for each of 256 bytes, whether a cell with this byte needs
    quotation marks. ends: filled with where each cell ends in `out`.
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
def put_numbers(
    values: Longs, form: int, present: Flags, width: int, between: int, out: Bytes, ends: Longs
) -> None:
    """Write rows of `width` numbers to `out`, with the byte `between` between them.

    form: WHOLE for integers above -2**63; FLAG for true (1) and false (0); SINGLE and DOUBLE for
    the bits of binary32 and binary64 numbers: their shortest decimals, with a point or an exponent.
    The cells of a row without a
    value are empty. ends: filled with where each row ends in `out`.
    """
    at = 0
    for row in range(len(present)):
        for cell in range(row * width, (row + 1) * width):
            if cell > row * width:
                out[at] = between
                at += 1
            if present[row] and form == WHOLE:
                at = put_integer(out, at, values[cell])
            elif present[row] and form == FLAG:
                at = _put_flag(out, at, values[cell] != 0)
            elif present[row]:
                at = _put_float(out, at, values[cell], form)
        ends[row] = at


@kernel
def _put_flag(out: Bytes, at: int, is_true: bool) -> int:
    word = _TRUE if is_true else _FALSE
    for letter in word:
        out[at] = letter
        at += 1
    return at


@kernel
def _put_float(out: Bytes, at: int, bits: int, form: int) -> int:
    if form == SINGLE and bits & _MAGNITUDE < _EXPONENT:
        return _put_point(out, at, put_real(out, at, bits))
    if form == DOUBLE and bits & _DOUBLE_MAGNITUDE < _DOUBLE_EXPONENT:
        return _put_point(out, at, put_double(out, at, bits))
    is_nan = (
        bits & _MAGNITUDE > _EXPONENT
        if form == SINGLE
        else bits & _DOUBLE_MAGNITUDE > _DOUBLE_EXPONENT
    )
    if is_nan:
        out[at], out[at + 1], out[at + 2] = 110, 97, 110
        return at + 3
    if bits < 0:
        out[at] = _MINUS
        at += 1
    out[at], out[at + 1], out[at + 2] = 105, 110, 102
    return at + 3


@kernel
def _put_point(out: Bytes, begin: int, at: int) -> int:
    """Write `.0` at index `at` if the number out[begin:at] has no point and no exponent."""
    for place in range(begin, at):
        if out[place] == _POINT or out[place] == _LETTER_E:
            return at
    out[at] = _POINT
    out[at + 1] = _ZERO
    return at + 2


@entry_kernel
def place_cells(data: Bytes, ends: Longs, out: Bytes, at: Longs, after: int) -> None:
    """Copy the cells of one column to the rows of the file, which are already laid out in `out`.

    data, ends: the cells. at: where in `out` the cell of each row goes; then set to where the next
    cell of the row goes. after: the byte that follows each cell.
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
