"""BA-LR's samplers. One draws each class once per epoch, the other draws every item.

Without compat="balr" they follow the documentation of BA-LR, without the bugs of its code:

- All randomness is seeded.
- Repeated items are random; no item is repeated in a slot of a class with at least M items.
- As many batches as possible have N distinct classes.
- All replicas have the same number of batches.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from exset.core.kernels import Kernels
from exset.grammars.columns.arrays import Longs
from exset.runtime.samplers import balr, round_robin
from exset.runtime.samplers.base import EpochItems, NxMSampler
from exset.runtime.samplers.layout import Layout, lay_out
from exset.runtime.samplers.slots import Drawing
from exset.runtime.training.generator import number, ordered

KERNELS: Final = Kernels("exset.runtime.samplers.round_robin", load_from=1 << 13)

# The purposes of keys: a key for each is made from the key of an epoch.
ORDER, ITEMS = range(2)


class BalrSampler(NxMSampler):
    """The base class of BA-LR's samplers, which compute the slots of a whole epoch at once."""

    _always_shuffles: ClassVar[bool] = False
    """Whether the items of a class are in random order even without `shuffle`."""
    _stream: ClassVar[Callable[..., Longs]]
    """The function of `balr` that returns the batches that BA-LR draws."""

    @abstractmethod
    def _slots_of_batches(self) -> tuple[Longs, Longs]:
        """Return two arrays, int64 [batches, N]: the class of each slot, and the slot's number in
        its class.
        """

    def _draw(self) -> EpochItems:
        samples = self.M_samples_per_class
        if self.compat:
            # BA-LR seeds its generator for replicas only.
            seed = self.seed + self.epoch if self.distributed else None
            plan = (self.grouping, self.N_classes_per_batch, samples, self.num_batches)
            return self._stream(*plan, self.shuffle, np.random.default_rng(seed)).__getitem__
        classes, slots = self._slots_of_batches()
        shuffle = self.shuffle or self._always_shuffles
        drawing = Drawing(self.grouping, samples, number(self._key, ITEMS), shuffle)

        def items(batches: Longs) -> Longs:
            drawn = drawing.fill(classes[batches].reshape(-1), slots[batches].reshape(-1))
            return drawn.reshape(len(batches), self.batch_size)

        return items

    def _class_order(self) -> Longs:
        """Return the classes in the order in which they take turns in this epoch."""
        classes = np.arange(len(self.grouping))
        return ordered(classes, number(self._key, ORDER)) if self.shuffle else classes


class RandomNxMSampler(BalrSampler):
    """Draws each class once per epoch. Its M items are random, even without `shuffle`.

    The last batch is filled up with the first classes again; `drop_last` drops it instead. If a
    class has fewer than M items, all its items repeat about equally often.
    """

    _always_shuffles = True
    _stream = staticmethod(balr.random_stream)

    def _count_batches(self) -> int:
        whole, rest = divmod(len(self.grouping), self.N_classes_per_batch)
        return whole + (rest > 0 and not self.drop_last)

    def _slots_of_batches(self) -> tuple[Longs, Longs]:
        width = self.N_classes_per_batch
        places = np.arange(self.num_batches * width).reshape(-1, width)
        rounds, ranks = np.divmod(places, len(self.grouping))
        return self._class_order()[ranks], rounds


class ExhaustiveNxMSampler(BalrSampler):
    """Draws every item in each epoch, except the slots that do not fill a last batch.

    A slot is M items of one class, and a batch has N slots. A class with n items has n / M slots,
    rounded up. If its last slot has fewer than M items, items of the same class fill it up; these
    items are drawn again. If fewer than N slots remain for the last batch, they are left out in
    this epoch.

    Classes take turns, as in BA-LR, but as many batches as possible have N distinct classes. If all
    batches of BA-LR have N distinct classes, exset's batches have the same classes as BA-LR's,
    except for random choices.
    """

    _stream = staticmethod(balr.exhaustive_stream)

    @cached_property
    def _slots(self) -> Longs:
        sizes = self.grouping.sizes.astype(np.int64)
        slots: Longs = -(-sizes // self.M_samples_per_class)
        return slots

    @cached_property
    def _layout(self) -> Layout:
        return lay_out(self._slots, self.N_classes_per_batch, fill=False)

    def _count_batches(self) -> int:
        return int(self._slots.sum()) // self.N_classes_per_batch

    def _slots_of_batches(self) -> tuple[Longs, Longs]:
        width = self.N_classes_per_batch
        order = self._class_order()
        slots = self._slots[order]
        placed = self._layout.lowered(slots)
        turns, numbers = np.empty((2, self._layout.batches * width), np.int64)
        room = round_robin.room_for(len(slots), self._layout.batches, width)
        deal_all = KERNELS.choose(round_robin.deal_all, KERNELS.use_compiled(len(turns)))
        deal_all(slots, placed, width, room, turns, numbers)
        return order[turns].reshape(-1, width), numbers.reshape(-1, width)
