"""Single numbers in the bytes of a file, for the machine."""

import math
from typing import Protocol, TypeVar

from exset.codecs.engine.opcodes import LITTLE, SIGNED
from exset.core.kernels import kernel

N = TypeVar("N", int, float)
N_co = TypeVar("N_co", int, float, covariant=True)


class Read(Protocol[N_co]):
    """A list or an array of numbers to look at."""

    def __getitem__(self, index: int, /) -> N_co:
        """A number."""


class Write(Read[N], Protocol[N]):
    """A list or an array of numbers to change."""

    def __setitem__(self, index: int, value: N, /) -> None:
        """Replace a number."""


class Table(Protocol):
    """A list of lists, or an array of two dimensions, to look at."""

    def __getitem__(self, index: int, /) -> Read[int]:
        """A row."""


@kernel
def whole_number(data: Read[int], at: int, size: int, form: int) -> int:
    """The number in some bytes; one of 64 bits without sign must be below 2**63."""
    step = 1
    if form & LITTLE:
        at += size - 1
        step = -1
    value = 0 + data[at]
    if form & SIGNED and value >= 128:
        value -= 256
    for _ in range(size - 1):
        at += step
        value = value * 256 + data[at]
    return value


@kernel
def real_number(data: Read[int], at: int, size: int, form: int) -> float:
    """The number in some bytes that are of IEEE 754."""
    fraction = 10
    if size == 4:
        fraction = 23
    elif size == 8:
        fraction = 52
    bias = (1 << (8 * size - fraction - 2)) - 1
    value = whole_number(data, at, size, form | SIGNED)
    sign = 1.0
    if value < 0:
        sign = -1.0
        value = value + (1 << (8 * size - 2)) + (1 << (8 * size - 2))
    exponent = value >> fraction
    value = value & ((1 << fraction) - 1)
    if exponent == 2 * bias + 1:
        if value:
            return math.nan
        return sign * math.inf
    if exponent == 0:
        exponent = 1
    else:
        value += 1 << fraction
    return sign * math.ldexp(float(value), exponent - bias - fraction)
