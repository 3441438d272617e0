"""The tokens of a text as numbers and strings, with the findings of its format."""

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.core.callers import OptionError
from exset.core.errors import Finding, Findings, FormatError
from exset.core.kernels import Engine
from exset.core.source import Source, Span
from exset.grammars.columns.arrays import Bytes, Flags, Floats, Longs, as_singles
from exset.grammars.columns.findings import Rules
from exset.grammars.columns.strings import Strings
from exset.parsers.engine.errors import Hint, shown
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.numbers import float32s, float64, int64s
from exset.parsers.engine.recovery import Records
from exset.parsers.engine.tokens import Tokens
from exset.parsers.engine.whole import whole
from exset.parsers.siblings.conversion import KERNELS, in_threads, integers, pairs, real_numbers


def grammar(
    name: str,
    *words: Mapping[str, str],
    steps: tuple[str, ...] = (),
    records: Records | None = None,
) -> Grammar:
    """Return the grammar `NAME.lark`, whose start rule has its name; see `Grammar` for the rest."""
    merged = MappingProxyType(dict(ChainMap(*map(dict, words))))
    return Grammar(f"{name}.lark", name, steps, merged, records)


_BEFORE: Final = b"\n\xef\xbb\xbf"  # a line break and a byte order mark


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
        hint: Hint | str,
        divided: Records | None = None,
    ) -> "Words":
        """Parse a text, and return its tokens. Raises FormatError for a syntax error.

        hint: advice on a syntax error, or a function that returns it. divided: between which
        records several threads may divide a large text; by default those of the grammar.
        """
        advise = (lambda _: hint) if isinstance(hint, str) else hint
        stream = whole(grammar, source, engine, hint=advise, records=divided)
        compiled = KERNELS.use_compiled(len(source.data), engine)
        words = cls(grammar, source, stream, compiled=compiled, findings=findings)
        words.rules = rules
        return words

    def span(self, token: int) -> Span:
        """Return the range of bytes of a token, without a line break at its beginning.

        Such a line break ends the line before.
        """
        span = super().span(token)
        has_break = self.raw(token).startswith(b"\n")
        return Span(span.start + has_break, span.end)

    def name(self, token: int) -> str:
        """Return the terminal of a token; "" for a token after the last."""
        return self.grammar.terminals[self.kinds[token]] if token < len(self) else ""

    def where(self, *terminals: str) -> Longs:
        """Return the indices of the tokens that are of one of these terminals."""
        return np.flatnonzero(self.is_a(*terminals))

    def next(self, tokens: Longs, *terminals: str) -> Longs:
        """Return for each of the given tokens the next token of one of these terminals.

        After the last such token, return the number of all tokens.
        """
        stops = np.append(self.where(*terminals), len(self))
        return stops[np.searchsorted(stops, tokens, "right")]

    def before(self, raw: bytes) -> Longs:
        """Return the last token that begins before the first `raw` in the text; none without it."""
        at = self.source.data.find(raw)
        token = max(int(np.searchsorted(self.starts, at + self.base)) - 1, 0)
        return np.full(int(at >= 0), token, np.int64)

    def is_end(self, tokens: Longs) -> Flags:
        """Return whether each of the given tokens is at the end of the text."""
        return self.ends[tokens] - self.base >= len(self.source.data)

    def strings(self, tokens: Longs) -> Strings:
        """Return the bytes of the given tokens."""
        starts, ends = self.starts[tokens] - self.base, self.ends[tokens] - self.base
        return Strings.from_spans(self.buffer, starts, ends)

    def distinct(self, tokens: Longs) -> tuple[list[str], Longs]:
        """Return the distinct texts of the given tokens, and for each token the index of its
        text.
        """
        found, codes = self.strings(tokens).distinct()
        return [(text or b"").decode("utf-8", "surrogateescape") for text in found], codes

    def float32s(self, tokens: Longs, skip: int = 0) -> Floats:
        """Return the given tokens as float32, without their first `skip` bytes, correctly
        rounded.
        """
        values, hard = real_numbers(self._spans, tokens, self.compiled, skip, is_single=True)
        found = as_singles(values)
        found[hard] = float32s(self._raws(tokens[hard], skip))
        return found

    def float64s(self, tokens: Longs, skip: int = 0) -> NDArray[np.float64]:
        """Return the given tokens as float64, without their first `skip` bytes, correctly
        rounded.
        """
        values, hard = real_numbers(self._spans, tokens, self.compiled, skip)
        values[hard] = [float64(raw) for raw in self._raws(tokens[hard], skip)]
        return values

    def integers(self, tokens: Longs, skip: int = 0) -> Longs:
        """Return tokens as integers.

        Of each token, the first `skip` bytes are ignored, and a line break and a byte order mark
        that follow them.

        An integer beyond 64 bits becomes the nearest int64, and another number the int64 of its
        sign that is farthest from 0.
        """
        run, values = self.run(integers), np.empty(tokens.size, np.int64)

        def convert(part: slice, hard: Longs) -> int:
            return run(*self._spans, tokens[part], skip, values[part], hard)

        hard = in_threads(convert, tokens.size, self.compiled)
        raws = self._raws(tokens[hard], skip)
        values[hard] = int64s([raw.lstrip(_BEFORE) for raw in raws])
        return values

    def pairs(self, tokens: Longs, *, is_single: bool) -> tuple[Longs, NDArray[Any]]:
        """Return the indices and the numbers of tokens such as `12:0.5`.

        The numbers are correctly rounded, to binary32 with `is_single`, else to binary64. An index
        beyond 64 bits becomes the nearest int64.
        """
        run, index = self.run(pairs), np.empty(tokens.size, np.int64)
        values = np.empty(tokens.size, np.float64)

        def convert(part: slice, hard: Longs) -> int:
            return run(*self._spans, tokens[part], is_single, index[part], values[part], hard)

        hard = in_threads(convert, tokens.size, self.compiled)
        found = as_singles(values) if is_single else values
        raws = [raw.split(b":") for raw in self.raws(tokens[hard])]
        index[hard] = int64s([raw[0] for raw in raws])
        texts = [raw[1] for raw in raws]
        found[hard] = float32s(texts) if is_single else [float64(text) for text in texts]
        return index, found

    def refuse(self, code: str, tokens: ArrayLike, message: str = "", **given: object) -> None:
        """Raise FormatError about the first of the given tokens; do nothing if there are none.

        code: the code of the finding, which declares the hint, and the message if `message` is
        empty. given: as in `report`; a `{raw}` in `message` becomes the text of the token, too.
        """
        for token in np.atleast_1d(np.asarray(tokens, np.int64))[:1].tolist():
            finding = self._finding(code, token, 0, given)
            if message:
                finding = replace(finding, message=message.replace("{raw}", self._shown(token)))
            raise FormatError.of(finding)

    def report(self, code: str, tokens: ArrayLike, **given: object) -> None:
        """Add a finding for each token.

        given: values for the messages, in addition to `raw`; an array has one for each token.
        """
        ranked = [*enumerate(np.asarray(tokens, np.int64).tolist())]
        self.findings.add_each(ranked, lambda each: self._finding(code, each[1], each[0], given))

    def _finding(self, code: str, token: int, rank: int, given: Mapping[str, object]) -> Finding:
        """Return a finding about a token; rank: its place in the arrays of `given`."""
        words = {
            name: value[rank].item() if isinstance(value, np.ndarray) else value
            for name, value in given.items()
        }
        return self.rules.finding(code, self.place(token), **{"raw": self._shown(token), **words})

    def _shown(self, token: int) -> str:
        return shown(self.raw(token).strip())

    @property
    def _spans(self) -> tuple[Bytes, int, Longs, Longs]:
        return self.buffer, self.base, self.starts, self.ends

    def _raws(self, tokens: Longs, skip: int) -> list[bytes]:
        return [raw[skip:] for raw in self.raws(tokens)]


def counts_between(tokens: Longs, bounds: Longs) -> Longs:
    """Return how many tokens are from each bound up to the next; both arrays must be ascending."""
    return np.diff(np.searchsorted(tokens, bounds))


def whole_number(value: int | str, name: str) -> int:
    """Return the value of an option that is a whole number; 0 for an empty text.

    Raises OptionError, which names the option `name`, unless it is from 0 to 2**31 - 1.
    """
    try:
        number = int(value or 0)
    except ValueError:
        number = -1
    if not 0 <= number < 1 << 31:
        raise OptionError(f"{name} must be a whole number from 0, not {value!r}")
    return number
