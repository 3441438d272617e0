"""A lowered layout as plain data: its instructions, what its streams hold, why it may fail.

`interpreter.run` carries the instructions out, and says there what each one does.
"""

import json
import zlib
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

Kind: TypeAlias = Literal["block", "test", "constant", "string", "rows", "bytes", "alignment"]
"""The kind of node that an instruction was made from; `bytes` are a blob or padding."""


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
        return self.is_number and self.dtype.kind == "f"


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


class Origin(NamedTuple):
    """The node that an instruction was made from, for error messages.

    field: the first field in the condition or the count, if there is one. size: of a constant, or
    the fewest bytes of an element. text: the condition, or the constant, as people write it.
    """

    kind: Kind
    path: str
    field: str | None = None
    size: int = 0
    text: str = ""


class Program:
    """A lowered layout.

    code: the instructions. constants: bytes. ints, reals: the initial values of the registers.
    streams: their number. pairs: the first stream of each pair. leaves, rows: the fields and the
    arrays by path, in file order. origins: of the instructions that may fail, by index. feeds: the
    paths of the columns whose numbers, or lengths of strings, writing needs.
    """

    def __init__(self) -> None:
        self.code: list[list[int]] = []
        self.constants: list[int] = []
        self.ints: list[int] = []
        self.reals: list[float] = []
        self.streams = 0
        self.pairs: list[int] = []
        self.leaves: dict[str, Leaf] = {}
        self.rows: dict[str, Row] = {}
        self.origins: dict[int, Origin] = {}
        self.feeds: list[str] = []

    def constant(self, begin: int, size: int) -> bytes:
        """Return some of the constant bytes."""
        return bytes(self.constants[begin : begin + size])

    def block(self, stream: int) -> dict[str, Leaf]:
        """Return the numbers of a block, in order."""
        return {path: leaf for path, leaf in self.leaves.items() if leaf.stream == stream}

    def total(self, path: str) -> int:
        """The stream that counts the values of a column that are written."""
        return self.leaves[path].stream + (path in self.rows and self.rows[path].is_numbers)

    def to_bytes(self) -> bytes:
        """Serialise to compressed JSON."""
        return zlib.compress(json.dumps(vars(self)).encode(), 1)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Program":
        """Read what `to_bytes` wrote. Raises ValueError for anything else."""
        try:
            found = json.loads(zlib.decompress(data))
        except zlib.error as error:
            raise ValueError(f"not a program: {error}") from None
        program = cls()
        vars(program).update(found)
        program.leaves = {path: Leaf(*each) for path, each in found["leaves"].items()}
        program.rows = {path: Row(*each) for path, each in found["rows"].items()}
        program.origins = {int(at): Origin(*each) for at, each in found["origins"].items()}
        return program
