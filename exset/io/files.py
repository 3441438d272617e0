"""Opening files: one reader that decompresses, one writer that never leaves half a file.

A name is a path, `-` for standard input and output, or a remote file such as `https://...` or
`s3://...`. A name that starts with `|` is refused: Lens would run it as a command, exset executes
nothing. Names that are written in a file are paths only: see `local`.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import chain
from typing import BinaryIO, TextIO, TypeAlias

from exset.core.errors import FormatError, LimitError, Place
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.core.source import Source
from exset.io import remote
from exset.io.atomic_write import FULL, replacing, with_file_name
from exset.io.compression import (
    MAGIC,
    SUFFIXES,
    compressing,
    decompressed,
    kind_of,
    may_be_compressed,
)

FilePath: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

_CHUNK = 1 << 16
_HEAD = 4096
_FILES = "name the files in it, as in 'FOLDER/*'"
_STREAMS = ("/dev/fd/", "/dev/std", "/proc/")  # links to open files, not to paths


def read(
    path: FilePath, *, limits: Limits = DEFAULT, maps: Callable[[bytes], bool] | None = None
) -> Source:
    """Read a whole file and decompress it. For `x.ex`, also try `x.ex.gz` and so on.

    `maps`: decides from the first 4096 bytes whether to map the file into memory instead. Do not
    truncate a mapped file while it is in use: the operating system ends the process.

    The content decides how a file is compressed. Raises FormatError for compressed data that are
    truncated, damaged, or contradict the suffix; LimitError for `max_ratio` and `max_bytes`;
    OSError from the system, and for a device other than a terminal, as many never end. An
    uncompressed file is preferred (Lens, util.c: file name search).
    """
    whole = io.BytesIO()
    with _opened(path, limits) as (file, name):
        if size := _size(file):
            if maps is not None and (view := _mapped(file, name, maps)) is not None:
                return Source(name, view)
            if data := _uncompressed(file, name, size):
                return Source(name, data)
        for chunk in _blocks(file, name, limits, _CHUNK):
            whole.write(chunk)
    return Source(name, whole.getvalue())


class Blocks(Iterator[bytes]):
    """The decompressed bytes of an input, in blocks that are not empty, as they arrive.

    `name`: for messages. `size`: the number of bytes, None if not known. `is_pipe`: whether data
    may arrive later, as from a pipe, a terminal or a socket.
    """

    def __init__(
        self,
        name: str,
        chunks: Iterable[bytes],
        size: int | None,
        is_pipe: bool = False,
        ready: Callable[[float], bool] | None = None,
    ) -> None:
        """`chunks` may be empty. `ready`: whether one arrives within some seconds."""
        self.name = name
        self.size = size
        self.is_pipe = is_pipe
        self._chunks = iter(chunks)
        self._ready = ready
        self._ahead: list[bytes] = []

    def __next__(self) -> bytes:
        while True:
            chunk = self._ahead.pop(0) if self._ahead else next(self._chunks)
            if chunk:
                return chunk

    def is_ready(self, seconds: float) -> bool:
        """Return whether a block or the end arrives within some seconds; False if not known."""
        return bool(self._ahead) or (self._ready is not None and self._ready(max(seconds, 0)))

    def head(self, size: int, least: int | None = None) -> bytes:
        """Return the next bytes without consuming them: `size` bytes, or all if there are fewer.

        `least`: how many bytes to wait for, if fewer are enough.
        """
        while sum(map(len, self._ahead)) < (size if least is None else least):
            if (chunk := next(self._chunks, None)) is None:
                break
            self._ahead.append(chunk)
        return b"".join(self._ahead)[:size]


@contextmanager
def blocks(path: FilePath, *, limits: Limits = DEFAULT, size: int = _CHUNK) -> Iterator[Blocks]:
    """Open a file to read blocks of about that size; names and errors as in `read`.

    A block of a pipe is whatever is available. An error is raised with the block that it is in.
    """
    with _opened(path, limits) as (file, name):
        yield _blocks(file, name, limits, size)


def local(path: str) -> str:
    """Return a name written in a file as a path: `-` and `https://...` have no special meaning."""
    return os.path.join(os.curdir, path)


def head(path: FilePath, size: int) -> Source:
    """Read the first bytes of a file, decompressed: `size` bytes, or all if there are fewer.

    Reads no more than the buffers take. Raises as `read`.
    """
    with blocks(path, size=size) as chunks:
        return Source(chunks.name, chunks.head(size))


def write(path: FilePath, data: bytes | bytearray | memoryview | Iterable[bytes]) -> None:
    """Write a whole file as `writing` does, from bytes or from chunks of them."""
    with writing(path) as file:
        for chunk in (data,) if isinstance(data, bytes | bytearray | memoryview) else data:
            file.write(chunk)


@contextmanager
def writing(path: FilePath) -> Iterator[BinaryIO]:
    """Open a file for writing; it gets its name only when it is complete and on disk.

    On any failure the old file stays unchanged and nothing else is left. Owner, group and
    permissions of an old file are kept as far as the system allows; other hard links to it keep
    the old content; a symbolic link is followed; pipes and devices are written directly. A name
    ending in `.gz`, `.bz2`, `.bz`, `.xz` or `.zst` is compressed. Raises OSError from the system;
    FormatError for `|command`, `.Z`, and remote files that could be left incomplete.
    """
    name = _checked(path)
    if name.endswith(".Z"):
        raise _refusal(name, "exset cannot write .Z files", "use a name ending in .gz")
    if name == "-":
        file = _standard(sys.stdout, "<stdout>")
        sys.stdout.flush()
        yield file
        file.flush()
        return
    if remote.is_remote(name):
        with remote.writing(name) as file, compressing(file, name) as compressed:
            yield compressed
        return
    try:
        old = os.stat(name)
    except FileNotFoundError:
        old = None
    special = old is not None and (not stat.S_ISREG(old.st_mode) or name.startswith(_STREAMS))
    if special or not os.path.basename(name):
        with (
            with_file_name(name, FULL),
            open(name, "wb") as device,
            compressing(device, name) as compressed,
        ):
            yield compressed
        return
    if old is not None and not os.access(name, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    with replacing(name, old) as file, compressing(file, name) as compressed:
        yield compressed


def _checked(path: FilePath) -> str:
    name = os.fsdecode(path)
    if name.startswith("|"):
        hint = "run the command yourself and pipe its output into exset, with `-` as the file"
        raise _refusal(name, "the name is a command, and exset never executes one", hint)
    try:
        encoded = os.fsencode(name)
    except UnicodeEncodeError:
        raise _refusal(name, "invalid file name: it is not text", None) from None
    if b"\0" in encoded:
        raise _refusal(name, "invalid file name: it contains a NUL", None)
    return name


def _refusal(name: str, message: str, hint: str | None) -> FormatError:
    return FormatError(message, place=Place.of(name), hint=hint, code="file-name")


def _open(name: str) -> tuple[str, BinaryIO]:
    try:
        return name, open(name, "rb")
    except IsADirectoryError as error:
        cache = os.path.exists(os.path.join(name, "cache_complete"))
        block = os.path.exists(os.path.join(name, "block_0.cpio"))
        advice = f"look at a cache with: exset cache check {name}" if cache or block else _FILES
        raise IsADirectoryError(error.errno, f"{error.strerror}; {advice}", name) from None
    except FileNotFoundError:
        if not os.path.basename(name) or name.endswith(tuple(SUFFIXES)):
            raise
        for suffix in SUFFIXES:
            with suppress(FileNotFoundError):
                return name + suffix, open(name + suffix, "rb")
        raise


@contextmanager
def _opened(path: FilePath, limits: Limits) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file or standard input; also yield its name for messages."""
    name = _checked(path)
    with ExitStack() as stack:
        if name == "-":
            name = "<stdin>"
            file = _standard(sys.stdin, name)
        elif remote.is_remote(name):
            file = stack.enter_context(remote.opened(name))
            name = remote.shown(name)
        else:
            name, file = _open(name)
            stack.enter_context(file)
        _refuse_device(file, name)
        if (_size(file) or 0) > limits.max_bytes:
            raise _too_long(name, limits)
        yield file, name


