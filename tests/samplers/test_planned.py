"""The planned sampler: what holds of every plan, random access, replicas, resumption, devices."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from numpy.typing import NDArray

from exset.runtime.arrays import to_host
from exset.runtime.samplers.base import NxMSampler
from exset.runtime.samplers.layout import lay_out
from exset.runtime.samplers.nxm import ExhaustiveNxMSampler, RandomNxMSampler
from exset.runtime.samplers.planned import PlannedNxMSampler
from tests.training.backends import BACKENDS

sizes_of_classes = st.lists(st.sampled_from([1, 1, 2, 3, 4, 5, 7, 12, 30]), min_size=1, max_size=9)


def labels_of(sizes: list[int], seed: int = 0) -> NDArray[np.int64]:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return np.random.default_rng(seed).permutation(labels)


def check_epoch(sampler: PlannedNxMSampler, labels: NDArray[np.int64]) -> None:
    """All that the page of the sampler promises of an epoch."""
    wide, samples = sampler.N_classes_per_batch, sampler.M_samples_per_class
    epoch = sampler.batch(slice(None)).reshape(-1, wide, samples)
    sizes = np.bincount(labels)
    slots = -(-sizes // samples)
    assert len(epoch) == sampler.num_batches == -(-int(slots.sum()) // wide)
    classes = labels[epoch[:, :, 0]]
    assert (labels[epoch] == classes[:, :, None]).all(), "a slot has one class"
    assert len(np.unique(epoch)) == len(labels), "every item in every epoch"
    for slot, name in zip(epoch.reshape(-1, samples), classes.reshape(-1), strict=True):
        counts = Counter(slot.tolist())
        assert len(counts) == min(samples, sizes[name])
        assert max(counts.values()) == -(-samples // sizes[name])
    given_ = np.bincount(classes.reshape(-1), minlength=len(sizes))
    filled = np.flatnonzero(given_ > slots)
    assert (given_ >= slots).all() and given_.max(initial=0, where=given_ > slots + 1) == 0
    last = Counter(classes[-1].tolist())
    assert len(filled) == len(epoch) * wide - slots.sum()
    assert all(last[name] == 1 for name in filled), "filled from classes that are not in it"
    distinct = sum(len(set(batch)) == wide for batch in classes.tolist())
    assert distinct == lay_out(slots, wide, fill=True).distinct


@given(sizes_of_classes, st.integers(1, 6), st.integers(1, 5), st.booleans(), st.integers(0, 9))
def test_every_plan(sizes: list[int], wide: int, samples: int, shuffle: bool, seed: int) -> None:
    labels = labels_of(sizes, seed)
    wide = min(wide, len(sizes))
    check_epoch(PlannedNxMSampler(labels, wide, samples, shuffle=shuffle, seed=seed), labels)


def most_distinct(slots: tuple[int, ...], wide: int, fill: bool) -> int:
    """How many distinct batches there can be, by trying all ways to fill one after another."""
    total = sum(slots)
    batches = -(-total // wide) if fill else total // wide
    short = max(batches * wide - total, 0)

    @cache
    def best(left: tuple[int, ...], more: int, room: int) -> int:
        if not more and room == wide:
            return 0
        found = -1
        for taken in product(*(range(min(count, room) + 1) for count in left)):
            if sum(taken) == room:
                rest = tuple(sorted(a - b for a, b in zip(left, taken, strict=True)))
                # The last batch, of fewer slots, is the first to be filled here.
                after = best(rest, more - (room == wide), wide)
                found = max(found, (max(taken) <= 1) + after)
        return found

    ordered = tuple(sorted(slots))
    return best(ordered, batches - 1, wide - short) if short else best(ordered, batches, wide)


@given(
    st.lists(st.sampled_from([1, 1, 2, 3, 5]), min_size=1, max_size=5),
    st.integers(1, 4),
    st.booleans(),
)
def test_no_plan_is_more_distinct(slots: list[int], wide: int, fill: bool) -> None:
    """Compare with brute force; test_every_plan compares the plan with the layout."""
    wide = min(wide, len(slots))
    layout = lay_out(np.array(slots), wide, fill=fill)
    assert layout.distinct == most_distinct(tuple(slots), wide, fill)
    labels = labels_of(slots)
    cls: Any = PlannedNxMSampler if fill else ExhaustiveNxMSampler
    assert cls(labels, wide, 1).plan().distinct_batches == layout.distinct


@given(sizes_of_classes, st.integers(1, 4), st.booleans(), st.integers(0, 5))
def test_exhaustive_batches(sizes: list[int], wide: int, shuffle: bool, seed: int) -> None:
    wide = min(wide, len(sizes))
    sampler = ExhaustiveNxMSampler(labels_of(sizes), wide, 2, shuffle=shuffle, seed=seed)
    slots = -(-np.array(sizes) // 2)
    plan = sampler.plan()
    assert plan.batches == slots.sum() // wide
    assert plan.distinct_batches == lay_out(slots, wide, fill=False).distinct
    drawn = Counter(sampler)
    assert len(sizes) == 1 or max(drawn.values()) <= 2


class Training(RuleBasedStateMachine):
    """Epochs, interruptions and other numbers of replicas, against one list of batches an epoch."""

    ranks: list[PlannedNxMSampler]

    @initialize(
        sizes=sizes_of_classes,
        wide=st.integers(1, 4),
        samples=st.integers(1, 3),
        drop_last=st.booleans(),
        seed=st.integers(0, 3),
    )
    def begin(self, sizes: list[int], wide: int, samples: int, drop_last: bool, seed: int) -> None:
        self.labels = labels_of(sizes, seed)
        self.make: Callable[..., PlannedNxMSampler] = lambda **options: PlannedNxMSampler(
            self.labels, min(wide, len(sizes)), samples, drop_last=drop_last, seed=seed, **options
        )
        self.drop_last = drop_last
        self.epoch, self.done, self.world = 0, 0, 1
        self.restart(1)

    @rule(world=st.integers(1, 5))
    def restart(self, world: int) -> None:
        """Resume from the state with new samplers for `world` replicas."""
        old = self.ranks[0].state_dict() if hasattr(self, "ranks") else None
        self.ranks = [self.make(num_replicas=world, rank=rank) for rank in range(world)]
        self.world = world
        for sampler in self.ranks:
            if old is not None:
                sampler.load_state_dict(old)
            sampler.set_epoch(self.epoch)
        self.streams = [iter(sampler.batches()) for sampler in self.ranks]
        self.expected = self.make()
        self.expected.set_epoch(self.epoch)

    @rule(steps=st.integers(1, 4))
    def train(self, steps: int) -> None:
        """Take some steps: in each, the replicas have the next batches of one order."""
        many = self.expected.num_batches
        for _ in range(steps):
            left = many - self.done
            batches = [next(stream, None) for stream in self.streams]
            if left < (self.world if self.drop_last else 1):
                assert batches == [None] * self.world
                self.done = many  # dropped batches do not come later
                return
            for rank, batch in enumerate(batches):
                number = (self.done + rank) % many
                assert batch == self.expected.batch(number).tolist()
            self.done = min(self.done + self.world, many)

    @rule()
    def next_epoch(self) -> None:
        self.epoch += 1
        self.done = 0
        for sampler in (*self.ranks, self.expected):
            sampler.set_epoch(self.epoch)
        self.streams = [iter(sampler.batches()) for sampler in self.ranks]

    @invariant()
    def replicas_have_as_many_batches_and_lengths_of_whole_epochs(self) -> None:
        if not hasattr(self, "ranks"):
            return
        fresh = [self.make(num_replicas=self.world, rank=rank) for rank in range(self.world)]
        whole = len(fresh[0].batches())
        state = self.ranks[0].state_dict()
        for sampler in fresh:
            sampler.load_state_dict(state)
            sampler.set_epoch(self.epoch)
            assert len(sampler.batches()) == whole and len(sampler) == whole * sampler.batch_size
        taken, between = divmod(self.done, self.world)
        found = {len(list(sampler.batches())) for sampler in fresh}
        assert len(found) == 1
        if not between:
            assert found == {whole - taken}


TestTraining = Training.TestCase
TestTraining.settings = settings(max_examples=30, stateful_step_count=20)


@given(sizes_of_classes, st.integers(1, 4), st.integers(0, 9), st.data())
def test_any_batch_alone(sizes: list[int], wide: int, epoch: int, data: st.DataObject) -> None:
    labels = labels_of(sizes)
    wide = min(wide, len(sizes))
    sampler = PlannedNxMSampler(labels, wide, 2)
    sampler.set_epoch(epoch)
    whole = sampler.batch(slice(None))
    assert [batch for batch in sampler.batches()] == whole.tolist()
    which = data.draw(st.integers(-len(whole), len(whole) - 1))
    again = PlannedNxMSampler(labels.tolist(), wide, 2)
    again.set_epoch(epoch)
    assert again.batch(which).tolist() == whole[which].tolist()
    part = data.draw(st.slices(len(whole)))
    assert again.batch(part).tolist() == whole[part].tolist()
    with pytest.raises(IndexError):
        sampler.batch(len(whole))
    with pytest.raises(TypeError):
        sampler.batch([0, 1])  # type: ignore[arg-type]


def test_the_bits_stay() -> None:
    """What was drawn once is drawn for ever, on every platform and on every device."""
    labels = np.array([3, 1, 3, 2, 1, 3, 2, 3, 3, 1, 5, 5])
    expected = [[1, 9, 3, 6, 7, 2], [4, 1, 11, 10, 0, 5], [9, 4, 11, 10, 2, 8]]
    for xp in BACKENDS:
        sampler = PlannedNxMSampler(xp.asarray(labels), 3, 2, seed=7)
        sampler.set_epoch(2)
        assert to_host(sampler.batch(slice(None))).tolist() == expected


@pytest.mark.parametrize("xp", BACKENDS)
def test_devices_agree(xp: ModuleType) -> None:
    labels = np.random.default_rng(0).zipf(1.3, 20_000).clip(max=700)
    ours = PlannedNxMSampler(labels, 20, 3)
    theirs = PlannedNxMSampler(xp.asarray(labels), 20, 3)
    assert type(theirs.batch(0)) is xp.ndarray
    for which in (slice(None), slice(5, 9), slice(ours.num_batches - 1, None)):
        assert (to_host(theirs.batch(which)) == ours.batch(which)).all()
    assert next(iter(theirs.batches())) == ours.batch(0).tolist()
    assert theirs.plan() == ours.plan()


def test_compiled_and_not_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.random.default_rng(0).zipf(1.3, 60_000).clip(max=700)
    compiled = PlannedNxMSampler(labels, 20, 3).batch(slice(None))
    monkeypatch.setattr("exset.core.kernels.Kernels.use_compiled", lambda *_: False)
    sampler = PlannedNxMSampler(labels, 20, 3)
    assert (sampler.batch(slice(None)) == compiled).all()
    assert (sampler.batch(slice(3, 9)) == compiled[3:9]).all()


def test_weights() -> None:
    labels = np.repeat(["a", "b", "c", "d"], [40, 40, 10, 2])
    sampler = PlannedNxMSampler(labels, 2, 2, weights={"b": 2.5, "c": 0.2, "d": 0.1})
    drawn = Counter(labels[list(sampler)].tolist())
    assert drawn["a"] in (40, 42) and drawn["b"] in (100, 102)
    assert drawn["c"] in (2, 4) and drawn["d"] in (2, 4)
    again = PlannedNxMSampler(labels, 2, 2, weights=[1, 2.5, 0.2, 0.1])
    assert list(again) == list(sampler)
    seen = set()
    for epoch in range(60):
        sampler.set_epoch(epoch)
        seen |= set(sampler)
    assert len(seen) == len(labels), "a weight below 1 leaves out other items in each epoch"
    for wrong in ({"e": 1}, {"a": 0}, {"a": -1}, {"a": float("nan")}, {"a": 1e30}, [1.0]):
        with pytest.raises(ValueError, match="weight"):
            PlannedNxMSampler(labels, 2, 2, weights=wrong)  # type: ignore[arg-type]


def test_states() -> None:
    sampler = PlannedNxMSampler(np.arange(60) % 6, 3, 2, num_replicas=2, rank=1)
    stream = iter(sampler.batches())
    next(stream), next(stream)
    state = sampler.state_dict()
    assert (state["epoch"], state["batch"]) == (0, 4)
    assert sampler.state_dict(yielded=1)["batch"] == 2
    assert sampler.state_dict(yielded=99)["batch"] == 10
    list(stream)
    assert sampler.state_dict()["batch"] == 10
    for other in (np.arange(60) % 5, np.arange(61) % 6, np.arange(60)[::-1] % 6):
        with pytest.raises(ValueError, match="different labels"):
            PlannedNxMSampler(other, 3, 2).load_state_dict(state)
    with pytest.raises(ValueError, match="batch"):
        sampler.load_state_dict({**state, "batch": 11})


def test_the_plan() -> None:
    labels = labels_of([5, 3, 2, 9])
    plan = PlannedNxMSampler(labels, 2, 2, num_replicas=3, rank=0).plan()
    assert plan.coverage == 1 and plan.items == plan.items_drawn == 19
    assert (plan.batches, plan.batches_per_replica, plan.repeated_batches) == (6, 2, 0)
    assert plan.drawn == 24 and plan.repeats == 5 and plan.small_classes == 0
    plan = PlannedNxMSampler(labels, 2, 2, num_replicas=4, rank=0).plan()
    assert (plan.batches_per_replica, plan.repeated_batches, plan.drawn) == (2, 2, 32)
    plan = PlannedNxMSampler(labels, 2, 2, num_replicas=4, rank=0, drop_last=True).plan()
    assert (plan.batches_per_replica, plan.dropped_batches, plan.drawn) == (1, 2, 16)
    none = PlannedNxMSampler(labels, 2, 2, num_replicas=9, rank=8, drop_last=True)
    assert list(none) == [] and none.plan().coverage == 0 and none.plan().imbalance is None


@pytest.mark.parametrize("kind", [PlannedNxMSampler, RandomNxMSampler, ExhaustiveNxMSampler])
def test_labels_that_are_no_sequence(kind: type[NxMSampler]) -> None:
    wrong: list[object] = ["l.csv", b"l.csv", Path("l.csv"), 5, None, {"a": 1}, {"a", "b"}]
    for labels in wrong:
        with pytest.raises(TypeError, match="sequence with the label of each item") as caught:
            kind(labels, 1, 1)  # type: ignore[arg-type]
        assert ("read_labels('l.csv')" in str(caught.value)) == ("l.csv" in str(labels))
    several: list[list[object]] = [["a", ["b"]], ["a", np.zeros(2)], ["a", ("b", [])]]
    for items in several:
        array = np.empty(2, object)
        array[:] = items
        for labels in (items, array):
            with pytest.raises(TypeError, match="the label of item 1 is of the type"):
                kind(labels, 1, 1)
    with pytest.raises(ValueError, match="one dimension"):
        kind(np.array([["a", "b"]], object), 1, 1)
    assert len(kind(np.array(["a", None, "a"], object), 1, 1).unique_labels) == 2
