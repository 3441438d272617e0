"""The tokens of a sibling format: numbers, text and findings."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.core.callers import OptionError
from exset.core.errors import Finding, Findings
from exset.core.kernels import Engine
from exset.core.source import Source, Span
from exset.grammars.columns.arrays import Floats, Longs
from exset.grammars.columns.findings import Rules
from exset.grammars.columns.strings import Strings
from exset.parsers.custom.doubles import KERNELS, doubles
from exset.parsers.engine import conversion
from exset.parsers.engine.driver import TOKENS
from exset.parsers.engine.errors import Hint, shown
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.numbers import float32s, float64, int64s
from exset.parsers.engine.tokens import Tokens

_BYTES_A_TOKEN: Final = 4
"""An estimate: the room for tokens grows where there are more."""


class Words(Tokens):
    """The tokens of a text; `rules` declares the findings of its format."""

    kernels = KERNELS
    rules: Rules

    @classmethod
    def of(
        cls,
        grammar: Grammar,
        source: Source,
        engine: Engine,
        rules: Rules,
        findings: Findings | None,
        hint: Hint,
    ) -> "Words":
        """Parse a text, and return its tokens. Raises FormatError."""
        room = len(source.content) // _BYTES_A_TOKEN + TOKENS
        [stream] = grammar.parse(source, engine, hint=hint, tokens=room)
        compiled = KERNELS.use_compiled(len(source.data), engine)
        words = cls(grammar, source, stream, compiled=compiled, findings=findings)
        words.rules = rules
        return words

    def span(self, token: int) -> Span:
        """Return the span of a token; a line break at its beginning ends the line before it."""
        span = super().span(token)
        has_break = self.raw(token).startswith(b"\n")
        return Span(span.start + has_break, span.end)

    def where(self, *terminals: str) -> Longs:
        """Return the indices of the tokens of the given terminals."""
        return np.flatnonzero(self.is_a(*terminals))

    def strings(self, tokens: Longs) -> Strings:
        """Return the bytes of some tokens."""
        starts, ends = self._spans(tokens)
        return Strings.from_spans(self.buffer, starts, ends)

    def float32s(self, tokens: Longs, skip: int = 0) -> Floats:
        """Return the numbers of some tokens without their first `skip` bytes, rounded once."""
        reals, ints = np.zeros(tokens.size, np.float32), np.empty(0, np.int64)
        starts, ends, hard = self._converted(tokens, skip, conversion.REAL, reals, ints)
        reals[hard] = float32s(self._raws(starts[hard], ends[hard]))
        return reals

    def float64s(self, tokens: Longs, skip: int = 0) -> NDArray[np.float64]:
        """Return the numbers of some tokens without their first `skip` bytes, rounded once."""
        values, hard = np.zeros(tokens.size, np.float64), np.zeros(tokens.size, np.int64)
        starts, ends = self._spans(tokens, skip)
        left = self.run(doubles)(self.buffer, starts, ends, values, hard)
        few = hard[:left]
        values[few] = [float64(raw) for raw in self._raws(starts[few], ends[few])]
        return values

    def integers(self, tokens: Longs, skip: int = 0) -> Longs:
        """Return the integers of some tokens; one beyond 64 bits is the nearest of 64 bits."""
        reals, ints = np.empty(0, np.float32), np.zeros(tokens.size, np.int64)
        starts, ends, hard = self._converted(tokens, skip, conversion.INTEGER, reals, ints)
        ints[hard] = int64s(self._raws(starts[hard], ends[hard]))
        return ints

    def report(
        self,
        code: str,
        tokens: ArrayLike,
        words: Callable[[int], dict[str, object]] = lambda _: {},
    ) -> None:
        """Add a finding for each token; words: returns values for its message, next to `raw`."""

        def finding(token: int) -> Finding:
            raw = shown(self.raw(token).strip())
            return self.rules.finding(code, self.place(token), **{"raw": raw, **words(token)})

        self.findings.add_each(np.asarray(tokens, np.int64).tolist(), finding)

    def _converted(
        self, tokens: Longs, skip: int, role: int, reals: Floats, ints: Longs
    ) -> tuple[Longs, Longs, Longs]:
        """Convert tokens; return their first and last bytes, and which the kernel leaves out."""
        hard, kinds = np.zeros(tokens.size, np.int64), np.zeros(tokens.size, np.int16)
        starts, ends = self._spans(tokens, skip)
        run = self.run(conversion.convert)
        roles = np.array([role], np.int64)
        left = run(self.buffer, 0, kinds, starts, ends, roles, reals, ints, hard)
        return starts, ends, hard[:left]

    def _spans(self, tokens: Longs, skip: int = 0) -> tuple[Longs, Longs]:
        return self.starts[tokens] - (self.base - skip), self.ends[tokens] - self.base

    def _raws(self, starts: Longs, ends: Longs) -> list[bytes]:
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        return [self.source.data[start:end] for start, end in spans]


def counts_between(tokens: Longs, bounds: Longs) -> Longs:
    """Return how many of the tokens are between each two bounds; both are in ascending order."""
    return np.diff(np.searchsorted(tokens, bounds))


def whole_number(value: int | str, name: str) -> int:
    """Return the value of an option that is a number of units, 0 if unset; raise OptionError."""
    try:
        number = int(value or 0)
    except ValueError:
        number = -1
    if not 0 <= number < 1 << 31:
        raise OptionError(f"{name} must be a whole number from 0, not {value!r}")
    return number
