"""Write single numbers as text: the shortest decimals of binary32 numbers, and integers.

The kernels write bytes into a buffer that has room, and return the index for the next byte. The
algorithm is Schubfach (R. Giulietti, "The Schubfach way to render doubles", 2020). It is exact,
needs only one attempt for each number, and uses integers of 64 bits. `numerals` writes the same
text for whole columns.
"""

from typing import Final

import numpy as np

from exset.core.kernels import inline_kernel, kernel
from exset.grammars.columns.arrays import Bytes, Ints, Longs

REAL_ROOM: Final = 16
"""More bytes than any real needs, with a space before it: -0.00012345678, -1.2345678e-38."""
INTEGER_ROOM: Final = 21
"""More bytes than any integer needs, with a space before it."""

_MINUS: Final = ord("-")
_POINT: Final = ord(".")
_ZERO: Final = ord("0")
_POINT_FIRST: Final = int.from_bytes(b"0.", "little")
_LETTER_E: Final = ord("e")
_HALF: Final = (1 << 32) - 1
_MOST_OF_REAL: Final = 10**9  # the shortest decimal of a real has at most nine digits

# Exponents, as in the bits, of numbers from 2 ** -13 to below 2 ** 19, and the values of their last
# bits.
_LEAST_FEW: Final = 127 - 13
_MOST_FEW: Final = 127 + 19
_TWOS: Final = np.array([2.0 ** (n - 150) for n in range(_LEAST_FEW, _MOST_FEW)])
# For each number below 1000, its three digits as a word, the first one in the lowest byte, and the
# number of zeros at the end.
_THREE: Final = np.array([int.from_bytes(b"%03d" % n, "little") for n in range(1000)], np.int64)
_ZEROS: Final = np.array([3 - len(f"{n:03}".rstrip("0")) for n in range(1000)], np.int64)
_SCALES: Final = 10.0 ** np.arange(6)
_MOST_OF_FEW: Final = 9  # -0.123456
_SKIPPED: Final = 16

# `numerals` writes numbers from 1e-4 to below 1e10 without an exponent.
_LEAST_POSITIONAL: Final = -4
_MOST_POSITIONAL: Final = 9

_LEAST_POWER: Final = -31
_MOST_POWER: Final = 45


