"""Kernels that convert numerals: many tokens of a text at once."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core import threads
from exset.core.kernels import Kernels, entry_kernel, inline_kernel
from exset.grammars.columns.arrays import Bytes, Longs
from exset.parsers.engine.conversion import POWERS, TENS, eight_digits, is_tie, scientific

KERNELS: Final = Kernels(
    "exset.parsers.engine.conversion",
    "exset.parsers.siblings.conversion",
)
(_PLUS, _MINUS, _POINT, _BREAK) = b"+-.\n"
_MOST_DIGITS: Final = 18  # fit in 63 bits
_LARGE: Final = 1 << 16  # tokens that several threads convert


def in_threads(convert: Callable[[slice, Longs], int], size: int, compiled: bool) -> Longs:
    """Convert tokens in several threads if they are many, and return the indices of those that
    are left.

    convert: a function that converts a slice of the tokens; it fills an array with the positions
    in the slice of those that it cannot convert, and returns their number. size: the number of
    tokens. compiled: whether `convert` runs a compiled kernel.
    """
    hard, left = np.empty(size, np.int64), list[Longs]()

    def some(low: int, high: int) -> None:
        found = hard[low:high]
        left.append(low + found[: convert(slice(low, high), found)])

    threads.divided(some, size, compiled and size >= _LARGE)
    return np.sort(np.concatenate(left))


def real_numbers(
    spans: tuple[Bytes, int, Longs, Longs],
    tokens: Longs,
    compiled: bool,
    skip: int = 0,
    is_single: bool = False,
) -> tuple[NDArray[np.float64], Longs]:
    """Return tokens as numbers, and the indices of those that the kernel `reals` cannot convert.

    spans: the first four arguments of `reals`. compiled: whether to use the compiled kernel.
    """
    run, values = KERNELS.choose(reals, compiled), np.empty(tokens.size, np.float64)

    def convert(part: slice, hard: Longs) -> int:
        return run(*spans, tokens[part], skip, is_single, values[part], hard)

    return values, in_threads(convert, tokens.size, compiled)


@entry_kernel
def reals(
    buffer: Bytes,
    base: int,
    starts: Longs,
    ends: Longs,
    tokens: Longs,
    skip: int,
    is_single: bool,
    values: NDArray[np.float64],
    hard: Longs,
) -> int:
    """Convert tokens to binary64 numbers, correctly rounded, without their first `skip` bytes.

    starts, ends: where all tokens begin and end in the source. tokens: the indices, in these
    arrays, of the tokens to convert. base: the offset of the buffer in the source. Fills `values`.
    Fills `hard` with the positions in `tokens` of the tokens that it cannot convert, and returns
    their number. With `is_single`, these include numbers halfway between two binary32 numbers:
    rounding them twice may be wrong.
    """
    left = 0
    for place in range(len(tokens)):
        token = tokens[place]
        at, end = starts[token] - base + skip, ends[token] - base
        left = _convert(buffer, at, end, is_single, place, values, hard, left)
    return left


@entry_kernel
def integers(
    buffer: Bytes,
    base: int,
    starts: Longs,
    ends: Longs,
    tokens: Longs,
    skip: int,
    values: Longs,
    hard: Longs,
) -> int:
    """Convert tokens to integers in `values`.

    Of each token, the first `skip` bytes are ignored, and a line break that follows them.

    The other arguments, and the result, are those of `reals`.
    """
    left = 0
    for place in range(len(tokens)):
        token = tokens[place]
        at, end = starts[token] - base + skip, ends[token] - base
        at += at < end and buffer[at] == _BREAK
        negative = at < end and buffer[at] == _MINUS
        at += negative
        value, first = 0, at
        while 0 <= at < end and 48 <= buffer[at] <= 57:
            value = value * 10 + (int(buffer[at]) - 48)
            at += 1
        if at < end or not 0 < at - first <= _MOST_DIGITS:
            hard[left] = place
            left += 1
        else:
            values[place] = -value if negative else value
    return left


@entry_kernel
def pairs(
    buffer: Bytes,
    base: int,
    starts: Longs,
    ends: Longs,
    tokens: Longs,
    is_single: bool,
    index: Longs,
    values: NDArray[np.float64],
    hard: Longs,
) -> int:
    """Convert tokens such as `12:0.5` to an index and a number each, in `index` and `values`.

    The other arguments, and the result, are those of `reals`.
    """
    left = 0
    for place in range(len(tokens)):
        token = tokens[place]
        at, end = starts[token] - base, ends[token] - base
        unit, first = 0, at
        while 0 <= at < end and 48 <= buffer[at] <= 57:
            unit = unit * 10 + (int(buffer[at]) - 48)
            at += 1
        if at - first <= _MOST_DIGITS:
            index[place] = unit
            at += 1  # the colon
        else:
            at = end  # an empty numeral, which is hard
        left = _convert(buffer, at, end, is_single, place, values, hard, left)
    return left


@inline_kernel
def _convert(
    buffer: Bytes,
    at: int,
    end: int,
    is_single: bool,
    place: int,
    values: NDArray[np.float64],
    hard: Longs,
    left: int,
) -> int:
    """Convert the numeral buffer[at:end], which may have a sign, to values[place].

    If this is not possible, store `place` in hard[left]. Return how many places `hard` has then;
    is_single: as in `reals`.
    """
    negative = at < end and buffer[at] == _MINUS
    if at < end and (negative or buffer[at] == _PLUS):
        at += 1
    value = _real(buffer, at, end)
    if value < 0 or (is_single and is_tie(value)):
        hard[left] = place
        return left + 1
    values[place] = -value if negative else value
    return left


@inline_kernel
def _real(buffer: Bytes, at: int, end: int) -> float:
    """Return the value of the numeral buffer[at:end], which has no sign.

    Returns -1 if this kernel cannot convert it.
    """
    point, whole = at, 0
    while 0 <= point < end and 48 <= buffer[point] <= 57:
        whole = whole * 10 + (int(buffer[point]) - 48)
        point += 1
    decimals = end - point - 1
    if 0 < point - at <= 7:
        if point == end:
            return float(whole)
        if buffer[point] == _POINT and 0 < decimals <= 8:
            part = eight_digits(buffer, end, decimals)
            if part >= 0:
                return float(whole * TENS[decimals] + part) / float(POWERS[decimals])
    is_digit = at < end and 48 <= buffer[at] <= 57
    return scientific(buffer, at, end) if is_digit else -1.0
