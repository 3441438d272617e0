"""Compression: gzip and bzip2, told by content, read in bounded steps, written reproducibly."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from exset.errors import FormatError, LimitError, Place
from exset.limits import Limits, remedy
from exset.source import Span

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_FREE = 64 << 20  # bytes that any file may decompress to, whatever its ratio
_LZW = b"\x1f\x9d"
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")


class Readable(Protocol):
    """What compressed data are read from."""

    def read(self, size: int, /) -> bytes:
        """Return that many bytes or fewer; none only at the end."""
        ...


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


def _bzip2_unpacker() -> _Unpacker:
    from bz2 import BZ2Decompressor

    return BZ2Decompressor()


def _bzip2_packer() -> _Packer:
    from bz2 import BZ2Compressor

    return BZ2Compressor()


@dataclass(frozen=True)
class Kind:
    """One kind of compression."""

    name: str
    magic: bytes
    suffix: str
    unpacker: Callable[[], _Unpacker]
    packer: Callable[[], _Packer]


# Neither header holds a time or a name, so equal data give equal bytes.
_GZIP = Kind("gzip", b"\x1f\x8b", ".gz", _GzipUnpacker, lambda: zlib.compressobj(wbits=31))
_BZIP2 = Kind("bzip2", b"BZh", ".bz2", _bzip2_unpacker, _bzip2_packer)
# In the order in which Lens looks for them.
SUFFIXES = {".gz": _GZIP, ".Z": _GZIP, ".bz2": _BZIP2, ".bz": _BZIP2}
"""What the suffix of a name says."""


def may_be_packed(head: bytes) -> bool:
    """Tell whether compressed data may begin with these bytes, few or none."""
    magics = (_GZIP.magic, _BZIP2.magic, _LZW)
    return any(magic.startswith(head[: len(magic)]) for magic in magics)


def kind_of(head: bytes, name: str) -> Kind | None:
    """Return how the content is compressed; FormatError if the name says otherwise."""
    content = None
    if head.startswith(_GZIP.magic):
        content = _GZIP
    elif head.startswith(_BZIP2.magic) and head[4:] in _BZIP2_BLOCKS:
        content = _BZIP2
    suffix = os.path.splitext(name)[1]
    wanted = SUFFIXES.get(suffix)
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


def unpacked(
    file: Readable, begin: bytes, name: str, kind: Kind, limits: Limits, size: int
) -> Iterator[bytes]:
    """Decompress every member, up to the end of the file, in steps of that size at most.

    `begin` was read already. FormatError with code "compression", and LimitError for `max_ratio`.
    """
    made = 0
    given = 0  # bytes of the file that were decompressed, or are no data

    def failed(what: str, length: int = 0) -> FormatError:
        hint = f"the {given} bytes before it gave {made} bytes"
        place = Place(name, Span(given, given + length))
        return FormatError(what, place=place, hint=hint, code="compression")

    waiting = begin + file.read(size)
    while waiting:
        if not waiting.startswith(kind.magic):
            raise failed(f"after the {kind.name} data comes something else", len(waiting))
        member = kind.unpacker()
        while not member.eof:
            piece = b""
            if member.needs_input:
                piece, waiting = waiting or file.read(size), b""
                if not piece:
                    raise failed(f"the {kind.name} data end too early")
            try:
                data = member.decompress(piece, size)
            except (zlib.error, OSError) as error:
                reason = str(error).rpartition(": ")[2]
                raise failed(f"damaged {kind.name} data: {reason}", len(piece)) from None
            given += len(piece)
            made += len(data)
            if made > max(_FREE, limits.max_ratio * given):
                raise _too_large(name, kind, made, given)
            yield data
        given -= len(member.unused_data)
        waiting = member.unused_data or file.read(size)
        if kind is _GZIP:
            waiting, skipped = _past_zeros(file, waiting, size)
            given += skipped
        while waiting and len(waiting) < len(kind.magic):
            if not (more := file.read(len(kind.magic) - len(waiting))):
                break
            waiting += more


def _past_zeros(file: Readable, data: bytes, size: int) -> tuple[bytes, int]:
    """Skip the zeros that pad a gzip file to a tape block; return what follows, and how many."""
    skipped = 0
    while data:
        rest = data.lstrip(b"\0")
        skipped += len(data) - len(rest)
        if rest:
            return rest, skipped
        data = file.read(size)
    return b"", skipped


def _too_large(name: str, kind: Kind, size: int, given: int) -> LimitError:
    return LimitError(
        f"{given} bytes of {kind.name} data give {size} bytes and more",
        place=Place(name, Span(given, given)),
        hint=remedy("max_ratio"),
    )


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
def packing(file: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """Compress what is written as the name's suffix says; it is whole when all went well."""
    kind = SUFFIXES.get(os.path.splitext(name)[1])
    if kind is None:
        yield file
        return
    packed = _Packed(file, kind.packer())
    yield cast(BinaryIO, packed)
    packed.finish()
