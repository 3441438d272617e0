"""The instructions of the machine, and why it stops; `machine.run` says what each does."""

from typing import Final

WIDTH: Final = 7

# What an instruction does; the operands are told where it is carried out. The first few are of
# blocks, the last of expressions.
(
    BLOCK,
    BLOCK_FORK,
    BLOCK_BULK,
    TAKE_BULK,
    TAKE,
    TAKE_EACH,
    BLOCK_LOAD_FORK,
    LOAD,
    STRING,
    BULK,
    EACH,
    NEXT,
    UNLESS,
    CHECK,
    CHECK_LESS,
    CHECK_LESS_EQUAL,
    GO,
    LOAD_REAL,
    CONSTANT,
    BLOB,
    MARK,
    GAP,
    ALIGN,
    MATCH,
    PLACE,
    SET,
    UNTIL,
    EQUAL,
    LESS,
    LESS_EQUAL,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    MODULO,
    AND,
    OR,
    NOT,
    NEGATE,
    TO_REAL,
    TRUTH,
    ADD_REAL,
    SUBTRACT_REAL,
    MULTIPLY_REAL,
    NEGATE_REAL,
    EQUAL_REAL,
    LESS_REAL,
    LESS_EQUAL_REAL,
    BEYOND,
    END,
) = range(50)

# Why it stopped: at the end; at an instruction that failed; where 64 bits are not enough for
# an expression; where an offset is larger than may be; where a stream is full.
(DONE, FAILED, LARGE, WIDE, FULL) = range(5)

# How a whole number is stored, beyond its size.
(LITTLE, SIGNED, FLAG) = (1, 2, 4)
