"""The program made from a layout, as plain data: instructions, contents of streams, error texts.

`interpreter.run` runs the instructions; comments there describe each instruction.
"""

import json
import zlib
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

Kind: TypeAlias = Literal["block", "test", "constant", "string", "rows", "bytes", "alignment"]
"""The kind of the node for which an instruction was made; `bytes`: a blob or padding."""


class Leaf(NamedTuple):
    """A field that is a column: a number, string or blob.

    stored: for a number, NumPy's name of its dtype in the file; else "string" or "blob". stream:
    the stream of the field's offsets. A number in a block of numbers has the stream of the block's
    offsets. shift: the offset of the number in its block, in bytes.
    """

    stored: str
    stream: int
    shift: int = 0

    @property
    def is_number(self) -> bool:
        """Whether the field is a number or a flag."""
        return self.stored not in ("string", "blob")

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The dtype of a number in the file."""
        return np.dtype(self.stored)

    @property
    def native(self) -> np.dtype[np.generic]:
        """The dtype of the field's column: as in the file, but in this machine's byte order."""
        return self.dtype.newbyteorder("=")

    @property
    def is_real(self) -> bool:
        """Whether the field is a floating-point number."""
        return self.is_number and self.dtype.kind == "f"


class Row(NamedTuple):
    """An array in a layout.

    stream: the stream of the array's counts. begin: the stream of the elements' offsets, or the
    path of the field with which each element begins. least: the smallest number of bytes of an
    element. is_numbers, is_records: whether the elements are numbers, or records.
    """

    stream: int
    begin: int | str
    least: int
    is_numbers: bool
    is_records: bool


class Origin(NamedTuple):
    """The part of the declaration from which an instruction was made, for error messages.

    kind: the kind of the node. path: the path of the node. field: the first field in the node's
    condition or count, if there is one. size: the size of a constant, or the smallest size of an
    element. text: what a condition demands, or the constant, in words.
    """

    kind: Kind
    path: str
    field: str | None = None
    size: int = 0
    text: str = ""


class Rest(NamedTuple):
    """An array without a count, which has all records up to the end of the file.

    stream: the stream of the array's count. begin, end: the array's first instruction, and the
    instruction after its last. given: the register with the number of records to read, -1 for all
    complete records. left: the register with the number of records still to read.
    """

    path: str
    begin: int
    end: int
    stream: int
    given: int
    left: int


class Program:
    """A layout as instructions that the interpreter runs.

    code: the instructions. constants: bytes. ints, reals: the initial values of the registers.
    streams: the number of streams. pairs: the first stream of each pair. leaves, rows: the fields
    and the arrays by path, in file order. origins: the origins of instructions that may fail, by
    index. feeds: the paths of columns whose numbers, or lengths of strings, are needed to write.
    owners: for fields and arrays that may be absent, the stream with the index of each record that
    has them. rest: the array without a count, if there is one.
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
        self.owners: dict[str, int] = {}
        self.rest: Rest | None = None

    def constant(self, begin: int, size: int) -> bytes:
        """Return `size` constant bytes, from offset `begin` on."""
        return bytes(self.constants[begin : begin + size])

    def block(self, stream: int) -> dict[str, Leaf]:
        """Return the fields of a block of adjacent numbers, by path, in file order.

        stream: the stream of the block's offsets.
        """
        return {path: leaf for path, leaf in self.leaves.items() if leaf.stream == stream}

    def total(self, path: str) -> int:
        """Return the number of the stream that counts the written values of the column `path`."""
        return self.leaves[path].stream + (path in self.rows and self.rows[path].is_numbers)

    def to_bytes(self) -> bytes:
        """Return the program as compressed JSON."""
        return zlib.compress(json.dumps(vars(self)).encode(), 1)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Program":
        """Make a program from the result of `to_bytes`. Raises ValueError for any other data."""
        try:
            found = json.loads(zlib.decompress(data))
        except zlib.error as error:
            raise ValueError(f"not a program: {error}") from None
        program = cls()
        vars(program).update(found)
        program.leaves = {path: Leaf(*each) for path, each in found["leaves"].items()}
        program.rows = {path: Row(*each) for path, each in found["rows"].items()}
        program.rest = Rest(*found["rest"]) if found["rest"] else None
        program.origins = {int(at): Origin(*each) for at, each in found["origins"].items()}
        return program
