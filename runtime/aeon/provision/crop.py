"""The crop box of a picture. It is computed in binary32, as in aeon."""

import math
from typing import Final, NamedTuple, SupportsFloat

import numpy as np

Single = np.float32


class Size(NamedTuple):
    """A width and a height, in pixels."""

    width: int
    height: int

    def divided(self, factor: int) -> "Size":
        """Return the size divided by a factor, rounded up."""
        return Size(-(-self.width // factor), -(-self.height // factor))

    def fits_into(self, other: "Size") -> bool:
        """Return whether neither side is longer than the same side of another size."""
        return self.width <= other.width and self.height <= other.height


class Box(NamedTuple):
    """A box of whole pixels: its upper left corner and its size."""

    x: int
    y: int
    width: int
    height: int

    @property
    def size(self) -> Size:
        """The width and the height."""
        return Size(self.width, self.height)

    def is_inside(self, size: Size) -> bool:
        """Return whether the box has at least one pixel, and all its pixels are in a picture of
        this size.
        """
        is_past = self.x + self.width > size.width or self.y + self.height > size.height
        return not is_past and min(self.x, self.y) >= 0 and min(self.width, self.height) > 0

    def scaled(self, before: Size, after: Size) -> "Box":
        """Return the box that contains the same part of the picture after a resize.

        The returned box has at least one pixel. before, after: the sizes of the picture before and
        after the resize.
        """
        x, y = after.width / before.width, after.height / before.height
        size = max(half_even(self.width * x), 1), max(half_even(self.height * y), 1)
        return Box(half_even(self.x * x), half_even(self.y * y), *size)

    def clamped(self, size: Size) -> "Box":
        """Return the box, moved and cut so that it is inside a picture of this size.

        The returned box has at least one pixel.
        """
        width, height = min(max(self.width, 1), size.width), min(max(self.height, 1), size.height)
        x = min(max(self.x, 0), size.width - width)
        return Box(x, min(max(self.y, 0), size.height - height), width, height)


class Extent(NamedTuple):
    """A width and a height in binary32."""

    width: Single
    height: Single

    def times(self, factor: Single) -> "Extent":
        """Return the extent times a factor."""
        return Extent(self.width * factor, self.height * factor)


_ONE: Final = Single(1)


_NO_INTEGER: Final = -(1 << 31)
"""The integer to which a processor converts infinity and NaN."""


def half_even(number: SupportsFloat) -> int:
    """Round to the nearest integer; a half goes to the even integer."""
    real = float(number)
    return round(real) if math.isfinite(real) else _NO_INTEGER


def truncated(number: SupportsFloat) -> int:
    """Round towards zero."""
    real = float(number)
    return int(real) if math.isfinite(real) else _NO_INTEGER


def half_away(number: SupportsFloat) -> int:
    """Round to the nearest integer; a half goes away from zero."""
    return int(math.copysign(math.floor(abs(float(number)) + 0.5), float(number)))


def extent_of(size: Size) -> Extent:
    """Return a size in binary32."""
    return Extent(Single(size.width), Single(size.height))


def fitting_scale(inside: Extent, size: Size) -> Single:
    """Return the largest factor for which `inside` times the factor still fits into `size`."""
    scale = Single(size.width) / inside.width
    if inside.height * scale > size.height:
        scale = Single(size.height) / inside.height
    return scale


def scaled(size: Size, factor: Single) -> Size:
    """Return a size times a factor, rounded."""
    extent = extent_of(size).times(factor)
    return Size(half_even(extent.width), half_even(extent.height))


def short_sized(size: Size, short: int) -> Size:
    """Return the size of a picture after its shorter side is resized to `short` pixels."""
    factor = Single(short) / Single(min(size))
    extent = extent_of(size).times(factor)
    return Size(half_away(extent.width), half_away(extent.height))


def proportional(inside: Extent, shape: Extent) -> Extent:
    """Return the largest extent with the proportions of `shape` that fits into `inside`."""
    box = shape.times(inside.width / shape.width)
    if box.height > inside.height:
        box = box.times(inside.height / box.height)
    return box


def with_share(inside: Extent, box: Extent, share: Single) -> Extent:
    """Return the extent `box`, shrunk so that its area is at most `share` of the area of `inside`.

    Only the dialect `seed` uses this.
    """
    ratio = box.width * box.height / (inside.width * inside.height)
    return box.times(np.sqrt(share / ratio)) if ratio > share else box


def area_bound(inside: Extent, distortion: Single) -> Single:
    """Return the largest share of the picture's area that a crop box can have (dialect `head`).

    inside: the size of the picture. distortion: the square root of (width / height) of the crop
    box.
    """
    square = distortion * distortion
    wide, high = inside.width / inside.height / square, inside.height / inside.width * square
    return min(wide, high)


def area_box(inside: Extent, distortion: Single, share: Single) -> Extent:
    """Return the extent of a crop box that has this share of the picture's area (dialect `head`).

    inside: the size of the picture. distortion: the square root of (width / height) of the crop
    box.
    """
    side = np.sqrt(inside.width * inside.height * share)
    return Extent(distortion * side, _ONE / distortion * side)


def placed(inside: Extent, box: Extent, x: Single, y: Single, is_seed: bool) -> Box:
    """Return the crop box of extent `box` in whole pixels. inside: the extent of the picture.

    x, y: the position of the box, from 0 (left, top) to 1 (right, bottom). The dialect `seed`
    rounds the position to the nearest pixel, `head` rounds it towards zero.
    """
    left, upper = (inside.width - box.width) * x, (inside.height - box.height) * y
    whole = half_even if is_seed else truncated
    return Box(whole(left), whole(upper), half_even(box.width), half_even(box.height))
