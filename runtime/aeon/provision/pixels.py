"""Change the geometry of pictures: rotate, expand, resize, crop, pad, flip."""

from functools import cache
from typing import Final

import numpy as np

from exset.core.errors import FormatError
from exset.runtime.aeon.provision import crop
from exset.runtime.aeon.provision.augment import Expansion, Parameters
from exset.runtime.aeon.provision.crop import Box, Size
from exset.runtime.aeon.provision.decode import Pixels
from exset.runtime.aeon.provision.opencv import opencv
from exset.runtime.aeon.provision.warp import LONGEST, rotated

SHRINK_OR_GROW: Final = ""
"""The method of aeon of April 2017: AREA to make a picture smaller, CUBIC to make it larger."""
NEAREST: Final = "NEAREST"

_MOST_PIXELS: Final = 1 << 28
_METHODS: Final = ("NEAREST", "LINEAR", "CUBIC", "AREA", "LANCZOS4")


def size_of(pixels: Pixels) -> Size:
    """Return the size of a picture."""
    return Size(pixels.shape[1], pixels.shape[0])


def transformed(pixels: Pixels, drawn: Parameters, method: str, *, steps: bool = True) -> Pixels:
    """Return a picture after the changes of its geometry.

    method: how to resize, a value of `interpolation_method`. steps: whether to also expand, resize
    the shorter side, and pad. aeon does these three with pictures, but not with masks. Raises
    FormatError for a crop box outside the picture, and for an unknown method.
    """
    if drawn.angle:
        if max(size_of(pixels)) > LONGEST:
            message = f"the picture is more than {LONGEST:,} pixels long: too many for a rotation"
            raise FormatError(message)
        pixels = rotated(pixels, drawn.angle, is_nearest=method == NEAREST)
    if drawn.expansion and steps:
        pixels = expanded(pixels, drawn.expansion)
    if drawn.short and steps:
        pixels = resized(pixels, crop.short_sized(size_of(pixels), drawn.short), method)
    pixels = cropped(pixels, drawn.crop, drawn.window if steps else drawn.crop)
    pixels = resized(pixels, drawn.output, method)
    return opencv().flip(pixels, 1) if drawn.flip else pixels


def expanded(pixels: Pixels, expansion: Expansion) -> Pixels:
    """Return a larger black picture that contains the picture `pixels` at an offset."""
    size, (width, height) = expansion.size, size_of(pixels)
    x, y = expansion.x, expansion.y
    if not Box(x, y, width, height).is_inside(size):
        message = f"the picture of {width}x{height} pixels at ({x}, {y}) does not fit into the"
        message += f" expanded picture of {size.width}x{size.height} pixels: the size in the"
        message += " annotation may be wrong"
        raise FormatError(message)
    canvas = np.zeros((size.height, size.width, *pixels.shape[2:]), pixels.dtype)
    canvas[y : y + height, x : x + width] = pixels
    return canvas


def cropped(pixels: Pixels, box: Box, window: Box) -> Pixels:
    """Return the part of a picture in `window`. Pixels of the window outside the picture are black.

    Raises FormatError if `box`, the crop box without padding, is not inside the picture.
    """
    size = size_of(pixels)
    if not box.is_inside(size):
        message = f"the crop box of {box.width}x{box.height} pixels at ({box.x}, {box.y}) is not"
        raise FormatError(f"{message} inside the picture of {size.width}x{size.height}")
    x, y, width, height = window
    if window.is_inside(size):
        return pixels[y : y + height, x : x + width]
    found = np.zeros((height, width, *pixels.shape[2:]), pixels.dtype)
    part = pixels[max(y, 0) : max(y + height, 0), max(x, 0) : max(x + width, 0)]
    rows, columns = part.shape[:2]
    found[max(-y, 0) :, max(-x, 0) :][:rows, :columns] = part
    return found


def resized(pixels: Pixels, size: Size, method: str) -> Pixels:
    """Return a picture, resized to `size`. Raises FormatError for a wrong size or method."""
    if size == size_of(pixels):
        return pixels
    if min(size) < 1 or size.width * size.height > _MOST_PIXELS:
        raise FormatError(f"the picture would have {size.width}x{size.height} pixels")
    if method == SHRINK_OR_GROW:
        smaller = size.width * size.height <= pixels.shape[0] * pixels.shape[1]
        method = "AREA" if smaller else "CUBIC"
    found: Pixels = opencv().resize(pixels, size, interpolation=_flag(method))
    return found


@cache
def _flag(method: str) -> int:
    """Return OpenCV's number for an interpolation method.

    Raises FormatError for an unknown method.
    """
    if (name := method.upper()) not in _METHODS:
        raise FormatError(f"the interpolation_method must be one of {', '.join(_METHODS)}")
    return int(getattr(opencv(), f"INTER_{name}"))
