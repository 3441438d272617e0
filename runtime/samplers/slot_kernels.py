"""Kernels that fill slots with items. The array operations of `generator` give the same items."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import entry_kernel, kernel
from exset.grammars.columns.arrays import LongRows, Longs
from exset.runtime.training.generator import FIRST, GAMMA, ROUNDS, SECOND, Words

WordRows = np.ndarray[tuple[int, int], np.dtype[np.uint64]]

# Numba computes floats from an unsigned and a signed integer, so each constant has a type.
_ZERO: Final = np.uint64(0)
_ONE: Final = np.uint64(1)
_SIX: Final = np.uint64(6)
_LOW: Final = np.uint64(63)
_HALF: Final = np.uint64(32)
_S30: Final = np.uint64(30)
_S27: Final = np.uint64(27)
_S31: Final = np.uint64(31)
_BLOCK: Final = 512  # the numbers of this many slots fit in the L1 cache


class Room(NamedTuple):
    """Memory in which `fill_slots` works: arrays with a column for each slot of a block.

    They are separate arrays, because the loops of `place` are not vectorised for slices of one
    array.
    """

    items: WordRows
    keys: Words
    sizes: Words
    rounds: Words
    sums: Words


def room_for(samples: int) -> Room:
    """Return the memory for slots of `samples` items."""
    keys, sizes, rounds, sums = (np.empty(_BLOCK, np.uint64) for _ in range(4))
    return Room(np.empty((samples, _BLOCK), np.uint64), keys, sizes, rounds, sums)


@kernel
def word(key: np.uint64, counter: np.uint64) -> np.uint64:
    """Return the random number of a key at a counter, as `generator.number` does."""
    mixed = key + (counter + _ONE) * GAMMA
    mixed = (mixed ^ (mixed >> _S30)) * FIRST
    mixed = (mixed ^ (mixed >> _S27)) * SECOND
    return mixed ^ (mixed >> _S31)


@kernel
def place(
    items: WordRows,
    keys: Words,
    sizes: Words,
    rounds: Words,
    sums: Words,
    count: int,
) -> None:
    """Replace items by their positions in random orders, as `generator.places` does.

    items: a column for each slot, and a row for each of its items. Only the first `count` columns
    are used. keys, sizes: for each column, the key of the order, and the number of items in the
    order. rounds, sums: memory for the work. The compiler can vectorise these loops over columns,
    because they first read all values.
    """
    for step in range(ROUNDS):
        for slot in range(np.uint64(count)):
            rounds[slot] = word(keys[slot], np.uint64(step))
            sums[slot] = ((rounds[slot] >> _HALF) * sizes[slot]) >> _HALF
        for sample in range(len(items)):
            row = items[sample]
            for slot in range(np.uint64(count)):
                item, total, size = row[slot], sums[slot], sizes[slot]
                partner = total - item + (size if item > total else _ZERO)
                highest = max(item, partner)
                swapped = (word(rounds[slot], highest >> _SIX) >> (highest & _LOW)) & _ONE
                row[slot] = partner if swapped else item


@entry_kernel
def fill_slots(
    classes: Longs,
    slots: Longs,
    starts: Words,
    sizes: Words,
    grouped: NDArray[np.uint32],
    key: np.uint64,
    shuffle: bool,
    room: Room,
    out: LongRows,
) -> None:
    """Fill row s of `out`, int64 [S, M], with the items of slot `slots[s]` of class `classes[s]`.

    starts, sizes, grouped: arrays of a `Grouping`. key: the key of the random orders, which only
    `shuffle` uses. room: memory for the work.
    """
    width = out.shape[1]
    items, keys, widths, rounds, sums = room
    for first in range(0, len(classes), _BLOCK):
        count = min(_BLOCK, len(classes) - first)
        for slot in range(count):
            index = classes[first + slot]
            size = sizes[index]
            keys[slot], widths[slot] = word(key, np.uint64(index)), size
            item = np.uint64(slots[first + slot]) * np.uint64(width)
            if item >= size:  # division is slow, and few slots need it
                item %= size
            for sample in range(width):
                items[sample, slot] = item
                item += _ONE
                if item == size:
                    item = _ZERO
        if shuffle:
            place(items, keys, widths, rounds, sums, count)
        for slot in range(count):
            start = starts[classes[first + slot]]
            for sample in range(width):
                out[first + slot, sample] = grouped[start + items[sample, slot]]
