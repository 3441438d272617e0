"""Compute statistics of one epoch of a sampler."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from exset.grammars.columns.arrays import Longs
from exset.runtime.arrays import to_host
from exset.runtime.samplers.grouping import Grouping, classes_of_items


@dataclass(frozen=True)
class Plan:
    """Statistics of one epoch, of all replicas together."""

    items: int
    classes: int
    small_classes: int
    """Classes with fewer than M items, which repeat items in every slot."""
    largest_class: int
    """The number of items of the largest class."""
    batches: int
    """All distinct batches of all replicas."""
    distinct_batches: int
    """Batches with N distinct classes."""
    replicas: int
    batches_per_replica: int
    repeated_batches: int
    """Batches that are repeated, so that all replicas have the same number."""
    dropped_batches: int
    """Batches that are dropped, so that all replicas have the same number."""
    drawn: int
    """Drawn indices, with repetitions."""
    items_drawn: int
    """Items that are drawn at least once."""
    coverage: float
    """The fraction of the items that is drawn."""
    repeats: int
    """Drawn indices that are repetitions."""
    imbalance: float | None
    """The highest number of draws per item of a class, divided by the lowest; None if this is 0."""

    def to_dict(self) -> dict[str, object]:
        """Return the statistics for JSON."""
        return asdict(self)


def measure(grouping: Grouping, samples: int, items: Longs, replicas: Sequence[Longs]) -> Plan:
    """Return the statistics of an epoch.

    samples: M. items: int64 [batches, N*M]. replicas: the batch numbers of each replica.
    """
    sizes = to_host(grouping.sizes).astype(np.int64)
    times = np.bincount(np.concatenate(replicas), minlength=len(items))
    counts = np.zeros(len(grouping.items), np.int64)
    for time in range(int(times.max(initial=0))):
        counts += np.bincount(items[times > time].reshape(-1), minlength=len(counts))
    classes = classes_of_items(grouping)
    slots = np.sort(classes[items[:, ::samples]], axis=1)
    rates = np.bincount(classes, counts, len(sizes)) / sizes
    total, seen = int(counts.sum()), int(np.count_nonzero(counts))
    return Plan(
        items=len(counts),
        classes=len(sizes),
        small_classes=int(np.count_nonzero(sizes < samples)),
        largest_class=int(sizes.max()),
        batches=len(items),
        distinct_batches=int((slots[:, 1:] != slots[:, :-1]).all(axis=1).sum()),
        replicas=len(replicas),
        batches_per_replica=len(replicas[0]),
        repeated_batches=int(np.maximum(times - 1, 0).sum()),
        dropped_batches=int(np.count_nonzero(times == 0)),
        drawn=total,
        items_drawn=seen,
        coverage=seen / len(counts),
        repeats=total - seen,
        imbalance=float(rates.max() / rates.min()) if rates.min() else None,
    )