def _standard(stream: TextIO | None, name: str) -> BinaryIO:
    """Return the binary file of a standard stream; OSError if it is closed or has none."""
    file: BinaryIO | None = getattr(stream, "buffer", None)
    if file is None or file.closed:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), name)
    return file


def _refuse_device(file: BinaryIO, name: str) -> None:
    status = _status(file)
    if status is None or not stat.S_ISCHR(status.st_mode) or os.isatty(file.fileno()):
        return
    if status.st_rdev != os.stat(os.devnull).st_rdev:
        raise OSError(errno.EINVAL, "exset reads no devices but terminals", name)


def _mapped(file: BinaryIO, name: str, maps: Callable[[bytes], bool]) -> memoryview | None:
    """Map a regular file into memory; None if it must be read instead."""
    if not isinstance(file, io.BufferedReader) or file.tell():
        return None
    with with_file_name(name):
        head = file.peek(_HEAD)[:_HEAD]
    if kind_of(head[:MAGIC], name) is not None or not maps(head):
        return None
    import mmap

    try:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):  # not supported by some file systems
        return None


def _size(file: BinaryIO) -> int | None:
    """Return the size of a regular file, None for other files."""
    status = _status(file)
    return status.st_size if status is not None and stat.S_ISREG(status.st_mode) else None


