"""Files in and out: one opener that decompresses, one writer that never leaves half a file.

A name is a path, or `-` for standard input and output.  A name that starts with `|` is refused:
Lens would run it as a command, and nothing is ever executed here.
"""

from __future__ import annotations

import bz2
import errno
import io
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeAlias, cast

from exset.errors import FormatError, LimitError, Place
from exset.limits import DEFAULT, Limits
from exset.source import Source, Span

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

FilePath: TypeAlias = str | os.PathLike[str]

_CHUNK = 1 << 16
_FREE = 64 << 20  # bytes that any file may decompress to, whatever its ratio
_LZW = b"\x1f\x9d"
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")
_STREAMS = ("/dev/fd/", "/dev/std", "/proc/")  # links that stand for an open file, not for a path


class _Unpacker(Protocol):
    """Decompresses one member; what `bz2.BZ2Decompressor` is."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Packer(Protocol):
    def compress(self, data: ReadableBuffer, /) -> bytes: ...
    def flush(self) -> bytes: ...


class _GzipUnpacker:
    """`zlib.decompressobj` with the interface of `bz2.BZ2Decompressor`."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)


@dataclass(frozen=True)
class _Kind:
    name: str
    magic: bytes
    suffix: str
    unpacker: Callable[[], _Unpacker]
    packer: Callable[[], _Packer]


# Neither header holds a time or a name, so equal data give equal bytes.
_GZIP = _Kind("gzip", b"\x1f\x8b", ".gz", _GzipUnpacker, lambda: zlib.compressobj(wbits=31))
_BZIP2 = _Kind("bzip2", b"BZh", ".bz2", bz2.BZ2Decompressor, bz2.BZ2Compressor)
# In the order in which Lens looks for them.
_SUFFIXES = {".gz": _GZIP, ".Z": _GZIP, ".bz2": _BZIP2, ".bz": _BZIP2}


def read(path: FilePath, *, limits: Limits = DEFAULT) -> Source:
    """Read a whole file, decompressed; `x.ex` may be found as `x.ex.gz`, `.Z`, `.bz2` or `.bz`.

    The content tells gzip and bzip2; a suffix only demands them.  FormatError for a compressed
    file that is cut short, damaged or followed by something else, LimitError for one that grows
    beyond `max_ratio`; OSError as the system gives it.  A plain file wins over compressed ones
    (Lens, util.c: file name search).
    """
    name = _checked(path)
    if name == "-":
        return _read(sys.stdin.buffer, "<stdin>", limits)
    found, file = _open(name)
    with file:
        return _read(file, found, limits)


def write(path: FilePath, data: bytes | bytearray | memoryview | Iterable[bytes]) -> None:
    """Write a whole file as `writing` does, from its bytes or from pieces of them."""
    with writing(path) as file:
        for piece in (data,) if isinstance(data, bytes | bytearray | memoryview) else data:
            file.write(piece)


@contextmanager
def writing(path: FilePath) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name only when it is whole and on the disk.

    On any failure the old file stays as it was and nothing else is left.  Mode bits of an old
    file stay, a symbolic link is followed, pipes and devices are written as they are.  A name in
    `.gz`, `.bz2` or `.bz` is compressed.  OSError as the system gives it; FormatError for a
    name that cannot be written (`|command`, `.Z`).
    """
    name = _checked(path)
    if name.endswith(".Z"):
        raise _refusal(name, "the .Z format cannot be written", "use a name in .gz")
    if name == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        mode = None
    special = mode is not None and (not stat.S_ISREG(mode) or name.startswith(_STREAMS))
    if special or not os.path.basename(name):
        with open(name, "wb") as file, _packing(file, name) as packed:
            yield packed
        return
    if mode is not None and not os.access(name, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    kept = None if mode is None else mode & 0o777
    with _replacing(name, kept) as whole, _packing(whole, name) as packed:
        yield packed


@contextmanager
def _replacing(name: str, mode: int | None) -> Iterator[BinaryIO]:
    target = os.path.realpath(name)
    folder = os.path.dirname(target)
    temp = os.path.join(folder, f".exset-{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(temp, flags, 0o666 if mode is None else mode)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                if mode is not None:
                    os.chmod(temp, mode)
                os.fsync(handle)
            os.replace(temp, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temp)
            raise
    except OSError as error:
        if error.filename != temp:
            raise
        # The user knows only the name that was asked for.
        raise OSError(error.errno, error.strerror, name) from None
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    """Make a rename last; where a folder cannot be opened or synced, the system has no way to."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(handle)


