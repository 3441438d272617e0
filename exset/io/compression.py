"""Compression, told by content, read in bounded steps, written reproducibly.

gzip, bzip2, xz and zstd. What is packed twice is unpacked once: the rest is content like any other.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol, TypeVar, cast

from exset.core.errors import FormatError, LimitError, Place
from exset.core.limits import Limits, remedy
from exset.core.source import Span
from exset.io import compressors
from exset.io.compressors import WINDOW, Packer, Unpacker

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_FREE = 64 << 20  # bytes that any file may decompress to, whatever its ratio
_STEP: Final = 1 << 15  # bytes that are unpacked at once: what follows a member is copied
_LZW: Final = b"\x1f\x9d"
_BZIP2_BLOCKS: Final = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")
_SKIPPED: Final = tuple(bytes((first,)) + b"*M\x18" for first in range(0x50, 0x60))


Packing = TypeVar("Packing")


class Readable(Protocol):
    """What compressed data are read from."""

    def read(self, size: int, /) -> bytes:
        """Return that many bytes or fewer; none only at the end."""
        ...


@dataclass(frozen=True)
class Kind:
    """One kind of compression.

    padding: zeros may follow a member, so many or a multiple of it; 0 for none.
    """

    name: str
    magics: tuple[bytes, ...]
    suffix: str
    unpacker: Callable[[], Unpacker]
    packer: Callable[[], Packer]
    padding: int = 0


# No header holds a time or a name, so equal data give equal bytes.
_GZIP = Kind(
    "gzip", (b"\x1f\x8b",), ".gz", compressors.gzip_unpacker, compressors.gzip_packer, padding=1
)
_BZIP2 = Kind("bzip2", (b"BZh",), ".bz2", compressors.bzip2_unpacker, compressors.bzip2_packer)
_XZ = Kind("xz", (b"\xfd7zXZ\0",), ".xz", compressors.xz_unpacker, compressors.xz_packer, padding=4)
_ZSTD = Kind(
    "zstd",
    (b"\x28\xb5\x2f\xfd", *_SKIPPED),
    ".zst",
    compressors.zstd_unpacker,
    compressors.zstd_packer,
)
_KINDS = (_GZIP, _BZIP2, _XZ, _ZSTD)
# In the order in which Lens looks for them; it knows nothing of the last two.
SUFFIXES = {".gz": _GZIP, ".Z": _GZIP, ".bz2": _BZIP2, ".bz": _BZIP2, ".xz": _XZ, ".zst": _ZSTD}
"""What the suffix of a name says."""


def may_be_packed(head: bytes) -> bool:
    """Tell whether compressed data may begin with these bytes, few or none."""
    magics = (_LZW, *(magic for kind in _KINDS for magic in kind.magics))
    return any(magic.startswith(head[: len(magic)]) for magic in magics)


def content_of(head: bytes) -> Kind | None:
    """Return how data are compressed that begin so; ten bytes tell."""
    for kind in _KINDS:
        if head.startswith(kind.magics) and (kind is not _BZIP2 or head[4:10] in _BZIP2_BLOCKS):
            return kind
    return None


def kind_of(head: bytes, name: str) -> Kind | None:
    """Return how the content is compressed; FormatError if the name says otherwise."""
    content = content_of(head)
    suffix = os.path.splitext(name)[1]
    wanted = SUFFIXES.get(suffix)
    if head.startswith(_LZW):
        message, hint = "this is data of `compress`, which is not read", "run `uncompress` first"
    elif wanted is None or head.startswith(wanted.magics):
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

    `begin` was read already. FormatError with code "compression", and LimitError for `max_ratio`
    and for data that need too much memory.
    """
    made = 0
    given = 0  # bytes of the file that were decompressed, or are no data
    sure = 0, 0  # the same before the last of them

    def failed(what: str, length: int = 0) -> FormatError:
        start, before = sure
        hint = f"the {start:,} bytes before it gave {before:,} bytes"
        place = Place(name, Span(start, start + length))
        return FormatError(what, place=place, hint=hint, code="compression")

    step = min(size, _STEP)
    waiting = begin + file.read(step)
    while waiting:
        sure = given, made
        if not waiting.startswith(kind.magics):
            raise failed(f"after the {kind.name} data comes something else", len(waiting))
        member = _made(kind.unpacker, kind, name)
        while not member.eof:
            piece = b""
            if member.needs_input:
                sure = given, made
                piece, waiting = waiting or file.read(step), b""
                if not piece:
                    raise failed(f"the {kind.name} data end too early")
                given += len(piece)
            try:
                data = member.decompress(piece, size)
            except MemoryError:
                raise
            except Exception as error:  # each library has its own
                if "memory" in str(error).lower():
                    raise _too_hungry(name, kind, sure[0]) from None
                what = f"damaged {kind.name} data: {_reason(error)}"
                raise failed(what, given - sure[0]) from None
            made += len(data)
            if made > max(_FREE, limits.max_ratio * given):
                raise _too_large(name, kind, made, given)
            yield data
        given -= len(member.unused_data)
        waiting = member.unused_data or file.read(step)
        if kind.padding:
            waiting, skipped = _past_zeros(file, waiting, step)
            sure = given, made
            if skipped % kind.padding:
                raise failed(f"after the {kind.name} data comes something else", skipped)
            given += skipped
        while waiting and len(waiting) < len(kind.magics[0]):
            if not (more := file.read(step)):
                break
            waiting += more


def _made(make: Callable[[], Packing], kind: Kind, name: str) -> Packing:
    """Make what packs or unpacks; FormatError if this Python cannot."""
    try:
        return make()
    except ImportError as error:
        raise FormatError(
            f"this Python has nothing for {kind.name} data: {error}",
            place=Place.of(name),
            hint="pip install backports.zstd" if kind is _ZSTD else None,
            code="compression",
        ) from None


def _reason(error: Exception) -> str:
    """Return what is wrong with data, in the same words whatever library found it."""
    text = str(error).lower()
    if (
        "unsupported" not in text
        and "header check" not in text
        and ("check" in text or "crc" in text)
    ):
        return "a checksum is wrong"
    if any(word in text for word in ("header", "wrapper", "method", "support", "frame")):
        return "the header is wrong"
    return "they make no sense"


def _past_zeros(file: Readable, data: bytes, size: int) -> tuple[bytes, int]:
    """Skip the zeros that pad a file to a block; return what follows, and how many."""
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
        f"{given:,} bytes of {kind.name} data give {size:,} bytes and more",
        place=Place(name, Span(given, given)),
        hint=remedy("max_ratio"),
    )


def _too_hungry(name: str, kind: Kind, given: int) -> LimitError:
    return LimitError(
        f"these {kind.name} data look back further than {1 << WINDOW - 20} MiB",
        place=Place(name, Span(given, given)),
        hint=f"pack the file anew: {kind.name} as it is usually called looks back less",
    )


class _Packed(io.BufferedIOBase):
    """Compresses what is written; unlike GzipFile it completes the data only when told to."""

    def __init__(self, file: BinaryIO, packer: Packer) -> None:
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
    packed = _Packed(file, _made(kind.packer, kind, name))
    yield cast(BinaryIO, packed)
    packed.finish()
