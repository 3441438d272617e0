"""Compressed files: gzip, bzip2, xz and zstd.

The first bytes of a file, not its name, decide how it is decompressed. A reader decompresses in
steps of limited size. It decompresses only once, even if the data were compressed twice. Equal data
give equal compressed bytes.
"""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar, cast

from exset.core.errors import FormatError, LimitError, Place
from exset.core.limits import Limits, limit_hint
from exset.core.source import Span
from exset.core.text import counted
from exset.io.compressors import KINDS, WINDOW, Compressor, Kind
from exset.io.named import open_named

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_FREE = 64 << 20  # bytes: no ratio is checked below
_STEP: Final = 1 << 15  # bytes read at once: data after a member are copied
_LZW: Final = b"\x1f\x9d"
_GZIP, _BZIP2, _XZ, _ZSTD = KINDS
_BZIP2_BLOCKS: Final = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")
# In the order in which Lens tries them; Lens does not know the last two.
SUFFIXES = {".gz": _GZIP, ".Z": _GZIP, ".bz2": _BZIP2, ".bz": _BZIP2, ".xz": _XZ, ".zst": _ZSTD}
"""The compression that each suffix means; it follows the suffix of a format."""
_ARCHIVES: Final = {".tgz": _GZIP}
"""Suffixes of formats that imply a compression."""
MAGIC: Final = 10
"""The number of bytes from which the compression of a file can be detected."""

Made = TypeVar("Made")


def _implied(suffix: str) -> Kind | None:
    """Return the compression that a file name's suffix implies. Return None if it implies none."""
    return SUFFIXES.get(suffix) or _ARCHIVES.get(suffix)


def may_be_compressed(head: bytes) -> bool:
    """Return whether `head`, perhaps only a few bytes, may be the beginning of compressed data."""
    magics = (_LZW, *(magic for kind in KINDS for magic in kind.magics))
    return any(magic.startswith(head[: len(magic)]) for magic in magics)


def content_of(head: bytes) -> Kind | None:
    """Return the compression of data from their first `MAGIC` bytes. Return None for other data."""
    for kind in KINDS:
        if head.startswith(kind.magics) and (kind is not _BZIP2 or head[4:10] in _BZIP2_BLOCKS):
            return kind
    return None


def kind_of(head: bytes, name: str) -> Kind | None:
    """Return the compression of a file from its first bytes. Return None if it is not compressed.

    Raises FormatError if the suffix of `name` is that of another compression.
    """
    content = content_of(head)
    suffix = os.path.splitext(name)[1]
    expected = _implied(suffix)
    if head.startswith(_LZW):
        message = "exset does not read data of the program `compress`"
        hint = "run `uncompress` first"
    elif expected is None or head.startswith(expected.magics):
        return expected or content
    else:
        message = f"the name ends in {suffix} but the content is not {expected.name} data"
        if not head:
            hint = "the file is empty"
        elif content is None:
            hint = f"if the file is not compressed, remove {suffix} from its name"
        else:
            hint = f"the content is {content.name} data: end the name in {content.suffix}"
    raise FormatError(message, place=Place(name), hint=hint, code="compression")


