"""What packs and unpacks by suffix, of other libraries than exset."""

import bz2
import gzip
import lzma
import sys
from collections.abc import Callable

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Pack = Callable[[bytes], bytes]


def pack_zstd(data: bytes) -> bytes:
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


PACK: dict[str, Pack] = {
    ".gz": gzip.compress,
    ".Z": gzip.compress,
    ".bz2": bz2.compress,
    ".bz": bz2.compress,
    ".xz": lzma.compress,
    ".zst": pack_zstd,
}
"""In the order in which exset looks for files."""

KINDS: tuple[Pack, ...] = (gzip.compress, bz2.compress, lzma.compress, pack_zstd)

UNPACK: dict[str, Pack] = {
    "": bytes,
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".bz": bz2.decompress,
    ".xz": lzma.decompress,
    ".zst": zstd.decompress,
}
