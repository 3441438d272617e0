"""Divide rows into shards; read sizes of shards from text."""

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

import numpy as np

from exset.core import threads
from exset.core.callers import OptionError
from exset.grammars.columns.arrays import Longs

DEFAULT_SIZE: Final = 1 << 26
"""The default size of a shard in bytes, as in MDS and many other formats."""

_LARGE: Final = 1 << 20  # bytes of a chunk
_AHEAD: Final = 2  # chunks that are written before their checksum is computed
_SIZE: Final = re.compile(r"(\d{1,12})\s*(?:([kMGT]?)(i?)B?)?", re.IGNORECASE)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def size_of(text: str, most: int) -> int:
    """Return in bytes the size that a text gives, such as `64MB`, `64MiB` or `1000000`.

    An empty text is 64 MiB. Raises OptionError for another text, and for a size of 0 or of more
    than `most`.
    """
    if not text:
        return DEFAULT_SIZE
    match = _SIZE.fullmatch(text.strip())
    size = 0
    if match is not None:
        size = int(match[1]) * (1024 if match[3] else 1000) ** _POWERS[(match[2] or "").lower()]
    if not 0 < size <= most:
        raise OptionError(
            f"shard_size must be a size up to {most:,} bytes, such as 64MB, not {text!r}"
        )
    return size


@dataclass
class Plan:
    """Divides rows that come in chunks into shards; the result does not depend on the chunks.

    most: the most bytes of a shard; a shard has more only if it has a single row. frame: the bytes
    of a shard that are not rows.
    """

    most: int
    frame: int = 0
    _shard: int = field(default=-1, init=False)
    _room: int = field(default=-1, init=False)

    def runs(self, sizes: Longs) -> Iterator[tuple[int, int, int]]:
        """Yield consecutive rows of a chunk that go to the same shard.

        Each is given by the shard, the first row in the chunk, and the row after the last. sizes:
        the bytes of each row of the chunk, int64 [n]. A chunk without rows is one run.
        """
        if not sizes.size:
            yield max(self._shard, 0), 0, 0
        ends = np.cumsum(sizes)
        begin = 0
        while begin < sizes.size:
            before = int(ends[begin - 1]) if begin else 0
            stop = int(np.searchsorted(ends, before + self._room, "right"))
            if stop <= begin:
                self._shard, self._room = self._shard + 1, self.most - self.frame
                stop = int(np.searchsorted(ends, before + self._room, "right"))
                stop = max(stop, begin + 1)
            self._room -= int(ends[stop - 1]) - before
            yield self._shard, begin, stop
            begin = stop


class Sum:
    """Counts the bytes of a shard, which comes in chunks, and computes its SHA-256.

    Another thread computes the checksum of large chunks, while the caller writes them.
    """

    def __init__(self) -> None:
        self.size = 0
        self._hash = sha256()
        self._waiting = deque[Callable[[], object]]()

    def add(self, data: bytes | memoryview) -> None:
        """Add bytes, which must not change later."""
        self.size += len(data)
        is_large = len(data) >= _LARGE and threads.count() > 1
        self._wait(_AHEAD if is_large else 0)
        if is_large:
            self._waiting.append(threads.background(self._hash.update, data).result)
        else:
            self._hash.update(data)

    @property
    def sha256(self) -> str:
        """The checksum in hexadecimal digits."""
        self._wait(0)
        return self._hash.hexdigest()

    def _wait(self, most: int) -> None:
        """Wait until at most this number of chunks are left."""
        while len(self._waiting) > most:
            self._waiting.popleft()()


def checksum(data: bytes | memoryview) -> str:
    """Return the SHA-256 of a shard in hexadecimal digits."""
    return sha256(data).hexdigest()
