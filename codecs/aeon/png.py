"""The chunks of PNG files: list chunks, and replace the colours of a palette by grey levels."""

from typing import Final
from zlib import crc32

import numpy as np

from exset.codecs.engine import Layout, read
from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_FILE: Final = Layout("exset.codecs.aeon.picture_layout:PngFile")
_END: Final = bytes(4) + b"IEND" + bytes(4)
"""What is added to the data, as decoders do not need the last chunk."""
_AROUND: Final = 12
"""The bytes of a chunk around its data: length and type before it, a checksum after it."""
_COLOUR_TYPE: Final = 17
"""Where the first chunk has the type of its colours; 3 is a palette."""


def chunks(
    data: bytes, *, limits: Limits = DEFAULT, engine: Engine = "auto"
) -> list[tuple[bytes, bytes]]:
    """Return each chunk up to and including IEND, as a pair: its type, and all its bytes.

    Raises FormatError for a file that ends inside a chunk.
    """
    try:
        fields = read(_FILE, Source("picture", data + _END), limits=limits, engine=engine)
    except FormatError as error:
        raise FormatError(f"the PNG is truncated or damaged: {error.message}") from None
    begins = fields.starts["chunks"]
    ends = begins + np.asarray(fields["chunks.length"], np.int64) + _AROUND
    spans = zip(begins.tolist(), ends.tolist(), strict=True)
    return [(data[at + 4 : at + 8], data[at:end]) for at, end in spans if at < len(data)]


def with_grey_palette(data: bytes) -> bytes | None:
    """Return a copy of a PNG in which colour i of the palette is the grey level i.

    A decoder of the copy gives palette indices. The copy has no transparency, because a decoder may
    blend colours with it. Returns None for a PNG without a palette. Raises FormatError for a
    truncated file.
    """
    if not data.startswith(SIGNATURE):
        return None
    found = chunks(data)
    if not found or found[0][1][_COLOUR_TYPE : _COLOUR_TYPE + 1] != b"\x03":
        return None
    parts = [SIGNATURE]
    for kind, chunk in found:
        if kind == b"PLTE":
            colours = min((len(chunk) - _AROUND) // 3, 256)
            levels = b"PLTE" + bytes(level for level in range(colours) for _ in "bgr")
            parts.append((3 * colours).to_bytes(4) + levels + crc32(levels).to_bytes(4))
        elif kind != b"tRNS":
            parts.append(chunk)
    return b"".join(parts)
