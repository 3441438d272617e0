"""The tokens of a Lens text: the names of terminals in messages, and the values of tokens."""

import re
from functools import cache, cached_property
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import Kernels
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Flags, canonical_nan, compact
from exset.grammars.columns.ragged import Strings
from exset.grammars.lens.findings import LONG
from exset.parsers.engine.conversion import INTEGER, NOT_A_NUMBER, NOTHING, REAL, convert
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.numbers import float32s, int64s
from exset.parsers.engine.recovery import Records
from exset.parsers.engine.stream import ParseStream
from exset.parsers.engine.tokens import Tokens
from exset.parsers.lens import string_kernels
from exset.parsers.lens.steps import EXAMPLE, HEADER, STEPS, Floats, Ints

KERNELS: Final = Kernels(
    "exset.parsers.engine.conversion",
    "exset.parsers.lens.string_kernels",
    "exset.parsers.lens.steps",
    "exset.parsers.lens.list_actions",
    "exset.parsers.lens.list_order",
    "exset.parsers.lens.actions",
)

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
    records=Records((EXAMPLE, HEADER), end=b";", skipped=r"\\.|[\r\n]#[^\r\n]*"),
)

_LINE_BREAK: Final = re.compile(rb"\r\n?|\n")
_INTEGERS: Final = ("INT", "UNIT", "COUNT")
_ROLES: Final = MappingProxyType(
    {
        **dict.fromkeys(("REAL", "INF", "VALUE"), REAL),
        **dict.fromkeys(("NAN", "UNKNOWN"), NOT_A_NUMBER),
        **dict.fromkeys(_INTEGERS, INTEGER),
    }
)
_BEGINNINGS: Final = MappingProxyType(
    {
        "BARE": string_kernels.WORD,
        **dict.fromkeys(("WORD", "DASH", "DOT"), string_kernels.GROUP_WORD),
    }
)


class Quoted(NamedTuple):
    """Strings of a text: their tokens, their bytes, and flags for unusual properties.

    pairs: int64 [n, 2], the first token of each string, and the token after its last; (-1, -1) for
    an absent string. spans: int64 [n, 2], where the bytes of each string begin and end in the
    text's buffer. flags: uint8 [n], bits that `string_kernels` declares. found: all flags that
    occur.
    """

    pairs: Ints
    spans: Ints
    flags: NDArray[np.uint8]
    found: int

    def tokens_with(self, flags: int) -> Ints:
        """Return the first token of each string that has at least one of these flags."""
        return self.pairs[(self.flags & flags) != 0, 0] if self.found & flags else self.pairs[:0, 0]


