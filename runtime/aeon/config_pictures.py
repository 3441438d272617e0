"""Check the headers of pictures and masks, and compare sizes that must be equal."""

from collections.abc import Sequence
from typing import Final

from exset.codecs.aeon.pictures import read_header
from exset.core.errors import FormatError
from exset.runtime.aeon.config_column import Column, Size

_BEGINNING: Final = 1 << 16
_MAGIC: Final = (
    *(b"\xff\xd8\xff", b"\x89PNG", b"BM", b"II*\0", b"MM\0*", b"RIFF", b"P1", b"P2", b"P3", b"P4"),
    *(b"P5", b"P6", b"P7", b"Pf", b"PF", b"\0\0\0", b"\xff\x4f", b"\x59\xa6\x6a\x95"),
    *(b"v/1\1", b"#?"),
)
"""The first bytes of the pictures that OpenCV reads: JPEG, PNG, BMP, TIFF, WebP, PNM and others."""
_COLOURED: Final = {"colours": "has colours", "palette": "has a palette"}


def check_pictures(column: Column) -> None:
    """Add a finding for each element that is not a picture, and for each mask with colours."""
    for record, begin in column.beginnings(_BEGINNING):
        if not begin:
            continue
        if not begin.startswith(_MAGIC):
            column.report("aeon-no-picture", record)
            continue
        try:
            header = read_header(begin, limits=column.options.limits)
        except FormatError as error:
            column.report("aeon-element", record, why=f"its header is damaged: {error.message}")
            continue
        if header is not None:
            column.picture_sizes[record] = header.sizes
            if column.etl.type == "pixelmask" and header.colours in _COLOURED:
                column.report("aeon-mask-colours", record, why=_COLOURED[header.colours])


def check_equal_sizes(columns: Sequence[Column]) -> None:
    """Add a finding for each annotation or mask whose size differs from the picture of the same
    record.
    """
    pictures = [each for each in columns if each.etl.type == "image"]
    for column in columns:
        if column.etl.type == "image":
            continue
        for record, sizes in column.picture_sizes.items():
            others = [each for each in pictures if record in each.picture_sizes]
            if others and all({*sizes}.isdisjoint(each.picture_sizes[record]) for each in others):
                its = _shown(others[0].picture_sizes[record])
                words = {"size": _shown(sizes), "other": others[0].title, "its": its}
                column.report("aeon-size-differs", record, **words)


def _shown(sizes: Sequence[Size]) -> str:
    width, height = sizes[0]
    return f"{width:g}x{height:g}"
