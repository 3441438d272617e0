"""A lowered layout as plain data: its instructions, what its streams hold, why it may fail.

`interpreter.run` carries the instructions out, and says there what each one does.
"""

import json
import zlib
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

WIDTH: Final = 7
"""Numbers in an instruction: the operation and its operands."""

# The operations. The interpreter compares them with `<=`, so their order matters.
# fmt: off
(
    # Blocks of numbers, alone and as superinstructions.
    BLOCK, BLOCK_FORK, BLOCK_BULK, TAKE_BULK, TAKE, TAKE_EACH, BLOCK_LOAD_FORK,
    # The most frequent ones, then the others.
    LOAD, STRING, BULK, EACH, NEXT, UNLESS, CHECK, CHECK_LESS, CHECK_LESS_EQUAL, GO,
    LOAD_REAL, CONSTANT, BLOB, MARK, GAP, ALIGN, MATCH, PLACE, SET, UNTIL,
    # Expressions of whole numbers, and of reals.
    EQUAL, LESS, LESS_EQUAL, ADD, SUBTRACT, MULTIPLY, DIVIDE, MODULO, AND, OR, NOT, NEGATE,
    TO_REAL, TRUTH, ADD_REAL, SUBTRACT_REAL, MULTIPLY_REAL, NEGATE_REAL,
    EQUAL_REAL, LESS_REAL, LESS_EQUAL_REAL,
    # An expression that needs more than 64 bits, and the end of the program.
    BEYOND, END,
) = range(50)
# fmt: on

# Why the interpreter stopped: the program ended; an instruction failed; an expression needs more
# than 64 bits; an offset is too large; a stream is full.
(DONE, FAILED, LARGE, WIDE, FULL) = range(5)

# How a whole number is stored, besides its size.
(LITTLE, SIGNED, FLAG) = (1, 2, 4)

Kind: TypeAlias = Literal[
    "block", "test", "constant", "string", "numbers", "rows", "blob", "gap", "alignment"
]
"""The kind of node that an instruction was made from; `numbers` and `rows` are arrays."""


class Leaf(NamedTuple):
    """A field that is a column.

    stored: the dtype of a number in the file, as NumPy writes it; or "string", or "blob". stream:
    the stream of its offsets. shift: its offset in its block of numbers.
    """

    stored: str
    stream: int
    shift: int = 0

    @property
    def is_number(self) -> bool:
        """Whether it is a number or a flag."""
        return self.stored not in ("string", "blob")

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The dtype of a number in the file."""
        return np.dtype(self.stored)

    @property
    def native(self) -> np.dtype[np.generic]:
        """The dtype of its column."""
        return self.dtype.newbyteorder("=")

    @property
    def is_real(self) -> bool:
        """Whether it is a floating-point number."""
        return self.dtype.kind == "f"


class Row(NamedTuple):
    """An array.

    stream: the stream of its counts. begin: the stream of the offsets of its elements, or the path
    of the field that each element begins with. least: the fewest bytes of an element. is_numbers,
    is_records: whether its elements are numbers, or records.
    """

    stream: int
    begin: int | str
    least: int
    is_numbers: bool
    is_records: bool


class Feed(NamedTuple):
    """A column whose values a program needs while it writes.

    A feed holds numbers, or lengths of strings; with `value`, whether each string equals it.
    """

    path: str
    is_real: bool = False
    value: bytes | None = None


class Origin(NamedTuple):
    """The node that an instruction was made from, for error messages.

    field: the first field in the condition or the count, if there is one. size: of a constant, or
    the fewest bytes of an element. text: the condition as people write it. value: of a constant.
    numbers: the paths and sizes of the numbers of a block.
    """

    kind: Kind
    path: str
    field: str | None = None
    size: int = 0
    text: str = ""
    value: int | bytes = 0
    numbers: tuple[tuple[str, int], ...] = ()

    @property
    def operand(self) -> int:
        """The index of the count among the operands."""
        return 3 if self.kind == "numbers" else 2

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return self.kind in ("numbers", "rows")


class Program:
    """A lowered layout.

    code: the instructions. constants: bytes. ints, reals: the initial values of the registers.
    streams: their number. pairs: the first stream of each pair. leaves, rows: the fields and the
    arrays by path, in file order. origins: of the instructions that may fail, by index. feeds: the
    columns that writing needs. gaps: for each padding, the first of a pair of streams (offsets and
    sizes), and the byte that fills it. fixed: for each constant, the stream of its offsets, and
    its bytes.
    """

    def __init__(self) -> None:
        """Make an empty program."""
        self.code: list[list[int]] = []
        self.constants = b""
        self.ints: list[int] = []
        self.reals: list[float] = []
        self.streams = 0
        self.pairs: list[int] = []
        self.leaves: dict[str, Leaf] = {}
        self.rows: dict[str, Row] = {}
        self.origins: dict[int, Origin] = {}
        self.feeds: list[Feed] = []
        self.gaps: list[tuple[int, int]] = []
        self.fixed: list[tuple[int, bytes]] = []

    def holds_numbers(self, path: str) -> bool:
        """Whether a field is an array of numbers, which is one instruction."""
        return path in self.rows and self.rows[path].is_numbers

    def total(self, path: str) -> int:
        """The stream that counts the values of a column that are written."""
        return self.leaves[path].stream + self.holds_numbers(path)

    def to_bytes(self) -> bytes:
        """Serialise to compressed JSON, in which bytes are Latin-1."""
        text = json.dumps(vars(self), default=lambda raw: raw.decode("latin-1"))
        return zlib.compress(text.encode(), 1)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Program":
        """Read what `to_bytes` wrote. Raises ValueError for anything else."""
        try:
            found = json.loads(zlib.decompress(data))
        except zlib.error as error:
            raise ValueError(f"not a program: {error}") from None
        program = cls()
        vars(program).update(found)
        program.constants = _raw(found["constants"])
        program.leaves = {path: Leaf(*each) for path, each in found["leaves"].items()}
        program.rows = {path: Row(*each) for path, each in found["rows"].items()}
        program.origins = {int(at): _origin(*each) for at, each in found["origins"].items()}
        program.feeds = [
            Feed(path, is_real, None if value is None else _raw(value))
            for path, is_real, value in found["feeds"]
        ]
        program.gaps = [(stream, pattern) for stream, pattern in found["gaps"]]
        program.fixed = [(stream, _raw(text)) for stream, text in found["fixed"]]
        return program


def _raw(text: str) -> bytes:
    return text.encode("latin-1")


def _origin(
    kind: Kind,
    path: str,
    field: str | None,
    size: int,
    text: str,
    value: int | str,
    numbers: list[tuple[str, int]],
) -> Origin:
    constant = _raw(value) if isinstance(value, str) else value
    return Origin(kind, path, field, size, text, constant, tuple((a, b) for a, b in numbers))
