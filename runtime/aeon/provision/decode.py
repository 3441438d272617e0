"""Decode pictures to arrays of 8 bits, and masks to arrays of 8 or 16 bits."""

from contextlib import suppress
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.codecs.aeon import png
from exset.codecs.aeon.pictures import read_header
from exset.core.errors import FormatError, LimitError
from exset.core.limits import Limits, limit_hint
from exset.runtime.aeon.provision.crop import Size
from exset.runtime.aeon.provision.opencv import opencv, simplejpeg

Pixels: TypeAlias = NDArray[Any]
"""A picture, uint8 [height, width, 3] in the order blue, green, red, or [height, width] if grey;
a mask, uint8 or uint16 [height, width]."""

_JPEG: Final = b"\xff\xd8"
_EXIF: Final = b"Exif\0\0"
_MARKER: Final = 0xFF
_SCAN: Final = 0xDA
_SPACES: Final = {3: "BGR", 1: "GRAY"}


def picture(data: bytes, channels: int, limits: Limits, factor: int = 1) -> Pixels:
    """Decode a picture to 1 or 3 channels. Raises FormatError and LimitError.

    factor: 2, 4 or 8 divides the width and height of the decoded picture. Only a JPEG for which
    `jpeg_size` returns a size allows this.
    """
    size = jpeg_size(data)
    found = None if size is None else _jpeg(data, channels, size, factor, limits)
    if found is None:
        cv2 = opencv()
        found = _any(data, cv2.IMREAD_COLOR if channels == 3 else cv2.IMREAD_GRAYSCALE, limits)
    return found


def luma(data: bytes, limits: Limits) -> Pixels:
    """Decode a picture to one channel as aeon does.

    Colours become luma, and 16 bits stay 16 bits.
    """
    return _any(data, opencv().IMREAD_ANYDEPTH, limits)


def mask(data: bytes, limits: Limits) -> Pixels:
    """Decode a mask. Return the indices of a PNG with a palette, or the pixels of a grey picture.

    Raises LimitError. Raises FormatError for a picture with colours, because colours are not
    indices.
    """
    cv2 = opencv()
    flags = cv2.IMREAD_ANYDEPTH | cv2.IMREAD_ANYCOLOR
    pixels = _any(png.with_grey_palette(data) or data, flags, limits)
    if pixels.ndim == 2:
        return pixels
    first = pixels[:, :, 0]
    if not (pixels == first[:, :, None]).all():
        hint = "save the mask as a PNG with a palette, or as a grey picture"
        raise FormatError("the mask has colours, and not the numbers of classes", hint=hint)
    return first


def jpeg_size(data: bytes) -> Size | None:
    """Return the size of a JPEG file if simplejpeg decodes it as OpenCV does. Return None for other
    files.

    OpenCV decodes the other JPEG files: damaged files, files with CMYK colours, and files with Exif
    data, which may ask for a rotation.
    """
    if not data.startswith(_JPEG) or _has_exif(data):
        return None
    try:
        height, width, space, _ = simplejpeg().decode_jpeg_header(data)
    except ValueError:
        return None
    return Size(width, height) if space in ("YCbCr", "Gray") else None


def _jpeg(data: bytes, channels: int, size: Size, factor: int, limits: Limits) -> Pixels | None:
    """Decode a JPEG as OpenCV does, but faster. Return None for a damaged file."""
    width, height = size.divided(factor)
    _check(height * width * channels, len(data), limits)
    least = {} if factor == 1 else {"min_height": height, "min_width": width, "min_factor": factor}
    try:
        pixels: Pixels = simplejpeg().decode_jpeg(data, _SPACES[channels], **least)
    except ValueError:
        return None
    return pixels if channels == 3 else pixels[:, :, 0]


def _has_exif(data: bytes) -> bool:
    """Return whether the segments before the scan of a JPEG have Exif data."""
    at = 2
    with suppress(IndexError):  # the file is truncated
        while data[at] == _MARKER and data[at + 1] != _SCAN:
            if data.startswith(_EXIF, at + 4):
                return True
            at += 2 + (data[at + 2] << 8 | data[at + 3])
    return False


def _any(data: bytes, flags: int, limits: Limits) -> Pixels:
    cv2 = opencv()
    header = None
    with suppress(FormatError):  # OpenCV decides about damaged headers
        header = read_header(data, limits=limits)
    if header is not None:  # before OpenCV allocates so much
        _check(header.width * header.height, len(data), limits)
    if data.startswith(png.SIGNATURE):  # OpenCV allocates whatever the length of a chunk says
        png.chunks(data, limits=limits)
    try:
        pixels: Pixels | None = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error as error:
        raise FormatError(f"OpenCV cannot decode the picture: {error.err}") from None
    if pixels is None:
        raise FormatError("OpenCV cannot decode this picture")
    _check(pixels.nbytes, len(data), limits)
    if pixels.dtype not in (np.uint8, np.uint16):
        raise FormatError(f"the pixels are {pixels.dtype}, but aeon needs 8 or 16 bits")
    return pixels


def _check(size: int, stored: int, limits: Limits) -> None:
    if size > (most := limits.most_bytes(stored)):
        message = f"the picture has {size:,} bytes, more than the limit of {most:,}"
        raise LimitError(message, hint=limit_hint("max_array"))
