"""What is drawn at random is drawn evenly: chi-squares whose bounds were fixed beforehand.

Each is allowed five standard deviations of a chi-square above its degrees of freedom. The seeds
are fixed, so that a test passes always or never.
"""

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from exset.runtime.samplers.base import NxMSampler
from exset.runtime.samplers.nxm import ExhaustiveNxMSampler, RandomNxMSampler
from exset.runtime.samplers.planned import PlannedNxMSampler


def bound(freedom: int) -> float:
    return freedom + 5 * math.sqrt(2 * freedom)


def epochs(sampler: NxMSampler, count: int) -> Iterator[NDArray[np.int64]]:
    """Yield the batches of `count` epochs, each an array of batches, slots and samples."""
    shape = (-1, sampler.N_classes_per_batch, sampler.M_samples_per_class)
    for epoch in range(count):
        sampler.set_epoch(epoch)
        numbers = np.arange(sampler.num_batches)
        yield sampler._draw()(numbers).reshape(shape)


@pytest.mark.parametrize("size", [3, 4, 5, 6, 7])
@pytest.mark.parametrize("cls", [RandomNxMSampler, ExhaustiveNxMSampler, PlannedNxMSampler])
def test_orders_of_the_items_of_a_class(cls: type[NxMSampler], size: int) -> None:
    """All n! orders are equally likely, over epochs and classes; 20 of each are expected."""
    classes, kinds = 300, math.factorial(size)
    sampler = cls(np.arange(classes * size) // size, classes, size, seed=size)
    counts: Counter[bytes] = Counter()
    count = -(-20 * kinds // classes)
    for epoch in epochs(sampler, count):
        counts.update(map(bytes, (epoch.reshape(-1, size) % size).astype(np.uint8)))
    expected = count * classes / kinds
    assert len(counts) == kinds and counts.total() == count * classes
    assert sum((each - expected) ** 2 for each in counts.values()) / expected < bound(kinds - 1)


def test_fillers() -> None:
    """Chance decides which items repeat: in the last slots of classes, and in the last batch."""
    sizes = [5, 5, 6, 7, 9]
    labels = np.repeat(np.arange(5), sizes)
    sampler = PlannedNxMSampler(labels, 4, 4)
    counts, fillers, count = np.zeros(len(labels)), np.zeros(5), 1500
    for epoch in epochs(sampler, count):
        again = np.bincount(epoch.reshape(-1), minlength=len(labels)) - 1
        assert set(again.tolist()) <= {0, 1, 2}
        counts += again
        classes = labels[epoch[:, :, 0]].reshape(-1)
        fillers += np.bincount(classes, minlength=5) - -(-np.array(sizes) // 4)
    assert fillers.sum() == count * (sampler.num_batches * 4 - 11)
    for index in range(5):
        own = counts[labels == index]
        expected = own.mean()
        assert ((own - expected) ** 2).sum() / expected < bound(len(own) - 1)
    # A class in all distinct batches, the last among them, fills none; here that is the largest.
    assert fillers[4] == 0
    own = fillers[:4]
    assert ((own - own.mean()) ** 2).sum() / own.mean() < bound(3)


@pytest.mark.parametrize(
    ("classes", "size", "wide"), [(10, 16, 4), (9, 14, 4), (20, 40, 6), (7, 9, 3), (40, 12, 8)]
)
def test_meetings_of_classes_of_a_size(classes: int, size: int, wide: int) -> None:
    """Each pair of classes meets in a batch about equally often, and none never or always."""
    sampler = PlannedNxMSampler(np.arange(classes * size) % classes, wide, 2)
    counts: list[NDArray[np.float64]] = []
    for epoch in epochs(sampler, 700):
        among = np.zeros((len(epoch), classes))
        np.put_along_axis(among, epoch[:, :, 0] % classes, 1, axis=1)
        counts.append((among.T @ among)[np.triu_indices(classes, 1)])
    table = np.array(counts)
    means, spread = table.mean(axis=0), table.var(axis=0).mean() / len(table)
    assert ((means - means.mean()) ** 2).sum() / spread < bound(len(means) - 1)
    assert (table > 0).any(axis=0).all() and (table < table.max()).any(axis=0).all()


def test_batches_of_classes() -> None:
    """Every class is equally likely in all batches, except in the batch that is filled up."""
    classes, count = 11, 1200
    sampler = PlannedNxMSampler(np.arange(classes * 6) % classes, 4, 2)
    table = np.zeros((sampler.num_batches, classes))
    for epoch in epochs(sampler, count):
        rows = np.broadcast_to(np.arange(len(epoch))[:, None], epoch.shape[:2])
        np.add.at(table, (rows, epoch[:, :, 0] % classes), 1)
    assert (table.sum(axis=1) == 4 * count).all()
    expected = 4 * count / classes
    assert ((table - expected) ** 2).sum() / expected < bound(table.size - 1)
