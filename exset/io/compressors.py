"""Compressors and decompressors of several libraries, with one interface, imported when used."""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

WINDOW: Final = 27  # zstd: log2 of the window, as the zstd program allows
_MEMORY: Final = 160 << 20  # xz: bytes, enough for the same window


class Decompressor(Protocol):
    """Decompresses one member, as `bz2.BZ2Decompressor` does."""

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""
        ...

    @property
    def needs_input(self) -> bool:
        """Whether it can return nothing before it gets more data."""
        ...

    @property
    def unused_data(self) -> bytes:
        """The data after the end of the member."""
        ...

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Decompress at most `max_length` bytes."""
        ...


class Compressor(Protocol):
    """Compresses data, as `bz2.BZ2Compressor` does."""

    def compress(self, data: ReadableBuffer, /) -> bytes:
        """Compress some data; return what is ready."""
        ...

    def flush(self) -> bytes:
        """Return the rest; the data are complete then."""
        ...


class _ZlibDecompressor:
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


class _IsalDecompressor:
    """The decompressor of isal, with the header checks of zlib."""

    def __init__(self, isal: Decompressor) -> None:
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
            raise zlib.error("invalid header")
        return self._isal.decompress(data, max_length)


def gzip_decompressor() -> Decompressor:
    """Return a decompressor of gzip data: of isal if it is installed, else of zlib."""
    try:
        from isal import igzip_lib
    except ImportError:
        return _ZlibDecompressor()
    return _IsalDecompressor(igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP))


def gzip_compressor() -> Compressor:
    """Return a compressor of gzip data."""
    return zlib.compressobj(wbits=31)


def bzip2_decompressor() -> Decompressor:
    """Return a decompressor of bzip2 data."""
    from bz2 import BZ2Decompressor

    return BZ2Decompressor()


def bzip2_compressor() -> Compressor:
    """Return a compressor of bzip2 data."""
    from bz2 import BZ2Compressor

    return BZ2Compressor()


def xz_decompressor() -> Decompressor:
    """Return a decompressor of xz data."""
    from lzma import FORMAT_XZ, LZMADecompressor

    return LZMADecompressor(FORMAT_XZ, memlimit=_MEMORY)


def xz_compressor() -> Compressor:
    """Return a compressor of xz data."""
    from lzma import LZMACompressor

    return LZMACompressor()


def zstd_decompressor() -> Decompressor:
    """Return a decompressor of zstd data."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: WINDOW}
    return zstd.ZstdDecompressor(options=options)


def zstd_compressor() -> Compressor:
    """Return a compressor of zstd data."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdCompressor(options={zstd.CompressionParameter.checksum_flag: 1})
