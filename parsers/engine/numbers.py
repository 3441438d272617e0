"""Compute the correctly rounded values of numerals that the kernel cannot convert."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

_HALF_WAY: Final = float(2**128 - 2**103)  # between the largest binary32 and infinity


def float32s(numerals: Sequence[bytes]) -> NDArray[np.float32]:
    """Return the values of decimal and hexadecimal numerals, correctly rounded to binary32.

    The numerals are read as C reads them: a number with an optional sign and exponent, or `inf`,
    `infinity` or `nan` in any case. In addition, `-` is NaN, and an exponent without digits is
    ignored.
    """
    wide = np.fromiter(map(float64, numerals), np.float64, len(numerals))
    with np.errstate(over="ignore"):
        narrow = wide.astype(np.float32)
        for index in np.flatnonzero(_tied(wide, narrow)).tolist():
            narrow[index] = _round_tie(numerals[index], float(wide[index]), narrow[index])
    return narrow


def int64s(numerals: Sequence[bytes]) -> NDArray[np.int64]:
    """Return the values of integers that may have a sign.

    The value of an integer out of range is the nearest int64. That of another numeral, such as
    `1.5` or `nan`, is the int64 of its sign that is farthest from 0.
    """
    values = (min(max(_int(text), -(2**63)), 2**63 - 1) for text in numerals)
    return np.fromiter(values, np.int64, len(numerals))


def float64(numeral: bytes) -> float:
    """Return the value of a numeral, correctly rounded to binary64."""
    if numeral == b"-":
        return float("nan")
    try:
        return float(numeral)
    except ValueError:
        text = _without_empty_exponent(numeral).decode("ascii")
        if "x" not in text.lower():
            return float(text)
        try:
            return float.fromhex(text)
        except OverflowError:
            return float("-inf") if text.startswith("-") else float("inf")


def exact(numeral: bytes) -> "Decimal | Fraction":
    """Return the exact value of a finite numeral, as a number that can be compared with floats."""
    from decimal import Decimal  # few numerals need this
    from fractions import Fraction

    text = _without_empty_exponent(numeral).decode("ascii").lower()
    if "x" not in text:
        return Decimal(text)
    sign = -1 if text.startswith("-") else 1
    mantissa, _, exponent = text.lstrip("+-").removeprefix("0x").partition("p")
    whole, _, part = mantissa.partition(".")
    power = _int(exponent.encode()) - 4 * len(part)
    return sign * int(whole + part or "0", 16) * Fraction(2) ** power


def has_empty_exponent(numeral: bytes) -> bool:
    """Return whether a numeral ends in an exponent without digits, such as `1e` or `0x1p+`."""
    return len(_without_empty_exponent(numeral)) < len(numeral)


def _int(numeral: bytes) -> int:
    digits = numeral.lstrip(b"+-0") or b"0"
    magnitude = int(digits) if len(digits) < 20 and digits.isdigit() else 10**20
    return -magnitude if numeral.startswith(b"-") else magnitude


def _without_empty_exponent(numeral: bytes) -> bytes:
    letters = b"pP" if b"x" in numeral.lower() else b"eE"
    bare = numeral.rstrip(b"+-")
    return bare[:-1] if bare and bare[-1] in letters else numeral


def _tied(wide: NDArray[np.float64], narrow: NDArray[np.float32]) -> NDArray[np.bool_]:
    # Rounding twice, to binary64 and then to binary32, is wrong only if the first result is halfway
    # between two binary32 numbers.
    towards = np.where(wide > narrow, np.float32(np.inf), np.float32(-np.inf))
    beyond = np.nextafter(narrow, towards).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        middle = narrow.astype(np.float64) / 2 + beyond / 2
    tied: NDArray[np.bool_] = (wide == middle) & (wide != narrow)
    tied |= np.abs(wide) == _HALF_WAY
    return tied


def _round_tie(numeral: bytes, middle: float, rounded: np.float32) -> np.float32:
    """Return the binary32 nearest to a numeral that is close to the middle of two binary32 numbers.

    middle: the binary64 of the numeral, which is exactly halfway between the two. rounded: one of
    the two; the other is its neighbour on the other side of `middle`.
    """
    value = exact(numeral)
    if value == middle or (value > middle) == (float(rounded) > middle):
        return rounded
    other: np.float32 = np.nextafter(rounded, np.float32(np.inf if value > middle else -np.inf))
    return other
