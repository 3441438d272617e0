"""Constants for operations, reasons to stop, and number formats: see `interpreter.run`."""

from typing import Final

WIDTH: Final = 7
"""The count of numbers in an instruction: the operation and its operands."""

# The operations. The interpreter compares them with `<=`, so their order matters.
# fmt: off
(
    # Blocks of numbers, alone and as superinstructions.
    BLOCK, BLOCK_FORK, BLOCK_BULK, TAKE_BULK, TAKE, TAKE_EACH, BLOCK_LOAD_FORK,
    # Other operations that write to a stream, which is their first operand.
    STRING, BULK, EACH, BLOB, CONSTANT, GAP, ALIGN, PLACE, OWNER, UNTIL,
    # Loads, jumps and checks.
    LOAD, LOAD_REAL, NEXT, UNLESS, GO, CHECK, CHECK_LESS, CHECK_LESS_EQUAL, MARK, MATCH, SET, LAST,
    # Expressions of whole numbers, and of reals.
    EQUAL, LESS, LESS_EQUAL, ADD, SUBTRACT, MULTIPLY, DIVIDE, MODULO, AND, OR, NOT, NEGATE,
    TO_REAL, TRUTH, ADD_REAL, SUBTRACT_REAL, MULTIPLY_REAL, NEGATE_REAL,
    EQUAL_REAL, LESS_REAL, LESS_EQUAL_REAL,
    # An expression that needs more than 64 bits, and the end of the program.
    BEYOND, END,
) = range(52)
# fmt: on

# Why the interpreter stopped: the program ended; an instruction failed; an expression needs more
# than 64 bits; an offset is too large; a stream is full; some records are done.
(DONE, FAILED, LARGE, WIDE, FULL, PAUSED) = range(6)

# The forms of counts: a negative count is an error, or means 0; or there is no count, and the array
# or the blob has the rest of the data.
(STRICT, LENIENT, REST) = range(3)

# How a whole number is stored, in addition to its size.
(LITTLE, SIGNED, FLAG) = (1, 2, 4)
