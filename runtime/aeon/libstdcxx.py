"""Random numbers of GCC's C++ library, as aeon uses them: generators, distributions, shuffle.

The C++ standard defines the generators. Each library has its own distributions and shuffle; this
module has the distributions and the shuffle of libstdc++ since GCC 11. Earlier versions of
`uniform_int_distribution` scaled the numbers of mt19937 differently.
"""

from typing import Final

import numpy as np

from exset.core.kernels import Kernels, entry_kernel, kernel
from exset.grammars.columns.arrays import Longs

KERNELS: Final = Kernels("exset.runtime.aeon.libstdcxx")

MINSTD, MERSENNE = range(2)
"""The generators: minstd_rand0 (default_random_engine) and mt19937."""

_LEHMER: Final = 16807
_PRIME: Final = (1 << 31) - 1
_MINSTD_RANGE: Final = _PRIME - 2  # from 1 to _PRIME - 1
_SIZE: Final = 624
_SHIFT: Final = 397
_ONES: Final = 0xFFFFFFFF

# The state of a generator: its kind, then the number of minstd_rand0; or, for mt19937, the index of
# the next number, and its 624 numbers.
_KIND: Final = 0
_NEXT: Final = 1
_FIRST: Final = 2


def generator(kind: int, seed: int) -> Longs:
    """Return the state of a new random generator. kind: the generator's kind. seed: 32 bits."""
    if not 0 <= seed <= _ONES:
        raise ValueError(f"seed must be from 0 to {_ONES}, not {seed}")
    if kind == MINSTD:
        return np.array([kind, seed % _PRIME or 1], np.int64)
    state = np.empty(_FIRST + _SIZE, np.int64)
    state[_KIND], state[_NEXT] = kind, _SIZE
    number = seed
    for i in range(_SIZE):
        state[_FIRST + i] = number
        number = (1812433253 * (number ^ number >> 30) + i + 1) & _ONES
    return state


@kernel
def draw(state: Longs) -> int:
    """Draw a number from a generator, and change its state.

    minstd_rand0 gives 1 to 2147483646, mt19937 gives 0 to 2**32 - 1.
    """
    if state[_KIND] == MINSTD:
        state[_NEXT] = state[_NEXT] * _LEHMER % _PRIME
        return int(state[_NEXT])
    if state[_NEXT] == _SIZE:
        for i in range(_SIZE):
            after = state[_FIRST + (i + 1) % _SIZE]
            both = (int(state[_FIRST + i]) & 0x80000000) | (int(after) & 0x7FFFFFFF)
            mixed = int(state[_FIRST + (i + _SHIFT) % _SIZE]) ^ both >> 1
            if both & 1:
                mixed ^= 0x9908B0DF
            state[_FIRST + i] = mixed
        state[_NEXT] = 0
    number = int(state[_FIRST + state[_NEXT]])
    state[_NEXT] += 1
    number ^= number >> 11
    number ^= (number << 7) & 0x9D2C5680
    number ^= (number << 15) & 0xEFC60000
    return number ^ number >> 18


@kernel
def uniform(state: Longs, last: int) -> int:
    """Draw a number from 0 to `last` as uniform_int_distribution<size_t> does; `last` < 2**62."""
    if state[_KIND] == MERSENNE:
        if last < _ONES:  # Lemire's nearly divisionless
            count = last + 1
            product = draw(state) * count
            low = product & _ONES
            if low < count:
                threshold = (_ONES + 1 - count) % count
                while low < threshold:
                    product = draw(state) * count
                    low = product & _ONES
            return product >> 32
        least, width = 0, _ONES
    else:
        least, width = 1, _MINSTD_RANGE
        if last < width:
            count = last + 1
            scaling = width // count
            past = count * scaling
            number = draw(state) - least
            while number >= past:
                number = draw(state) - least
            return number // scaling
    if last == width:
        return draw(state) - least
    # For a range larger than the generator's: draw a digit in its base, then recurse for the rest.
    while True:
        number = (width + 1) * uniform(state, last // (width + 1))
        number += draw(state) - least
        if number <= last:
            return number


@entry_kernel
def shuffle(state: Longs, order: Longs) -> None:
    """Shuffle the numbers in `order` as std::shuffle does, with the generator `state`.

    If the generator's range is large enough, one random number serves two swaps. It is large enough
    if it is at least the square of the length of `order`.
    """
    count = len(order)
    if count < 2:
        return
    width = _ONES if state[_KIND] == MERSENNE else _MINSTD_RANGE
    if width // count < count:
        for i in range(1, count):
            swap(order, i, uniform(state, i))
        return
    i = 1
    if count % 2 == 0:
        swap(order, 1, uniform(state, 1))
        i = 2
    while i < count:
        both = uniform(state, (i + 1) * (i + 2) - 1)
        swap(order, i, both // (i + 2))
        swap(order, i + 1, both % (i + 2))
        i += 2


@kernel
def swap(order: Longs, a: int, b: int) -> None:
    """Swap the numbers at the positions `a` and `b` of an array."""
    kept = order[a]
    order[a] = order[b]
    order[b] = kept


@entry_kernel
def choose(state: Longs, count: int, needed: int, share: float, chosen: Longs) -> int:
    """Fill `chosen` with those numbers below `count` that aeon's generate_subset selects.

    Return how many numbers it selects. aeon selects each number with probability `share`
    (std::bernoulli_distribution). It selects every number that remains if all of them are needed to
    reach `needed`. It stops when it has `needed` numbers; if `needed` is 0, it stops at the end.
    """
    taken = 0
    width = float(_MINSTD_RANGE + 1)
    for i in range(count):
        take = needed == count - i
        if not take:
            # generate_canonical: two draws make the bits of a double.
            low = float(draw(state) - 1)
            real = (low + float(draw(state) - 1) * width) / (width * width)
            take = min(real, 1.0 - 2.0**-53) < share
        if take:
            chosen[taken] = i
            taken += 1
            needed -= 1
            if needed == 0:
                break
    return taken


def shuffled(count: int, kind: int, seed: int) -> Longs:
    """Return the numbers below `count` in the order of std::shuffle with a new generator.

    kind, seed: as for `generator`.
    """
    order = np.arange(count)
    run = KERNELS.choose(shuffle, KERNELS.use_compiled(count))
    run(generator(kind, seed), order)
    return order


def subset(count: int, share: float, needed: int, seed: int) -> Longs:
    """Return those numbers below `count` that aeon's generate_subset selects, with minstd_rand0.

    share, needed: as for `choose`. seed: the seed of the generator.
    """
    chosen = np.empty(count, np.int64)
    run = KERNELS.choose(choose, KERNELS.use_compiled(count))
    return chosen[: run(generator(MINSTD, seed), count, needed, share, chosen)]
