"""Read open files: find their type and size, and read their decompressed bytes in blocks."""

import errno
import io
import os
import select
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import BinaryIO, Final, cast

from exset.core import progress
from exset.core.errors import LimitError, Place
from exset.core.limits import Limits, limit_hint
from exset.core.source import Source
from exset.io.compression import MAGIC, decompressed, kind_of, may_be_compressed
from exset.io.named import with_file_name

_BLOCK: Final = 1 << 20
"""The size in bytes of a block, if a file is read again."""


def size_of(file: BinaryIO) -> int | None:
    """Return the size of a regular file, None for other files."""
    status = status_of(file)
    return status.st_size if status is not None and stat.S_ISREG(status.st_mode) else None


def status_of(file: BinaryIO) -> os.stat_result | None:
    """Return the status of a file. Return None if the file has no file descriptor."""
    try:
        handle = file.fileno()
    except io.UnsupportedOperation:
        return None
    with with_file_name(str(file.name)):
        return os.fstat(handle)


def check_device(file: BinaryIO, name: str) -> None:
    """Raise OSError for a device that may never end: not a terminal, and not the null device."""
    status = status_of(file)
    if status is None or not stat.S_ISCHR(status.st_mode) or os.isatty(file.fileno()):
        return
    if status.st_rdev != os.stat(os.devnull).st_rdev:
        raise OSError(errno.EINVAL, "exset does not read devices other than terminals", name)


def available(file: BinaryIO, name: str, size: int) -> bytes:
    """Read the bytes that are available, at most `size`. Return no bytes at the end of the file."""
    # `read` of a buffered file waits for all bytes, `read1` does not.
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    with with_file_name(name):
        data = read(size)
        if not data and _is_non_blocking(file):
            select.select([file], [], [])
            data = read(size)
    return data


def _is_non_blocking(file: BinaryIO) -> bool:
    """Return whether reads do not wait for data. If so, an empty read may not mean the end."""
    try:
        return not os.get_blocking(file.fileno())
    except (io.UnsupportedOperation, AttributeError):  # no such files on Windows
        return False


def is_ready_to_read(pipe: BinaryIO, seconds: float) -> bool:
    """Wait up to `seconds` for data in a pipe or for its end; return whether one of them came."""
    try:
        return bool(select.select([pipe], [], [], seconds)[0])
    except (OSError, ValueError):  # not possible on Windows, nor for file descriptors above 1023
        return False


