"""The result of a parse: the shifted tokens, and the reduced steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ParseStream:
    """Tokens and steps of one parse, in order.

    - kinds: int16[tokens], the number of each token's terminal.
    - starts, ends: int64[tokens], the offsets of the token's bytes in the source. The parser may
      add a line break after the source; the token of this line break is at the end of the source,
      and has no length.
    - steps: int16[steps], the number of each step (`Grammar.steps`).
    - tokens_before: int64[steps], the number of tokens shifted before each step.
    """

    kinds: NDArray[np.int16]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    steps: NDArray[np.int16]
    tokens_before: NDArray[np.int64]

    def after(self, tokens: int, steps: int) -> "ParseStream":
        """Return the stream without its first `tokens` tokens and its first `steps` steps."""
        later = slice(tokens, None)
        kinds, starts, ends = self.kinds[later], self.starts[later], self.ends[later]
        return ParseStream(
            kinds, starts, ends, self.steps[steps:], self.tokens_before[steps:] - tokens
        )

    def split(self, steps: int) -> "tuple[ParseStream, ParseStream]":
        """Split into two streams.

        The first stream has the first `steps` steps (at least one) and the tokens before them. The
        second stream has the rest.
        """
        tokens = int(self.tokens_before[steps - 1])
        kinds, starts, ends = self.kinds[:tokens], self.starts[:tokens], self.ends[:tokens]
        first = ParseStream(kinds, starts, ends, self.steps[:steps], self.tokens_before[:steps])
        return first, self.after(tokens, steps)

    def halves(self, record: int) -> "tuple[ParseStream, ...]":
        """Split into two streams, each with about half of the records.

        Return () if there are fewer than two records. `record`: the step that completes a record.
        """
        ends = np.flatnonzero(self.steps == record)
        return () if len(ends) < 2 else self.split(int(ends[(len(ends) - 1) // 2]) + 1)


class Rejection(Exception):
    """Raised for a text that the grammar rejects.

    offset: the first byte of the wrong token, or of text that no terminal matches. If the source
    ends too early, `offset` is the length of the source. expected: the terminals that the grammar
    allows at this offset. opened: the brackets and quotation marks, with their offsets, that are
    open among the tokens after the last stream. stack: the parser states.
    """

    def __init__(
        self,
        offset: int,
        expected: frozenset[str],
        opened: Sequence[tuple[str, int]],
        stack: Sequence[int],
    ) -> None:
        super().__init__(offset, expected, opened)
        self.offset = offset
        self.expected = expected
        self.opened = opened
        self.stack = stack

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only attributes that do not refer to the text.

        Some libraries pickle the context of an exception, too.
        """
        return Rejection, (self.offset, self.expected, (), ())