class _Packed(io.BufferedIOBase):
    """Compresses what is written; unlike GzipFile it completes the data only when told to."""

    def __init__(self, file: BinaryIO, packer: _Packer) -> None:
        self._file = file
        self._packer = packer

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        self._file.write(self._packer.compress(data))
        return memoryview(data).nbytes

    def finish(self) -> None:
        self._file.write(self._packer.flush())


@contextmanager
def _packing(file: BinaryIO, name: str) -> Iterator[BinaryIO]:
    kind = _SUFFIXES.get(os.path.splitext(name)[1])
    if kind is None:
        yield file
        return
    packed = _Packed(file, kind.packer())
    yield cast(BinaryIO, packed)
    packed.finish()


def _checked(path: FilePath) -> str:
    name = os.fspath(path)
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
    except FileNotFoundError:
        if not os.path.basename(name) or name.endswith(tuple(_SUFFIXES)):
            raise
        for suffix in _SUFFIXES:
            with suppress(FileNotFoundError):
                return name + suffix, open(name + suffix, "rb")
        raise


def _read(file: BinaryIO, name: str, limits: Limits) -> Source:
    head = file.read(10)
    kind = _kind(head, name)
    if kind is None:
        return Source(name, head + file.read())
    return Source(name, _unpack(file, head, name, kind, limits))


def _kind(head: bytes, name: str) -> _Kind | None:
    """Return how the content is compressed; FormatError if the name says otherwise."""
    content = None
    if head.startswith(_GZIP.magic):
        content = _GZIP
    elif head.startswith(_BZIP2.magic) and head[4:] in _BZIP2_BLOCKS:
        content = _BZIP2
    suffix = os.path.splitext(name)[1]
    wanted = _SUFFIXES.get(suffix)
    if head.startswith(_LZW):
        message, hint = "this is data of `compress`, which is not read", "run `uncompress` first"
    elif wanted is None or head.startswith(wanted.magic):
        return wanted or content
    else:
        message = f"the name ends in {suffix} but the content is not {wanted.name} data"
        if not head:
            hint = "the file is empty"
        elif content is None:
            hint = f"if it is not compressed, take {suffix} off its name"
        else:
            hint = f"it is {content.name} data: its name should end in {content.suffix}"
    raise FormatError(message, place=Place.of(name), hint=hint, code="compression")


def _unpack(file: BinaryIO, head: bytes, name: str, kind: _Kind, limits: Limits) -> bytes:
    """Decompress every member, up to the end of the file, in bounded steps."""
    whole = io.BytesIO()
    given = 0  # bytes of the file that were decompressed, or are no data

    def failed(what: str, size: int = 0) -> FormatError:
        hint = f"the {given} bytes before it gave {whole.tell()} bytes"
        place = Place(name, Span(given, given + size))
        return FormatError(what, place=place, hint=hint, code="compression")

    waiting = head + file.read(_CHUNK)
    while waiting:
        if not waiting.startswith(kind.magic):
            raise failed(f"after the {kind.name} data comes something else", len(waiting))
        member = kind.unpacker()
        while not member.eof:
            piece = b""
            if member.needs_input:
                piece, waiting = waiting or file.read(_CHUNK), b""
                if not piece:
                    raise failed(f"the {kind.name} data end too early")
            try:
                whole.write(member.decompress(piece, _CHUNK))
            except (zlib.error, OSError) as error:
                reason = str(error).rpartition(": ")[2]
                raise failed(f"damaged {kind.name} data: {reason}", len(piece)) from None
            given += len(piece)
            if whole.tell() > max(_FREE, limits.max_ratio * given):
                raise _too_large(name, kind, whole.tell(), given)
        given -= len(member.unused_data)
        waiting = member.unused_data or file.read(_CHUNK)
        if kind is _GZIP:
            waiting, skipped = _past_zeros(file, waiting)
            given += skipped
        if len(waiting) < len(kind.magic):
            waiting += file.read(len(kind.magic))
    return whole.getvalue()


def _past_zeros(file: BinaryIO, data: bytes) -> tuple[bytes, int]:
    """Skip the zeros that pad a gzip file to a tape block; return what follows, and how many."""
    skipped = 0
    while data:
        rest = data.lstrip(b"\0")
        skipped += len(data) - len(rest)
        if rest:
            return rest, skipped
        data = file.read(_CHUNK)
    return b"", skipped


def _too_large(name: str, kind: _Kind, size: int, given: int) -> LimitError:
    return LimitError(
        f"{given} bytes of {kind.name} data give {size} bytes and more",
        place=Place(name, Span(given, given)),
        hint="if the file is to be trusted, raise the limit max_ratio",
    )
