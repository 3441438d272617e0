"""The tokens of a parsed text by index, with their terminals, bytes, places and errors."""

from collections.abc import Callable
from functools import cached_property
from typing import ClassVar, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import Findings, FormatError, LimitError, Place
from exset.core.kernels import Kernels
from exset.core.limits import limit_hint
from exset.core.source import Source, Span
from exset.grammars.columns.arrays import Flags, Longs
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.stream import ParseStream

P = ParamSpec("P")
R = TypeVar("R")


class Tokens:
    """The tokens of a text, or of a chunk of a text.

    Offsets count from the source's first byte; `base` is the offset of the buffer's first byte.
    Each format has a subclass, with the kernels that work on the format's tokens. `findings`
    collects the findings about tokens.
    """

    kernels: ClassVar[Kernels]

    def __init__(
        self,
        grammar: Grammar,
        source: Source,
        stream: ParseStream,
        *,
        compiled: bool,
        findings: Findings | None = None,
    ) -> None:
        self.grammar = grammar
        self.source = source
        self.compiled = compiled
        self.findings = Findings() if findings is None else findings
        self.kinds = stream.kinds
        self.starts = stream.starts
        self.ends = stream.ends
        self.base = source.start

    def __len__(self) -> int:
        return len(self.kinds)

    @cached_property
    def buffer(self) -> NDArray[np.uint8]:
        """The bytes of the source from `base` on."""
        return np.frombuffer(self.source.data, np.uint8)

    def run(self, kernel: Callable[P, R]) -> Callable[P, R]:
        """Return a kernel as machine code if the text is long, else the Python function of the
        kernel.
        """
        return self.kernels.choose(kernel, self.compiled)

    def count(self, *terminals: str) -> int:
        """Return how many tokens are of one of these terminals."""
        return int(np.count_nonzero(self.is_a(*terminals)))

    def is_a(self, *terminals: str, among: Longs | None = None) -> Flags:
        """Return for each token whether it is of one of these terminals: bool.

        among: the indices of the tokens to look at; by default all tokens.
        """
        kinds = self.kinds if among is None else self.kinds[among]
        found = np.zeros(kinds.shape, np.bool_)
        for name in terminals:
            found |= kinds == self.grammar.terminal(name)
        return found

    def raw(self, token: int) -> bytes:
        """Return the bytes of the token with this index."""
        return self.source.data[self.starts[token] - self.base : self.ends[token] - self.base]

    def raws(self, tokens: Longs) -> list[bytes]:
        """Return the bytes of each of the given tokens."""
        data = self.source.data
        starts, ends = ((each[tokens] - self.base).tolist() for each in (self.starts, self.ends))
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]

    def span(self, token: int) -> Span:
        """Return the range of bytes of the token with this index."""
        return Span(int(self.starts[token]), int(self.ends[token]))

    def place(self, token: int) -> Place:
        """Return the place of the token with this index, for messages."""
        return Place.in_text(self.source, self.span(token))

    def error(self, token: int, code: str, message: str, hint: str | None = None) -> FormatError:
        """Return an error about the token with this index; `code`: the code of the error."""
        return FormatError(message, source=self.source, span=self.span(token), hint=hint, code=code)

    def limit_error(self, token: int, limit: str, message: str) -> LimitError:
        """Return the error for a token that exceeds a limit; `limit`: the limit's name."""
        hint = limit_hint(limit)
        return LimitError(message, source=self.source, span=self.span(token), hint=hint)
