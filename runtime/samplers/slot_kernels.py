"""Kernels that fill slots with items, as the array operations of `generator` do."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import kernel
from exset.grammars.columns.arrays import Longs
from exset.runtime.training.generator import FIRST, GAMMA, ROUNDS, SECOND, Words

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


@kernel
def word(key: np.uint64, counter: np.uint64) -> np.uint64:
    """Return a number of SplitMix64, as `generator.number`."""
    mixed = key + (counter + _ONE) * GAMMA
    mixed = (mixed ^ (mixed >> _S30)) * FIRST
    mixed = (mixed ^ (mixed >> _S27)) * SECOND
    return mixed ^ (mixed >> _S31)


@kernel
def place(items: Words, keys: Words, sizes: Words, rounds: Words, sums: Words, count: int) -> None:
    """Replace items by their places in keyed orders, as `generator.places`: a column for each key.

    The compiler can vectorise these loops over columns: they read all values before they choose.
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


@kernel
def fill_slots(
    classes: Longs,
    slots: Longs,
    starts: Words,
    sizes: Words,
    grouped: NDArray[np.uint32],
    key: np.uint64,
    shuffle: bool,
    out: Longs,
) -> None:
    """Fill row s of `out`, int64 [S, M], with the items of slot `slots[s]` of class `classes[s]`.

    `starts`, `sizes`, `grouped`: the arrays of a `Grouping`. `key`: of the orders, if `shuffle`.
    """
    width = out.shape[1]
    items = np.empty((width, _BLOCK), np.uint64)
    # These are separate arrays: for slices of one array, the loops of `place` are not vectorised.
    keys, widths = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64)
    rounds, sums = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64)
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
