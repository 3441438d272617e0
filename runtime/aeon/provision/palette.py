"""The palette of a PNG, which is replaced so that decoding gives indices, and not colours."""

from typing import Final
from zlib import crc32

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"
_COLOUR_TYPE: Final = 25
_FIRST_CHUNK: Final = 33
_AROUND: Final = 12
"""The bytes of a chunk around its data: length and type before it, a checksum after it."""


def with_grey_palette(data: bytes) -> bytes | None:
    """Return a PNG whose colour i is grey of the level i; None for a file without a palette.

    Transparency is left out, because a decoder may blend colours with it.
    """
    if not data.startswith(_SIGNATURE) or data[_COLOUR_TYPE : _COLOUR_TYPE + 1] != b"\x03":
        return None
    chunks, at = [data[:_FIRST_CHUNK]], _FIRST_CHUNK
    while at < len(data):
        size, kind = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        chunk = data[at : at + _AROUND + size]
        at += len(chunk)
        if kind == b"PLTE":
            levels = b"PLTE" + bytes(level for level in range(min(size // 3, 256)) for _ in "bgr")
            chunk = (len(levels) - 4).to_bytes(4) + levels + crc32(levels).to_bytes(4)
        if kind != b"tRNS":
            chunks.append(chunk)
    return b"".join(chunks)
