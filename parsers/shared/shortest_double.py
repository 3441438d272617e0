"""Write binary64 numbers as their shortest decimals; `shortest` describes the algorithm.

The product of a power of ten and a number has 210 bits. The kernels compute it in limbs of 30 bits,
so that each step fits into 63 bits.
"""

from typing import Final

import numpy as np

from exset.core.kernels import inline_kernel, kernel
from exset.grammars.columns.arrays import Bytes, Longs
from exset.parsers.shared.shortest import log2_of_power, nearest, put_decimal, trimmed

DOUBLE_ROOM: Final = 26
"""More bytes than any number needs: -0.00012345678901234567, -2.2250738585072014e-308."""

_MINUS: Final = ord("-")
_ZERO: Final = ord("0")
_LIMB: Final = 30
_LIMBS: Final = 5
_MASK: Final = (1 << _LIMB) - 1
_FRACTION: Final = (1 << 52) - 1
_MAGNITUDE: Final = (1 << 63) - 1

_LEAST_POWER: Final = -292
_MOST_POWER: Final = 324


def _powers() -> Longs:
    """Return the first 150 bits of each power 10 ** k, rounded up.

    The bits are in limbs of 30 bits, the lowest limb first.
    """
    limbs = []
    for k in range(_LEAST_POWER, _MOST_POWER + 1):
        shift = _LIMB * _LIMBS - 1 - log2_of_power(k)
        dividend = 10 ** max(k, 0) << max(shift, 0)
        digits = -(-dividend // (10 ** max(-k, 0) << max(-shift, 0)))
        limbs += [digits >> (_LIMB * i) & _MASK for i in range(_LIMBS)]
    return np.array(limbs, np.int64)


_POWERS: Final = _powers()


@inline_kernel
def _scaled_double(at: int, n: int) -> int:
    """Return a power of ten times n, divided by 2 ** 150 and rounded to odd.

    at: the index of the power. n is below 2 ** 60. Rounded to odd means: if the result is inexact,
    its last bit is 1. The stored powers are rounded up. So if the true result is a whole number,
    the product is too large by less than 2 ** -90. This function ignores such a small fraction.
    """
    low, high = n & _MASK, n >> _LIMB
    zeroth, first, second = _POWERS[at], _POWERS[at + 1], _POWERS[at + 2]
    third, fourth = _POWERS[at + 3], _POWERS[at + 4]
    total = first * low + zeroth * high + ((zeroth * low) >> _LIMB)
    total = second * low + first * high + (total >> _LIMB)
    rest = (total & _MASK) > 1
    total = third * low + second * high + (total >> _LIMB)
    rest = rest or (total & _MASK) != 0
    total = fourth * low + third * high + (total >> _LIMB)
    rest = rest or (total & _MASK) != 0
    scaled: int = (fourth * high + (total >> _LIMB)) | rest
    return scaled


@kernel
def shortest_double(bits: int) -> tuple[int, int]:
    """Return the shortest decimal of a finite binary64 number; see `shortest` for the result."""
    fraction, exponent = bits & _FRACTION, bits >> 52
    c, q = (fraction | (_FRACTION + 1), exponent - 1075) if exponent else (fraction, -1074)
    if -53 < q <= 0 and (c >> -q) << -q == c:
        return trimmed(c >> -q, 0)
    is_closer = 1 if fraction == 0 and exponent > 1 else 0
    k = (q * 1262611 - (524031 if is_closer else 0)) >> 22
    shift = q + log2_of_power(-k) + 1
    at = _LIMBS * (-k - _LEAST_POWER)
    odd = c & 1
    value = _scaled_double(at, (4 * c) << shift)
    lower = _scaled_double(at, (4 * c - 2 + is_closer) << shift) + odd
    upper = _scaled_double(at, (4 * c + 2) << shift) - odd
    return nearest(value, lower, upper, k)


@kernel
def put_double(out: Bytes, at: int, bits: int) -> int:
    """Write a finite binary64 number, given by its bits, to `out` from index `at` on.

    -0 is `-0`.
    """
    magnitude = bits & _MAGNITUDE
    if bits != magnitude:
        out[at] = _MINUS
        at += 1
    if magnitude == 0:
        out[at] = _ZERO
        return at + 1
    digits, power = shortest_double(magnitude)
    return put_decimal(out, at, digits, power)
