"""A lowered layout as plain data: what `machine.run` runs, what its streams mean, why it fails."""

import json
import zlib
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

# What an instruction was made from: a block of numbers, ..., an array of numbers, another one, ...
Kind: TypeAlias = Literal[
    "block", "test", "constant", "string", "numbers", "rows", "blob", "gap", "alignment"
]


class Leaf(NamedTuple):
    """A field.

    stored: the dtype of a number in the file, as NumPy writes it; or "string", or "blob". stream:
    where its offsets are. shift: where it is in a block of numbers.
    """

    stored: str
    stream: int
    shift: int = 0

    @property
    def is_number(self) -> bool:
        """Whether it is a number, or a flag."""
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

    stream: where its counts are. begin: the stream of the offsets of its elements, or the field
    that they begin with. least: the fewest bytes of an element. is_numbers, is_records: of what.
    """

    stream: int
    begin: int | str
    least: int
    is_numbers: bool
    is_records: bool


class Feed(NamedTuple):
    """A column whose values a program wants when it writes.

    They are numbers, or lengths of strings; with a value whether each string is these bytes.
    """

    path: str
    is_real: bool = False
    value: bytes | None = None


class Origin(NamedTuple):
    """What an instruction was made from, for messages.

    field: what a test or a count names first, if anything. size: of a constant, or the least of an
    element. text: a condition as a person would write it. value: of a constant. numbers: of a
    block, their paths and sizes.
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
        """Where the instruction has its count."""
        return 3 if self.kind == "numbers" else 2

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return self.kind in ("numbers", "rows")


class Program:
    """A lowered layout.

    code: the instructions. constants: bytes. ints, reals: the registers as they begin. streams:
    how many there are. pairs: the first of each two that go together. leaves, rows: of the fields
    and the arrays by path, in the order of the file. origins: of the instructions that may fail.
    feeds: of the machine. gaps: the streams of the offsets and sizes (the next one) of padding, and
    its byte. fixed: the streams of the offsets of constants, and their bytes.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
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
        """Whether a field is an array of numbers, which is read and written at once."""
        return path in self.rows and self.rows[path].is_numbers

    def total(self, path: str) -> int:
        """The stream in which the machine counts the values of a column that it has written."""
        return self.leaves[path].stream + self.holds_numbers(path)

    def to_bytes(self) -> bytes:
        """The whole as JSON, in which bytes are Latin-1; compressed."""
        text = json.dumps(vars(self), default=lambda raw: raw.decode("latin-1"))
        return zlib.compress(text.encode(), 1)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Program":
        """What `to_bytes` wrote; ValueError if it is something else, or is damaged."""
        try:
            found = json.loads(zlib.decompress(data))
        except zlib.error as error:
            raise ValueError(f"this is no program: {error}") from None
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
