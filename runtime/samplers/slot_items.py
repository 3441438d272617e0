"""Slots to items: which M items of a class a slot has.

The items of a class are put in an order that the epoch's key and the class decide; slot j has the
items j*M to j*M + M - 1 of it, and after the last comes the first. So no item comes twice in a slot
of a class that has M or more, and every item is as likely as any other to be drawn again.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import Kernels
from exset.runtime.arrays import namespace_of
from exset.runtime.samplers import slot_kernel
from exset.runtime.samplers.grouping import Grouping
from exset.runtime.training.generator import numbers, places, words

KERNELS: Final = Kernels("exset.runtime.samplers.slot_kernel", compile_from=1 << 13, use_from=0)

_BLOCK = 1 << 14
"""Items that the arrays of one step are for: on the host they fit in a cache."""


@dataclass(frozen=True)
class Drawing:
    """How slots of M samples are filled in an epoch; without `shuffle`, in the data's order."""

    grouping: Grouping
    samples: int
    key: int
    shuffle: bool

    def fill(self, classes: NDArray[np.int64], slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the items of slots: for int64 arrays (S,), int64 (S, M)."""
        xp = namespace_of(classes)
        out: NDArray[np.int64] = xp.empty((len(classes), self.samples), np.int64)
        if xp is np and KERNELS.should_compile(len(out)):
            known, key = self.grouping, np.uint64(self.key)
            KERNELS.compiled(slot_kernel.fill)(
                classes, slots, known.starts, known.sizes, known.items, key, self.shuffle, out
            )
            return out
        step = max((_BLOCK if xp is np else _BLOCK << 10) // self.samples, 1)
        for at in range(0, len(out), step):
            part = slice(at, at + step)
            out[part] = self.by_arrays(classes[part], slots[part])
        return out

    def by_arrays(self, classes: NDArray[np.int64], slots: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Return the items of slots, a row of M for each, by operations on arrays alone."""
        xp = namespace_of(classes)
        places_ = slots.astype(np.uint64)[:, None] * np.uint64(self.samples)
        places_ = places_ + xp.arange(self.samples, dtype=np.uint64)
        sizes = self.grouping.sizes[classes][:, None]
        places_ %= sizes
        if self.shuffle:
            keys = numbers(words(xp, self.key), classes.astype(np.uint64))
            places_ = places(keys[:, None], sizes, places_)
        starts = self.grouping.starts[classes][:, None]
        items: NDArray[np.uint32] = self.grouping.items[starts + places_]
        return items
