"""A text that is read part by part: what is fed to the parser, and what is kept for messages."""

from collections.abc import Iterator
from typing import Final

from exset.core.source import Source
from exset.io.files import Blocks

BEHIND: Final = 4096
"""Bytes that are kept before the part that is read, for messages."""

_AHEAD: Final = 1024  # and known after what is fed, unless its line ends before
_LONG: Final = 1 << 16  # bytes of a line, or of lines without a mark, that are not waited for


class Window:
    """The bytes of a text around the part that is read.

    The parser is fed whole lines, so that a message can show the line, and an example is complete
    when its line is. A line too long to wait for is fed as it comes, but for its last bytes. The
    bytes that are fed are kept until they are given up.
    """

    def __init__(self, blocks: Blocks, mark: bytes) -> None:
        """Begin to read; lines are fed when there is a mark among them, which completes things."""
        self._blocks = blocks
        self._mark = mark
        self._known = Source(blocks.name, b"")
        self._new: list[bytes] = []
        self._first = 0
        self.seen = 0
        """How many bytes were read."""

    @property
    def source(self) -> Source:
        """What is kept, up to the last byte that was read."""
        if self._new:
            self._known = self._known.moved(self._first, b"".join(self._new))
            self._new.clear()
        return self._known

    def give_up(self, end: int) -> None:
        """What comes before a place is not asked for again, but for messages about what follows."""
        self._first = max(self._first, end - BEHIND)

    def fed(self) -> Iterator[bytes]:
        """What is to be fed, as it comes."""
        waiting = b""
        for block in self._blocks:
            self._new.append(block)
            self.seen += len(block)
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
