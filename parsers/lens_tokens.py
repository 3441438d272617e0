"""The tokens of a Lens text: the grammar's words, and the values that tokens stand for."""

import re
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.errors import Place
from exset.grammars.columns import Strings
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.numbers import float32s, int64s
from exset.parsers.engine.stream import ParseStream
from exset.parsers.lens_columns import STEPS, Floats, Ints
from exset.source import Source, Span

_A_STRING: Final = "a word or a string in { }, [ ], ( ) or quotation marks"
_DATA: Final = "inputs or targets (`I:` `T:` `B:` `i:` `t:` `b:`)"
_FIELD: Final = "a field such as `max:`"
_TEXT: Final = "the rest of the string"

GRAMMAR: Final = Grammar(
    file="lens.lark",
    start="example_set",
    steps=STEPS,
    words=MappingProxyType(
        {
            **dict.fromkeys(("REAL", "INF", "NAN", "VALUE", "UNKNOWN"), "a number"),
            **dict.fromkeys(("INT", "COUNT"), "a whole number"),
            **dict.fromkeys(("CHARACTERS", "ESCAPE", "BACKSLASH", "BREAK", "PROTECTED"), _TEXT),
            **dict.fromkeys(("MAX", "MIN", "GRACE", "DEFI", "ACTI", "DEFT", "ACTT"), _FIELD),
            **dict.fromkeys(("DENSE_INPUTS", "DENSE_TARGETS", "DENSE_BOTH"), _DATA),
            **dict.fromkeys(("SPARSE_INPUTS", "SPARSE_TARGETS", "SPARSE_BOTH"), _DATA),
            "UNIT": "a unit number",
            "BARE": _A_STRING,
            **dict.fromkeys(("WORD", "DASH", "DOT"), "a group name"),
        }
    ),
)

_REALS: Final = ("REAL", "INF", "NAN", "VALUE", "UNKNOWN")
_INTS: Final = ("INT", "UNIT", "COUNT")
_BARE: Final = ("BARE", "WORD", "DASH", "DOT")
_LINE_BREAK: Final = re.compile(rb"\r\n?|\n")


class Text:
    """The tokens of one text by number. Their places count from the source's first byte."""

    def __init__(self, source: Source, stream: ParseStream, begin: int) -> None:
        self.source = source
        self.data = source.data
        self.kinds = stream.kinds
        self.starts = stream.starts + begin
        self.ends = stream.ends + begin

    def __len__(self) -> int:
        return len(self.kinds)

    @cached_property
    def buffer(self) -> NDArray[np.uint8]:
        """The source's bytes."""
        return np.frombuffer(self.data, np.uint8)

    def is_a(self, *names: str) -> NDArray[np.bool_]:
        """Which tokens are one of these terminals."""
        wanted = np.zeros(len(GRAMMAR.terminals), np.bool_)
        wanted[[GRAMMAR.terminal(name) for name in names]] = True
        return wanted[self.kinds]

    def raw(self, token: int) -> bytes:
        """The bytes of a token."""
        return self.data[self.starts[token] : self.ends[token]]

    def span(self, first: int, last: int | None = None) -> Span:
        """The bytes from one token to another."""
        return Span(int(self.starts[first]), int(self.ends[first if last is None else last]))

    def place(self, token: int) -> Place:
        """Where a token stands."""
        return Place.in_text(self.source, self.span(token))

    def reals(self) -> Floats:
        """float32[tokens]: the value of each token that is a real, 0 elsewhere."""
        reals = np.zeros(len(self), np.float32)
        tokens = np.flatnonzero(self.is_a(*_REALS))
        reals[tokens] = float32s([self.raw(token) for token in tokens.tolist()])
        return reals

    def ints(self) -> Ints:
        """int64[tokens]: the value of each integer; -1 for `*`, 1 for a break in a string, or 0."""
        ints = self.is_a("BREAK").astype(np.int64)
        ints[self.is_a("STAR")] = -1
        tokens = np.flatnonzero(self.is_a(*_INTS))
        ints[tokens] = int64s([self.raw(token) for token in tokens.tolist()])
        return ints

    def bounds(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Where the strings begin and end that pairs of tokens stand for, delimiters left out."""
        if not len(self):
            return np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
        first, after = np.maximum(pairs, (0, 1)).T
        bare = self.is_a(*_BARE)[first]
        starts = np.where(bare, self.starts[first], self.ends[first])
        ends = np.where(bare, self.ends[first], self.starts[after - 1])
        some = after > first
        return np.where(some, starts, 0), np.where(some, ends, 0)

    def strings(self, pairs: Ints) -> Strings:
        """The strings that pairs of tokens stand for, as Lens keeps them; -1 for none."""
        given = pairs[:, 0] >= 0
        starts, ends = self.bounds(pairs)
        breaks = np.flatnonzero((self.buffer == 10) | (self.buffer == 13))
        broken = given & (np.searchsorted(breaks, starts) < np.searchsorted(breaks, ends))
        if not broken.any():
            return Strings.from_spans(self.buffer, starts, ends, given)
        raw = (self.data[start:end] for start, end in zip(starts, ends, strict=True))
        return Strings.of(
            (unbroken(text) if many else text) if some else None
            for text, some, many in zip(raw, given, broken, strict=True)
        )


def unbroken(raw: bytes) -> bytes:
    """A string of several lines as Lens keeps it.

    Comments are left out, and line breaks before the first character.
    """
    first, *rest = _LINE_BREAK.split(raw)
    lines = [first] if first else []
    for line in rest:
        if not line.startswith(b"#") and (lines or line):
            lines.append(line)
    return b"\n".join(lines)
