"""Read the headers of pictures: size, colours, and whether there are Exif data."""

import re
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from exset.codecs.aeon.riff import number_of
from exset.codecs.engine import Fields, Layout, read
from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source

_LAYOUTS: Final = "exset.codecs.aeon.picture_layout"
_PNG: Final = Layout(f"{_LAYOUTS}:Png")
_BMP: Final = Layout(f"{_LAYOUTS}:Bmp")
_JPEG: Final = Layout(f"{_LAYOUTS}:Jpeg")
_WEBP: Final = Layout(f"{_LAYOUTS}:Webp")
_TIFFS: Final[dict[bytes, tuple[Layout, Layout, Literal["little", "big"]]]] = {
    b"II*\0": (Layout(f"{_LAYOUTS}:Tiff"), Layout(f"{_LAYOUTS}:TiffDirectory"), "little"),
    b"MM\0*": (Layout(f"{_LAYOUTS}:TiffBig"), Layout(f"{_LAYOUTS}:TiffBigDirectory"), "big"),
}
_WIDTH, _HEIGHT = 256, 257
"""The tags of a TIFF's sides."""
_BYTES: Final = {1: 1, 3: 2, 4: 4}
"""The bytes of a number, by its type in a TIFF."""

_GAP: Final = rb"(?:\s|#[^\r\n]*+[\r\n])++"
_PNM: Final = re.compile(rb"P[1-6Ff](?=\s)%b(\d{1,10}+)%b(\d{1,10}+)(?!\d)" % (_GAP, _GAP))
"""The text header of PBM, PGM, PPM and PFM: width and height, after blanks or comments."""
_PAM: Final = tuple(
    re.compile(rb"\n[ \t]*+%b[ \t]++(\d{1,10}+)(?!\d)" % side) for side in (b"WIDTH", b"HEIGHT")
)
"""The lines with the sides in the header of a PAM."""
_LONGEST: Final = 1 << 12
"""The most bytes of the header of a PAM that are read."""

_COLOURED: Final = (2, 6)
_PALETTE: Final = 3
_EXIF: Final = b"Exif\0\0"
_LOSSY_BITS: Final = (1 << 14) - 1


@dataclass(frozen=True)
class Header:
    """The properties of a picture that its header gives.

    width, height: in pixels. colours: "grey", "colours" or "palette"; "" if the header does not say
    it. has_exif: whether the file has Exif data, because of which a decoder may rotate the picture.
    """

    width: int
    height: int
    colours: str = ""
    has_exif: bool = False

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """The sizes (width, height) that the decoded picture may have.

        There are two sizes if Exif data may rotate the picture by 90 degrees.
        """
        size = self.width, self.height
        return (size, size[::-1]) if self.has_exif else (size,)


def read_header(data: bytes, *, limits: Limits = DEFAULT, engine: Engine = "auto") -> Header | None:
    """Return the header of a PNG, JPEG, BMP, WebP, TIFF or PNM. Return None for other files.

    data: the file, or its beginning. Also returns None for a TIFF whose first directory is not in
    `data`. For a truncated or damaged header, returns None if the file is a JPEG or PNM, because
    decoders accept many such headers, and raises FormatError for all other formats.
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
    if (tiff := _TIFFS.get(data[:4])) is not None:
        return _of_tiff(data, *tiff, limits, engine)
    return _of_pnm(data) if data.startswith(b"P") else None


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


def _of_tiff(
    data: bytes,
    head: Layout,
    directory: Layout,
    order: Literal["little", "big"],
    limits: Limits,
    engine: Engine,
) -> Header | None:
    """Return the header of a TIFF, from its first directory.

    Return None if the directory lacks the width or the height. head: the layout of the file's first
    bytes. directory: the layout of a directory. order: the byte order of the numbers in the file.
    """
    offset = number_of(read(head, Source("picture", data), limits=limits, engine=engine), "offset")
    if offset >= len(data):
        return None
    source = Source("picture", memoryview(data)[offset:])
    fields = read(directory, source, limits=limits, engine=engine)
    tags, types = (np.asarray(fields[f"entries.{name}"]) for name in ("tag", "type"))
    values, sides = list(fields.strings("entries.value")), []
    for tag in (_WIDTH, _HEIGHT):
        for entry in np.flatnonzero(tags == tag)[:1].tolist():
            size = _BYTES.get(int(types[entry]), 0)
            sides.append(int.from_bytes((values[entry] or b"")[:size], order))
    return Header(sides[0], sides[1]) if len(sides) == 2 and all(sides) else None


def _of_pnm(data: bytes) -> Header | None:
    if (found := _PNM.match(data)) is not None:
        return Header(int(found[1]), int(found[2]))
    if not data.startswith(b"P7"):
        return None
    text = data[:_LONGEST].partition(b"ENDHDR")[0]
    sides = [int(found[1]) for each in _PAM if (found := each.search(text)) is not None]
    return Header(sides[0], sides[1]) if len(sides) == 2 else None
