"""Map slots to items: find the M items of each slot.

The epoch's key and the class decide an order of the class's items. Slot j has the items j*M to j*M
+ M - 1 of this order; after the last item, the first follows again. So no item occurs twice in a
slot of a class with at least M items, and every item is equally likely to be repeated.

Large inputs use a compiled kernel, and others use operations on arrays. Both give the same items.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import Kernels
from exset.grammars.columns.arrays import Longs
from exset.runtime.arrays import namespace_of
from exset.runtime.samplers.grouping import Grouping
from exset.runtime.samplers.slot_kernels import fill_slots, room_for
from exset.runtime.training.generator import numbers, places, words

KERNELS: Final = Kernels("exset.runtime.samplers.slot_kernels", load_from=1 << 13, use_from=0)

_ARRAY_BLOCK = 1 << 14
"""The number of items in a step of the array operations; on the host, a step fits in a cache."""


@dataclass(frozen=True)
class Drawing:
    """Fills slots with items in one epoch.

    Without `shuffle`, the items of a class are in the order of the data. samples: M, the number of
    items of a slot. key: the key of the random orders.
    """

    grouping: Grouping
    samples: int
    key: int
    shuffle: bool

    def fill(self, classes: Longs, slots: Longs) -> Longs:
        """Return the items of slots, int64 [S, M].

        classes: the class of each slot, int64 [S]. slots: the number of each slot in its class,
        int64 [S].
        """
        xp = namespace_of(classes)
        out: Longs = xp.empty((len(classes), self.samples), np.int64)
        if xp is np and KERNELS.use_compiled(len(out)):
            known, key, room = self.grouping, np.uint64(self.key), room_for(self.samples)
            KERNELS.compiled(fill_slots)(
                classes, slots, known.starts, known.sizes, known.items, key, self.shuffle, room, out
            )
            return out
        step = max((_ARRAY_BLOCK if xp is np else _ARRAY_BLOCK << 10) // self.samples, 1)
        for at in range(0, len(out), step):
            part = slice(at, at + step)
            out[part] = self.fill_by_arrays(classes[part], slots[part])
        return out

    def fill_by_arrays(self, classes: Longs, slots: Longs) -> NDArray[np.uint32]:
        """Return the items of slots, uint32 [S, M], by array operations. The arguments are those of
        `fill`.
        """
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
