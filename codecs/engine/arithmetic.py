"""What expressions calculate, instruction by instruction: on whole numbers, and on reals."""

from typing import Final

from exset.codecs.engine.opcodes import (
    ADD,
    ADD_REAL,
    AND,
    DIVIDE,
    EQUAL,
    EQUAL_REAL,
    LESS,
    LESS_EQUAL,
    LESS_EQUAL_REAL,
    LESS_REAL,
    MODULO,
    MULTIPLY,
    MULTIPLY_REAL,
    NEGATE,
    NEGATE_REAL,
    NOT,
    OR,
    SUBTRACT,
    SUBTRACT_REAL,
    TO_REAL,
    TRUTH,
)
from exset.codecs.engine.scalars import Read, Write
from exset.core.kernels import bare_kernel

_SAFE: Final = 1 << 31  # products of numbers up to this fit
_HALF: Final = 1 << 62  # sums of numbers up to this fit
_PRODUCT: Final = 9e18
_EXACT: Final = 1 << 53  # a real of 64 bits holds each whole number up to this


@bare_kernel
def calculate(row: Read[int], ints: Write[int], reals: Write[float]) -> bool:
    """Carry out an instruction: register a of b, and of c; False where 64 bits are not enough."""
    op = row[0]
    a = row[1]
    b = row[2]
    c = row[3]
    if op == LESS:
        ints[a] = 1 if ints[b] < ints[c] else 0
    elif op == LESS_EQUAL:
        ints[a] = 1 if ints[b] <= ints[c] else 0
    elif op == EQUAL:
        ints[a] = 1 if ints[b] == ints[c] else 0
    elif op == NOT:
        ints[a] = 1 if ints[b] == 0 else 0
    elif op == AND:
        ints[a] = ints[b] & ints[c]
    elif op == OR:
        ints[a] = ints[b] | ints[c]
    elif ADD <= op <= SUBTRACT:
        x = ints[b]
        y = ints[c]
        if not (-_HALF < x < _HALF and -_HALF < y < _HALF):
            return False
        ints[a] = x + y if op == ADD else x - y
    elif op == MULTIPLY:
        x = ints[b]
        y = ints[c]
        if not (-_SAFE <= x <= _SAFE and -_SAFE <= y <= _SAFE) and (
            abs(float(x) * float(y)) > _PRODUCT
        ):
            return False
        ints[a] = x * y
    elif op == DIVIDE:
        ints[a] = ints[b] // ints[c]
    elif op == MODULO:
        ints[a] = ints[b] % ints[c]
    elif op == NEGATE:
        if ints[b] < -_HALF:
            return False
        ints[a] = -ints[b]
    elif op == TO_REAL:
        if not -_EXACT <= ints[b] <= _EXACT:
            return False
        reals[a] = float(ints[b])
    elif op == TRUTH:
        ints[a] = 1 if reals[b] != 0 else 0
    elif op == ADD_REAL:
        reals[a] = reals[b] + reals[c]
    elif op == SUBTRACT_REAL:
        reals[a] = reals[b] - reals[c]
    elif op == MULTIPLY_REAL:
        reals[a] = reals[b] * reals[c]
    elif op == NEGATE_REAL:
        reals[a] = -reals[b]
    elif op == EQUAL_REAL:
        ints[a] = 1 if reals[b] == reals[c] else 0
    elif op == LESS_REAL:
        ints[a] = 1 if reals[b] < reals[c] else 0
    elif op == LESS_EQUAL_REAL:
        ints[a] = 1 if reals[b] <= reals[c] else 0
    return True
