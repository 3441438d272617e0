"""`diff`: find where the meanings of two models of a family differ."""

import math
from typing import TYPE_CHECKING

from exset import formats
from exset.core.protocols import Model
from exset.core.text import with_article

if TYPE_CHECKING:
    from exset.runtime.reports.differences import Differences


def diff(one: Model, other: Model, *, tolerance: float = 0.0, keep: int = 10) -> "Differences":
    """Compare two models; return how many differences there are, and the first `keep` of them.

    Models are compared by meaning. So these may be equal: a text file and a binary file, manifests
    of different dialects, and sample lists of different types. Models that are unequal for `==` may
    be equal here, as the integers 0 and 00 of a manifest mean the same. Units are compared in
    order.

    Two numbers are equal if they differ by at most `tolerance`. If the larger absolute value is
    above 1, they may differ by at most `tolerance` times this value. NaN equals NaN. The result is
    true if there are differences. Raises TypeError for models of different families, and ValueError
    for a negative tolerance.
    """
    if not 0 <= tolerance < math.inf:
        raise ValueError(f"tolerance must be a number from 0, not {tolerance!r}")
    family, another = formats.family_of(one), formats.family_of(other)
    if family != another:
        raise TypeError(
            f"{with_article(family.noun)} cannot be compared with {with_article(another.noun)}"
        )
    return family.compare(one, other, tolerance, keep)
