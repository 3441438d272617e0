"""The libraries that pack and unpack, each made when it is needed, and all alike."""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

WINDOW: Final = 27  # a frame of zstd may look back 2**27 bytes, as for the program zstd
_MEMORY: Final = 160 << 20  # what xz may take, for as much


class Unpacker(Protocol):
    """Decompresses one member; what `bz2.BZ2Decompressor` is."""

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""
        ...

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes of what was given."""
        ...

    @property
    def unused_data(self) -> bytes:
        """What was given beyond the end."""
        ...

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return that many bytes or fewer."""
        ...


class Packer(Protocol):
    """Compresses; what `bz2.BZ2Compressor` is."""

    def compress(self, data: ReadableBuffer, /) -> bytes:
        """Return what is complete."""
        ...

    def flush(self) -> bytes:
        """Return the rest, and end."""
        ...


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


class _FastGzipUnpacker:
    """isal's unpacker, made as strict as zlib's."""

    def __init__(self, isal: Unpacker) -> None:
        self._isal = isal
        self._head = b""

    @property
    def eof(self) -> bool:
        return self._isal.eof

    @property
    def needs_input(self) -> bool:
        return self._isal.needs_input

    @property
    def unused_data(self) -> bytes:
        return self._isal.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        self._head += data[: 4 - len(self._head)]
        if self._head[2:3] not in b"\x08" or self._head[3:] > b"\x1f":
            raise zlib.error("no header that anybody knows")
        return self._isal.decompress(data, max_length)


def gzip_unpacker() -> Unpacker:
    """Return what unpacks a member of gzip data: isal if it is there, else zlib."""
    try:
        from isal import igzip_lib
    except ImportError:
        return _GzipUnpacker()
    return _FastGzipUnpacker(igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP))


def gzip_packer() -> Packer:
    """Return what packs gzip data."""
    return zlib.compressobj(wbits=31)


def bzip2_unpacker() -> Unpacker:
    """Return what unpacks a stream of bzip2 data."""
    from bz2 import BZ2Decompressor

    return BZ2Decompressor()


def bzip2_packer() -> Packer:
    """Return what packs bzip2 data."""
    from bz2 import BZ2Compressor

    return BZ2Compressor()


def xz_unpacker() -> Unpacker:
    """Return what unpacks a stream of xz data."""
    from lzma import FORMAT_XZ, LZMADecompressor

    return LZMADecompressor(FORMAT_XZ, memlimit=_MEMORY)


def xz_packer() -> Packer:
    """Return what packs xz data."""
    from lzma import LZMACompressor

    return LZMACompressor()


def zstd_unpacker() -> Unpacker:
    """Return what unpacks a frame of zstd data."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: WINDOW}
    return zstd.ZstdDecompressor(options=options)


def zstd_packer() -> Packer:
    """Return what packs zstd data."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdCompressor(options={zstd.CompressionParameter.checksum_flag: 1})
