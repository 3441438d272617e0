"""Batches: what they yield with and without a thread, where they resume, errors, shutdown."""

import gc
import pickle
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

import exset
from exset.runtime.arrays import Device, to_host
from exset.runtime.samplers.base import NxMSampler
from exset.runtime.training.batches import Batches
from exset.runtime.training.dataset import Values
from exset.runtime.training.indices import State
from tests.training.backends import BACKENDS
from tests.training.squares import Series, Squares, numbers_of, threads

PREFETCH = [0, 1, 2, 5]


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = threads()
    yield
    assert threads() == before


def device_of(xp: ModuleType) -> Device:
    return "cpu" if xp is np else "cuda"


@pytest.mark.parametrize("prefetch", PREFETCH)
@pytest.mark.parametrize("xp", BACKENDS)
def test_what_comes(xp: ModuleType, prefetch: int) -> None:
    batches = exset.Batches(Squares(10), range(9, -1, -1), 4, device_of(xp), prefetch)
    for _ in range(2):
        assert len(batches) == 3
        found = list(batches)
        assert numbers_of(found) == [[9, 8, 7, 6], [5, 4, 3, 2], [1, 0]]
        for batch in found:
            assert type(batch["square"]) is xp.ndarray and type(batch["name"]) is np.ndarray
            number = to_host(batch["number"])
            assert (to_host(batch["square"]) == np.outer(number, number)).all()
            assert batch["name"].tolist() == [b"%d" % each for each in number]


def test_nothing_is_copied_where_it_stays() -> None:
    kept = np.arange(3)

    class Keeping(Squares):
        def batch(self, indices: ArrayLike) -> dict[str, Values]:
            return {"number": kept}

    assert next(iter(Batches(Keeping(3), range(3), 3)))["number"] is kept


@pytest.mark.parametrize("prefetch", PREFETCH)
def test_what_a_device_has(prefetch: int) -> None:
    """The checked namespace stands for a device: what is a number goes there."""
    found = list(Batches(Squares(5), range(5), 2, "portable", prefetch))
    assert [type(each).__name__ for each in found[0].values()] == ["Guarded", "Guarded", "ndarray"]
    assert [to_host(batch["square"]).shape for batch in found] == [(2, 2), (2, 2), (1, 1)]
    with pytest.raises(ValueError, match="unknown device 'tpu'"):
        Batches(Squares(5), range(5), 2, "tpu")


SAMPLERS: list[Any] = [
    range(7),
    [3, 1, 3, 0, 2, 2, 1],
    np.array([6, 5, 4, 3, 2, 1, 0], np.uint8),
    np.arange(14)[::2],
    {4: "any", 3: "iterable", 9: ""},
    (each for each in range(5)),
    exset.RandomNxMSampler(np.arange(12) % 4, 2, 2, seed=1),
    exset.PlannedNxMSampler(np.arange(12) % 5, 3, 2, seed=1).batches(),
    exset.ExampleSampler(exset.ExampleSet.from_arrays(np.zeros((9, 1)), None), "permuted"),
]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda each: type(each).__name__)
def test_samplers(sampler: Any) -> None:
    known = [np.asarray(each).tolist() for each in sampler]
    if isinstance(sampler, Iterator):
        known, sampler = list(range(5)), (each for each in range(5))
    if isinstance(sampler, NxMSampler):
        wanted, size = np.reshape(known, (-1, 4)).tolist(), None
    elif known and isinstance(known[0], list):
        wanted, size = known, None
    else:
        wanted, size = [known[at : at + 3] for at in range(0, len(known), 3)], 3
    assert numbers_of(Batches(Squares(99), sampler, size)) == wanted


def test_a_column_of_a_table_as_sampler() -> None:
    """A pandas Series has a method `get`, like the arrays of CuPy, which takes a label."""
    order = Series([3, 1, 2])
    for batches in (Batches(Squares(9), order, 2), Batches(Squares(9), [order, Series([0])])):
        assert len(batches) == 2 and batches.state_dict()
        assert numbers_of(batches) in ([[3, 1], [2]], [[3, 1, 2], [0]])
    assert exset.dataset("exset::xor.ex").batch(Series([3, 1]))["example"].tolist() == [3, 1]
    assert to_host(cast(NDArray[np.int64], order)).tolist() == [3, 1, 2]
    labels: Any = Series(["a", "b", "a", "b"])
    sampler = exset.PlannedNxMSampler(labels, 2, 2)
    assert sampler.unique_labels.tolist() == ["a", "b"]
    with pytest.raises(TypeError, match="must be integers, not float"):
        list(Batches(Squares(9), Series([0.5]), 2))


