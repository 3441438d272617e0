"""BA-LR's samplers: each class once an epoch, or every item of the data set.

Without compat="balr" they follow the documentation of BA-LR, without the defects of its code:

- All randomness is seeded.
- Chance decides which items are repeated; no item is repeated in a slot of a class with M items.
- As many batches as possible have N distinct classes.
- All replicas have the same number of batches.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import Kernels
from exset.runtime.samplers import balr, round_robin
from exset.runtime.samplers.base import EpochBatches, NxMSampler
from exset.runtime.samplers.layout import Layout, lay_out
from exset.runtime.samplers.slots import Drawing
from exset.runtime.training.generator import number, numbers, words

KERNELS: Final = Kernels("exset.runtime.samplers.round_robin", compile_from=1 << 13)

# The purposes of the keys that are made from the key of an epoch.
ORDER, ITEMS = range(2)


@dataclass(frozen=True)
class Stream:
    """The batches of an epoch as a table of items, int64 [batches, N*M]."""

    table: NDArray[np.int64]

    def items(self, batches: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the items of the batches with these numbers."""
        return self.table[batches]


@dataclass(frozen=True)
class Table:
    """The batches of an epoch as tables of slots: class, and number in the class; int64."""

    drawing: Drawing
    classes: NDArray[np.int64]
    slots: NDArray[np.int64]

    def items(self, batches: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the items of the batches with these numbers, int64 [batches, N*M]."""
        slots = (each[batches].reshape(-1) for each in (self.classes, self.slots))
        return self.drawing.fill(*slots).reshape(
            len(batches), self.classes.shape[1] * self.drawing.samples
        )


class RandomNxMSampler(NxMSampler):
    """Each class once an epoch, with M of its items drawn at random, even without `shuffle`.

    The last batch is filled up with further items of the first classes, or dropped with
    `drop_last`. A class of fewer than M items repeats all of them about equally often.
    """

    def _count_batches(self) -> int:
        whole, rest = divmod(len(self.grouping), self.N_classes_per_batch)
        return whole + (rest > 0 and not self.drop_last)

    def _draw(self) -> EpochBatches:
        width, samples = self.N_classes_per_batch, self.M_samples_per_class
        if self.compat:
            draw = _generator(self)
            return Stream(
                balr.random_stream(
                    self.grouping, width, samples, self.num_batches, self.shuffle, draw
                )
            )
        places = np.arange(self.num_batches * width).reshape(-1, width)
        classes = _order(self)[places % len(self.grouping)]
        drawing = Drawing(self.grouping, samples, number(self._key, ITEMS), shuffle=True)
        return Table(drawing, classes, places // len(self.grouping))


class ExhaustiveNxMSampler(NxMSampler):
    """Every item once an epoch, except for at most N - 1 slots that do not fill a batch.

    Classes take turns, as in BA-LR, but as many batches as possible have N distinct classes. If all
    batches of BA-LR have, the batches have the same classes as its own, except for random choices.
    The last slot of a class is filled up from its other items.
    """

    @cached_property
    def _slots(self) -> NDArray[np.int64]:
        sizes = self.grouping.sizes.astype(np.int64)
        slots: NDArray[np.int64] = -(-sizes // self.M_samples_per_class)
        return slots

    @cached_property
    def _layout(self) -> Layout:
        return lay_out(self._slots, self.N_classes_per_batch, fill=False)

    def _count_batches(self) -> int:
        return int(self._slots.sum()) // self.N_classes_per_batch

    def _draw(self) -> EpochBatches:
        width, samples = self.N_classes_per_batch, self.M_samples_per_class
        if self.compat:
            draw = _generator(self)
            return Stream(
                balr.exhaustive_stream(
                    self.grouping, width, samples, self.num_batches, self.shuffle, draw
                )
            )
        order = _order(self)
        layout = self._layout
        slots = self._slots[order]
        placed = layout.lowered(slots)
        turns, slot_numbers = np.empty((2, layout.batches * width), np.int64)
        take = KERNELS.choose(round_robin.deal_all, KERNELS.should_compile(len(turns)))
        take(slots, placed, width, turns, slot_numbers)
        drawing = Drawing(self.grouping, samples, number(self._key, ITEMS), self.shuffle)
        return Table(drawing, order[turns].reshape(-1, width), slot_numbers.reshape(-1, width))


def _order(sampler: NxMSampler) -> NDArray[np.int64]:
    """Return the classes in the order of the epoch."""
    order = np.arange(len(sampler.grouping))
    if sampler.shuffle:
        keys = numbers(words(np, number(sampler._key, ORDER)), order.astype(np.uint64))
        order = np.argsort(keys)  # all keys differ
    return order


def _generator(sampler: NxMSampler) -> np.random.Generator:
    """Return the generator of BA-LR, which seeds it for replicas only."""
    seed = sampler.seed + sampler.epoch if sampler.distributed else None
    return np.random.default_rng(seed)
