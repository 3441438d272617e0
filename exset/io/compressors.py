"""The compression formats and their library classes; the libraries are imported when used."""

import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from bz2 import BZ2Compressor, BZ2Decompressor
    from lzma import LZMACompressor, LZMADecompressor

    from isal.igzip_lib import IgzipDecompressor

WINDOW: Final = 27  # zstd: log2 of the window, as the zstd program allows
_MEMORY: Final = 160 << 20  # xz: bytes, enough for the same window
_SKIPPED: Final = tuple(bytes((first,)) + b"*M\x18" for first in range(0x50, 0x60))

# The classes for zstd and isal have these interfaces, too.
Compressor: TypeAlias = "zlib._Compress | BZ2Compressor | LZMACompressor"
Decompressor: TypeAlias = "BZ2Decompressor | LZMADecompressor | _Zlib | _Isal"


@dataclass(frozen=True)
class Kind:
    """A compression format.

    `padding`: zeros may follow a member if the number of zeros is a multiple of `padding`. 0: no
    zeros may follow.
    """

    name: str
    suffix: str
    magics: tuple[bytes, ...]
    decompressor: Callable[[], Decompressor]
    compressor: Callable[[], Compressor]
    padding: int = 0


class _Zlib:
    """`zlib.decompressobj` with the methods and attributes of `bz2.BZ2Decompressor`."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._zlib, name)

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)


class _Isal:
    """The decompressor of isal, with the header checks of zlib."""

    def __init__(self, isal: "IgzipDecompressor") -> None:
        self._isal = isal
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._isal, name)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        self._head += data[: 4 - len(self._head)]
        if self._head[2:3] not in b"\x08" or self._head[3:] > b"\x1f":
            raise zlib.error("invalid header")
        return self._isal.decompress(data, max_length)


def _gzip_decompressor() -> Decompressor:
    try:
        from isal import igzip_lib
    except ImportError:
        return _Zlib()
    return _Isal(igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP))


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


# No compressor writes a time or a name, so equal data give equal bytes.
KINDS: Final = (
    Kind(
        name="gzip",
        suffix=".gz",
        magics=(b"\x1f\x8b",),
        padding=1,
        decompressor=_gzip_decompressor,
        compressor=lambda: zlib.compressobj(wbits=31),
    ),
    Kind(
        name="bzip2",
        suffix=".bz2",
        magics=(b"BZh",),
        decompressor=lambda: import_module("bz2").BZ2Decompressor(),
        compressor=lambda: import_module("bz2").BZ2Compressor(),
    ),
    Kind(
        name="xz",
        suffix=".xz",
        magics=(b"\xfd7zXZ\0",),
        padding=4,
        decompressor=lambda: import_module("lzma").LZMADecompressor(memlimit=_MEMORY),
        compressor=lambda: import_module("lzma").LZMACompressor(),
    ),
    Kind(
        name="zstd",
        suffix=".zst",
        magics=(b"\x28\xb5\x2f\xfd", *_SKIPPED),
        decompressor=lambda: _zstd().ZstdDecompressor(
            options={_zstd().DecompressionParameter.window_log_max: WINDOW}
        ),
        compressor=lambda: _zstd().ZstdCompressor(
            options={_zstd().CompressionParameter.checksum_flag: 1}
        ),
    ),
)


def crc32(data: bytes | memoryview, before: int = 0) -> int:
    """Return the CRC-32 of bytes.

    If isal is installed, use it: it takes a fifth of the time. before: the checksum of all earlier
    bytes.
    """
    return _crc32()(data, before)


@cache
def _crc32() -> Callable[[bytes | memoryview, int], int]:
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib.crc32
    found: Callable[[bytes | memoryview, int], int] = isal_zlib.crc32
    return found
