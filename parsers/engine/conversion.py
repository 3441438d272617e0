"""The kernel that converts numerals: spans of bytes to numbers, many at once.

Decimals of few digits and a small power of ten are converted with one rounding, to binary64; those
that could then round wrongly to binary32, and all that is written in another way, are left to
`exset.parsers.engine.numbers`.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.kernels import kernel

# What a token is converted to: nothing, a real, an integer, NaN.
(NOTHING, REAL, INTEGER, NOT_A_NUMBER) = range(4)

POWERS: Final = np.array([10.0**n for n in range(23)])
_MANTISSA: Final = 1 << 53  # integers up to here are exact in binary64
_DIGITS: Final = 18  # fit in 63 bits
_SMALLEST: Final = 2.0**-126  # the smallest normal binary32
_LARGEST: Final = 3.4028234e38
_TAIL: Final = (1 << 29) - 1  # the bits that rounding to binary32 drops
_HALF: Final = 1 << 28


@kernel
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
    """Fill reals or ints for each token by the role of its kind; how many are left in `hard`.

    base: the place of the buffer's first byte.
    """
    left = 0
    both = np.zeros(1, np.float64)
    bits = both.view(np.int64)
    for token in range(len(kinds)):
        role = roles[kinds[token]]
        if role == NOTHING:
            continue
        if role == NOT_A_NUMBER:
            reals[token] = np.nan
            continue
        at, end = starts[token] - base, ends[token] - base
        negative = buffer[at] == 45
        if negative or buffer[at] == 43:
            at += 1
        mantissa, digits, exponent = 0, 0, 0
        while at < end and 48 <= buffer[at] <= 57:
            mantissa = mantissa * 10 + (int(buffer[at]) - 48)
            digits += mantissa > 0
            at += 1
            if digits >= _DIGITS:
                break
        if role == INTEGER:
            if at < end:
                hard[left] = token
                left += 1
            ints[token] = -mantissa if negative else mantissa
            continue
        if at < end and buffer[at] == 46:
            at += 1
            while at < end and 48 <= buffer[at] <= 57 and digits < _DIGITS:
                mantissa = mantissa * 10 + (int(buffer[at]) - 48)
                digits += mantissa > 0
                exponent -= 1
                at += 1
        if at + 1 < end and (buffer[at] == 101 or buffer[at] == 69):
            after = at + 1
            down = buffer[after] == 45
            if down or buffer[after] == 43:
                after += 1
            power = 0
            while after < end and 48 <= buffer[after] <= 57 and power < 1000:
                power = power * 10 + (int(buffer[after]) - 48)
                after += 1
            if after == end and after > at + 1 and 48 <= buffer[after - 1] <= 57:
                exponent += -power if down else power
                at = end
        exact = at == end and mantissa <= _MANTISSA and -22 <= exponent <= 22
        real = 0.0
        if exact:
            real = float(mantissa)
            real = real * POWERS[exponent] if exponent >= 0 else real / POWERS[-exponent]
            both[0] = real
            exact = bits[0] & _TAIL != _HALF and real < _LARGEST
            exact = exact and (real >= _SMALLEST or mantissa == 0)
        if exact:
            reals[token] = -real if negative else real
        else:
            hard[left] = token
            left += 1
    return left
