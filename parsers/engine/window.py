"""A text that is read in chunks: the bytes to parse, and the bytes kept for messages."""

from collections.abc import Iterator
from typing import Final

from exset.core.source import Source
from exset.io.blocks import Blocks

BEHIND: Final = 4096
"""Bytes kept before the chunk that is read, for messages."""

_AHEAD: Final = 1024  # bytes kept after the chunk, unless its line ends before
_LONG: Final = 1 << 16  # bytes after which a line, or lines without a mark, are no longer awaited


class Window:
    """The bytes of a text around the chunk that is read.

    Chunks are whole lines, so that a message can show the line, and an example is complete when its
    line is. A line that is too long to wait for comes in chunks as it is read, except its last
    bytes. Bytes are kept until `release`.
    """

    def __init__(self, blocks: Blocks, mark: bytes) -> None:
        """Begin to read. `mark` ends an example: lines are awaited until one of them has it."""
        self._blocks = blocks
        self._mark = mark
        self._known = Source(blocks.name, b"")
        self._new: list[bytes] = []
        self._first = 0
        self._read = 0

    @property
    def size(self) -> int:
        """The size of the text in bytes, or of what has been read if that is more."""
        return max(self._blocks.size or 0, self._read)

    @property
    def source(self) -> Source:
        """The bytes kept, up to the last byte read."""
        if self._new:
            self._known = self._known.moved(self._first, b"".join(self._new))
            self._new.clear()
        return self._known

    def release(self, end: int) -> None:
        """Release the bytes before an offset, except those for messages about the bytes after."""
        self._first = max(self._first, end - BEHIND)

    def chunks(self) -> Iterator[bytes]:
        """Yield the text in chunks, which end at a line end where possible."""
        waiting = b""
        for block in self._blocks:
            self._new.append(block)
            self._read += len(block)
            waiting += block
            end = max(waiting.rfind(b"\n"), waiting.rfind(b"\r")) + 1
            if len(waiting) >= _LONG:
                end = max(end, len(waiting) - _AHEAD)
            elif waiting.find(self._mark, 0, end) < 0:
                end = 0
            if end:
                yield waiting[:end]
                waiting = waiting[end:]
        if waiting:
            yield waiting
