"""Lens's orders of examples: the examples of an epoch, probabilities, events, states."""

import pickle
from collections import Counter
from fractions import Fraction
from itertools import accumulate
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset.grammars.columns.arrays import Longs
from exset.runtime.lens.example_sampler import ExampleSampler, Mode
from exset.runtime.training.generator import number
from exset.testing import example_sets

MODES: tuple[Mode, ...] = get_args(Mode)


def set_of(frequency: Any) -> exset.ExampleSet:
    return exset.ExampleSet.from_arrays(np.zeros((len(frequency), 1)), None, frequency=frequency)


def events_of(counts: list[int]) -> exset.ExampleSet:
    """Return a set whose examples have these numbers of events."""
    return exset.ExampleSet.from_examples(
        [exset.Example(events=[exset.Event()] * count) for count in counts]
    )


def test_ordered() -> None:
    sampler = ExampleSampler(set_of([0, 5, 1]))
    assert list(sampler) == [0, 1, 2] and len(sampler) == 3
    assert repr(sampler) == "ExampleSampler(3 examples, ordered, seed=1234)"
    assert list(sampler.batches(2)) == [[0, 1], [2]]
    assert list(sampler.batches(2, drop_last=True)) == [[0, 1]]
    assert len(sampler.batches(2)) == 2 and len(sampler.batches(2, drop_last=True)) == 1


@given(st.integers(0, 60), st.integers(-3, 3), st.integers(0, 3))
def test_permuted_has_each_example_once(size: int, seed: int, epoch: int) -> None:
    sampler = ExampleSampler(set_of(np.ones(size)), "permuted", seed)
    sampler.set_epoch(epoch)
    first = list(sampler)
    assert sorted(first) == list(range(size))
    assert list(ExampleSampler(set_of(np.zeros(size)), "permuted", seed)) == first or epoch


