"""Read numbers from bytes, and compute expressions, for the interpreter."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import opcodes as op
from exset.core.kernels import kernel
from exset.grammars.columns.arrays import Bytes, Longs

CodeRow = NDArray[np.uint32]
Reals = NDArray[np.float64]

_SAFE: Final = 1 << 31  # products of numbers up to this fit in 64 bits
_HALF: Final = 1 << 62  # sums of numbers below this fit in 64 bits
_PRODUCT: Final = 9e18
_HALF_UNIT: Final = 1 << 24  # the smallest number of 16 bits is 1 over this
_EXACT: Final = 1 << 53  # a 64-bit real holds every whole number up to this


@kernel
def whole_number(data: Bytes, at: int, size: int, form: int) -> int:
    """Return the whole number in the `size` bytes of `data` from index `at` on.

    form: a sum of flags of `opcodes`: LITTLE for little-endian, SIGNED for two's complement. An
    unsigned number of 64 bits must be below 2**63.
    """
    step = 1
    if form & op.LITTLE:
        at += size - 1
        step = -1
    value: int = 0 + data[at]
    if form & op.SIGNED and value >= 128:
        value -= 256
    for _ in range(size - 1):
        at += step
        value = value * 256 + data[at]
    return value


@kernel
def real_number(data: Bytes, at: int, size: int, form: int) -> float:
    """Return the IEEE 754 number in the `size` bytes (2, 4 or 8) of `data` from index `at` on.

    form: `opcodes.LITTLE` if it is little-endian.
    """
    value = whole_number(data, at, size, form | op.SIGNED)
    if size == 8:
        return float(np.int64(value).view(np.float64))
    if size == 4:
        return float(np.int32(value).view(np.float32))
    sign = -1.0 if value < 0 else 1.0
    exponent, fraction = (value >> 10) & 31, value & 1023
    if exponent == 31:
        return math.nan if fraction else sign * math.inf
    if exponent == 0:
        return sign * float(fraction) / _HALF_UNIT
    return sign * float((1024 + fraction) << (exponent - 1)) / _HALF_UNIT


@kernel
def calculate(row: CodeRow, ints: Longs, reals: Reals) -> bool:
    """Run one instruction of arithmetic, which sets a register from one or two other registers.

    Returns False, and sets no register, if the result may need more than 64 bits. row: the
    instruction: its operation, the index of the register to set, and the indices of the operands'
    registers. ints, reals: the registers of whole numbers and of reals.
    """
    opcode = row[0]
    a = row[1]
    b = row[2]
    c = row[3]
    if opcode == op.LESS:
        ints[a] = 1 if ints[b] < ints[c] else 0
    elif opcode == op.LESS_EQUAL:
        ints[a] = 1 if ints[b] <= ints[c] else 0
    elif opcode == op.EQUAL:
        ints[a] = 1 if ints[b] == ints[c] else 0
    elif opcode == op.NOT:
        ints[a] = 1 if ints[b] == 0 else 0
    elif opcode == op.AND:
        ints[a] = ints[b] & ints[c]
    elif opcode == op.OR:
        ints[a] = ints[b] | ints[c]
    elif op.ADD <= opcode <= op.SUBTRACT:
        x = ints[b]
        y = ints[c]
        if not (-_HALF < x < _HALF and -_HALF < y < _HALF):
            return False
        ints[a] = x + y if opcode == op.ADD else x - y
    elif opcode == op.MULTIPLY:
        x = ints[b]
        y = ints[c]
        if not (-_SAFE <= x <= _SAFE and -_SAFE <= y <= _SAFE) and (
            abs(float(x) * float(y)) > _PRODUCT
        ):
            return False
        ints[a] = x * y
    elif opcode == op.DIVIDE:
        ints[a] = ints[b] // ints[c]
    elif opcode == op.MODULO:
        ints[a] = ints[b] % ints[c]
    elif opcode == op.NEGATE:
        if ints[b] < -_HALF:
            return False
        ints[a] = -ints[b]
    elif opcode == op.TO_REAL:
        if not -_EXACT <= ints[b] <= _EXACT:
            return False
        reals[a] = float(ints[b])
    elif opcode == op.TRUTH:
        ints[a] = 1 if reals[b] != 0 else 0
    elif opcode == op.ADD_REAL:
        reals[a] = reals[b] + reals[c]
    elif opcode == op.SUBTRACT_REAL:
        reals[a] = reals[b] - reals[c]
    elif opcode == op.MULTIPLY_REAL:
        reals[a] = reals[b] * reals[c]
    elif opcode == op.NEGATE_REAL:
        reals[a] = -reals[b]
    elif opcode == op.EQUAL_REAL:
        ints[a] = 1 if reals[b] == reals[c] else 0
    elif opcode == op.LESS_REAL:
        ints[a] = 1 if reals[b] < reals[c] else 0
    elif opcode == op.LESS_EQUAL_REAL:
        ints[a] = 1 if reals[b] <= reals[c] else 0
    return True
