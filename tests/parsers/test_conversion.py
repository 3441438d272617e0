"""The kernel that converts numerals, against the exact conversion."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.parsers.engine.conversion import INTEGER, NOT_A_NUMBER, REAL, convert, rounded
from exset.parsers.engine.numbers import float32s, int64s
from exset.parsers.lens.tokens import KERNELS

REALS = st.from_regex(
    rb"[-+]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][-+]?[0-9]{0,4})?", fullmatch=True
) | st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda x: repr(x).encode())
INTS = st.integers(-(2**70), 2**70).map(lambda n: b"%d" % n)


def converted(numerals: list[bytes], role: int, compiled: bool) -> tuple[np.ndarray, np.ndarray]:
    """The values of numerals, and which of them the kernel left to the exact conversion."""
    text = b" ".join(numerals) + b" "
    lengths = np.array([len(numeral) for numeral in numerals], np.int64)
    ends = np.cumsum(lengths + 1) - 1
    starts = ends - lengths
    count = len(numerals)
    reals, ints = np.zeros(count, np.float32), np.zeros(count, np.int64)
    hard = np.zeros(count, np.int64)
    run = KERNELS.compiled(convert) if compiled else convert
    left = run(
        np.frombuffer(text, np.uint8),
        -7,
        np.zeros(count, np.int16),
        starts - 7,
        ends - 7,
        np.array([role], np.int64),
        reals,
        ints,
        hard,
    )
    values: np.ndarray = reals if role == REAL else ints
    for index in hard[:left].tolist():
        slow = float32s if role == REAL else int64s
        values[index] = slow([numerals[index]])[0]
    return values, hard[:left]


@pytest.mark.parametrize("compiled", [False, True])
@given(st.lists(REALS, min_size=1, max_size=20))
def test_reals(compiled: bool, numerals: list[bytes]) -> None:
    values, _ = converted(numerals, REAL, compiled)
    assert values.tobytes() == float32s(numerals).tobytes()


@pytest.mark.parametrize("compiled", [False, True])
@given(st.lists(INTS, min_size=1, max_size=20))
def test_integers(compiled: bool, numerals: list[bytes]) -> None:
    values, _ = converted(numerals, INTEGER, compiled)
    assert values.tolist() == int64s(numerals).tolist()


def test_the_kernel_converts_common_numerals() -> None:
    numerals = [b"0", b"1", b"-0.5", b".25", b"3.", b"0.1234", b"1e-3", b"-12.5E+2", b"000.10"]
    values, left = converted(numerals, REAL, True)
    assert left.tolist() == []
    assert values.tobytes() == float32s(numerals).tobytes()


def test_a_dash_is_not_converted() -> None:
    values, left = converted([b"-"], NOT_A_NUMBER, False)
    assert left.tolist() == []
    assert values.tolist() == [0]


def test_half_way_cases_need_the_exact_conversion() -> None:
    half = b"1.00000005960464477539062500000001"
    values, left = converted(
        [b"1.000000059604644775390625", half, b"1e-40", b"3.4028236e38"], REAL, True
    )
    assert left.tolist() == [0, 1, 2, 3]
    assert values[0] == 1
    assert values[1] > 1


@given(st.integers(0, 10**18 - 1), st.integers(-300, 300))
def test_products_with_powers_of_ten(mantissa: int, exponent: int) -> None:
    """A product is correctly rounded, or the kernel says that it is not sure."""
    assert rounded(mantissa, exponent) in (-1.0, float(f"{mantissa}e{exponent}"))


@given(st.floats(1e-200, 1e200))
def test_shortest_decimals_are_sure(value: float) -> None:
    """The kernel reads the decimals that programs write, of up to 17 digits."""
    digits, _, power = f"{value:.16e}".partition("e")
    assert rounded(int(digits.replace(".", "")), int(power) - 16) == value


def test_products_in_the_middle_of_two_numbers() -> None:
    """Around such a product one digit decides, so the kernel may be unsure, but never wrong."""
    for value in np.random.default_rng(1).uniform(1, 2, 300) * 2.0**52:
        middle = 10 * int(value) + 5  # binary64 has whole numbers only there
        for near in (middle - 1, middle, middle + 1):
            assert rounded(near, -1) in (-1.0, float(f"{near}e-1"))
