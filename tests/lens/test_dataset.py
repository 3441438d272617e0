"""Datasets of example sets, against the slow model."""

import math
import pickle
import tracemalloc
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exset
from exset import Dense, Event, Example, ExampleSet, FormatError, LimitError, Sparse
from exset.grammars.columns.strings import Strings
from exset.runtime.arrays import Device, namespace, to_host
from exset.runtime.lens import event_rows
from exset.runtime.lens.arrays import arrays_of
from exset.runtime.lens.dataset import By, ExampleDataset
from exset.runtime.lens.network_layout import Layout
from exset.testing import example_sets
from tests.lens import slow_model
from tests.training.backends import BACKENDS
from tests.training.dataset_laws import check

DEVICES: list[Device] = ["cpu", "portable"]
if len(BACKENDS) > 1:
    DEVICES.append("cuda")

SIDES: tuple[slow_model.Side, slow_model.Side] = ("inputs", "targets")


@settings(max_examples=25)
@given(example_sets(), st.sampled_from(["event", "example"]), st.booleans(), st.data())
def test_batches_agree_with_the_slow_model(
    examples: ExampleSet, by: By, is_large: bool, data: st.DataObject
) -> None:
    """For small sets, which are expanded once, and for large ones, which each batch expands."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            if is_large:
                patch.setattr(event_rows, "_MOST_EXPANDED", -1)
            dataset = ExampleDataset(examples, by=by, findings=exset.Findings())
            chosen = st.lists(st.integers(0, max(len(dataset) - 1, 0)), max_size=5)
            samples = check(dataset, data.draw(chosen) if len(dataset) else None)
    except LimitError:  # a batch that repeats a sample may be larger than the whole set
        return
    except FormatError as error:
        with pytest.raises(type(error)):
            exset.to_arrays(examples, findings=exset.Findings())
        return
    expected = slow_model.columns(examples, *dataset.layouts)
    for side in SIDES:
        expected[f"{side[:-1]}_mask"] = ~np.isnan(expected[side])
    ends = examples.event_offsets if by == "example" else np.arange(examples.num_events + 1)
    assert len(samples) == len(ends) - 1
    for sample, begin, end in zip(samples, ends[:-1], ends[1:], strict=True):
        for name, column in expected.items():
            rows = column[begin:end]
            kind, shape, raw = sample[name]
            assert kind == str(rows.dtype)
            assert shape == (rows.shape if by == "example" else rows.shape[1:])
            found = np.frombuffer(raw, rows.dtype).reshape(rows.shape)
            np.testing.assert_array_equal(found, rows)


@pytest.mark.parametrize("device", DEVICES)
@settings(max_examples=20)
@given(example_sets(), st.randoms())
def test_some_events_on_a_device(device: Device, examples: ExampleSet, chance: Random) -> None:
    findings, limits = exset.Findings(), exset.Limits()
    try:
        arrays = exset.to_arrays(examples, findings=findings)
    except FormatError:
        return
    rows = np.array(chance.choices(range(max(len(arrays), 1)), k=4 * bool(len(arrays))), np.int64)
    layouts = arrays.input_layout, arrays.target_layout
    some = arrays_of(namespace(device), examples, layouts, findings, limits, rows)
    for name, array in vars(some).items():
        if not isinstance(array, Layout | Strings):
            np.testing.assert_array_equal(to_host(array), getattr(arrays, name)[rows])


def test_all_samples_are_the_arrays_of_the_set() -> None:
    examples = exset.load("exset::groups.ex", model=ExampleSet)
    layouts = {"onset": 20, "vowel": 6, "coda": 30}, {"phoneme": 11, "stress": 1}
    arrays = exset.to_arrays(examples, *layouts)
    made = exset.dataset(examples, inputs=layouts[0], targets=layouts[1]).to_arrays()
    for name, array in made.items():
        np.testing.assert_array_equal(array, getattr(arrays, name))
    by = exset.dataset("exset::pulse.ex", by="example").to_arrays()
    expected = exset.to_arrays(exset.load("exset::pulse.ex", model=ExampleSet)).by_example()
    for name, array in by.items():
        np.testing.assert_array_equal(array, getattr(expected, name))


def test_examples_are_padded_to_the_longest_of_the_batch() -> None:
    events = [Example([Event([i], max_time=i + 1.0) for i in range(n)]) for n in (1, 3, 2)]
    dataset = exset.dataset(ExampleSet.from_examples(events), by="example")
    assert len(dataset) == 3 and dataset.fields[-1] == "present"
    batch = dataset.batch([2, 0, 2])
    assert batch["inputs"].tolist() == [[[0], [1]], [[0], [0]], [[0], [1]]]
    assert batch["present"].tolist() == [[True, True], [True, False], [True, True]]
    assert batch["max_time"].tolist() == [[1, 2], [1, 0], [1, 2]]
    assert batch["example"].tolist() == [[2, 2], [0, 0], [2, 2]]
    assert dataset.batch([1])["inputs"].shape == (1, 3, 1)
    small = exset.Limits(max_batch=8)
    with pytest.raises(LimitError, match="24 bytes"):
        exset.dataset(ExampleSet.from_examples(events), by="example", limits=small).batch([0, 1])
    with pytest.raises(ValueError, match="'event' or 'example'"):
        exset.dataset("exset::xor.ex", by="tick")


def test_errors_and_findings_come_with_the_dataset() -> None:
    def one(*ranges: Dense | Sparse) -> Example:
        return Example([Event(list(ranges))])

    good, bad = one(Dense([1])), one(Sparse([5]), Sparse([1], group="a"))
    examples = ExampleSet.from_examples([good, bad, bad])
    with pytest.raises(FormatError, match="unit 5 is outside") as caught:
        exset.dataset(examples, inputs=2, targets=0)
    assert caught.value.place is not None
    assert caught.value.place.field == "examples[1].events[0].inputs[0]"
    with pytest.warns(exset.FormatWarning, match="group 'a'") as warned:
        dataset = exset.dataset(examples, inputs={"b": 6}, targets=0)
    assert warned[0].filename == __file__
    assert dataset.batch([1])["inputs"].tolist() == [[0, 0, 0, 0, 0, 1]]  # and no other warning
    findings = exset.Findings()
    exset.dataset(examples, inputs={"b": 6}, targets=0, findings=findings)
    assert findings.count("lens-group-missing") == 2
    with pytest.raises(FormatError, match="group 'a'"):
        exset.dataset(examples, inputs={"b": 6}, targets=0, strict=True)


def test_the_place_of_a_unit_outside_is_that_in_the_set() -> None:
    """The place of an error in some events counts in the whole set."""
    events = [Event([1]), Event([1, 2])]
    examples = ExampleSet.from_examples([Example(events[:1]), Example(events)])
    layouts = Layout(1), Layout(0)
    with pytest.raises(FormatError) as caught:
        arrays_of(np, examples, layouts, exset.Findings(), exset.Limits(), np.array([0, 2]))
    assert caught.value.place is not None
    assert caught.value.place.field == "examples[1].events[1].inputs[0]"


def test_large_inferred_layouts_are_not_expanded() -> None:
    far = ExampleSet.from_examples([Example([Event(Dense([1.0], 2**31 - 2))])])
    with pytest.raises(LimitError, match="numbers, more than"):
        exset.dataset(far).batch([0])


def test_a_pickle_contains_the_set() -> None:
    codes = np.eye(1000, dtype=np.float32)
    sparse = ExampleSet.from_examples(
        [Example([Event(Sparse([i]), Sparse([i]))]) for i in range(1000)]
    )
    for examples in (ExampleSet.from_arrays(codes, codes), sparse):
        dataset = exset.dataset(examples)
        dataset.batch(np.arange(1000))
        assert len(pickle.dumps(dataset)) < len(pickle.dumps(examples)) + 2000


def test_what_a_dataset_keeps_in_memory() -> None:
    """The numbers of dense sets are not copied, and large sparse sets are not expanded."""
    dense = ExampleSet.from_arrays(np.ones((1000, 500)), np.ones((1000, 300)))
    shared = Event(np.ones(100_000))
    one_list = ExampleSet.from_examples([Example([shared, shared, shared])])
    sparse = ExampleSet.from_examples([Example([Event(Sparse([i]))]) for i in range(100)])
    exset.dataset(sparse)  # imports modules, which take memory, too
    for examples, units in ((dense, 500), (one_list, 100_000), (sparse, 1 << 20)):
        tracemalloc.start()
        dataset = exset.dataset(examples, inputs=units, targets=300)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1 << 19
        assert dataset.batch([2, 0, 0])["inputs"].shape == (3, units)


def test_batches_of_a_dense_set_take_rows_of_its_numbers() -> None:
    """A batch does no work in proportion to the set, whatever the order of its numbers."""
    draw = np.random.default_rng(0)
    inputs, targets = draw.random((50, 7), np.float32), draw.random((50, 3), np.float32)
    inputs[7, 3] = targets[9, 2] = math.nan
    examples = ExampleSet.from_arrays(inputs, targets)
    for each, order in ((examples, np.arange(50)), (examples.select(draw.permutation(50)), None)):
        dataset = exset.dataset(each)
        arrays = exset.to_arrays(each)
        rows = draw.integers(0, 50, 200)
        batch = dataset.batch(rows)
        for name, array in batch.items():
            np.testing.assert_array_equal(array, getattr(arrays, name)[rows])
        if order is not None:
            np.testing.assert_array_equal(batch["inputs"], inputs[rows])
            np.testing.assert_array_equal(batch["target_mask"], ~np.isnan(targets[rows]))


def test_times_of_events() -> None:
    examples = ExampleSet.from_examples(
        [Example([Event([1], max_time=2.0), Event([1])]), Example([Event([1], max_time=math.inf)])]
    )
    batch = exset.dataset(examples).batch([2, 1, 0])
    assert batch["max_time"].tolist() == [math.inf, 1, 2]
    assert batch["example"].tolist() == [1, 0, 0] and batch["event"].tolist() == [0, 1, 0]


def test_an_empty_set() -> None:
    for by in ("event", "example"):
        dataset = exset.dataset(ExampleSet.from_examples([]), inputs=3, targets=2, by=by)
        assert check(dataset) == []
        assert dataset.to_arrays()["inputs"].shape[-1] == 3


@pytest.mark.parametrize("by", ["event", "example"])
def test_chosen_fields(by: By) -> None:
    examples = exset.loads(";2 I: 1 0 T: 1 I: 0 1 T: 0; I: 1 1 T: 1;", model=ExampleSet)
    whole = exset.dataset(examples, by=by)
    chosen = exset.dataset(examples, by=by, fields=["targets", "event"])
    assert chosen.fields == ("targets", "event")
    every = chosen.to_arrays()
    for batch, expected in (
        (every, whole.to_arrays()),
        (chosen.batch([1, 0]), whole.batch([1, 0])),
        (pickle.loads(pickle.dumps(chosen)).batch([1, 0]), whole.batch([1, 0])),
    ):
        assert list(batch) == ["targets", "event"]
        assert all(np.array_equal(batch[name], expected[name]) for name in batch)
    for fields in ("targets", ["targets", "targets"], ["target"]):
        with pytest.raises(ValueError, match=r"^fields"):
            exset.dataset(examples, by=by, fields=fields)
