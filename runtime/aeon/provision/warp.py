"""Rotate pictures with the arithmetic of OpenCV 2 to 4; OpenCV 5 rounds differently."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.runtime.aeon.provision.decode import Pixels
from exset.runtime.aeon.provision.opencv import opencv

LONGEST: Final = 32766
"""The longest side of a picture that OpenCV can rotate."""

_ONE: Final = 1024
"""The number of units of a coordinate in a pixel."""
_PARTS: Final = 32
"""The number of positions within a pixel for linear interpolation."""


def rotated(pixels: Pixels, degrees: int, *, is_nearest: bool) -> Pixels:
    """Return a picture rotated counter-clockwise about its centre. The new corners are black.

    is_nearest: True gives each pixel the value of the nearest source pixel, as masks need; False
    gives it a mean of neighbouring source pixels.
    """
    cv2 = opencv()
    height, width = pixels.shape[:2]
    x, y = _sources(width, height, degrees, 512 if is_nearest else 16)
    if is_nearest:
        found: Pixels = cv2.remap(pixels, _points(x >> 10, y >> 10), None, cv2.INTER_NEAREST)
        return found
    x, y = x >> 5, y >> 5
    parts = ((y % _PARTS) * _PARTS + x % _PARTS).astype(np.uint16)
    found = cv2.remap(pixels, _points(x >> 5, y >> 5), parts, cv2.INTER_LINEAR)
    return found


def _sources(
    width: int, height: int, degrees: int, half: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each pixel of the rotated picture, its coordinates in the original picture.

    half: what to add before the coordinates are rounded.
    """
    matrix = opencv().getRotationMatrix2D((width // 2, height // 2), degrees, 1)
    (a, b, b1), (c, e, b2) = opencv().invertAffineTransform(matrix)
    columns, rows = np.arange(width), np.arange(height)
    x = np.rint(_ONE * (b * rows + b1)).astype(np.int64) + half
    y = np.rint(_ONE * (e * rows + b2)).astype(np.int64) + half
    return (
        x[:, None] + np.rint(a * columns * _ONE).astype(np.int64),
        y[:, None] + np.rint(c * columns * _ONE).astype(np.int64),
    )


def _points(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int16]:
    limits = np.iinfo(np.int16)
    return np.stack([x, y], -1).clip(limits.min, limits.max).astype(np.int16)
