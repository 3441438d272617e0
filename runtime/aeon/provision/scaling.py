"""Decode large JPEGs at 1/2, 1/4 or 1/8 of their size, but not smaller than the output needs."""

from dataclasses import replace
from typing import Final

from exset.runtime.aeon.provision import decode
from exset.runtime.aeon.provision.augment import Augmentation, Parameters
from exset.runtime.aeon.provision.crop import Size
from exset.runtime.aeon.provision.decode import Pixels
from exset.runtime.aeon.provision.etl import Context
from exset.runtime.aeon.provision.layout import Layout
from exset.runtime.aeon.provision.pixels import size_of
from exset.runtime.aeon.provision.record import Record

_FACTORS: Final = (8, 4, 2)


def decoded(
    data: bytes, layout: Layout, augmentation: Augmentation, record: Record, context: Context
) -> tuple[Pixels, Parameters]:
    """Return the decoded picture in the file `data`, and the parameters of its changes.

    The picture may be decoded in a smaller size. The parameters are drawn for `record`. Raises
    FormatError and LimitError.
    """
    channels, limits = layout.channels, context.limits
    size = decode.jpeg_size(data) if context.scaled_decoding else None
    if size is None:
        pixels = decode.picture(data, channels, limits)
        return pixels, record.parameters(augmentation, size_of(pixels), layout.size)
    drawn = record.parameters(augmentation, size, layout.size)
    pixels = decode.picture(data, channels, limits, factor_of(augmentation, drawn))
    return pixels, reduced(augmentation, drawn, size_of(pixels))


def factor_of(augmentation: Augmentation, drawn: Parameters) -> int:
    """Return the largest factor, of 8, 4, 2 and 1, by which the sides of a picture may be divided.

    With this factor, no later resize enlarges the picture or its cropped part.
    """
    for factor in () if drawn.padding else _FACTORS:  # padding is in pixels of the whole picture
        smaller = reduced(augmentation, drawn, drawn.source.divided(factor))
        whole = smaller.expansion.size if smaller.expansion else smaller.source
        is_short_enough = augmentation.resized(whole).fits_into(whole)
        if is_short_enough and smaller.output.fits_into(smaller.crop.size):
            return factor
    return 1


def reduced(augmentation: Augmentation, drawn: Parameters, size: Size) -> Parameters:
    """Return the parameters for a picture that is decoded at `size`, such that the output is the
    same.
    """
    return replace(augmentation.adapted(drawn, size, drawn.output), output=drawn.output)
