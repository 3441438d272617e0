"""A text that is read in chunks: the bytes to parse, and earlier bytes that messages may show."""

from collections.abc import Iterator
from typing import Final

from exset.core.source import Source
from exset.io.blocks import Blocks

BEHIND: Final = 4096
"""Bytes kept before the chunk that is read, for messages."""

_AHEAD: Final = 1024  # bytes kept after a chunk, or fewer if its line ends earlier
_LONG: Final = 1 << 16  # bytes after which a line, or lines without a mark, are no longer awaited


class Window:
    """The bytes of a text around the chunk that is being read.

    A chunk consists of complete lines, for two reasons: a message can then show the line, and an
    example is complete at the end of its line. A very long line comes in several chunks, because a
    chunk does not wait for its end. The window keeps its bytes until `release`.
    """

    def __init__(
        self, blocks: Blocks, mark: bytes, line_ends: tuple[bytes, ...] = (b"\n", b"\r")
    ) -> None:
        """Prepare to read a text from `blocks`.

        `mark`: the bytes that end an example. A chunk is complete only if one of its lines has
        `mark`, unless a line is very long. `line_ends`: the bytes that end a line.
        """
        self._blocks = blocks
        self._mark = mark
        self._line_ends = line_ends
        self._known = Source(blocks.name, b"")
        self._new: list[bytes] = []
        self._first = 0
        self._read = 0

    @property
    def size(self) -> int:
        """The size of the text. It is the number of bytes read so far, if that number is larger."""
        return max(self._blocks.needed or 0, self._read)

    @property
    def source(self) -> Source:
        """The bytes that the window has in memory, up to the last byte that was read."""
        if self._new:
            self._known = self._known.moved(self._first, b"".join(self._new))
            self._new.clear()
        return self._known

    def release(self, end: int) -> None:
        """Drop the bytes before `end` from memory. Keep the last `BEHIND` of them, which messages
        may show.
        """
        self._first = max(self._first, end - BEHIND)

    def chunks(self) -> Iterator[bytes]:
        """Yield the text in chunks, which end at the end of a line where possible."""
        waiting = b""
        for block in self._blocks:
            self._new.append(block)
            self._read += len(block)
            waiting += block
            end = max(map(waiting.rfind, self._line_ends)) + 1
            if len(waiting) >= _LONG:
                end = max(end, len(waiting) - _AHEAD)
            elif waiting.find(self._mark, 0, end) < 0:
                end = 0
            if end:
                yield waiting[:end]
                waiting = waiting[end:]
        if waiting:
            yield waiting
