"""What a parse yields: the tokens that were shifted and the steps that were reduced."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ParseStream:
    """Tokens and steps of one parse, in order.

    kinds:  int16[tokens], the number of each token's terminal
    starts, ends:  int64[tokens], its bytes in the source; the line break that is imagined after the
        source has the source's length as its place
    steps:  int16[steps], the number of each step (`Grammar.steps`)
    tokens_before:  int64[steps], how many tokens were shifted before it
    """

    kinds: NDArray[np.int16]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    steps: NDArray[np.int16]
    tokens_before: NDArray[np.int64]

    def parts(self, steps: int) -> "tuple[ParseStream, ParseStream]":
        """So many steps (one at least) with the tokens before the last of them, and the rest."""
        tokens = int(self.tokens_before[steps - 1])
        before, after = (
            (self.kinds[part], self.starts[part], self.ends[part])
            for part in (slice(tokens), slice(tokens, None))
        )
        return (
            ParseStream(*before, self.steps[:steps], self.tokens_before[:steps]),
            ParseStream(*after, self.steps[steps:], self.tokens_before[steps:] - tokens),
        )


class Rejection(Exception):
    """The text is not in the language.

    offset: the first byte of the offending token, or of text that no terminal matches; the length
    of the source where it ends too early. expected: the terminals that could stand there instead.
    opener: the innermost bracket or quotation mark that is open there, or None.
    """

    def __init__(self, offset: int, expected: frozenset[str], opener: int | None = None) -> None:
        super().__init__(offset, expected, opener)
        self.offset = offset
        self.expected = expected
        self.opener = opener

    def moved(self, begin: int) -> "Rejection":
        """The same of a text that has so many bytes before what was parsed."""
        opener = None if self.opener is None else self.opener + begin
        return Rejection(self.offset + begin, self.expected, opener)
