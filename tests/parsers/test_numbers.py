"""The values of numerals, against exact rational arithmetic."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from exset.parsers.engine.numbers import float32s, has_empty_exponent, int64s

LARGEST = Fraction(float(np.finfo(np.float32).max))
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def nearest(exact: Fraction) -> np.float32:
    """The binary32 number nearest to a rational, the even one of two: by bisection over all."""
    magnitude = abs(exact)
    low, high = 0, 0x7F800000
    while high - low > 1:
        middle = (low + high) // 2
        if Fraction(float(np.uint32(middle).view(np.float32))) <= magnitude:
            low = middle
        else:
            high = middle
    below = Fraction(float(np.uint32(low).view(np.float32)))
    beyond = 2 * LARGEST - Fraction(float(np.uint32(0x7F7FFFFE).view(np.float32)))
    above = Fraction(float(np.uint32(high).view(np.float32))) if high < 0x7F800000 else beyond
    half = (below + above) / 2
    bits = high if magnitude > half or (magnitude == half and low % 2) else low
    value = np.uint32(bits).view(np.float32)
    return np.float32(-value) if exact < 0 else value


def decimal(exact: Fraction) -> bytes:
    """All digits of a rational whose denominator is a power of two."""
    with localcontext(prec=400):
        return format(Decimal(exact.numerator) / Decimal(exact.denominator), "f").encode()


@given(
    st.from_regex(
        rb"-?([0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})([eE][-+]?[0-9]{1,2})?", fullmatch=True
    )
)
def test_decimals_are_correctly_rounded(numeral: bytes) -> None:
    assert float32s([numeral])[0] == nearest(Fraction(numeral.decode()))


@given(FLOATS, st.sampled_from([-1, 0, 1]), st.integers(1, 60))
@example(float(LARGEST), 0, 1)
@example(float(LARGEST), -1, 60)
@example(1.401298464324817e-45, 0, 1)
@example(0.0, 1, 60)
def test_half_way_cases(value: float, side: int, digits: int) -> None:
    low = np.float32(abs(value))
    with np.errstate(over="ignore"):
        high = np.nextafter(low, np.float32(np.inf))
    beyond = 2 * LARGEST - Fraction(float(np.nextafter(np.float32(LARGEST), np.float32(0))))
    top = beyond if np.isinf(high) else Fraction(float(high))
    half = (Fraction(float(low)) + top) / 2
    numeral = decimal(half)
    nudged = Fraction(numeral.decode())
    if side:
        tail = b"" if b"." in numeral else b"."
        if side > 0:
            numeral += tail + b"0" * digits + b"1"
        else:
            numeral = decimal(half * (1 - Fraction(1, 2**90)))
        nudged = Fraction(numeral.decode())
    assert float32s([numeral])[0] == nearest(nudged)
    assert float32s([b"-" + numeral])[0] == nearest(-nudged)


@given(FLOATS)
def test_hexadecimals_are_exact(value: float) -> None:
    [read] = float32s([value.hex().encode()])
    assert read.tobytes() == np.float32(value).tobytes()


@pytest.mark.parametrize(
    ("numeral", "value"),
    [
        (b"1e", 1.0),
        (b"1e+", 1.0),
        (b"1.5E-", 1.5),
        (b"0x10", 16.0),
        (b"-0x.8p1", -1.0),
        (b"0x1p", 1.0),
        (b"0x1.000001p0", 1.0),
        (b"0x1.0000010000000000000000000001p0", 1.0 + 2**-23),
        (b"0x1p" + b"0" * 5000 + b"1", 2.0),
        (b"0x1p99999999999999999999", np.inf),
        (b"-0x1p99999999999999999999", -np.inf),
        (b"inf", np.inf),
        (b"-INFINITY", -np.inf),
        (b"1e39", np.inf),
        (b"-1e999999999999", -np.inf),
        (b"1e-999999999999", 0.0),
        (b"0." + b"0" * 10_000 + b"1e10001", 1.0),
        (b"1." + b"0" * 10_000, 1.0),
    ],
)
def test_numerals_as_c_reads_them(numeral: bytes, value: float) -> None:
    assert float32s([numeral]).tolist() == [value]


@pytest.mark.parametrize("numeral", [b"-", b"nan", b"NaN", b"-nan"])
def test_nan(numeral: bytes) -> None:
    assert np.isnan(float32s([numeral])).all()


def test_minus_zero_keeps_its_sign() -> None:
    assert np.signbit(float32s([b"-0", b"-0.0", b"-1e-99", b"0"])).tolist() == [True] * 3 + [False]


@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(["", "+"]), st.integers(0, 5000))
def test_integers(value: int, plus: str, zeros: int) -> None:
    sign = "-" if value < 0 else plus
    assert int64s([f"{sign}{'0' * zeros}{abs(value)}".encode()]).tolist() == [value]


def test_integers_beyond_64_bits_stay_beyond_32() -> None:
    read = int64s([b"9" * 6000, b"-" + b"9" * 6000]).tolist()
    assert read == [2**63 - 1, -(2**63)]


@pytest.mark.parametrize(
    ("numeral", "empty"),
    [
        (b"1e", True),
        (b"1e-", True),
        (b"1e5", False),
        (b"0x1e", False),
        (b"0x1p", True),
        (b"-", False),
    ],
)
def test_empty_exponents(numeral: bytes, empty: bool) -> None:
    assert has_empty_exponent(numeral) is empty
