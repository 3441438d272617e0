"""Random numbers that depend only on a key and a counter, and orders made of these numbers.

Number i of the key k is the i-th output of SplitMix64 seeded with k (Steele, Lea and Flood, "Fast
splittable pseudorandom number generators", OOPSLA 2014; constants of Vigna's splitmix64.c). This is
a counter-based generator: it computes any number without the numbers before. A number of one key
can be the key of further numbers, so that each seed, epoch, purpose (such as "picture"), class and
round has its own stream.

An order is a swap-or-not shuffle (Hoang, Morris and Rogaway, CRYPTO 2012): a bijection of [0, n)
for any n, which can be evaluated at a single place. With 24 rounds, even orders of few items are
uniform, which Feistel networks do not achieve.

All computations are in unsigned 64-bit integers that wrap around, so NumPy and CuPy give the same
bits on all machines.
"""

from types import ModuleType
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.runtime.arrays import namespace_of

Words: TypeAlias = NDArray[np.uint64]

GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)
FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
SECOND: Final = np.uint64(0x94D049BB133111EB)
ROUNDS: Final = 24

_WORD: Final = (1 << 64) - 1


def number(key: int, counter: int) -> int:
    """Return output number `counter`, from 0, of SplitMix64 seeded with `key`."""
    word = (key + (counter + 1) * int(GAMMA)) & _WORD
    word = ((word ^ word >> 30) * int(FIRST)) & _WORD
    word = ((word ^ word >> 27) * int(SECOND)) & _WORD
    return word ^ word >> 31


def numbers(keys: Words, counters: Words) -> Words:
    """Return the random numbers of keys and counters, uint64.

    keys, counters: uint64 arrays that broadcast, not scalars.
    """
    words = (counters + np.uint64(1)) * GAMMA
    words = words + keys
    words ^= words >> np.uint64(30)
    words *= FIRST
    words ^= words >> np.uint64(27)
    words *= SECOND
    words ^= words >> np.uint64(31)
    return words


def words(xp: ModuleType, *values: int) -> Words:
    """Return numbers below 2**64 as a uint64 array. xp: NumPy or CuPy."""
    array: Words = xp.asarray(np.array(values, np.uint64))
    return array


def ordered(values: NDArray[np.int64], key: int) -> NDArray[np.int64]:
    """Return the numbers from 0 to len(values) - 1 in a random order.

    The order is that of the random numbers of `key` at the counters `values`, which must be
    distinct.
    """
    # All numbers of one key are different, so the order is unique.
    order: NDArray[np.int64] = numbers(
        words(namespace_of(values), key), values.astype(np.uint64)
    ).argsort()
    return order


def below(words: Words, bounds: Words) -> Words:
    """Map each random word to a number from 0 to its bound - 1; uint64.

    bounds: from 1 to 2**32.
    """
    return (words >> np.uint64(32)) * bounds >> np.uint64(32)


def places(keys: Words, sizes: Words, items: Words) -> Words:
    """Return the positions of items in random orders. A key decides a bijection of [0, size).

    keys, sizes, items: uint64 arrays that broadcast, not scalars. Sizes are below 2**32, and each
    item is below its size.
    """
    xp = namespace_of(items)
    one, low, shift = np.uint64(1), np.uint64(63), np.uint64(6)
    steps = words(xp, *range(ROUNDS))
    for step in range(ROUNDS):
        round_keys = numbers(keys, steps[step : step + 1])
        sums = below(round_keys, sizes)
        # The partner of x is sum - x, modulo the size; a random bit decides if a pair is swapped.
        partners = sums - items + sizes * (items > sums)
        highest = xp.maximum(items, partners)
        bits = numbers(round_keys, highest >> shift) >> (highest & low) & one
        items = xp.where(bits == one, partners, items)
    return items
