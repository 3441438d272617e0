"""The tokens of a Lens text: the grammar's words, and the values that tokens stand for."""

import re
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.errors import Place
from exset.grammars.columns import Strings
from exset.kernels import Kernels
from exset.parsers.engine.conversion import (
    INTEGER,
    NOT_A_NUMBER,
    NOTHING,
    REAL,
    convert,
)
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.numbers import float32s, int64s
from exset.parsers.engine.stream import ParseStream
from exset.parsers.lens_columns import STEPS, Floats, Ints
from exset.source import Source, Span

KERNELS: Final = Kernels("exset.parsers.engine.conversion")

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

_BARE: Final = ("BARE", "WORD", "DASH", "DOT")
_LINE_BREAK: Final = re.compile(rb"\r\n?|\n")
_ROLES: Final = MappingProxyType(
    {
        **dict.fromkeys(("REAL", "INF", "VALUE"), REAL),
        **dict.fromkeys(("NAN", "UNKNOWN"), NOT_A_NUMBER),
        **dict.fromkeys(("INT", "UNIT", "COUNT"), INTEGER),
    }
)
_CONSTANTS: Final = MappingProxyType({"STAR": -1, "BREAK": 1})


class Text:
    """The tokens of a text, or of a part of it, by number.

    Places count from the source's first byte. begin: where the text began that was parsed.
    """

    def __init__(self, source: Source, stream: ParseStream, begin: int) -> None:
        self.source = source
        self.kinds = stream.kinds
        self.starts = stream.starts + begin
        self.ends = stream.ends + begin
        self.base = 0

    def __len__(self) -> int:
        return len(self.kinds)

    @cached_property
    def buffer(self) -> NDArray[np.uint8]:
        """The source's bytes, from `base` on."""
        return np.frombuffer(self.source.data, np.uint8)

    def is_a(self, tokens: Ints, *names: str) -> NDArray[np.bool_]:
        """Which of these tokens are one of these terminals."""
        wanted = np.zeros(len(GRAMMAR.terminals), np.bool_)
        wanted[[GRAMMAR.terminal(name) for name in names]] = True
        return wanted[self.kinds[tokens]]

    def raw(self, token: int) -> bytes:
        """The bytes of a token."""
        return self.source.data[self.starts[token] - self.base : self.ends[token] - self.base]

    def span(self, token: int) -> Span:
        """The bytes of a token."""
        return Span(int(self.starts[token]), int(self.ends[token]))

    def place(self, token: int) -> Place:
        """Where a token stands."""
        return Place.in_text(self.source, self.span(token))

    def numbers(self, compiled: bool) -> tuple[Floats, Ints]:
        """The values of all tokens: reals float32[tokens] and ints int64[tokens].

        A token that is none has 0; `*` is the integer -1, a line break in a string 1.
        """
        names = GRAMMAR.terminals
        constants = np.array([_CONSTANTS.get(name, 0) for name in names], np.int64)
        roles = np.array([_ROLES.get(name, NOTHING) for name in names], np.int64)
        ints = constants[self.kinds]
        reals = np.zeros(len(self), np.float32)
        if compiled:
            hard = np.empty(len(self), np.int64)
            run = KERNELS.compiled(convert)
            spans = (self.kinds, self.starts, self.ends)
            count = run(self.buffer, self.base, *spans, roles, reals, ints, hard)
            rest = hard[:count]
        else:
            reals[roles[self.kinds] == NOT_A_NUMBER] = np.nan
            rest = np.flatnonzero(np.isin(roles[self.kinds], (REAL, INTEGER)))
        for role, values, slow in ((REAL, reals, float32s), (INTEGER, ints, int64s)):
            some = rest[roles[self.kinds[rest]] == role]
            values[some] = slow([self.raw(token) for token in some.tolist()])
        return reals, ints

    def bounds(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Where the strings begin and end that pairs of tokens stand for, delimiters left out."""
        if not len(self):
            return np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
        first, after = np.maximum(pairs, (0, 1)).T
        bare = self.is_a(first, *_BARE)
        starts = np.where(bare, self.starts[first], self.ends[first])
        ends = np.where(bare, self.ends[first], self.starts[after - 1])
        some = after > first
        return np.where(some, starts, self.base), np.where(some, ends, self.base)

    def strings(self, pairs: Ints) -> Strings:
        """The strings that pairs of tokens stand for, as Lens keeps them; -1 for none."""
        given = pairs[:, 0] >= 0
        starts, ends = (bound - self.base for bound in self.bounds(pairs))
        inside = np.searchsorted(self._breaks, pairs)
        broken = given & (inside[:, 0] < inside[:, 1])
        if not broken.any():
            return Strings.from_spans(self.buffer, starts, ends, given)
        raw = (self.source.data[start:end] for start, end in zip(starts, ends, strict=True))
        return Strings.of(
            (unbroken(text) if many else text) if some else None
            for text, some, many in zip(raw, given, broken, strict=True)
        )

    @cached_property
    def _breaks(self) -> Ints:
        """The tokens that are line breaks in strings."""
        return np.flatnonzero(self.kinds == GRAMMAR.terminal("BREAK"))


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
