"""The canonical text of a Lens text: the layout of `exset.parsers.lens.render`, with all comments.

An example with one event is one line. An example with several events has about one line for each
event. Line breaks between the numbers of a list stay, so that a picture stays a picture; an example
with such a line break has a line for each list. White space is removed or added only where Lens
still reads the same words.
"""

import re
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Flags, Longs
from exset.parsers.engine.spacing import ANY_END, LINE, NONE, SPACE, TIGHT, Gaps, Spacing
from exset.parsers.engine.stream import ParseStream
from exset.parsers.lens import steps as c
from exset.parsers.lens.hints import hint
from exset.parsers.lens.parse import SMALLEST, begin_of
from exset.parsers.lens.tokens import GRAMMAR

_CONTINUED: Final = (LINE + 3) | TIGHT  # below the first number after `I: `
_COMMENT: Final = re.compile(rb"#")

_INPUTS: Final = ("DENSE_INPUTS", "SPARSE_INPUTS")
_TARGETS: Final = ("DENSE_TARGETS", "SPARSE_TARGETS")
_DATA: Final = (*_INPUTS, *_TARGETS, "DENSE_BOTH", "SPARSE_BOTH")
_FIELDS: Final = ("PROC", "MAX", "MIN", "GRACE", "DEFI", "ACTI", "DEFT", "ACTT")
_NUMBERS: Final = ("REAL", "INF", "NAN", "VALUE", "UNKNOWN", "INT", "UNIT", "COUNT", "TO", "STAR")


def canonical(source: Source, *, limits: Limits = DEFAULT, engine: Engine = "auto") -> bytes:
    """Return the canonical text of a source.

    Lens reads a text of fewer than 4 bytes as empty, so such a text does not change. Raises
    FormatError for a syntax error.
    """
    if len(source.data.replace(b"\r\n", b"\n")) < SMALLEST:
        return source.data
    begin = begin_of(source, Findings())
    spacing = Spacing(source, begin)
    streams = GRAMMAR.parse(source, engine, hint=hint, begin=begin, boundary=c.EXAMPLE)
    for stream in streams:
        if len(stream.kinds):
            spacing.add(stream.starts, stream.ends, _Layout(spacing, source.data, stream).gaps())
    text = spacing.finish()
    return text + b"\n" * (SMALLEST - len(text))


class _Lines(NamedTuple):
    """Facts about each token of a chunk, which decide where lines begin.

    continued: whether a line break before the token stays. is_list: whether the token begins an
    event list. is_data: whether the token begins inputs or targets. marker: int64, the index of the
    last token, up to this token, that begins an item or ends an example.
    """

    continued: Flags
    is_list: Flags
    is_data: Flags
    marker: Longs


