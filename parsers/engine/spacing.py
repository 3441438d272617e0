"""Write the tokens of a text with canonical white space between them; keep comments.

A gap is the white space and the comments before a token. A format computes a code for each gap.
`Spacing` writes the tokens unchanged, and writes each gap as its code says.
"""

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.source import Source
from exset.grammars.columns.arrays import Bytes, Flags, Longs

NONE: Final = -1
"""The code of a gap without white space; `NONE - n` is that of n spaces."""
SPACE: Final = NONE - 1
"""The code of a gap of one space."""
LINE: Final = 0
"""The code of a line break. `LINE + n`: with n spaces after it. One empty line before it stays."""
TIGHT: Final = 1 << 12
"""Added to the code of a line break: no empty line stays."""

ANY_END: Final = re.compile(rb"\r\n?|\n")
"""The line ends of most formats."""
LINE_FEED: Final = re.compile(rb"\n")
"""The line end of formats in which a carriage return is no line end."""

_INDENT: Final = TIGHT - 1
_BLANKS: Final = b" \t\f\v\r"
_SPACE: Final = ord(" ")
_FEED: Final = ord("\n")

Gaps = NDArray[np.int16]


class Spacing:
    """Builds the canonical text of a source from its tokens, which come in chunks.

    begin: the offset of the first byte after a byte order mark. line_end: the bytes that end a
    line. A gap may have comments only in column 1. If a format allows comments elsewhere, these
    comments are tokens.
    """

    def __init__(
        self,
        source: Source,
        begin: int = 0,
        *,
        line_end: re.Pattern[bytes] = ANY_END,
    ) -> None:
        self._data = source.data
        self._buffer = np.frombuffer(self._data, np.uint8)
        self._line_end = line_end
        self._pieces = [self._data[:begin]]
        self._copied = begin  # all before this byte is in `_pieces`
        self._begin = begin
        self._end = begin  # of the last token

    def before(self, starts: Longs, ends: Longs) -> Longs:
        """Return where the gap before each token starts: int64 [tokens].

        starts, ends: the offsets of the tokens.
        """
        return np.concatenate([np.array([self._end], np.int64), ends[:-1]])[: len(starts)]

    def count(self, starts: Longs, ends: Longs, pattern: re.Pattern[bytes]) -> Longs:
        """Return how many matches of a pattern begin in the gap before each token: int64 [tokens].

        starts, ends: the offsets of the tokens.
        """
        if not len(starts):
            return np.zeros(0, np.int64)
        found = pattern.finditer(self._data, self._end, int(starts[-1]))
        places = np.fromiter((match.start() for match in found), np.int64)
        low = np.searchsorted(places, self.before(starts, ends))
        return np.searchsorted(places, starts) - low

    def add(self, starts: Longs, ends: Longs, gaps: Gaps) -> None:
        """Add the next tokens: token i is the bytes source[starts[i]:ends[i]].

        gaps: the code of the gap before each token.
        """
        before = self.before(starts, ends)
        pieces = list[bytes]()
        for at in np.flatnonzero(~self._is_canonical(before, starts, gaps)).tolist():
            low, high = int(before[at]), int(starts[at])
            new = self._gap(self._data[low:high], int(gaps[at]), is_first=low == self._begin)
            pieces += (self._data[self._copied : low], new)
            self._copied = high
        self._pieces.append(b"".join(pieces))  # many small objects would take much memory
        if len(ends):
            self._end = int(ends[-1])

    def finish(self, code: int = LINE | TIGHT) -> bytes:
        """Return the canonical text, after all tokens were added.

        code: the code of the gap after the last token, by default a line break.
        """
        self._pieces.append(self._data[self._copied : self._end])
        is_first = self._end == self._begin
        rest = self._data[self._end :] + b"\n"
        self._pieces.append(self._gap(rest, code, is_first=is_first))
        return b"".join(self._pieces)

    def _is_canonical(self, before: Longs, starts: Longs, gaps: Gaps) -> Flags:
        """Return for each gap whether it already has the form that its code demands.

        before: where each gap starts. starts: where each gap ends, which is the start of a token.
        gaps: the codes of the gaps.
        """
        width = starts - before
        first: Bytes = self._buffer[np.minimum(before, len(self._buffer) - 1)]
        is_feed = ((gaps == LINE) | (gaps == LINE | TIGHT)) & (first == _FEED)
        is_space = (gaps == SPACE) & (first == _SPACE)
        same: Flags = np.where(width == 1, is_feed | is_space, (width == 0) & (gaps == NONE))
        result: Flags = same & (before != self._begin)
        return result

    def _gap(self, raw: bytes, code: int, *, is_first: bool) -> bytes:
        """Return the bytes to write for a gap.

        raw: the bytes of the gap in the source. code: the code of the gap. is_first: whether this
        gap begins the text.
        """
        lines = [b""] * is_first + self._line_end.split(raw)
        out = list[bytes]()
        is_apart = False  # an empty line comes next
        for line in lines[1:-1]:
            if line.strip(_BLANKS):
                out.append(b"\n" + b"\n" * is_apart + line.rstrip(b" \t"))
            is_apart = not line.strip(_BLANKS)
        if code >= 0 or out:
            end = b"\n" * (1 + (is_apart and not code & TIGHT))
            out.append(end + b" " * (code & _INDENT if code >= 0 else 0))
        else:
            out.append(b" " * (NONE - code))
        return b"".join(out).lstrip(b"\n ") if is_first else b"".join(out)
