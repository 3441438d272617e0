"""The layouts of RIFF files: WAVE sounds and AVI videos. The names of fields are Microsoft's.

This module imports only Construct and the engine, so that the engine can cache the programs that it
makes from these layouts.
"""

from collections.abc import Callable

import construct as cs
from construct import obj_, this

_EXTENSIBLE = 0xFFFE  # then the first two bytes of SubFormat are the true wFormatTag
_is_list = (this.id == b"LIST") | (this.id == b"RIFF")
_is_open = (this.form == b"hdrl") | (this.form == b"strl") | (this.form == b"movi")
_is_open |= (this.form == b"rec ") | (this.form == b"AVIX")


Head = cs.Struct("magic" / cs.Const(b"RIFF"), "size" / cs.Int32ul, "form" / cs.Bytes(4))


def _file(padded: Callable[[cs.Construct], cs.Construct]) -> cs.Construct:
    """Return the layout of a RIFF file.

    padded: a function that adds the padding after a chunk's data. Some lists of an AVI file contain
    chunks: for these lists, the layout reads the heading of the list, then its chunks. It reads the
    contents of any other list as plain bytes. The layout ends at an empty chunk of zeros, which the
    reader adds after the file.
    """
    rest = padded(cs.Bytes(this._._.size - 4))
    chunk = cs.Struct(
        "id" / cs.Bytes(4),
        "size" / cs.Int32ul,
        "content"
        / cs.IfThenElse(
            _is_list,
            cs.Struct(
                cs.Check(this._.size >= 4),
                "form" / cs.Bytes(4),
                "rest" / cs.IfThenElse(_is_open, cs.Pass, cs.Struct("data" / rest)),
            ),
            cs.Struct("data" / padded(cs.Bytes(this._.size))),
        ),
    )
    return cs.Struct(
        *Head.subcons,
        "chunks" / cs.RepeatUntil((obj_.id == bytes(4)) & (obj_.size == 0), chunk),
    )


def _even(data: cs.Construct) -> cs.Construct:
    return cs.Aligned(2, data)


def _packed(data: cs.Construct) -> cs.Construct:
    return data


File = _file(_even)
# Some programs do not pad data of odd size.
Packed = _file(_packed)

WaveFormat = cs.Struct(
    "wFormatTag" / cs.Int16ul,
    "nChannels" / cs.Int16ul,
    "nSamplesPerSec" / cs.Int32ul,
    "nAvgBytesPerSec" / cs.Int32ul,
    "nBlockAlign" / cs.Int16ul,
    "wBitsPerSample" / cs.Int16ul,
    "extension"
    / cs.IfThenElse(
        this.wFormatTag == _EXTENSIBLE,
        cs.Struct(
            "cbSize" / cs.Int16ul,
            "wValidBitsPerSample" / cs.Int16ul,
            "dwChannelMask" / cs.Int32ul,
            "SubFormat" / cs.Int16ul,
            "rest_of_SubFormat" / cs.Bytes(14),
        ),
        cs.Pass,
    ),
)

# The chunk avih.
MainHeader = cs.Struct(
    "dwMicroSecPerFrame" / cs.Int32ul,
    "dwMaxBytesPerSec" / cs.Int32ul,
    "dwPaddingGranularity" / cs.Int32ul,
    "dwFlags" / cs.Int32ul,
    "dwTotalFrames" / cs.Int32ul,
    "dwInitialFrames" / cs.Int32ul,
    "dwStreams" / cs.Int32ul,
    "dwSuggestedBufferSize" / cs.Int32ul,
    "dwWidth" / cs.Int32ul,
    "dwHeight" / cs.Int32ul,
)

# The chunk strh, up to the numbers that no reader of pictures needs.
StreamHeader = cs.Struct("fccType" / cs.Bytes(4), "fccHandler" / cs.Bytes(4))

# The chunk strf of a video: the beginning of a BITMAPINFOHEADER.
PictureFormat = cs.Struct(
    "biSize" / cs.Int32ul,
    "biWidth" / cs.Int32sl,
    "biHeight" / cs.Int32sl,
    "biPlanes" / cs.Int16ul,
    "biBitCount" / cs.Int16ul,
    "biCompression" / cs.Bytes(4),
)

# The chunk idx1, which begins with its size.
Index = cs.Struct(
    "size" / cs.Int32ul,
    "entries"
    / cs.Array(
        this.size // 16,
        cs.Struct(
            "ckid" / cs.Bytes(4),
            "dwFlags" / cs.Int32ul,
            "dwChunkOffset" / cs.Int32ul,
            "dwChunkLength" / cs.Int32ul,
        ),
    ),
)
