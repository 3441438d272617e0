"""The kernel that fills slots with items: what `drawing.by_arrays` does, for many slots at once."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import kernel
from exset.runtime.training.generator import FIRST, GAMMA, ROUNDS, SECOND

# Numba makes a real number of an unsigned and a signed one: so each constant has its type.
_GAMMA: Final = np.uint64(GAMMA)
_FIRST: Final = np.uint64(FIRST)
_SECOND: Final = np.uint64(SECOND)
_ROUNDS: Final = ROUNDS
_ZERO: Final = np.uint64(0)
_ONE: Final = np.uint64(1)
_SIX: Final = np.uint64(6)
_LOW: Final = np.uint64(63)
_HALF: Final = np.uint64(32)
_S30: Final = np.uint64(30)
_S27: Final = np.uint64(27)
_S31: Final = np.uint64(31)
_BLOCK: Final = 512  # slots whose words fit in the nearest cache


@kernel
def word(key: np.uint64, counter: np.uint64) -> np.uint64:
    """A number of SplitMix64, as `generator.number`."""
    mixed = key + (counter + _ONE) * _GAMMA
    mixed = (mixed ^ (mixed >> _S30)) * _FIRST
    mixed = (mixed ^ (mixed >> _S27)) * _SECOND
    return mixed ^ (mixed >> _S31)


@kernel
def place(
    items: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    sizes: NDArray[np.uint64],
    rounds: NDArray[np.uint64],
    sums: NDArray[np.uint64],
    many: int,
) -> None:
    """Put items where keyed orders put them, as `generator.places`: a column for each of many keys.

    The loops are such that a compiler makes them run over many columns at once: all that may be
    needed is read before anything is chosen.
    """
    for step in range(_ROUNDS):
        for slot in range(np.uint64(many)):
            rounds[slot] = word(keys[slot], np.uint64(step))
            sums[slot] = ((rounds[slot] >> _HALF) * sizes[slot]) >> _HALF
        for sample in range(len(items)):
            row = items[sample]
            for slot in range(np.uint64(many)):
                item, total, size = row[slot], sums[slot], sizes[slot]
                partner = total - item + (size if item > total else _ZERO)
                highest = max(item, partner)
                swapped = (word(rounds[slot], highest >> _SIX) >> (highest & _LOW)) & _ONE
                row[slot] = partner if swapped else item


@kernel
def fill(
    classes: NDArray[np.int64],
    slots: NDArray[np.int64],
    starts: NDArray[np.uint64],
    sizes: NDArray[np.uint64],
    grouped: NDArray[np.uint32],
    key: np.uint64,
    shuffle: bool,
    out: NDArray[np.int64],
) -> None:
    """Fill `out`, a row for each slot: slot `slots[s]` of class `classes[s]`."""
    wide = out.shape[1]
    items = np.empty((wide, _BLOCK), np.uint64)
    # Arrays of their own: of parts of one, the loops of `place` would not run over many columns.
    keys, widths = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64)
    rounds, sums = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64)
    for first in range(0, len(classes), _BLOCK):
        many = min(_BLOCK, len(classes) - first)
        for slot in range(many):
            index = classes[first + slot]
            size = sizes[index]
            keys[slot], widths[slot] = word(key, np.uint64(index)), size
            item = np.uint64(slots[first + slot]) * np.uint64(wide)
            if item >= size:  # division takes long, and few need it
                item %= size
            for sample in range(wide):
                items[sample, slot] = item
                item += _ONE
                if item == size:
                    item = _ZERO
        if shuffle:
            place(items, keys, widths, rounds, sums, many)
        for slot in range(many):
            start = starts[classes[first + slot]]
            for sample in range(wide):
                out[first + slot, sample] = grouped[start + items[sample, slot]]