def test_examples_are_no_events() -> None:
    pulses: Any = exset.load("exset::pulse.ex")
    order = exset.ExampleSampler(pulses)
    events, examples = exset.dataset(pulses), exset.dataset(pulses, by="example")
    fit: list[Any] = [(events, order.batches(2, events=True)), (examples, order.batches(2))]
    for dataset, sampler in fit:
        assert len(list(Batches(dataset, sampler))) == 2
    assert len(list(Batches(examples, order, 3))) == 2
    odd: list[Any] = [
        (events, order, 2),
        (events, order.batches(2)),
        (examples, order.batches(2, events=True)),
    ]
    for given_ in odd:
        with pytest.raises(ValueError, match="events=True"):
            Batches(*given_)
    assert len(list(Batches(exset.dataset("exset::xor.ex"), order, 2))) == 2, "one event in each"
    shown = f"Batches({examples!r}, ExampleSampler, batch_size=3, cpu)"
    assert repr(Batches(examples, order, 3)) == shown


def test_what_is_no_dataset_or_sampler() -> None:
    pulses: Any = exset.load("exset::pulse.ex")
    with pytest.raises(TypeError, match=r"exset\.dataset\("):
        Batches(pulses, [[0]])
    for wrong in (100, np.int64(3), None):
        with pytest.raises(TypeError, match="lists of indices"):
            Batches(Squares(9), cast(Any, wrong))


def test_the_last_batch() -> None:
    batches = Batches(Squares(7), range(7), 3, drop_last=True)
    assert numbers_of(batches) == [[0, 1, 2], [3, 4, 5]] and len(batches) == 2
    even = Batches(Squares(6), range(6), 3, drop_last=True)
    assert len(numbers_of(even)) == len(even) == 2


@pytest.mark.parametrize("prefetch", PREFETCH)
def test_of_nothing_there_is_nothing(prefetch: int) -> None:
    none: list[Any] = [range(0), [], np.empty(0)]
    for sampler in none:
        batches = Batches(Squares(0), sampler, 3, prefetch=prefetch)
        assert list(batches) == [] and len(batches) == 0
    empty = Batches(Squares(3), [[0], [], [1, 2]], prefetch=prefetch)
    assert numbers_of(empty) == [[0], [], [1, 2]]


def test_invalid_arguments() -> None:
    def make(*arguments: Any, **options: Any) -> Batches:
        return Batches(Squares(9), *arguments, **options)

    nxm = exset.RandomNxMSampler([0, 0, 1, 1], 2, 2)
    for wrong, name in [
        ((range(3), 0), "batch_size"),
        ((range(3), 3, "cpu", -1), "prefetch"),
        ((nxm, 3), "batch_size"),
    ]:
        with pytest.raises(ValueError, match=f"^{name} must be"):
            make(*wrong)
    with pytest.raises(ValueError, match="drop_last"):
        make([[1]], drop_last=True)
    for indices in ((range(3),), ([[1, 2], [3, 4]], 1), ([0.5, 1], 2), ([True, False], 2)):
        with pytest.raises(TypeError, match=r"sampler gives|must be integers"):
            list(make(*indices))
    with pytest.raises(TypeError, match="has no len"):
        len(make((each for each in range(3)), 2))
    assert pickle.loads(pickle.dumps(make(range(4), 3))).batch_size == 3


