"""`diff`: in what two models of a family differ, by what they mean."""

import math
from typing import TYPE_CHECKING

from exset import formats
from exset.core.protocols import Model
from exset.core.text import with_article

if TYPE_CHECKING:
    from exset.runtime.reports.differences import Differences


def diff(one: Model, other: Model, *, tolerance: float = 0.0, keep: int = 10) -> "Differences":
    """Return in what two models differ: true if they do, with the first `keep` places.

    What they mean is compared, not how it is said: an example set with that of a binary file, a
    manifest with another dialect of it, lists of other types. Units are compared in their order.
    Numbers may be apart by `tolerance`, times the larger one where that is above 1; NaN is equal to
    NaN. TypeError for models of different families, ValueError for a tolerance below 0.
    """
    if not 0 <= tolerance < math.inf:
        raise ValueError(f"tolerance must be a number from 0, not {tolerance!r}")
    family, another = formats.family_of(one), formats.family_of(other)
    if family != another:
        raise TypeError(
            f"{with_article(family.noun)} cannot be compared with {with_article(another.noun)}"
        )
    return family.compare(one, other, tolerance, keep)
