"""What an epoch of a sampler comes to, in numbers."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from exset.runtime.backend import to_host
from exset.runtime.samplers.grouping import Grouping, inverse


@dataclass(frozen=True)
class Plan:
    """One epoch of all replicas together."""

    items: int
    classes: int
    small_classes: int
    """Classes of fewer than M items, which repeat some in every slot."""
    largest_class: int
    """The items of the largest class."""
    batches: int
    """All batches, none counted twice."""
    distinct_batches: int
    """Those of them whose N classes are all distinct."""
    replicas: int
    batches_per_replica: int
    repeated_batches: int
    """How many come twice, so that all replicas have equally many."""
    dropped_batches: int
    """How many are left out to that end."""
    drawn: int
    """Indices that are drawn, with repetitions."""
    items_drawn: int
    """Items that are drawn at least once."""
    coverage: float
    """The part of all items that is drawn."""
    repeats: int
    """Indices that were drawn before."""
    imbalance: float | None
    """How many times as often as another class's an item of a class is drawn; None: some never."""

    def to_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        return asdict(self)


def examine(
    grouping: Grouping,
    samples: int,
    items: NDArray[np.int64],
    replicas: Sequence[NDArray[np.int64]],
) -> Plan:
    """Count: items, a row for each batch of an epoch; replicas, the batches that each has."""
    sizes = to_host(grouping.sizes).astype(np.int64)
    times = np.bincount(np.concatenate(replicas), minlength=len(items))
    counts = np.zeros(len(grouping.items), np.int64)
    for many in range(int(times.max(initial=0))):
        counts += np.bincount(items[times > many].reshape(-1), minlength=len(counts))
    classes = inverse(grouping)
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
