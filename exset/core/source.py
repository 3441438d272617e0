"""The bytes of one input, with line and column numbers."""

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain, pairwise

_LINE_END = re.compile(rb"\r\n?|\n")
_BLOCK = 4096
_AROUND = 4  # bytes before and after an offset that decide whether data can be split there


@dataclass(frozen=True, slots=True)
class Span:
    """A range of bytes; offsets count from 0. The end is exclusive, and not before the start."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span cannot go from {self.start} to {self.end}")


@dataclass(frozen=True)
class Source:
    """The decompressed content of one input, and its name for messages.

    The content may be only a chunk of the input. `start` is then the number of bytes before the
    chunk; `first_line` and `first_column` are the position of its first byte. Offsets always count
    from the first byte of the input. The content may be a file mapped into memory: `data` copies
    it, `view` does not. `path`: the path of the file, "" if it is not on this machine. `sidecar`:
    the content of `NAME.exset.json`, a file with metadata that some formats have.
    """

    name: str
    content: bytes | memoryview = field(repr=False)
    start: int = field(default=0, repr=False)
    first_line: int = field(default=1, repr=False)
    first_column: int = field(default=1, repr=False)
    path: str = field(default="", repr=False)
    sidecar: bytes | None = field(default=None, repr=False)

    @cached_property
    def data(self) -> bytes:
        """The content as bytes."""
        return self.content if isinstance(self.content, bytes) else bytes(self.content)

    @property
    def view(self) -> memoryview:
        """The content, without copying it."""
        return memoryview(self.content)

    @property
    def end(self) -> int:
        """The offset after the last byte."""
        return self.start + len(self.content)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of the byte at an offset, or of the end of the data.

        Both count from 1. LF, CRLF and a lone CR end a line. Columns count characters of UTF-8; an
        invalid byte counts as one. Raises ValueError for an offset outside the data.
        """
        row = self._row(offset)
        return row + self.first_line, self._column(row, offset - self.start)

    def around(self, offset: int, reach: int) -> tuple[str, int]:
        """Return the text around the byte at an offset, and the column where this text begins.

        The text has up to `reach` (> 0) bytes before the offset, and as many after it, all of one
        line. The time does not depend on the length of the line. Raises ValueError for an offset
        outside the data.
        """
        row = self._row(offset)
        start, stop = self._bounds(row)
        at = offset - self.start
        low = self._boundary(max(start, at - reach))
        high = self._boundary(min(at + reach, stop))
        return _decode(self.data[low:high]), self._column(row, low)

    def moved(self, offset: int, more: bytes) -> "Source":
        """Return a source with this source's data from `offset` on, followed by the bytes `more`.

        If the offset is inside a character or a line end, the new data begin at the start of it, up
        to 3 bytes earlier. Raises ValueError for an offset outside the data.
        """
        if not self.start <= offset <= self.end:
            raise ValueError(f"offset {offset} is outside {self.start}-{self.end}")
        at = offset - self.start
        begin = max(at - _AROUND, 0)
        near = replace(self, content=self.data[begin : at + _AROUND] + more[:_AROUND])
        cut = begin + near._boundary(at - begin)
        if cut and near.data[cut - begin - 1 : cut - begin + 1] == b"\r\n":
            cut -= 1
        breaks = self.data.count(b"\n", 0, cut)
        if self.data.find(b"\r", 0, cut) >= 0:  # rare, and fast to find out
            breaks += self.data.count(b"\r", 0, cut) - self.data.count(b"\r\n", 0, cut)
        last = max(self.data.rfind(b"\n", 0, cut), self.data.rfind(b"\r", 0, cut)) + 1
        column = 1 if breaks else self.first_column
        return Source(
            self.name,
            self.data[cut:] + more,
            self.start + cut,
            self.first_line + breaks,
            column + len(_decode(self.data[last:cut])),
        )

    def _column(self, row: int, at: int) -> int:
        first = 1 if row else self.first_column
        return first + self._characters(self._starts[row], at)

    @cached_property
    def _starts(self) -> "array[int]":
        return array("q", chain([0], map(re.Match.end, _LINE_END.finditer(self.data))))

    @cached_property
    def _tallies(self) -> "array[int]":
        """The number of characters before each block of the data, to find columns fast."""
        edges = [self._boundary(edge) for edge in range(0, len(self.data) + 1, _BLOCK)]
        counts = (len(_decode(self.data[low:high])) for low, high in pairwise(edges))
        return array("q", accumulate(counts, initial=0))

    def _row(self, offset: int) -> int:
        if not self.start <= offset <= self.end:
            raise ValueError(f"offset {offset} is outside {self.start}-{self.end}")
        return bisect_right(self._starts, offset - self.start) - 1

    def _bounds(self, row: int) -> tuple[int, int]:
        start = self._starts[row]
        if row + 1 == len(self._starts):
            return start, len(self.data)
        after = self._starts[row + 1]
        return start, after - (2 if self.data[after - 2 : after] == b"\r\n" else 1)

    def _characters(self, start: int, stop: int) -> int:
        stop = self._boundary(stop)
        if stop - start <= _BLOCK:
            return len(_decode(self.data[start:stop]))
        return self._before(stop) - self._before(start)

    def _before(self, offset: int) -> int:
        block = offset // _BLOCK
        edge = self._boundary(block * _BLOCK)
        return self._tallies[block] + len(_decode(self.data[edge:offset]))

    def _boundary(self, offset: int) -> int:
        """Return where to split the data near index `offset`: at the start of the character there.

        The data before and after this place can then be decoded.
        """
        for back in range(1, min(offset, 3) + 1):
            lead = self.data[offset - back]
            if lead >= 0xC0:
                first = _decode(self.data[offset - back : offset - back + 4])[0]
                inside = len(first.encode("utf-8", "surrogateescape")) > back
                return offset - back if inside else offset
        return offset


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
