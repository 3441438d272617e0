"""Random numbers that depend on a key and a counter alone, and keyed orders made of them.

Number i of the key k is the i-th output of SplitMix64 seeded with k (Steele, Lea and Flood, "Fast
splittable pseudorandom number generators", OOPSLA 2014; constants of Vigna's splitmix64.c), which
is a counter-based generator: any number can be had without those before it. A number of one key is
the key of further numbers, so that seed, epoch, purpose, class and round each open a stream.

Keyed orders are swap-or-not shuffles (Hoang, Morris and Rogaway, CRYPTO 2012): bijections of
[0, n) for any n, evaluated at one place without the others. 24 rounds leave no trace of the rounds
in orders of few items, where Feistel networks do.

All is arithmetic of unsigned 64-bit integers that wraps around: the same bits everywhere, on
arrays of NumPy and of CuPy.
"""

from types import ModuleType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.runtime.arrays import namespace_of

GAMMA: Final = 0x9E3779B97F4A7C15
FIRST: Final = 0xBF58476D1CE4E5B9
SECOND: Final = 0x94D049BB133111EB
ROUNDS: Final = 24

_WORD: Final = (1 << 64) - 1


def number(key: int, counter: int) -> int:
    """Return one number: output `counter`, from 0, of SplitMix64 seeded with `key`."""
    word = (key + (counter + 1) * GAMMA) & _WORD
    word = ((word ^ word >> 30) * FIRST) & _WORD
    word = ((word ^ word >> 27) * SECOND) & _WORD
    return word ^ word >> 31


def numbers(keys: NDArray[np.uint64], counters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the numbers of keys and counters: uint64, shapes that fit, neither a scalar."""
    words = (counters + np.uint64(1)) * np.uint64(GAMMA)
    words = words + keys
    words ^= words >> np.uint64(30)
    words *= np.uint64(FIRST)
    words ^= words >> np.uint64(27)
    words *= np.uint64(SECOND)
    words ^= words >> np.uint64(31)
    return words


def words(xp: ModuleType, *values: int) -> NDArray[np.uint64]:
    """Return numbers below 2**64 as an array of a namespace."""
    array: NDArray[np.uint64] = xp.asarray(np.array(values, np.uint64))
    return array


def below(words: NDArray[np.uint64], bounds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Turn random words into numbers from 0 and below bounds, each from 1 to 2**32."""
    return (words >> np.uint64(32)) * bounds >> np.uint64(32)


def places(
    keys: NDArray[np.uint64], sizes: NDArray[np.uint64], items: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Return where keyed orders put items: for each key a bijection of [0, size).

    The arrays are uint64 and fit one another, none a scalar; sizes are below 2**32, items below
    their sizes.
    """
    xp = namespace_of(items)
    one, low, shift = np.uint64(1), np.uint64(63), np.uint64(6)
    steps = words(xp, *range(ROUNDS))
    for step in range(ROUNDS):
        round_keys = numbers(keys, steps[step : step + 1])
        sums = below(round_keys, sizes)
        # The partner of x is sum - x, modulo the size; a pair swaps or not by one random bit.
        partners = sums - items + sizes * (items > sums)
        highest = xp.maximum(items, partners)
        bits = numbers(round_keys, highest >> shift) >> (highest & low) & one
        items = xp.where(bits == one, partners, items)
    return items
