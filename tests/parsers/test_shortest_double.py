"""The shortest decimals of binary64 numbers are NumPy's, compiled and as plain Python."""

import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from exset.grammars.columns.arrays import Bytes
from exset.parsers.shared.shortest_double import DOUBLE_ROOM, put_double
from exset.parsers.tables import csv_kernels as k

finite = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(0, 2**63 - 1).map(lambda bits: struct.unpack("<d", struct.pack("<q", bits))[0]),
    st.integers(-1074, 1023).map(lambda power: 2.0**power),
    st.integers(-323, 308).map(lambda power: float(f"1e{power}")),
).filter(np.isfinite)


def shortest(value: float) -> bytes:
    """Return the decimal of NumPy, with an exponent where `put_double` writes one."""
    if value == 0 or 1e-4 <= abs(value) < 1e10:
        return np.format_float_positional(value, trim="-").encode()
    return np.format_float_scientific(value, trim="-", exp_digits=2).encode()


def bits_of(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


@given(finite)
@example(5e-324)
@example(2.2250738585072014e-308)
@example(1.7976931348623157e308)
@example(9007199254740993.0)
@example(-0.0)
@example(-1.2345678901234567e-4)
def test_plain(value: float) -> None:
    out: Bytes = np.zeros(DOUBLE_ROOM, np.uint8)
    end = put_double(out, 0, bits_of(value))
    assert bytes(out[:end]) == shortest(value)


@given(st.lists(finite, max_size=20), st.integers(0, 2**32))
def test_compiled(values: list[float], seed: int) -> None:
    if not k.KERNELS.use_compiled(0, "table"):
        pytest.skip("the kernels are not compiled")
    drawn = np.random.default_rng(seed).integers(-(2**63), 2**63 - 1, 100).view(np.float64)
    numbers = np.array([*values, *drawn[np.isfinite(drawn)]])
    out, ends = np.zeros(DOUBLE_ROOM * numbers.size, np.uint8), np.zeros(numbers.size, np.int64)
    present = np.ones(numbers.size, np.bool_)
    k.KERNELS.compiled(k.put_numbers)(
        numbers.view(np.int64), k.DOUBLE, present, 1, ord(","), out, ends
    )
    cells = [bytes(out[begin:end]) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    assert [each.removesuffix(b".0") for each in cells] == [*map(shortest, numbers.tolist())]