def decompressed(
    read: Callable[[int], bytes], begin: bytes, name: str, kind: Kind, limits: Limits, size: int
) -> Iterator[bytes]:
    """Decompress all members of a file, and yield at most `size` bytes at a time.

    `read`: a function that returns the next bytes of the file; it returns no bytes only at the end
    of the file. `begin`: the bytes that were already read. Raises FormatError with code
    "compression" for damaged data. Raises LimitError above `max_ratio`, and for data that need too
    much memory.
    """
    made = 0
    used = 0  # bytes of the file that were decompressed or skipped
    checked = 0, 0  # `used` and `made` before the last step

    def failed(what: str, length: int = 0) -> FormatError:
        start, before = checked
        good, made = counted(start, "byte"), counted(before, "byte")
        hint = f"intact up to here: {good}, which decompress to {made}"
        place = Place(name, Span(start, start + length))
        return FormatError(what, place=place, hint=hint, code="compression")

    step = min(size, _STEP)
    unread = begin + read(step)
    while unread:
        checked = used, made
        if not unread.startswith(kind.magics):
            raise failed(f"unexpected data after the {kind.name} data", len(unread))
        member = _made(kind.decompressor, kind, name)
        while not member.eof:
            chunk = b""
            if member.needs_input:
                checked = used, made
                chunk, unread = unread or read(step), b""
                if not chunk:
                    raise failed(f"the {kind.name} data are truncated")
                used += len(chunk)
            try:
                data = member.decompress(chunk, size)
            except MemoryError:
                raise
            except Exception as error:  # each library has its own errors
                if "memory" in str(error).lower():
                    raise _window_too_large(name, kind, checked[0]) from None
                what = f"damaged {kind.name} data: {_reason(error)}"
                raise failed(what, used - checked[0]) from None
            made += len(data)
            if made > max(_FREE, limits.max_ratio * used):
                raise LimitError(
                    f"{used:,} bytes of {kind.name} data decompress to more than {made:,} bytes",
                    place=Place(name, Span(used, used)),
                    hint=limit_hint("max_ratio"),
                )
            yield data
        used -= len(member.unused_data)
        unread = member.unused_data or read(step)
        if kind.padding:
            unread, skipped = _past_zeros(read, unread, step)
            checked = used, made
            if skipped % kind.padding:
                raise failed(f"unexpected data after the {kind.name} data", skipped)
            used += skipped
        while unread and len(unread) < len(kind.magics[0]):
            if not (more := read(step)):
                break
            unread += more


def _made(make: Callable[[], Made], kind: Kind, name: str) -> Made:
    """Make a compressor or decompressor by calling `make`.

    Raises FormatError if the library of this compression is missing. name: the file's name.
    """
    try:
        return make()
    except ImportError as error:
        message = f"this Python has no library for {kind.name} data: {error}"
        hint = "pip install backports.zstd" if kind is _ZSTD else None
        raise FormatError(message, place=Place(name), hint=hint, code="compression") from None


def _reason(error: Exception) -> str:
    """Return what an error of a library says, in the same words for all libraries."""
    text = str(error).lower()
    if (
        "unsupported" not in text
        and "header check" not in text
        and ("check" in text or "crc" in text)
    ):
        return "a checksum is wrong"
    if any(word in text for word in ("header", "wrapper", "method", "support", "frame")):
        return "the header is wrong"
    return "invalid content"


def _past_zeros(read: Callable[[int], bytes], data: bytes, size: int) -> tuple[bytes, int]:
    """Skip the zeros that fill a file up to a full block.

    Return the data after the zeros, and the number of zeros. `data`: bytes that were already read.
    """
    skipped = 0
    while data:
        rest = data.lstrip(b"\0")
        skipped += len(data) - len(rest)
        if rest:
            return rest, skipped
        data = read(size)
    return b"", skipped


def _window_too_large(name: str, kind: Kind, used: int) -> LimitError:
    message = f"the {kind.name} data need a window of more than {1 << WINDOW - 20} MiB"
    hint = f"compress the file again, with the default options of {kind.name}"
    return LimitError(message, place=Place(name, Span(used, used)), hint=hint)


class _CompressedFile(io.BufferedIOBase):
    """A file that compresses what is written to it.

    `finish` completes the data. `close` does not, unlike in GzipFile.
    """

    def __init__(self, file: BinaryIO, compressor: Compressor) -> None:
        self._file = file
        self._compressor = compressor

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer", /) -> int:
        self._file.write(self._compressor.compress(data))
        return memoryview(data).nbytes

    def finish(self) -> None:
        self._file.write(self._compressor.flush())


def compressed_alike(data: bytes, path: str) -> bytes:
    """Compress `data`, the new content of the file `path`, in the same way as the old content.

    If the suffix of `path` implies a compression, return `data` unchanged: the function that writes
    the file compresses it.
    """
    with open_named(path, "rb") as file:
        kind = content_of(file.read(MAGIC))
    if kind is None or _implied(os.path.splitext(path)[1]) is not None:
        return data
    compressor = _made(kind.compressor, kind, path)
    return compressor.compress(data) + compressor.flush()


@contextmanager
def compressing(file: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """Yield a file that compresses what is written to it, as the suffix of `name` implies.

    After an error, the compressed data stay incomplete.
    """
    kind = _implied(os.path.splitext(name)[1])
    if kind is None:
        yield file
        return
    compressed = _CompressedFile(file, _made(kind.compressor, kind, name))
    yield cast(BinaryIO, compressed)
    compressed.finish()