def chi_square(drawn: Any, expected: Any) -> float:
    """Return how far counts are from the expected, in standard deviations of chi-square."""
    counts, expected = np.asarray(drawn, float), np.asarray(expected, float)
    freedom = counts.size - 1
    return float((((counts - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom))


def epochs(sampler: ExampleSampler, many: int) -> Longs:
    rows = []
    for epoch in range(many):
        sampler.set_epoch(epoch)
        rows.append(sampler.chosen())
    return np.array(rows)


def test_permuted_leaves_the_order_to_chance() -> None:
    """All 24 orders of 4 examples, and all places of 10 examples, are equally frequent."""
    orders = Counter(map(tuple, epochs(ExampleSampler(set_of([1] * 4), "permuted"), 2400).tolist()))
    assert len(orders) == 24 and abs(chi_square([*orders.values()], [100] * 24)) < 4
    rows = epochs(ExampleSampler(set_of([1] * 10), "permuted"), 1000)
    for place in range(10):
        assert abs(chi_square(np.bincount(rows[:, place], minlength=10), [100] * 10)) < 4


def test_randomized_draws_all_alike() -> None:
    rows = epochs(ExampleSampler(set_of([0, 9] * 5), "randomized", seed=5), 3000)
    assert abs(chi_square(np.bincount(rows.ravel(), minlength=10), [3000] * 10)) < 4
    pairs = np.bincount(rows[:, 0] * 10 + rows[:, 1], minlength=100)
    assert abs(chi_square(pairs, [30] * 100)) < 4, "with replacement: no draw knows of another"


def test_probabilistic_draws_by_frequency() -> None:
    frequency = np.array([3, 0, 0.5, 7, 1e-30, 1, 0, 20, 2.25, 0], np.float32)
    rows = epochs(ExampleSampler(set_of(frequency), "probabilistic", seed=2), 6000)
    counts = np.bincount(rows.ravel(), minlength=10)
    some = frequency > 1e-3
    assert not counts[~some].any()
    expected = frequency[some] / frequency.sum(dtype=np.float64) * rows.size
    assert abs(chi_square(counts[some], expected)) < 4


frequencies = st.floats(0, 2.0**99, width=32) | st.sampled_from([0.0, 1.0, 0.1])


@given(st.lists(frequencies, min_size=1, max_size=20).filter(any), st.integers(0, 1000))
def test_probabilistic_is_exact(frequency: list[float], seed: int) -> None:
    """Compare with exact sums."""
    sampler = ExampleSampler(set_of(frequency), "probabilistic", seed)
    sums = list(accumulate(map(Fraction, frequency)))
    key = number(number(number(seed, 0), 0), 0)
    for place, drawn in enumerate(sampler):
        at = Fraction(number(key, place) >> 11, 1 << 53) * sums[-1]
        assert drawn == next(which for which, end in enumerate(sums) if end > at)


def test_the_bits_stay() -> None:
    """The same examples are chosen in all versions and on all machines."""
    expected: dict[Mode, list[int]] = {
        "ordered": [0, 1, 2, 3, 4, 5, 6],
        "permuted": [1, 6, 3, 5, 0, 4, 2],
        "randomized": [3, 0, 4, 3, 1, 3, 0],
        "probabilistic": [4, 2, 5, 4, 3, 4, 0],
    }
    found = {}
    for mode in MODES:
        sampler = ExampleSampler(set_of([1, 2, 3, 4, 5, 6, 7]), mode, seed=7)
        sampler.set_epoch(2)
        found[mode] = list(sampler)
    assert found == expected


@pytest.mark.parametrize("mode", MODES)
def test_any_part_alone(mode: Mode) -> None:
    sampler = ExampleSampler(set_of(np.arange(1, 40_001)), mode)
    whole = sampler.chosen()
    assert whole.dtype == np.int64 and list(sampler) == whole.tolist()
    assert [item for batch in sampler.batches(7_000) for item in batch] == whole.tolist()
    for part in (slice(3, 9), slice(None, None, -1), slice(-2, None), slice(0, 0)):
        assert sampler.chosen(part).tolist() == whole[part].tolist()


def test_invalid_arguments() -> None:
    for wrong in (float("nan"), -1, float("inf")):
        examples = set_of([1, 2, wrong])
        with pytest.raises(ValueError, match=r"^examples\[2\]: the frequency"):
            ExampleSampler(examples, "probabilistic")
        assert len(list(ExampleSampler(examples, "randomized"))) == 3
    with pytest.raises(ValueError, match="above 0"):
        ExampleSampler(set_of([0, 0]), "probabilistic")
    with pytest.raises(ValueError, match="ordered, permuted, randomized, probabilistic"):
        ExampleSampler(set_of([1]), "ORDERED")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1, not 0"):
        ExampleSampler(set_of([1])).batches(0)
    for mode in MODES:
        assert list(ExampleSampler(set_of([]), mode)) == []
        assert list(ExampleSampler(set_of([]), mode).batches(3, events=True)) == []


@given(
    st.lists(st.integers(1, 4), max_size=12), st.sampled_from(MODES), st.integers(1, 5), st.data()
)
def test_events(counts: list[int], mode: Mode, size: int, data: st.DataObject) -> None:
    """The events of an example stay together and in order."""
    sampler = ExampleSampler(events_of(counts), mode)
    begins = [*accumulate(counts, initial=0)]
    chosen = list(sampler.batches(size))
    expected = [
        [row for each in batch for row in range(begins[each], begins[each + 1])] for batch in chosen
    ]
    assert list(sampler.batches(size, events=True)) == expected
    batches = ExampleSampler(events_of(counts), mode).batches(size, events=True)
    stop = data.draw(st.integers(0, len(expected)))
    iteration = iter(batches)
    for _ in range(stop):
        next(iteration)
    again = ExampleSampler(events_of(counts), mode, seed=0).batches(size, events=True)
    again.load_state_dict(batches.state_dict())
    again.set_epoch(0)
    assert len(again) == len(expected) and list(again) == expected[stop:]


@given(example_sets())
def test_pseudo_frequencies(examples: exset.ExampleSet) -> None:
    sampler = ExampleSampler(examples)
    each = sampler.pseudo_frequencies()
    assert each.tobytes() == examples.frequency.tobytes() and each.dtype == np.float32
    rows = sampler.rows(np.arange(len(examples)))
    assert rows.tolist() == list(range(examples.num_events))
    known = [example.frequency for example in examples for _ in example.events]
    assert np.array_equal(sampler.pseudo_frequencies(events=True), known, equal_nan=True)


def test_states() -> None:
    sampler = ExampleSampler(set_of([1, 2, 3, 4, 5]), "probabilistic", seed=3)
    batches = sampler.batches(2)
    iteration = iter(batches)
    next(iteration), next(iteration)
    assert sampler.state_dict()["given"] == batches.state_dict()["given"] == 4
    state = batches.state_dict(yielded=1)
    assert (state["given"], state["seed"], state["epoch"]) == (2, 3, 0)
    assert sampler.state_dict(yielded=99)["given"] == 5
    for other in (set_of([1, 2, 3, 4, 6]), set_of([1] * 4)):
        with pytest.raises(ValueError, match="different examples"):
            ExampleSampler(other, "probabilistic").load_state_dict(state)
    for mode in ("ordered", "permuted"):
        with pytest.raises(ValueError, match="different mode"):
            ExampleSampler(set_of([1, 2, 3, 4, 5]), mode).load_state_dict(state)
    with pytest.raises(ValueError, match="not 6"):
        sampler.load_state_dict({**state, "given": 6})
    again = ExampleSampler(set_of([1, 2, 3, 4, 5]), "probabilistic")
    again.load_state_dict(state)
    copy = pickle.loads(pickle.dumps(again))
    assert list(again) == list(copy) == list(sampler)[2:]
    assert len(list(again)) == 5, "the next iteration is whole"
