"""The tokens of a list with one entry on each line, and findings about them."""

from collections.abc import Callable

import numpy as np

from exset.core.errors import Finding
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.list_findings import finding_at
from exset.parsers.engine.errors import shown
from exset.parsers.engine.tokens import Tokens


class ListTokens(Tokens):
    """The tokens of a list of files."""

    def first(self, line: str) -> Longs:
        """Return the first token of each line that is not empty.

        line: the terminal that ends a line.
        """
        is_line = self.is_a(line)
        return np.flatnonzero(~is_line[1:] & is_line[:-1]) + 1

    def empty_lines(self, line: str) -> Longs:
        """Return the tokens that end empty lines, except the last token of the text.

        line: the terminal that ends a line.
        """
        is_line = self.is_a(line)
        is_empty = is_line[1:] & is_line[:-1]
        is_empty &= self.ends[1:] > self.starts[1:]  # not the end that the parser adds
        return np.flatnonzero(is_empty) + 1

    def strings(self, tokens: Longs) -> Strings:
        """Return the bytes of the given tokens."""
        starts, ends = self.starts[tokens] - self.base, self.ends[tokens] - self.base
        return Strings.from_spans(self.buffer, starts, ends)

    def report(
        self,
        code: str,
        tokens: Longs,
        words: Callable[[int], dict[str, object]] = lambda _: {},
    ) -> None:
        """Add a finding for each token.

        words: returns the values for the message, in addition to `raw`, the text of the token.
        """

        def finding(token: int) -> Finding:
            raw = shown(self.raw(token).strip())
            return finding_at(code, self.place(token), **{"raw": raw, **words(token)})

        self.findings.add_each(tokens.data, finding)
