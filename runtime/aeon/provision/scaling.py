"""Decode large JPEGs at 1/2, 1/4 or 1/8 of their size, but not smaller than the output needs."""

from dataclasses import replace
from typing import Final

from exset.runtime.aeon.provision.augment import Augmentation, Parameters
from exset.runtime.aeon.provision.crop import Size

_FACTORS: Final = (8, 4, 2)


def factor_of(augmentation: Augmentation, drawn: Parameters) -> int:
    """Return the largest factor by which a picture may be smaller, or 1.

    No resize after it enlarges the picture or the part of it that is cropped.
    """
    for factor in () if drawn.padding else _FACTORS:  # padding is in pixels of the whole picture
        smaller = reduced(augmentation, drawn, drawn.source.divided(factor))
        whole = smaller.expansion.size if smaller.expansion else smaller.source
        is_short_enough = augmentation.resized(whole).fits_into(whole)
        if is_short_enough and smaller.output.fits_into(smaller.crop.size):
            return factor
    return 1


def reduced(augmentation: Augmentation, drawn: Parameters, size: Size) -> Parameters:
    """Return the parameters for the same picture in another size, with the same output."""
    return replace(augmentation.adapted(drawn, size, drawn.output), output=drawn.output)
