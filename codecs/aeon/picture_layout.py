"""The layouts of the headers of picture files, up to width and height.

The names of fields are from the standards. This module imports only Construct and the engine, so
that the engine can cache the programs that it makes from these layouts.
"""

import construct as cs
from construct import obj_, this

Png = cs.Struct(
    "signature" / cs.Const(b"\x89PNG\r\n\x1a\n"),
    "length" / cs.Int32ub,
    "type" / cs.Const(b"IHDR"),
    "width" / cs.Int32ub,
    "height" / cs.Int32ub,
    "depth" / cs.Int8ub,
    "colour_type" / cs.Int8ub,
)

# All chunks of a PNG.
PngFile = cs.Struct(
    "signature" / cs.Const(b"\x89PNG\r\n\x1a\n"),
    "chunks"
    / cs.RepeatUntil(
        obj_.type == b"IEND",
        cs.Struct(
            "length" / cs.Int32ub,
            "type" / cs.Bytes(4),
            "data" / cs.Bytes(this.length),
            "crc" / cs.Int32ub,
        ),
    ),
)

_OS2 = 12  # the size of the older header, whose numbers have two bytes
Bmp = cs.Struct(
    "bfType" / cs.Const(b"BM"),
    "bfSize" / cs.Int32ul,
    "bfReserved" / cs.Int32ul,
    "bfOffBits" / cs.Int32ul,
    "biSize" / cs.Int32ul,
    "size"
    / cs.IfThenElse(
        this.biSize == _OS2,
        cs.Struct("width16" / cs.Int16ul, "height16" / cs.Int16ul),
        cs.Struct("width" / cs.Int32sl, "height" / cs.Int32sl),
    ),
)

_is_segment = (obj_.marker < 0xC0) | (obj_.marker > 0xCF)
_is_segment |= (obj_.marker == 0xC4) | (obj_.marker == 0xC8) | (obj_.marker == 0xCC)
_is_frame = (this.marker >= 0xC0) & (this.marker <= 0xCF)
_is_frame &= (this.marker != 0xC4) & (this.marker != 0xC8) & (this.marker != 0xCC)

# The segments of a JPEG up to the header of the frame, SOF0 to SOF15.
Jpeg = cs.Struct(
    "start" / cs.Const(b"\xff\xd8"),
    "segments"
    / cs.RepeatUntil(
        ~_is_segment,
        cs.Struct(
            "prefix" / cs.Const(b"\xff"),
            "marker" / cs.Int8ub,
            "length" / cs.Int16ub,
            "body"
            / cs.IfThenElse(
                _is_frame,
                cs.Struct(
                    "precision" / cs.Int8ub,
                    "height" / cs.Int16ub,
                    "width" / cs.Int16ub,
                    "components" / cs.Int8ub,
                ),
                cs.Struct(cs.Check(this._.length >= 2), "data" / cs.Bytes(this._.length - 2)),
            ),
        ),
    ),
)

# The first chunk of a WebP: lossy, lossless, or the header of an extended file.
Webp = cs.Struct(
    "magic" / cs.Const(b"RIFF"),
    "size" / cs.Int32ul,
    "form" / cs.Const(b"WEBP"),
    "id" / cs.Bytes(4),
    "length" / cs.Int32ul,
    "header"
    / cs.IfThenElse(
        this.id == b"VP8 ",
        cs.Struct(
            "frame" / cs.Bytes(3),
            "start" / cs.Bytes(3),
            "width" / cs.Int16ul,
            "height" / cs.Int16ul,
        ),
        cs.IfThenElse(
            this.id == b"VP8L",
            cs.Struct("lossless" / cs.Int8ub, "packed" / cs.Int32ul),
            cs.Struct("flags" / cs.Int32ul, "less_one" / cs.Array(6, cs.Int8ub)),
        ),
    ),
)


def _directory(order: str) -> cs.Struct:
    """Return the layout of the first directory of a TIFF.

    order: the byte order, "little" or "big". Each value has four bytes; a number of two bytes is in
    the first two of them.
    """
    two, four = (cs.Int16ul, cs.Int32ul) if order == "little" else (cs.Int16ub, cs.Int32ub)
    entry = cs.Struct("tag" / two, "type" / two, "count" / four, "value" / cs.Bytes(4))
    return cs.Struct("count" / two, "entries" / cs.Array(this.count, entry))


# A TIFF begins with the order of its bytes, a number, and the offset of its first directory.
Tiff = cs.Struct("order" / cs.Const(b"II"), "version" / cs.Int16ul, "offset" / cs.Int32ul)
TiffBig = cs.Struct("order" / cs.Const(b"MM"), "version" / cs.Int16ub, "offset" / cs.Int32ub)
TiffDirectory = _directory("little")
TiffBigDirectory = _directory("big")