@given(
    st.integers(0, 30),
    st.integers(1, 7),
    st.booleans(),
    st.sampled_from(PREFETCH),
    st.sampled_from(PREFETCH),
    st.data(),
)
def test_going_on(
    size: int, batch: int, drop_last: bool, before: int, after: int, data: st.DataObject
) -> None:
    """After any batch, in another object, with any prefetch: the rest is what it would be."""
    made: Any = data.draw(
        st.sampled_from(["range", "list", "permuted", "randomized", "batches", "nxm"])
    )
    labels = np.arange(size + 2) % max(size // 3, 2)

    def make(prefetch: int) -> Batches:
        options: Any = {"prefetch": prefetch}
        examples = exset.ExampleSet.from_arrays(np.zeros((size, 1)), None)
        if made == "nxm":
            return Batches(Squares(99), exset.PlannedNxMSampler(labels, 2, 2), **options)
        if made == "batches":
            sampler = exset.ExampleSampler(examples, "permuted", seed=3)
            return Batches(Squares(99), sampler.batches(batch, drop_last=drop_last), **options)
        options["drop_last"] = drop_last
        known: Any = {"range": range(size), "list": list(labels)[:size]}.get(made)
        if known is None:
            known = exset.ExampleSampler(examples, made, seed=3)
        return Batches(Squares(99), known, batch, **options)

    epoch = data.draw(st.integers(0, 2))
    first, whole = make(before), make(0)
    for each in (first, whole):
        each.set_epoch(epoch)
    wanted = numbers_of(whole)
    assert len(wanted) == len(first)
    stop = data.draw(st.integers(0, len(wanted)))
    iteration = iter(first)
    assert [next(iteration)["number"].tolist() for _ in range(stop)] == wanted[:stop]
    state = pickle.loads(pickle.dumps(first.state_dict()))
    iteration.close()
    assert first.state_dict() == state
    second = make(after)
    second.load_state_dict(state)
    assert second.epoch == epoch and second.state_dict() == state
    second.set_epoch(epoch)
    assert len(second) == len(wanted)
    again = data.draw(st.integers(0, len(wanted) - stop))
    iteration = iter(second)
    assert [next(iteration)["number"].tolist() for _ in range(again)] == wanted[stop:][:again]
    state = second.state_dict()
    iteration.close()
    third = make(before)
    third.load_state_dict(state)
    assert numbers_of(third) == wanted[stop + again :]
    assert numbers_of(third) == wanted, "then the epoch again, whole"
    for each in (third, whole):
        each.set_epoch(epoch + 1)
    assert numbers_of(third) == numbers_of(whole)


def test_after_an_epoch_comes_the_next() -> None:
    """As people write it: the state may be taken after the last batch, too."""
    sampler = exset.RandomNxMSampler(np.arange(20) % 5, 2, 2)
    batches = Batches(Squares(20), sampler)
    seen: list[list[int]] = []
    states: list[State] = []
    for epoch in range(3):
        batches.set_epoch(epoch)
        for batch in batches:
            seen.append(batch["number"].tolist())
            states.append(batches.state_dict())
    for done, state in enumerate(states, 1):
        again = Batches(Squares(20), exset.RandomNxMSampler(np.arange(20) % 5, 2, 2), prefetch=0)
        again.load_state_dict(state)
        rest = []
        for epoch in range(again.epoch, 3):
            again.set_epoch(epoch)
            rest += numbers_of(again)
        assert rest == seen[done:]


@pytest.mark.parametrize("prefetch", PREFETCH)
@pytest.mark.parametrize("left", ["closed", "dropped for the next", "not begun"])
def test_what_was_not_finished_begins_again(prefetch: int, left: str) -> None:
    """Where the state said, even if the thread had come to the end of the sampler."""
    examples = exset.ExampleSet.from_arrays(np.zeros((9, 1)), None)
    labels = np.arange(18) % 6
    samplers: list[Callable[[], Any]] = [
        lambda: exset.ExampleSampler(examples, "permuted").batches(1),
        lambda: exset.PlannedNxMSampler(labels, 2, 1),
        lambda: [[each] for each in range(9)],
    ]
    for make in samplers:
        batches = Batches(Squares(18), make(), prefetch=prefetch)
        wanted = numbers_of(batches)
        iteration = iter(batches)
        for _ in range(7):
            next(iteration)
        batches.load_state_dict(batches.state_dict())
        for _ in range(2):
            if left != "not begun":
                data, before = batches.dataset, len(batches.dataset.read)  # type: ignore[attr-defined]
                iteration = iter(batches)
                assert next(iteration)["number"].tolist() == wanted[7]
                if prefetch:
                    wait_for(lambda d=data, n=before: len(d.read) == n + 2)  # type: ignore[misc]
                    time.sleep(0.01)
            if left == "closed":
                iteration.close()
            if left != "dropped for the next":
                assert len(batches) == len(wanted)
        assert numbers_of(batches) == wanted[7:]
        assert numbers_of(batches) == wanted


def test_states_that_do_not_fit() -> None:
    batches = Batches(Squares(9), range(9), 2)
    next(iter(batches))
    state: Any = batches.state_dict()
    other = Batches(Squares(9), range(1, 9), 2)
    other.load_state_dict(state)
    with pytest.raises(ValueError, match="other indices"):
        list(other)
    for wrong in ({}, {"epoch": 0, "sampler": {}}, 3):
        with pytest.raises(ValueError, match="batch, checksum, epoch"):
            batches.load_state_dict(wrong)  # type: ignore[arg-type]
    planned = Batches(Squares(9), exset.PlannedNxMSampler([0, 0, 1, 1], 2, 2))
    with pytest.raises(ValueError, match="epoch, sampler"):
        planned.load_state_dict(state)
    unknown = Batches(Squares(9), {1, 2, 3}, 2)
    for act in (unknown.state_dict, lambda: unknown.load_state_dict(state)):
        with pytest.raises(TypeError, match=r"^set cannot"):
            act()
    theirs = exset.RandomNxMSampler(np.arange(400) % 40, 4, 2, compat="balr")
    batches = Batches(Squares(400), theirs)
    iteration = iter(batches)
    next(iteration), next(iteration)
    batches.load_state_dict(batches.state_dict())
    with pytest.raises(ValueError, match="other indices"):
        list(batches)  # BA-LR's order is not seeded without replicas


@pytest.mark.parametrize("prefetch", PREFETCH)
def test_errors_come_at_their_batch(prefetch: int) -> None:
    data = Squares(20, broken=[11])
    batches = Batches(data, range(20), 3, prefetch=prefetch)
    found = []
    with pytest.raises(exset.FormatError, match="sample 11") as caught:
        for batch in batches:
            time.sleep(0.01)  # the error is known long before
            found.append(batch["number"].tolist())
    assert found == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-1] == "batch" and "test_errors_come_at_their_batch" in names
    state = batches.state_dict()
    data.broken = set()
    batches.load_state_dict(state)
    assert numbers_of(batches)[0] == [9, 10, 11], "after a repair it goes on"