def _powers() -> tuple[Longs, Longs]:
    """Return the first 64 bits of each power 10 ** k, rounded up, as upper and lower 32 bits."""
    high, low = [], []
    for k in range(_LEAST_POWER, _MOST_POWER + 1):
        shift = 63 - log2_of_power(k)
        dividend = 10 ** max(k, 0) << max(shift, 0)
        digits = -(-dividend // (10 ** max(-k, 0) << max(-shift, 0)))
        high.append(digits >> 32)
        low.append(digits & _HALF)
    return np.array(high, np.int64), np.array(low, np.int64)


@kernel
def log2_of_power(k: int) -> int:
    """Return the integer part of the binary logarithm of 10 ** k."""
    return (k * 1741647) >> 19


_HIGH, _LOW = _powers()


@kernel
def _scaled(high: int, low: int, n: int) -> int:
    """Return a power of ten times n, divided by 2 ** 64 and rounded to odd.

    high, low: the upper and the lower 32 bits of the power. n is below 2 ** 31. Rounded to odd
    means: if the result is inexact, its last bit is 1. This rounding keeps all comparisons correct
    (Schubfach, section 9.4).
    """
    middle = high * n + ((low * n) >> 32)
    return (middle >> 32) | ((middle & _HALF) > 1)


@kernel
def shortest(bits: int) -> tuple[int, int]:
    """Return the shortest decimal of a finite binary32 number, without its sign, as (digits,
    power).

    The decimal is digits * 10 ** power. If several decimals are shortest, it is the one nearest to
    the number. digits has no trailing zeros. bits: the bits of the number, which must not be zero.
    """
    fraction, exponent = bits & 0x7FFFFF, (bits >> 23) & 0xFF
    c, q = (fraction | 0x800000, exponent - 150) if exponent else (fraction, -149)
    if -24 < q <= 0 and (c >> -q) << -q == c:
        return trimmed(c >> -q, 0)
    # Below a power of two the numbers are twice as dense.
    is_closer = 1 if fraction == 0 and exponent > 1 else 0
    k = (q * 1262611 - (524031 if is_closer else 0)) >> 22  # of 2 ** q, or of 3/4 of it
    shift = q + log2_of_power(-k) + 1
    high, low = _HIGH[-k - _LEAST_POWER], _LOW[-k - _LEAST_POWER]
    # Four times the number, and the ends of the interval that rounds to it; both belong to an even
    odd = c & 1
    value = _scaled(high, low, (4 * c) << shift)
    lower = _scaled(high, low, (4 * c - 2 + is_closer) << shift) + odd
    upper = _scaled(high, low, (4 * c + 2) << shift) - odd
    return nearest(value, lower, upper, k)


@inline_kernel
def nearest(value: int, lower: int, upper: int, k: int) -> tuple[int, int]:
    """Return the shortest decimal from `lower` to `upper` that is nearest to `value`: (digits,
    power).

    `value`, `lower` and `upper` are in units of 10 ** k, multiplied by four and rounded to odd.
    """
    digits = value >> 2
    if digits >= 10:
        tens = digits // 10
        is_below, is_above = lower <= 40 * tens, 40 * tens + 40 <= upper
        if is_below != is_above:
            return trimmed(tens + is_above, k + 1)
    is_below, is_above = lower <= 4 * digits, 4 * digits + 4 <= upper
    if is_below == is_above:  # both, or neither: take the nearer one, or the even one of a tie
        middle = 4 * digits + 2
        is_above = value > middle or (value == middle and (digits & 1) != 0)
    return trimmed(digits + is_above, k)


@kernel
def trimmed(digits: int, power: int) -> tuple[int, int]:
    """Return the decimal digits * 10 ** power without zeros at the end of `digits`."""
    while digits % 10000 == 0:
        digits //= 10000
        power += 4
    if digits % 100 == 0:
        digits //= 100
        power += 2
    if digits % 10 == 0:
        digits //= 10
        power += 1
    return digits, power


@kernel
def _count(digits: int) -> int:
    """Return the number of decimal digits of a positive integer."""
    count, limit = 1, 10
    if digits < _MOST_OF_REAL:  # without a branch for each digit
        for _ in range(8):
            count += digits >= limit
            limit *= 10
        return count
    while digits >= limit and count < 19:
        count += 1
        limit *= 10
    return count


@kernel
def _put_digits(out: Bytes, at: int, digits: int, count: int) -> int:
    """Write the last `count` digits of an integer to `out`, from index `at` on."""
    place = at + count
    while place - at >= 2:
        rest = digits // 100
        two = digits - 100 * rest
        tens = two * 205 >> 11
        out[place - 2] = _ZERO + tens
        out[place - 1] = _ZERO + two - 10 * tens
        place -= 2
        digits = rest
    if place > at:
        out[at] = _ZERO + digits % 10
    return at + count


@kernel
def put_integer(out: Bytes, at: int, number: int) -> int:
    """Write an integer with its sign to `out`, from index `at` on; return the index after it.

    number: an integer of less than 64 bits.
    """
    out[at] = _MINUS  # without a branch, which numbers of both signs would make slow
    at += number < 0
    number = max(number, 0 - number)  # 64 bits, where -number of an int32 may overflow
    if number < 1000:
        count = 1 + (number >= 10) + (number >= 100)
        _put_word(out, at, _THREE[number] >> (24 - 8 * count))
        return at + count
    thousands = number // 1000
    three = _THREE[number - 1000 * thousands]
    if thousands < 1000:
        count = 4 + (thousands >= 10) + (thousands >= 100)
        _put_word(out, at, (_THREE[thousands] | three << 24) >> (48 - 8 * count))
        return at + count
    if number < _MOST_OF_REAL:
        millions = thousands // 1000
        count = 1 + (millions >= 10) + (millions >= 100)
        _put_word(out, at, _THREE[millions] >> (24 - 8 * count))
        _put_word(out, at + count, _THREE[thousands - 1000 * millions] | three << 24)
        return at + count + 6
    return _put_digits(out, at, number, _count(number))


@inline_kernel
def put_real(out: Bytes, at: int, bits: int) -> int:
    """Write a binary32 number, given by its bits, to `out` from index `at` on.

    -0 is `-0`, NaN is `-`, infinity is `1e999`.
    """
    out[at] = _MINUS
    begin = at + (bits < 0)
    end = _put_few_digits(out, begin, bits & 0x7FFFFFFF)
    return end if end > begin else _put_any(out, at, bits)


@kernel
def _put_any(out: Bytes, at: int, bits: int) -> int:
    """Write the same as `put_real`, but more slowly for numbers with few digits.

    The number is given by its bits, and goes to `out` from index `at` on.
    """
    magnitude = bits & 0x7FFFFFFF
    if bits != magnitude and magnitude <= 0x7F800000:
        out[at] = _MINUS
        at += 1
    if magnitude == 0:
        out[at] = _ZERO
        return at + 1
    if magnitude == 0x7F800000:
        out[at] = _ZERO + 1
        out[at + 1] = _LETTER_E
        return _put_digits(out, at + 2, 999, 3)
    if magnitude > 0x7F800000:
        out[at] = _MINUS
        return at + 1
    digits, power = shortest(magnitude)
    return put_decimal(out, at, digits, power)


@kernel
def put_decimal(out: Bytes, at: int, digits: int, power: int) -> int:
    """Write digits * 10 ** power to `out`, from index `at` on.

    The text has an exponent if the number is below 1e-4, or if it is 1e10 or more.
    """
    count = _count(digits)
    exponent = count + power - 1
    if exponent < _LEAST_POSITIONAL or exponent > _MOST_POSITIONAL:
        return _put_scientific(out, at, digits, count, exponent)
    if exponent < 0:
        out[at] = _ZERO
        out[at + 1] = _POINT
        return _put_digits(out, at + 2, digits, count - exponent - 1)
    if power >= 0:
        at = _put_digits(out, at, digits, count)
        return _put_digits(out, at, 0, power)
    # Write all digits one place to the right, then the digits of the whole part in their places.
    _put_digits(out, at + 1, digits, count)
    for place in range(at, at + exponent + 1):
        out[place] = out[place + 1]
    out[at + exponent + 1] = _POINT
    return at + count + 1


@inline_kernel
def _put_few_digits(out: Bytes, at: int, bits: int) -> int:
    """Write a number to `out` as a decimal of at most six digits; return the index after it.

    The number is given by its bits, and is from 2 ** -13 to below 2 ** 19. If no decimal of six
    digits is exactly this number, write nothing and return `at`. Otherwise, the result is the
    shortest decimal, because different decimals of six digits are different numbers. Rounding twice
    is exact here: a quotient of these sizes is either halfway between two numbers, or not close to
    that.
    """
    exponent = bits >> 23
    if not _LEAST_FEW <= exponent < _MOST_FEW:
        return at
    value = ((bits & 0x7FFFFF) | 0x800000) * _TWOS[exponent - _LEAST_FEW]
    whole, scale = 0, 1000000.0
    if value >= 1.0:
        whole = 1  # digits before the point
        for i in range(1, 6):
            whole += value >= _SCALES[i]
        scale = _SCALES[6 - whole]
    number = int(value * scale + 0.5)
    if np.float32(number / scale) != np.float32(value):
        return at
    high = (number * 536871) >> 29  # number // 1000
    low = number - 1000 * high
    zeros = int(_ZEROS[low])
    if zeros == 3:
        zeros += int(_ZEROS[high])
    digits = _THREE[high] | (_THREE[low] << 24)
    if whole == 0:
        _put_word(out, at, _POINT_FIRST | (digits << 16))
        return at + 8 - zeros
    before = 8 * whole
    digits += (digits >> before << before) * 255 + (_POINT << before)
    _put_word(out, at, digits)
    return at + (7 - zeros if zeros < 6 - whole else whole)


@inline_kernel
def _put_word(out: Bytes, at: int, word: int) -> None:
    """Write the eight bytes of `word` to `out`, from index `at` on, the lowest byte first.

    The compiler joins the eight stores into one.
    """
    eight = out[at : at + 8]
    for i in range(8):
        eight[i] = (word >> (8 * i)) & 255


@kernel
def _put_scientific(out: Bytes, at: int, digits: int, count: int, exponent: int) -> int:
    _put_digits(out, at + 1, digits, count)
    out[at] = out[at + 1]
    out[at + 1] = _POINT
    at += count + 1 if count > 1 else 1
    out[at] = _LETTER_E
    out[at + 1] = _MINUS if exponent < 0 else ord("+")
    return _put_digits(out, at + 2, abs(exponent), 3 if abs(exponent) > 99 else 2)


@kernel
def put_reals(out: Bytes, at: int, bits: Ints, start: int, end: int) -> int:
    """Write binary32 numbers to `out`, from index `at` on; return the index after the last.

    The numbers are bits[start:end]. A space precedes each number.
    """
    skipped = 0  # after a number of many digits, the next ones probably have many, too
    for i in range(start, end):
        out[at] = ord(" ")
        begin = at + 1
        if skipped > 0:
            skipped -= 1
            at = _put_any(out, begin, bits[i])
        else:
            at = put_real(out, begin, bits[i])
            if at - begin > _MOST_OF_FEW:
                skipped = _SKIPPED
    return at