class Text(Tokens):
    """The tokens of a Lens text, and their values."""

    kernels = KERNELS

    def __init__(
        self, source: Source, stream: ParseStream, *, compiled: bool, limits: Limits
    ) -> None:
        super().__init__(GRAMMAR, source, stream, compiled=compiled)
        self.limits = limits

    def numbers(self) -> tuple[Floats, Ints, Ints]:
        """Return the values of the tokens that are numbers: `reals`, `ints` and `hard`.

        - `reals`: float32[tokens]; the value of a token that is not a real is undefined.
        - `ints`: int64[tokens]; the value of a token that is not an integer is 0. If there are no
          integers, `ints` is empty.
        - `hard`: int64[k], the indices of all reals that are too large or have an unusual notation,
          and maybe of other reals.
        """
        roles = _roles()
        reals = np.empty(len(self), np.float32)
        ints = np.zeros(len(self) if self.count(*_INTEGERS) else 0, np.int64)
        if self.compiled:
            hard = np.empty(len(self), np.int64)
            spans = (self.kinds, self.starts, self.ends)
            count = KERNELS.compiled(convert)(
                self.buffer, self.base, *spans, roles, reals, ints, hard
            )
            rest = hard[:count]
        else:
            reals[roles[self.kinds] == NOT_A_NUMBER] = np.nan
            rest = np.flatnonzero(np.isin(roles[self.kinds], (REAL, INTEGER)))
        if not len(rest):
            return reals, ints, rest
        is_real = roles[self.kinds[rest]] == REAL
        hard_reals, hard_ints = rest[is_real], rest[~is_real]
        if len(hard_reals):
            reals[hard_reals] = canonical_nan(float32s(self._numerals(hard_reals)))
        if len(hard_ints):
            ints[hard_ints] = int64s(self._numerals(hard_ints))
        return reals, ints, hard_reals

    def _numerals(self, tokens: Ints) -> list[bytes]:
        return [self.raw(token) for token in tokens.tolist()]

    def quoted(self, pairs: Ints) -> Quoted:
        """Return the strings at `pairs`, which has for each its first token and the token after its
        last.
        """
        spans, flags = np.empty((len(pairs), 2), np.int64), np.empty(len(pairs), np.uint8)
        if not len(pairs):
            return Quoted(pairs, spans, flags, 0)
        found = self.run(string_kernels.measure)(
            self.buffer,
            self.base,
            _beginnings(),
            self.kinds,
            (self.starts, self.ends),
            pairs,
            (self.limits.max_depth, min(self.limits.max_name, LONG)),
            self._has_nul,
            spans,
            flags,
        )
        return Quoted(pairs, spans, flags, int(found))

    @cached_property
    def _has_nul(self) -> bool:
        if not len(self):
            return False
        first, after = int(self.starts[0]) - self.base, int(self.ends[-1]) - self.base
        return self.source.data.find(b"\0", first, after) >= 0

    def strings(self, quoted: Quoted) -> Strings:
        """Return strings as Lens stores them."""
        present = quoted.pairs[:, 0] >= 0
        if quoted.found & string_kernels.BROKEN:
            raw = (self.source.data[start:end] for start, end in quoted.spans.tolist())
            rows = zip(raw, present.tolist(), quoted.flags.tolist(), strict=True)
            return Strings.of(
                (unbroken(text) if flags & string_kernels.BROKEN else text) if some else None
                for text, some, flags in rows
            )
        return self._joined(quoted.spans, present)

    def _joined(self, spans: Ints, present: Flags) -> Strings:
        offsets = np.zeros(len(spans) + 1, np.int64)
        data = np.empty(int((spans[:, 1] - spans[:, 0]).sum()), np.uint8)
        if data.size:
            self.run(string_kernels.gather)(self.buffer, spans, offsets, data)
        return Strings.unchecked(data=data, offsets=compact(offsets), present=compact(present))

    def groups(self, quoted: Quoted) -> tuple[NDArray[np.int32], Strings]:
        """Return the index of each string's name, or -1 for an absent string, and the distinct
        names.

        The names are in the order of their first use.
        """
        pairs, spans, size = quoted.pairs, quoted.spans, len(quoted.pairs)
        numbers = np.empty(size, np.int32)
        if quoted.found & string_kernels.BROKEN:
            named = pairs[:, 0] >= 0
            numbers[:] = -1
            names, numbers[named] = self.strings(quoted).take(np.flatnonzero(named)).distinct()
            return numbers, names
        table = np.full(2 << size.bit_length(), -1, np.int64)
        heads = np.empty(size, np.int64)
        count = self.run(string_kernels.number)(self.buffer, pairs, spans, table, heads, numbers)
        return numbers, self._joined(spans[heads[:count]], np.ones(count, np.bool_))


@cache
def _roles() -> Ints:
    """Return for each terminal the type of number to which its tokens are converted, or NOTHING."""
    return np.array([_ROLES.get(name, NOTHING) for name in GRAMMAR.terminals], np.int64)


@cache
def _beginnings() -> Ints:
    """Return for each terminal the kind of string that begins with it, if any."""
    delimiter = string_kernels.DELIMITER
    return np.array([_BEGINNINGS.get(name, delimiter) for name in GRAMMAR.terminals], np.int64)


def unbroken(raw: bytes) -> bytes:
    """Return a string that has line breaks as Lens stores it.

    Lens drops comments, and drops the line breaks at the beginning.
    """
    first, *rest = _LINE_BREAK.split(raw)
    lines = [first] if first else []
    for line in rest:
        if not line.startswith(b"#") and (lines or line):
            lines.append(line)
    return b"\n".join(lines)