@pytest.mark.parametrize("error", [OSError(5, "wire"), SystemExit(3), StopIteration("odd")])
@pytest.mark.parametrize("prefetch", PREFETCH)
def test_a_sampler_that_raises(prefetch: int, error: BaseException) -> None:
    class Sampler:
        def __iter__(self) -> Iterator[int]:
            yield from range(5)
            raise error

    batches = Batches(Squares(20), Sampler(), 2, prefetch=prefetch)
    iteration = iter(batches)
    assert [next(iteration)["number"].tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    wanted = RuntimeError if isinstance(error, StopIteration) else type(error)
    with pytest.raises(wanted) as caught:
        next(iteration)
    assert caught.value is error or wanted is RuntimeError
    assert list(iteration) == []


def test_errors_leave_nothing_behind() -> None:
    """The error, its frames and the batches in them are freed at once, without a collection."""
    data = Squares(3, broken=[1])
    gone = weakref.ref(data)
    gc.collect()
    gc.disable()
    try:
        with pytest.raises(exset.FormatError) as caught:
            list(Batches(data, range(3), 1))
        del caught, data
        assert gone() is None
    finally:
        gc.enable()


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.parametrize("prefetch", PREFETCH)
def test_a_slow_consumer_is_not_outrun(prefetch: int) -> None:
    data = Squares(99)
    taken: list[int] = []
    sampler = (taken.append(each) or [each] for each in range(20))  # type: ignore[func-returns-value]
    for yielded, _ in enumerate(Batches(data, sampler, prefetch=prefetch), 1):
        most = min(yielded + prefetch, 20)
        wait_for(lambda most=most: len(data.read) == most)  # type: ignore[misc]
        time.sleep(0.002)
        assert len(data.read) == len(taken) == most