class Blocks(Iterator[bytes]):
    """The decompressed bytes of an input, in blocks that are not empty, as they arrive.

    - `name`: the name in messages.
    - `size`: the number of bytes in the input; None if unknown.
    - `is_pipe`: whether data may arrive later, as from a pipe, a terminal or a socket.
    - `needed`: the number of bytes to read; None if unknown. It is less than `size` if only the
      first units are needed.
    - `count`: the number of bytes read so far.
    - `file`: the open file if it is a regular, uncompressed file. A reader may then read from it in
      any order, instead of taking blocks.
    - `sidecar`: as in `Source`.
    - `notes`: values that a reader stores by name, to use them when it reads the same file again.
    """

    def __init__(
        self,
        name: str,
        chunks: Iterable[bytes],
        size: int | None,
        is_pipe: bool = False,
        ready: Callable[[float], bool] | None = None,
        file: BinaryIO | None = None,
    ) -> None:
        """Make blocks of the input `name`. `chunks`: its bytes, in chunks that may be empty.

        `size`: the number of bytes in the input; None if unknown. `is_pipe`, `file`: as for the
        class. `ready`: a function that waits for data as `is_ready` does.
        """
        self.name = name
        self.size = self.needed = size
        self.count = 0
        self.is_pipe = is_pipe
        self.file = file
        self.sidecar: bytes | None = None
        self.notes: dict[str, object] = {}
        self._chunks: Iterator[bytes] = filter(None, chunks)
        self._ready = ready
        self._ahead: list[bytes] = []

    @classmethod
    def of(cls, file: BinaryIO, name: str, limits: Limits, size: int) -> "Blocks":
        """Return the blocks of an open file; a block has about `size` bytes.

        Raises the errors of `exset.io.files`.
        """
        count_stored, count_made = _counter(name, limits), _counter(name, limits)

        def read(size: int) -> bytes:
            data = count_stored(available(file, name, size))
            progress.advance(len(data))
            return data

        begin = b""
        while len(begin) < MAGIC and may_be_compressed(begin):
            if not (more := read(MAGIC - len(begin))):
                break
            begin += more
        total = size_of(file)
        is_pipe = total is None and status_of(file) is not None
        if (kind := kind_of(begin, name)) is None:
            chunks: Iterable[bytes] = chain((begin,), iter(partial(read, size), b""))
        else:
            chunks, total = decompressed(read, begin, name, kind, limits, size), None
        ready = partial(is_ready_to_read, file) if is_pipe else None
        seekable = file if total is not None and not file.tell() - len(begin) else None
        return cls(name, map(count_made, chunks), total, is_pipe, ready, seekable)

    @contextmanager
    def kept(self, limits: Limits) -> "Iterator[Blocks]":
        """Yield blocks whose `file` can be read in any order, and several times.

        If these blocks have no such file, their bytes are first copied to a temporary file.
        """
        if self.file is not None:
            yield self
            return
        from tempfile import TemporaryFile, gettempdir  # slow to import

        with TemporaryFile() as file:
            with with_file_name(gettempdir()):
                size = sum(map(file.write, self))
                file.flush()
            blocks = Blocks(self.name, (), size, file=cast(BinaryIO, file)).again(limits, _BLOCK)
            blocks.sidecar, blocks.notes = self.sidecar, self.notes
            yield blocks

    def again(
        self, limits: Limits, size: int, watch: Callable[[bytes], object] | None = None
    ) -> "Blocks":
        """Return the blocks of the whole `file`, from its first byte on; a block has `size` bytes.

        `watch`: a function that gets each block when the block is read.
        """
        assert self.file is not None
        self.file.seek(0)
        read = partial(available, self.file, self.name, size)
        chunks = _watched(map(_counter(self.name, limits), iter(read, b"")), watch)
        blocks = Blocks(self.name, chunks, self.size, file=self.file)
        blocks.sidecar, blocks.notes = self.sidecar, self.notes
        return blocks

    def whole_again(self, limits: Limits) -> Source:
        """Read the whole `file` again; return it with its sidecar."""
        data = b"".join(self.again(limits, _BLOCK))
        return Source(self.name, data, sidecar=self.sidecar)

    def __next__(self) -> bytes:
        block = self._ahead.pop(0) if self._ahead else next(self._chunks)
        self.count += len(block)
        return block

    def is_ready(self, seconds: float) -> bool:
        """Return whether a block or the input's end comes within `seconds`; False if unknown."""
        return bool(self._ahead) or (self._ready is not None and self._ready(max(seconds, 0)))

    def head(self, size: int, least: int | None = None) -> bytes:
        """Return the next `size` bytes without consuming them. Return fewer if the input ends.

        `least`: the number of bytes to wait for, by default `size`.
        """
        while sum(map(len, self._ahead)) < (size if least is None else least):
            if (chunk := next(self._chunks, None)) is None:
                break
            self._ahead.append(chunk)
        return b"".join(self._ahead)[:size]


def _watched(chunks: Iterable[bytes], watch: Callable[[bytes], object] | None) -> Iterator[bytes]:
    for chunk in chunks:
        progress.advance(len(chunk))
        if watch is not None:
            watch(chunk)
        yield chunk


def too_long(name: str, limits: Limits) -> LimitError:
    """Return the error for a file that exceeds `max_bytes`."""
    message = f"the file has more than {limits.max_bytes:,} bytes"
    return LimitError(message, place=Place(name), hint=limit_hint("max_bytes"))


def _counter(name: str, limits: Limits) -> Callable[[bytes], bytes]:
    """Return a function that counts bytes: it returns the bytes that it gets.

    It raises LimitError when it has counted more than `max_bytes`.
    """
    count = 0

    def counted(data: bytes) -> bytes:
        nonlocal count
        count += len(data)
        if count > limits.max_bytes:
            raise too_long(name, limits)
        return data

    return counted
