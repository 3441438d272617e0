"""A lowered layout: what `machine.run` runs, and what its streams mean."""

from dataclasses import dataclass, field
from typing import TypeAlias

from exset.codecs.engine.layout import Layout
from exset.codecs.engine.nodes import Blob, Match, Node, Number, String, holds_numbers

# What an instruction was made from, for messages.
Origin: TypeAlias = Node | tuple[Number, ...] | None


@dataclass(frozen=True)
class Feed:
    """A column whose values a program wants when it writes: `what` says what of them."""

    what: Number | String | Blob | Match
    is_real: bool = False


@dataclass(eq=False)
class Program:
    """A lowered layout.

    code: the instructions. constants: bytes. ints, reals: the registers as they begin. streams:
    how many there are. pairs: the first of each two that go together. origins: of the instructions.
    feeds: of the machine. leaves: the stream of each leaf, and where in a block it is. rows: the
    stream of each array's counts. elements: the stream of the offsets of an array's elements, or
    the leaf that they begin with. gaps: the streams of the offsets and sizes (the next one) of
    padding, and its byte. fixed: the streams of the offsets of constants, and their bytes.
    """

    layout: Layout
    code: list[list[int]] = field(default_factory=list)
    constants: bytearray = field(default_factory=bytearray)
    ints: list[int] = field(default_factory=list)
    reals: list[float] = field(default_factory=list)
    streams: int = 0
    pairs: list[int] = field(default_factory=list)
    origins: dict[int, Origin] = field(default_factory=dict)
    feeds: list[Feed] = field(default_factory=list)
    leaves: dict[str, tuple[int, int]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    elements: dict[str, int | str] = field(default_factory=dict)
    gaps: list[tuple[int, int]] = field(default_factory=list)
    fixed: list[tuple[int, bytes]] = field(default_factory=list)

    def total(self, path: str) -> int:
        """The stream in which the machine counts the values of a column that it has written."""
        stream, _ = self.leaves[path]
        return stream + holds_numbers(self.layout.rows.get(path))
