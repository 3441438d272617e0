"""The kernel that converts numerals: many spans of bytes to numbers at once.

The kernel reads eight digits at a time, as the bytes of one integer. It converts a decimal that has
few digits and a small power of ten to binary64, with one rounding. It leaves all other numerals to
`exset.parsers.engine.numbers`, and also a numeral that a second rounding, from binary64 to
binary32, could make wrong.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import entry_kernel, inline_kernel, kernel

# The roles of tokens: no number, a real, an integer, NaN.
(NOTHING, REAL, INTEGER, NOT_A_NUMBER) = range(4)

POWERS: Final = np.array([10.0**n for n in range(23)])
TENS: Final = np.array([10**n for n in range(9)], np.int64)
(_PLUS, _MINUS, _POINT) = b"+-."
MANTISSA: Final = 1 << 53
"""Integers up to here are exact in binary64."""
_DIGITS: Final = 18  # fit in 63 bits

# Powers of ten as sums of two numbers; Python divides integers with one rounding.
_FARTHEST: Final = 240  # no part of a product is subnormal or infinite
_RATIOS: Final = [(10**n, 1) if n >= 0 else (1, 10**-n) for n in range(-_FARTHEST, _FARTHEST + 1)]
_HIGH: Final = np.array([above / below for above, below in _RATIOS])
_LOW: Final = np.array(
    [
        (above * divisor - number * below) / (below * divisor)
        for (above, below), high in zip(_RATIOS, _HIGH.tolist(), strict=True)
        for number, divisor in (high.as_integer_ratio(),)
    ]
)
_SPLITTER: Final = 134217729.0  # 2**27 + 1
_ERROR: Final = 2.0**-98  # more than the relative error of a product
_SMALLEST: Final = 2.0**-126  # the smallest normal binary32
_LARGEST: Final = 3.4028234e38
_TAIL: Final = (1 << 29) - 1  # the bits that rounding to binary32 drops
_HALF: Final = 1 << 28

# Constants for the eight digits in an integer: for each digit, for pairs, for fours, for all.
_ZEROS: Final = 0x3030303030303030
_SIXES: Final = 0x0606060606060606
_ABOVE: Final = ~0x0F0F0F0F0F0F0F0F
_OF_TWO: Final = 0x00FF00FF00FF00FF
_OF_FOUR: Final = 0x0000FFFF0000FFFF
_OF_EIGHT: Final = 0xFFFFFFFF


@entry_kernel
def convert(
    buffer: NDArray[np.uint8],
    base: int,
    kinds: NDArray[np.int16],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    roles: NDArray[np.int64],
    reals: NDArray[np.float32],
    ints: NDArray[np.int64],
    hard: NDArray[np.int64],
) -> int:
    """Convert the tokens that are numbers, store the numbers in `reals` or `ints`, and return how
    many tokens it cannot convert.

    kinds, starts, ends: the terminal of each token, and the offsets of the token's bytes in the
    source. base: the offset of the buffer's first byte. roles: for each terminal, the type of
    number to which its tokens are converted. hard: filled with the indices of the tokens that this
    kernel cannot convert.
    """
    left = 0
    for token in range(len(kinds)):
        role = roles[kinds[token]]
        if role == NOTHING:
            continue
        if role == NOT_A_NUMBER:
            reals[token] = np.nan
            continue
        at, end = starts[token] - base, ends[token] - base
        first = buffer[at]
        negative = first == _MINUS
        at += negative or first == _PLUS
        whole, count = 0, end - at
        if role == REAL:
            point = at
            while 0 <= point < end and 48 <= buffer[point] <= 57:
                whole = whole * 10 + (int(buffer[point]) - 48)
                point += 1
            count = end - point - 1
        # The digits of an integer, or after the point; -1 if written in another way.
        part = eight_digits(buffer, end, count) if count > 0 else 0
        if role == INTEGER:
            if 8 < count <= 16:
                part = eight_digits(buffer, end, 8)
                above = eight_digits(buffer, end - 8, count - 8)
                part = part + above * 100_000_000 if part >= 0 and above >= 0 else -1
            ints[token] = -part if negative else part
            if part < 0:
                hard[left] = token
                left += 1
            continue
        if part >= 0 and point - at <= 7 and (count < 0 or buffer[point] == _POINT):
            decimals = max(count, 0)
            real = float(whole * TENS[decimals] + part) / POWERS[decimals]
        else:
            real = scientific(buffer, at, end)
        if real < 0 or is_tie(real):
            hard[left] = token
            left += 1
        else:
            reals[token] = -real if negative else real
    return left


@inline_kernel
def is_tie(real: float) -> bool:
    """Return whether a binary64 may be exactly halfway between two binary32 numbers."""
    return int(np.float64(real).view(np.int64)) & _TAIL == _HALF


@kernel
def eight_digits(buffer: NDArray[np.uint8], end: int, count: int) -> int:
    """Return the integer of `count` digits whose last digit is just before index `end`.

    Returns -1 if a byte is not a digit, if `count` is not from 1 to 8, or if the buffer has fewer
    than eight bytes before `end`.
    """
    at = end - 8
    if at < 0 or not 1 <= count <= 8:
        return -1
    # The compiler recognises this expression, and reads the eight bytes at once.
    digits = (
        int(buffer[at])
        | int(buffer[at + 1]) << 8
        | int(buffer[at + 2]) << 16
        | int(buffer[at + 3]) << 24
        | int(buffer[at + 4]) << 32
        | int(buffer[at + 5]) << 40
        | int(buffer[at + 6]) << 48
        | int(buffer[at + 7]) << 56
    ) ^ _ZEROS
    beside = 64 - 8 * count
    digits = digits >> beside << beside
    if (digits | (digits + _SIXES)) & _ABOVE != 0:
        return -1
    digits = (digits * 10 + (digits >> 8)) & _OF_TWO
    digits = (digits * 100 + (digits >> 16)) & _OF_FOUR
    return (digits * 10_000 + (digits >> 32)) & _OF_EIGHT


@kernel
def scientific(buffer: NDArray[np.uint8], at: int, end: int) -> float:
    """Return the value of the decimal in `buffer[at:end]`, correctly rounded to binary64.

    Returns -1 for a decimal that needs more than one rounding, and for a text that is not a
    decimal.
    """
    mantissa, exponent = decimal(buffer, at, end)
    if not 0 <= mantissa <= MANTISSA or not -22 <= exponent <= 22:
        return -1.0
    real = rounded(mantissa, exponent)
    return real if mantissa == 0 or _SMALLEST <= real < _LARGEST else -1.0


@kernel
def decimal(buffer: NDArray[np.uint8], at: int, end: int) -> tuple[int, int]:
    """Return the decimal in `buffer[at:end]` as two numbers (m, e): its value is m * 10**e.

    The integer m is -1 for a decimal of more than 18 digits, and for a text that is not a decimal.
    """
    mantissa, digits, exponent = 0, 0, 0
    while at < end and 48 <= buffer[at] <= 57 and digits < _DIGITS:
        mantissa = mantissa * 10 + (int(buffer[at]) - 48)
        digits += mantissa > 0
        at += 1
    if at < end and buffer[at] == _POINT:
        at += 1
        while at < end and 48 <= buffer[at] <= 57 and digits < _DIGITS:
            mantissa = mantissa * 10 + (int(buffer[at]) - 48)
            digits += mantissa > 0
            exponent -= 1
            at += 1
    if at + 1 < end and (buffer[at] == 101 or buffer[at] == 69):
        after = at + 1
        down = buffer[after] == _MINUS
        if down or buffer[after] == _PLUS:
            after += 1
        power = 0
        while after < end and 48 <= buffer[after] <= 57 and power < 1000:
            power = power * 10 + (int(buffer[after]) - 48)
            after += 1
        if after == end and after > at + 1 and 48 <= buffer[after - 1] <= 57:
            exponent += -power if down else power
            at = end
    return (mantissa if at == end else -1), exponent


@kernel
def rounded(mantissa: int, exponent: int) -> float:
    """Return mantissa * 10**exponent, correctly rounded to binary64. Return -1 if this is not
    certain.

    `mantissa` is below 10**18. If one rounding is not enough, the product is computed as the sum of
    two numbers. The result is certain if both bounds of the product's error round to the same
    number.
    """
    if mantissa <= MANTISSA and -22 <= exponent <= 22:
        whole, power = float(mantissa), float(POWERS[abs(exponent)])
        return whole * power if exponent >= 0 else whole / power
    if not -_FARTHEST <= exponent <= _FARTHEST:
        return -1.0
    high = float(mantissa)
    low = float(mantissa - int(high))
    power, rest = float(_HIGH[exponent + _FARTHEST]), float(_LOW[exponent + _FARTHEST])
    product = high * power
    # Dekker's product: what `product` lost, by factors that are split into halves.
    part = high * _SPLITTER
    a = part - (part - high)
    part = power * _SPLITTER
    b = part - (part - power)
    lost = ((a * b - product) + a * (power - b) + (high - a) * b) + (high - a) * (power - b)
    lost += high * rest + low * power
    error = product * _ERROR
    real = product + (lost - error)
    return real if real == product + (lost + error) else -1.0
