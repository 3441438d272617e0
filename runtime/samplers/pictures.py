"""A picture of a sampler: the classes in its first batches."""

from itertools import islice

import numpy as np

from exset.runtime.pictures.kinds import Composition, shortened
from exset.runtime.samplers.base import NxMSampler
from exset.runtime.samplers.grouping import classes_of_items

BATCHES = 60
"""The most batches of a picture."""


def composition(sampler: NxMSampler, most: int = BATCHES) -> Composition:
    """Return the class of each item in the first batches of the sampler's epoch.

    most: how many batches to return, if the epoch has so many.
    """
    rows = list(islice(sampler.batches(), most))
    if not rows:
        raise ValueError("there is nothing to draw: no batches")
    classes = classes_of_items(sampler.grouping)[np.array(rows, np.int64)]
    total = sampler.num_batches_per_replica
    names = [shortened(str(label)) for label in sampler.unique_labels.tolist()]
    return Composition(
        classes=classes.astype(np.int64),
        names=names,
        samples=sampler.M_samples_per_class,
        note=f"the first {len(rows)} of {total:,} batches" if total > len(rows) else "",
    )