def _status(file: BinaryIO) -> os.stat_result | None:
    """Return the status of a file; None if it has no file descriptor."""
    try:
        return os.fstat(file.fileno())
    except io.UnsupportedOperation:
        return None


def _uncompressed(file: BinaryIO, name: str, size: int) -> bytes:
    """Read a file that is not compressed without copying it; b"" for a compressed one."""
    with with_file_name(name):
        start = file.tell()
        kind = kind_of(file.read(MAGIC), name)
        file.seek(start)
        return file.read(size) if kind is None else b""


def _blocks(file: BinaryIO, name: str, limits: Limits, size: int) -> Blocks:
    stored, whole = _Counter(name, limits), _Counter(name, limits)

    def read(size: int) -> bytes:
        return stored.count(_available(file, name, size))

    begin = b""
    while len(begin) < MAGIC and may_be_compressed(begin):
        if not (more := read(MAGIC - len(begin))):
            break
        begin += more
    chunks: Iterator[bytes]
    total = _size(file)
    is_pipe = total is None and _status(file) is not None
    if (kind := kind_of(begin, name)) is None:
        chunks = chain((begin,), iter(partial(read, size), b""))
    else:
        chunks, total = decompressed(read, begin, name, kind, limits, size), None
    ready = partial(_is_ready, file) if is_pipe else None
    return Blocks(name, map(whole.count, chunks), total, is_pipe, ready)


def _is_ready(pipe: BinaryIO, seconds: float) -> bool:
    """Return whether a pipe has data, or ends, within some seconds."""
    try:
        return bool(select.select([pipe], [], [], seconds)[0])
    except (OSError, ValueError):  # not possible on Windows, nor for file descriptors above 1023
        return False


def _available(file: BinaryIO, name: str, size: int) -> bytes:
    """Read what a file has available, at most `size` bytes; none only at its end."""
    # `read` of a buffered file waits for all bytes, `read1` does not.
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    with with_file_name(name):
        data = read(size)
        if not data and _is_non_blocking(file):
            select.select([file], [], [])
            data = read(size)
    return data


def _is_non_blocking(file: BinaryIO) -> bool:
    """Return whether reads do not block: then an empty read need not be the end."""
    try:
        return not os.get_blocking(file.fileno())
    except (io.UnsupportedOperation, AttributeError):  # no such files on Windows
        return False


class _Counter:
    """Counts the bytes that pass; LimitError beyond `max_bytes`."""

    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self._left = limits.max_bytes

    def count(self, data: bytes) -> bytes:
        self._left -= len(data)
        if self._left < 0:
            raise _too_long(self._name, self._limits)
        return data


def _too_long(name: str, limits: Limits) -> LimitError:
    return LimitError(
        f"the file has more than {limits.max_bytes:,} bytes",
        place=Place.of(name),
        hint=limit_hint("max_bytes"),
    )
