"""The generator against published numbers, keyed orders against chance, kernels against arrays."""

import math
from collections import Counter
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from exset.runtime.arrays import to_host
from exset.runtime.samplers.epoch_rows import Affine
from exset.runtime.samplers.grouping import group
from exset.runtime.samplers.slot_kernels import fill_slots, room_for
from exset.runtime.samplers.slots import KERNELS, Drawing
from exset.runtime.training.generator import below, number, numbers, places, words
from tests.training.backends import BACKENDS

# Outputs of Vigna's splitmix64.c, as other implementations publish them in their tests.
PUBLISHED = {
    0: [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC],
    1234567: [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ],
    1477776061723855037: [1985237415132408290, 2979275885539914483, 13511426838097143398],
}


@pytest.mark.parametrize("seed", PUBLISHED)
def test_published_numbers(seed: int) -> None:
    wanted = PUBLISHED[seed]
    assert [number(seed, counter) for counter in range(len(wanted))] == wanted
    for xp in BACKENDS:
        counters = xp.arange(len(wanted), dtype=np.uint64)
        assert to_host(numbers(words(xp, seed), counters)).tolist() == wanted


def test_seeds_are_taken_modulo_a_word() -> None:
    assert number(-1, 0) == number((1 << 64) - 1, 0) == number((1 << 70) - 1, 0)


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**32))
def test_below(word: int, bound: int) -> None:
    found = int(below(words(np, word), words(np, bound))[0])
    assert found == ((word >> 32) * bound) >> 32 < bound


@pytest.mark.parametrize("xp", BACKENDS)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 63, 64, 65, 1000])
def test_keyed_orders_are_bijections(xp: ModuleType, size: int) -> None:
    items = xp.arange(size, dtype=np.uint64)
    orders = [to_host(places(words(xp, key), words(xp, size), items)).tolist() for key in range(9)]
    assert all(sorted(order) == list(range(size)) for order in orders)
    assert size < 9 or len(set(map(tuple, orders))) == 9


def test_keyed_orders_of_large_sets() -> None:
    """Any place can be asked for by itself, up to the largest size."""
    size = words(np, 2**32 - 1)
    items = np.array([0, 1, 2**31, 2**32 - 2], np.uint64)
    found = places(words(np, 7), size, items)
    assert len(set(found.tolist())) == 4 and (found < size).all()
    assert places(words(np, 7), size, items[2:3])[0] == found[2]


@pytest.mark.parametrize("size", [3, 4, 5, 6, 7])
def test_all_orders_are_equally_likely(size: int) -> None:
    """Chi-square over all n! orders, 40 draws expected of each; five standard deviations."""
    kinds = math.factorial(size)
    draws = 40 * kinds
    keys = numbers(words(np, 2026), np.arange(draws, dtype=np.uint64))[:, None]
    orders = places(keys, words(np, size), np.arange(size, dtype=np.uint64)[None])
    counts = Counter(map(bytes, orders.astype(np.uint8)))
    assert len(counts) == kinds
    chi_square = sum((count - 40) ** 2 / 40 for count in counts.values())
    assert abs(chi_square - (kinds - 1)) < 5 * math.sqrt(2 * (kinds - 1))


@given(st.integers(2, 60), st.integers(0, 2**64 - 1))
def test_affine_maps_are_bijections(size: int, key: int) -> None:
    affine = Affine.drawn(size, key)
    assert affine is not None
    found = affine(np.arange(size, dtype=np.uint64))
    assert sorted(found.tolist()) == list(range(size))


def slots_of(labels: NDArray[np.int64], samples: int) -> tuple[NDArray[np.int64], ...]:
    """Some slots of each class, more than it has, in disorder."""
    sizes = np.bincount(labels)
    counts = sizes // samples + 3
    classes = np.repeat(np.arange(len(sizes)), counts)
    slots = np.concatenate([np.arange(count) for count in counts])
    order = np.random.default_rng(1).permutation(len(classes))
    return classes[order], slots[order]


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("samples", [1, 4, 7])
def test_kernel_and_arrays_agree(samples: int, shuffle: bool) -> None:
    """Compiled, as plain Python and by arrays, on every device: the same items."""
    labels = np.random.default_rng(samples).zipf(1.5, 3000).clip(max=90)
    labels = np.unique(labels, return_inverse=True)[1]
    for xp in BACKENDS:
        draw = Drawing(group(xp.asarray(labels)), samples, 99, shuffle)
        # Classes are numbered as they appear: here any numbers below theirs will do.
        classes, slots = map(xp.asarray, slots_of(labels, samples))
        found = to_host(draw.fill_by_arrays(classes, slots))
        if xp is np:
            groups, out = draw.grouping, np.empty((len(classes), samples), np.int64)
            arguments = (classes, slots, groups.starts, groups.sizes, groups.items, np.uint64(99))
            room = room_for(samples)
            KERNELS.compiled(fill_slots)(*arguments, shuffle, room, out)
            assert (out == found).all()
            with np.errstate(over="ignore"):
                fill_slots(classes[:40], slots[:40], *arguments[2:], shuffle, room, out[:40])
            assert (out == found).all()
            first = found
        assert (found == first).all()


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.arange(60_000) % 7
    draw = Drawing(group(labels), 4, 5, True)
    classes, slots = np.arange(20_000) % 7, np.arange(20_000)
    fast = draw.fill(classes, slots)
    monkeypatch.setattr("exset.core.kernels.Kernels.use_compiled", lambda *_: False)
    assert (draw.fill(classes, slots) == fast).all()
