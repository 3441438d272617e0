"""Read the headers of pictures: their size, and whether they have colours."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from exset.codecs.aeon.riff import number_of
from exset.codecs.engine import Fields, Layout, read
from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source

_PNG: Final = Layout("exset.codecs.aeon.picture_layout:Png")
_BMP: Final = Layout("exset.codecs.aeon.picture_layout:Bmp")
_JPEG: Final = Layout("exset.codecs.aeon.picture_layout:Jpeg")
_WEBP: Final = Layout("exset.codecs.aeon.picture_layout:Webp")
_COLOURED: Final = (2, 6)
_PALETTE: Final = 3
_EXIF: Final = b"Exif\0\0"
_LOSSY_BITS: Final = (1 << 14) - 1


@dataclass(frozen=True)
class Header:
    """The properties of a picture that its header gives.

    width, height: in pixels. colours: "grey", "colours" or "palette"; "" if the header does not say
    which. has_exif: whether the file has Exif data, from which a decoder may rotate the picture.
    """

    width: int
    height: int
    colours: str = ""
    has_exif: bool = False

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """The widths and heights that the decoded picture may have."""
        size = self.width, self.height
        return (size, size[::-1]) if self.has_exif else (size,)


def read_header(data: bytes, *, limits: Limits = DEFAULT, engine: Engine = "auto") -> Header | None:
    """Return the header of a PNG, JPEG, BMP or WebP; None for other files.

    data: the file, or its beginning. Raises FormatError for a header that is truncated or damaged.
    For a JPEG with such a header it returns None, as decoders accept many invalid JPEG files.
    """
    source = Source("picture", data)
    if data.startswith(b"\x89PNG"):
        return _of_png(read(_PNG, source, limits=limits, engine=engine))
    if data.startswith(b"BM"):
        fields = read(_BMP, source, limits=limits, engine=engine)
        name = "size.width" if len(fields["size.width"]) else "size.width16"
        height = number_of(fields, name.replace("width", "height"))
        return Header(number_of(fields, name), abs(height))  # negative: from top to bottom
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _of_webp(read(_WEBP, source, limits=limits, engine=engine))
    if data.startswith(b"\xff\xd8"):
        try:
            return _of_jpeg(read(_JPEG, source, limits=limits, engine=engine))
        except FormatError:
            return None
    return None


def _of_png(fields: Fields) -> Header:
    kind = number_of(fields, "colour_type")
    colours = "colours" if kind in _COLOURED else "palette" if kind == _PALETTE else "grey"
    return Header(number_of(fields, "width"), number_of(fields, "height"), colours)


def _of_jpeg(fields: Fields) -> Header:
    width, height, components = (
        number_of(fields, f"segments.body.{name}") for name in ("width", "height", "components")
    )
    has_exif = any((each or b"").startswith(_EXIF) for each in fields.strings("segments.body.data"))
    return Header(width, height, "grey" if components == 1 else "colours", has_exif)


def _of_webp(fields: Fields) -> Header:
    if len(fields["header.width"]):
        width, height = (number_of(fields, f"header.{name}") for name in ("width", "height"))
        return Header(width & _LOSSY_BITS, height & _LOSSY_BITS)
    if len(fields["header.packed"]):
        packed = number_of(fields, "header.packed")
        return Header(1 + (packed & _LOSSY_BITS), 1 + (packed >> 14 & _LOSSY_BITS))
    low, middle, high = np.asarray(fields["header.less_one"], np.int64).reshape(2, 3).T
    width, height = (1 + low + (middle << 8) + (high << 16)).tolist()
    return Header(width, height)