class _Layout:
    """Decides what white space to write before each token of a chunk of examples."""

    def __init__(self, spacing: Spacing, data: bytes, stream: ParseStream) -> None:
        self.data = data
        self.stream = stream
        self.kinds = stream.kinds
        places = stream.starts, stream.ends
        self.width = stream.starts - spacing.before(*places)
        self.breaks = spacing.count(*places, ANY_END) > 0
        self.comments = spacing.count(*places, _COMMENT) > 0
        self.in_string = self._strings()
        self.begins = np.concatenate([[True], self.is_a("SEMICOLON")[:-1]])  # a header or example

        self.begins[self._end_of_counts()] = True

    def gaps(self) -> Gaps:
        """Return the code of the gap before each token, as `Spacing` uses it."""
        gaps = np.full(len(self.kinds), SPACE, np.int16)
        is_open = self.is_a("LSQB", "LPAR", "LBRACE")
        closes = self.is_a("RSQB", "RPAR", "RBRACE")
        is_list = self.is_a("LSQB") & ~self.in_string & ~self.begins_string
        ends_list = self.is_a("RSQB") & ~self.in_string
        in_list = np.cumsum(is_list) > np.cumsum(ends_list)
        ends = self.is_a("SEMICOLON")
        gaps[_after(is_open | (in_list & self.is_a(*_FIELDS)) | self.is_a("DASH"))] = NONE
        gaps[closes | (ends & ~_after(self.is_a("BARE")))] = NONE
        is_number = self.is_a(*_NUMBERS)
        gaps[(self.width == 0) & is_number & _after(is_number)] = NONE
        gaps[self.in_string] = NONE
        lines = self._lines(is_list, ends)
        gaps[lines.continued] = _CONTINUED
        gaps[self._rows(lines, in_list) | self.begins] = LINE
        return gaps

    def is_a(self, *terminals: str) -> Flags:
        """Return for each token whether its terminal is one of `terminals`."""
        found: Flags = _table(terminals)[self.kinds]
        return found

    def _strings(self) -> Flags:
        """Return for each token whether it is in a string with delimiters, but is not the string's
        first token.
        """
        steps, before = self.stream.steps, self.stream.tokens_before
        at = np.flatnonzero(steps == c.STRING)
        change = np.zeros(len(self.kinds) + 1, np.int64)
        np.add.at(change, before[at], 1)
        np.add.at(change, before[at + 1], -1)  # the next step completes the string
        self.begins_string = np.zeros(len(self.kinds), np.bool_)
        self.begins_string[before[at] - 1] = True
        return np.cumsum(change)[:-1] > 0

    def _lines(self, is_list: Flags, ends: Flags) -> _Lines:
        is_data = self.is_a(*_DATA)
        indices = np.arange(len(self.kinds))
        is_marker = is_data | is_list | ends
        marker = np.maximum.accumulate(np.where(is_marker, indices, -1))
        is_range = self.is_a("LPAR", "LBRACE") & ~self.in_string & ~self.begins_string
        ends_range = self.is_a("RPAR", "RBRACE") & ~self.in_string
        in_range = _after(np.cumsum(is_range) > np.cumsum(ends_range))
        in_data = (marker >= 0) & is_data[marker] & ~is_marker & ~_after(is_data)
        continued = in_data & self.breaks & ~in_range & ~self.in_string
        return _Lines(continued, is_list, is_data, marker)

    def _rows(self, lines: _Lines, in_list: Flags) -> Flags:
        """Return for each token whether it begins a new line within an example.

        in_list: for each token, whether it is in an event list.
        """
        n = len(self.kinds)
        example = np.cumsum(self.begins) - 1
        is_broken = np.zeros(n, np.bool_)
        is_broken[lines.marker[lines.continued]] = True
        previous = np.concatenate([[-1], lines.marker[:-1]])  # the marker before each token
        has_fields = np.zeros(n, np.bool_)
        has_fields[lines.marker[in_list & self.is_a(*_FIELDS)]] = True
        # Targets stay on the line of inputs, and data on the line of their event list.
        goes_on = self.is_a(*_TARGETS) & self.is_a(*_INPUTS)[previous] & ~is_broken[previous]
        goes_on |= (lines.is_list & ~has_fields)[previous]
        goes_on &= (previous >= 0) & ~is_broken
        rows: Flags = lines.is_list | (lines.is_data & ~goes_on)
        size = int(example[-1]) + 1 if n else 0
        is_wide = np.zeros(size, np.bool_)  # has numbers on several lines, or comments
        is_wide[example[is_broken]] = True
        is_wide[example[self.comments & ~self.begins]] = True
        several = np.zeros(size, np.bool_)
        several[example[self._counts()]] = True
        several &= np.bincount(example[rows], minlength=size) > 1
        rows &= (is_wide | several)[example]
        return rows

    def _end_of_counts(self) -> Longs:
        """Return the index of the token after the numbers that Lens ignores at the start of the
        set.

        Lens ignores these numbers if the set has no header. Return an empty array if there are no
        such numbers, or if a header ends with `;`.
        """
        steps, before = self.stream.steps, self.stream.tokens_before
        if (steps == c.HEADER).any():
            return before[:0]
        ends: Longs = before[(steps == c.EATEN_COUNT) | (steps == c.EATEN_COUNTS)]
        return ends[ends < len(self.kinds)]

    def _counts(self) -> Longs:
        """Return the indices of the tokens that state a number of events other than 1."""
        tokens = self.stream.tokens_before[self.stream.steps == c.NUM_EVENTS] - 1
        starts, ends = self.stream.starts, self.stream.ends
        texts = (self.data[starts[token] : ends[token]] for token in tokens.tolist())
        return np.array(
            [token for token, text in zip(tokens.tolist(), texts, strict=True) if text != b"1"],
            np.int64,
        )


def _after(mask: Flags) -> Flags:
    """Return for each token whether `mask` is true for the token before it."""
    moved = np.zeros(len(mask), np.bool_)
    moved[1:] = mask[:-1]
    return moved


@cache
def _table(terminals: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return for each terminal of the grammar whether it is in `terminals`."""
    return np.array([name in terminals for name in GRAMMAR.terminals])
