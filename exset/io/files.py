"""Files in and out: one opener that decompresses, one writer that never leaves half a file.

A name is a path, `-` for standard input and output, or that of a file elsewhere, such as
`https://...` or `s3://...`, through fsspec.  A name that starts with `|` is refused: Lens would run
it as a command, and nothing is ever executed here.  What a file names is a path alone: see `here`.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from typing import BinaryIO, TextIO, TypeAlias

from exset.core.errors import FormatError, LimitError, Place
from exset.core.limits import DEFAULT, Limits, remedy
from exset.core.source import Source
from exset.io import remote
from exset.io.atomic_write import FULL, replacing
from exset.io.compression import SUFFIXES, kind_of, may_be_packed, packing, unpacked

FilePath: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

_CHUNK = 1 << 16
_MAGIC = 10  # bytes that tell how a file is compressed
_HEAD = 4096
_FILES = "name the files in it, as in 'FOLDER/*'"
_STREAMS = ("/dev/fd/", "/dev/std", "/proc/")  # links that stand for an open file, not for a path


def read(
    path: FilePath, *, limits: Limits = DEFAULT, maps: Callable[[bytes], bool] | None = None
) -> Source:
    """Read a whole file, decompressed; `x.ex` may be found as `x.ex.gz` and so on, if it is here.

    `maps` tells by the first bytes, 4096 of them, whether a file is better mapped into memory than
    read; whoever then cuts it short while it is in use, ends the program.

    The content tells how it is compressed; a suffix only demands it.  FormatError for a compressed
    file that is cut short, damaged or followed by something else, LimitError for one that grows
    beyond `max_ratio` and for any of more than `max_bytes`; OSError as the system gives it, and for
    a device that is no terminal: many of them never end.  A plain file wins over compressed ones
    (Lens, util.c: file name search).
    """
    whole = io.BytesIO()
    with _opened(path) as (file, name):
        size = _size(file)
        if size > limits.max_bytes:
            raise _too_long(name, limits)
        if maps is not None and (view := _mapped(file, name, maps)) is not None:
            return Source(name, view)
        if size and (data := _plain(file, name, size)):
            return Source(name, data)
        for piece in _blocks(file, name, limits, _CHUNK):
            whole.write(piece)
    return Source(name, whole.getvalue())


class Blocks(Iterator[bytes]):
    """The bytes of an input, decompressed, in blocks that are not empty, as they come.

    name: what messages call it. size: how many bytes there will be, None if nobody can tell.
    is_pipe: whether more may come later: a pipe, a terminal, a socket.
    """

    def __init__(
        self,
        name: str,
        pieces: Iterable[bytes],
        size: int | None,
        is_pipe: bool = False,
        ready: Callable[[float], bool] | None = None,
    ) -> None:
        """Take the pieces, empty ones too, and what tells if one is ready within some seconds."""
        self.name = name
        self.size = size
        self.is_pipe = is_pipe
        self._pieces = iter(pieces)
        self._ready = ready
        self._ahead: list[bytes] = []

    def __next__(self) -> bytes:
        while True:
            piece = self._ahead.pop(0) if self._ahead else next(self._pieces)
            if piece:
                return piece

    def is_ready(self, seconds: float) -> bool:
        """Whether a block, or the end, comes within some seconds; no, if nobody can tell."""
        return bool(self._ahead) or (self._ready is not None and self._ready(max(seconds, 0)))

    def head(self, size: int, least: int | None = None) -> bytes:
        """Return the first bytes that have not been taken, so many if there are; they stay.

        least: how many are waited for, if fewer will do.
        """
        while sum(map(len, self._ahead)) < (size if least is None else least):
            if (piece := next(self._pieces, None)) is None:
                break
            self._ahead.append(piece)
        return b"".join(self._ahead)[:size]


@contextmanager
def blocks(path: FilePath, *, limits: Limits = DEFAULT, size: int = _CHUNK) -> Iterator[Blocks]:
    """Open a file to be read in blocks of about that size; names and errors as in `read`.

    Of a pipe a block is what it has to give, without waiting for more. Errors of what is read come
    with the block that they are in.
    """
    with _opened(path) as (file, name):
        yield _blocks(file, name, limits, size)


def here(path: str) -> str:
    """Return a path that a file names so that it is nothing else: no `-`, nothing elsewhere."""
    return os.path.join(os.curdir, path)


def head(path: FilePath, size: int) -> Source:
    """Read so many bytes of a file, decompressed, or all if it has less.

    Of the rest of the file nothing is read but what buffers take; errors as in `read`.
    """
    with blocks(path, size=size) as pieces:
        return Source(pieces.name, pieces.head(size))


def write(path: FilePath, data: bytes | bytearray | memoryview | Iterable[bytes]) -> None:
    """Write a whole file as `writing` does, from its bytes or from pieces of them."""
    with writing(path) as file:
        for piece in (data,) if isinstance(data, bytes | bytearray | memoryview) else data:
            file.write(piece)


@contextmanager
def writing(path: FilePath) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name only when it is whole and on the disk.

    On any failure the old file stays as it was and nothing else is left.  Owner, group and
    permissions of an old file stay as far as the system lets them; other hard links to it keep the
    old content; a symbolic link is followed, pipes and devices are written as they are.  A name in
    `.gz`, `.bz2`, `.bz`, `.xz` or `.zst` is compressed.  OSError as the system gives it;
    FormatError for a name that cannot be written (`|command`, `.Z`, files elsewhere that might be
    left half written).
    """
    name = _checked(path)
    if name.endswith(".Z"):
        raise _refusal(name, "the .Z format cannot be written", "use a name in .gz")
    if name == "-":
        file = _standard(sys.stdout, "<stdout>")
        sys.stdout.flush()
        yield file
        file.flush()
        return
    if remote.is_remote(name):
        with remote.writing(name) as whole, packing(whole, name) as packed:
            yield packed
        return
    try:
        old = os.stat(name)
    except FileNotFoundError:
        old = None
    special = old is not None and (not stat.S_ISREG(old.st_mode) or name.startswith(_STREAMS))
    if special or not os.path.basename(name):
        try:
            with open(name, "wb") as device, packing(device, name) as packed:
                yield packed
        except OSError as error:
            if error.filename or error.errno not in FULL:
                raise
            raise OSError(error.errno, error.strerror, name) from None
        return
    if old is not None and not os.access(name, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    with replacing(name, old) as whole, packing(whole, name) as packed:
        yield packed


def _checked(path: FilePath) -> str:
    name = os.fsdecode(path)
    if name.startswith("|"):
        hint = "run it yourself and give its output to `-`, the standard input"
        raise _refusal(name, "the name of a command is not a file: nothing is ever executed", hint)
    try:
        encoded = os.fsencode(name)
    except UnicodeEncodeError:
        raise _refusal(name, "no file can have this name: it is not text", None) from None
    if b"\0" in encoded:
        raise _refusal(name, "no file can have this name: it has a NUL in it", None)
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
def _opened(path: FilePath) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file, or standard input, with the name that messages give it."""
    name = _checked(path)
    if name == "-":
        name = "<stdin>"
        file = _standard(sys.stdin, name)
        _refuse_device(file, name)
        yield file, name
        return
    if remote.is_remote(name):
        with remote.opened(name) as elsewhere:
            yield elsewhere, remote.shown(name)
        return
    found, file = _open(name)
    with file:
        _refuse_device(file, found)
        yield file, found


def _standard(stream: TextIO | None, name: str) -> BinaryIO:
    """Return the bytes of a standard stream; OSError if it is closed, or has none."""
    file: BinaryIO | None = getattr(stream, "buffer", None)
    if file is None or file.closed:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), name)
    return file


def _refuse_device(file: BinaryIO, name: str) -> None:
    status = _status(file)
    if status is None or not stat.S_ISCHR(status.st_mode) or os.isatty(file.fileno()):
        return
    if status.st_rdev != os.stat(os.devnull).st_rdev:
        raise OSError(errno.EINVAL, "a device, and no terminal: it is not read", name)


def _mapped(file: BinaryIO, name: str, maps: Callable[[bytes], bool]) -> memoryview | None:
    """Return the content of a plain file, not read; None if it is to be read."""
    if not _size(file) or not isinstance(file, io.BufferedReader) or file.tell():
        return None
    with _blaming(name):
        begin = file.peek(_HEAD)[:_HEAD]
    if kind_of(begin[:10], name) is not None or not maps(begin):
        return None
    import mmap

    try:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):  # some file systems cannot
        return None


def _size(file: BinaryIO) -> int:
    """Return how long a file is, 0 for what has no length."""
    status = _status(file)
    return status.st_size if status is not None and stat.S_ISREG(status.st_mode) else 0


def _status(file: BinaryIO) -> os.stat_result | None:
    """Return what the system knows of a file; None if it is none of the system's."""
    try:
        return os.fstat(file.fileno())
    except io.UnsupportedOperation:
        return None


def _plain(file: BinaryIO, name: str, size: int) -> bytes:
    """Return a file that is not compressed, in one piece and never copied; b"" for another."""
    with _blaming(name):
        start = file.tell()
        kind = kind_of(file.read(10), name)
        file.seek(start)
        return file.read(size) if kind is None else b""


def _blocks(file: BinaryIO, name: str, limits: Limits, size: int) -> Blocks:
    status = _status(file)
    total = _size(file) if status is not None and stat.S_ISREG(status.st_mode) else None
    if total is not None and total > limits.max_bytes:
        raise _too_long(name, limits)
    given = _Given(file, name, limits)
    begin = b""
    while len(begin) < _MAGIC and may_be_packed(begin):
        if not (more := given.read(_MAGIC - len(begin))):
            break
        begin += more
    is_pipe = status is not None and total is None
    pieces: Iterator[bytes]
    if (kind := kind_of(begin, name)) is None:
        pieces = chain((begin,), iter(partial(given.read, size), b""))
    else:
        pieces, total = unpacked(given, begin, name, kind, limits, size), None
    ready = partial(_is_ready, file) if is_pipe else None
    return Blocks(name, _bounded(pieces, name, limits), total, is_pipe, ready)


def _is_ready(pipe: BinaryIO, seconds: float) -> bool:
    """Whether a pipe has something to give, or ends, within some seconds."""
    try:
        return bool(select.select([pipe], [], [], seconds)[0])
    except (OSError, ValueError):  # Windows cannot tell, nor Unix of one file in many
        return False


class _Given:
    """Reads what a file has to give, and no more of it than is allowed."""

    def __init__(self, file: BinaryIO, name: str, limits: Limits) -> None:
        # A buffered file waits until it has all that it is asked for, unless it is asked so.
        self._read: Callable[[int], bytes] = getattr(file, "read1", file.read)
        self._file = file
        self._name = name
        self._limits = limits
        self._left = limits.max_bytes

    def read(self, size: int, /) -> bytes:
        with _blaming(self._name):
            data = self._read(size)
            if not data and _is_impatient(self._file):
                select.select([self._file], [], [])
                data = self._read(size)
        self._left -= len(data)
        if self._left < 0:
            raise _too_long(self._name, self._limits)
        return data


def _is_impatient(file: BinaryIO) -> bool:
    """Whether a file has nothing to give where others wait: then it need not be at its end."""
    try:
        return not os.get_blocking(file.fileno())
    except (io.UnsupportedOperation, AttributeError):  # Windows knows no such files
        return False


@contextmanager
def _blaming(name: str) -> Iterator[None]:
    """Give the name of the file to errors of reading it, which have none."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, name) from None


def _bounded(pieces: Iterable[bytes], name: str, limits: Limits) -> Iterator[bytes]:
    """Yield the pieces as long as they are not too much."""
    left = limits.max_bytes
    for piece in pieces:
        left -= len(piece)
        if left < 0:
            raise _too_long(name, limits)
        yield piece


def _too_long(name: str, limits: Limits) -> LimitError:
    return LimitError(
        f"more than {limits.max_bytes:,} bytes",
        place=Place.of(name),
        hint=remedy("max_bytes"),
    )
