"""Spans of bytes in a text, which may be read in chunks, and columns of text made from spans."""

from typing import Final, NamedTuple

import numpy as np

from exset.core.source import Source
from exset.grammars.columns.arrays import Bytes, Longs, offsets_of
from exset.grammars.columns.strings import Strings
from exset.parsers.custom.doubles import KERNELS
from exset.parsers.custom.nesting import copy_spans

_NONE: Final = np.empty(0, np.int64)


class Spans(NamedTuple):
    """Spans of a text, int64: the first byte of each span, and the byte after the last."""

    starts: Longs
    ends: Longs

    def take(self, order: Longs | slice) -> "Spans":
        """Return the spans at the given indices."""
        return Spans(self.starts[order], self.ends[order])


class Text(NamedTuple):
    """The bytes of a chunk of a text, and of some spans of earlier chunks.

    source: the chunk. starts: int64, sorted, the first byte of each span of the earlier chunks.
    held: the bytes of these spans.
    """

    source: Source
    starts: Longs = _NONE
    held: Strings | None = None

    def find(self, spans: Spans) -> tuple[Bytes, Spans]:
        """Return a buffer that contains all the spans, and the spans as indices of this buffer."""
        base, content = self.source.start, np.frombuffer(self.source.view, np.uint8)
        starts, ends = spans.starts - base, spans.ends - base
        before = np.flatnonzero(starts < 0)
        if self.held is None or not len(before):
            return content, Spans(starts, ends)
        rows = self.starts.searchsorted(spans.starts[before])
        starts[before] = len(content) + self.held.offsets[rows]
        ends[before] = len(content) + self.held.offsets[rows + 1]
        return np.concatenate([content, self.held.data]), Spans(starts, ends)

    def strings(self, spans: Spans, *, compiled: bool) -> Strings:
        """Return the bytes of the spans as a column of strings."""
        buffer, (starts, ends) = self.find(spans)
        if not compiled:
            return Strings.from_spans(buffer, starts, ends)
        offsets = offsets_of(ends - starts)
        data = np.empty(int(offsets[-1]), np.uint8)
        KERNELS.compiled(copy_spans)(buffer, starts, ends, data)
        return Strings.unchecked(data=data, offsets=offsets, present=np.ones(len(starts), np.bool_))

    def moved(self, source: Source, spans: Spans, *, compiled: bool) -> "Text":
        """Return the text with `source` as its current chunk, and with the bytes of earlier spans.

        spans: the spans before the new chunk whose bytes are kept.
        """
        return Text(source, spans.starts, self.strings(spans, compiled=compiled))
