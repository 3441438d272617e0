"""Arrays against the slow model, and each worked example of the manual."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Dense, Event, Example, ExampleSet, FormatError, SetHeader, Sparse
from exset.runtime.arrays import Device, to_host
from exset.runtime.lens.arrays import ExampleArrays, to_arrays
from exset.runtime.lens.network_layout import Layout
from exset.testing import example_sets
from tests.lens import slow_model
from tests.training.backends import BACKENDS

DEVICES: list[Device] = ["cpu", "portable"]
if len(BACKENDS) > 1:
    DEVICES.append("cuda")
NAN = math.nan
SIDES: tuple[slow_model.Side, slow_model.Side] = ("inputs", "targets")


def check(
    examples: ExampleSet, arrays: ExampleArrays, expected: slow_model.Columns | None = None
) -> None:
    """Compare arrays with those of the slow model, which are `expected` if known."""
    if expected is None:
        expected = slow_model.columns(examples, arrays.input_layout, arrays.target_layout)
    for name, column in expected.items():
        array = to_host(getattr(arrays, name))
        assert array.dtype == column.dtype and array.shape == column.shape
        assert array.flags.writeable and array.flags.c_contiguous
        if column.dtype == np.float32:
            same = array.view(np.uint32) == column.view(np.uint32)
            assert (same | (np.isnan(array) & np.isnan(column))).all(), name
        else:
            np.testing.assert_array_equal(array, column)
    for side in SIDES:
        mask = to_host(getattr(arrays, f"{side[:-1]}_mask"))
        np.testing.assert_array_equal(mask, ~np.isnan(expected[side]))


def outside(
    examples: ExampleSet, inputs: slow_model.Groups | int, targets: slow_model.Groups | int
) -> str | None:
    """Where the slow model finds the first unit outside, inputs first; dense ones before sparse."""
    for side, layout in zip(SIDES, (inputs, targets), strict=True):
        try:
            list(slow_model.rows(examples, side, layout))
        except slow_model.Outside:
            return side
    return None


@pytest.mark.parametrize("device", DEVICES)
@given(examples=example_sets(max_examples=3), units=st.integers(0, 16))
def test_any_set(device: Device, examples: ExampleSet, units: int) -> None:
    """With sizes that may be too small: the same arrays, or an error of the same side."""
    names = [examples.groups.text(i) or "" for i in range(len(examples.groups))]
    layout = {name: units for name in names[:-1]} or units
    side = outside(examples, layout, units)
    findings = exset.Findings()
    if side is not None:
        with pytest.raises(FormatError, match="outside") as caught:
            to_arrays(examples, layout, units, device=device, findings=findings)
        assert caught.value.place is not None and side in str(caught.value.place.field)
        return
    check(examples, to_arrays(examples, layout, units, device=device, findings=findings))
    named = {name for name in names[-1:] if isinstance(layout, dict)}
    assert all(finding.code == "lens-group-missing" for finding in findings)
    assert named or not names or len(names) == 1 or findings.count()


units = st.integers(0, 5)
groups = st.sampled_from([None, "a", "b"])
values = st.sampled_from([0.0, 1.0, -0.0, NAN, 2.5])
spans = st.lists(units | st.tuples(units, units).map(lambda two: (min(two), max(two))), min_size=1)
lists = st.none() | st.lists(
    st.builds(Dense, st.lists(values, max_size=3), units.map(lambda u: u // 2), groups)
    | st.builds(Sparse, spans | st.just("*"), st.none() | values, groups),
    max_size=4,
)
events = st.builds(
    Event,
    inputs=lists,
    targets=lists,
    default_input=st.none() | values,
    active_target=st.none() | values,
    max_time=st.sampled_from([None, 0.0, 0.5, 2.0]),
    grace_time=st.sampled_from([None, 0.0, 0.3, 3.0]),
)
fitting = st.builds(
    ExampleSet.from_examples,
    st.lists(st.builds(Example, st.lists(events, min_size=1, max_size=3)), max_size=4),
    st.sampled_from([SetHeader(), SetHeader(default_input=-1, default_target=NAN)]),
)
SIX = {"b": 6, "a": 6}


@pytest.mark.parametrize("device", DEVICES)
@given(examples=fitting)
def test_sets_whose_units_fit(device: Device, examples: ExampleSet) -> None:
    """Ranges that override each other, of groups and of the network, spans and `*`."""
    arrays = to_arrays(examples, SIX, Layout.of("targets", SIX), device=device)
    check(examples, arrays)
    ones = to_arrays(examples, SIX, {"a": 6}, device=device, findings=exset.Findings())
    check(examples, ones)


@pytest.mark.parametrize("device", DEVICES)
@given(examples=fitting)
def test_examples_and_ticks(device: Device, examples: ExampleSet) -> None:
    arrays = to_arrays(examples, SIX, SIX, device=device)
    padded, ticked = arrays.by_example(), arrays.by_tick(4)
    most = max((len(example.events) for example in examples), default=0)
    assert padded.inputs.shape == (len(examples), most, 12)
    present = to_host(padded.present)
    np.testing.assert_array_equal(to_host(padded.inputs)[present], to_host(arrays.inputs))
    assert not to_host(padded.targets)[~present].any()
    assert not to_host(padded.target_mask)[~present].any()
    row = 0
    for example in examples:
        for event in example.events:
            lasts = slow_model.ticks(event.effective("max_time"), 4)
            grace = event.effective("grace_time")
            for tick in range(lasts):
                assert int(ticked.tick[row]) == tick
                assert int(ticked.example[row]) == example.index
                assert int(ticked.event[row]) == event.index
                ended = tick > 0 and tick / 4 + 1e-6 >= grace
                assert bool(ticked.scored[row]) == (not grace > 0 or ended)
                row += 1
    assert len(ticked) == row


@pytest.mark.parametrize("device", DEVICES)
@given(examples=fitting)
def test_sparse_rows(device: Device, examples: ExampleSet) -> None:
    arrays = to_arrays(examples, SIX, SIX, device=device)
    for side, rows in zip(SIDES, exset.to_csr(examples, SIX, SIX, device=device), strict=True):
        data, indices, indptr = to_host(rows.data), to_host(rows.indices), to_host(rows.indptr)
        dense = np.repeat(to_host(rows.default)[:, None], 12, axis=1)
        for i in range(rows.shape[0]):
            here = slice(indptr[i], indptr[i + 1])
            assert (np.diff(indices[here]) > 0).all()
            dense[i, indices[here]] = data[here]
        assert indptr[-1] == data.size == indices.size and rows.shape == dense.shape
        np.testing.assert_array_equal(dense, to_host(getattr(arrays, side)))


@pytest.mark.parametrize("device", DEVICES)
@given(examples=fitting, layout=st.sampled_from([SIX, 12, {"b": 6, "none": 0, "a": 6}]))
def test_from_arrays_is_the_inverse(
    device: Device, examples: ExampleSet, layout: dict[str, int] | int
) -> None:
    findings = exset.Findings()
    arrays = to_arrays(examples, layout, SIX, device=device, findings=findings)
    back = to_arrays(exset.from_arrays(arrays), layout, SIX, findings=findings)
    for name, array in vars(arrays).items():
        if not isinstance(array, Layout):
            np.testing.assert_array_equal(to_host(array), getattr(back, name))
    assert exset.from_arrays(back) == exset.from_arrays(arrays)


def text(data: str) -> ExampleSet:
    return exset.loads(data, model=ExampleSet, findings=exset.Findings())


NETWORK = {"input": 3, "input2": 9}
MANUAL = [
    ("I: (input2 3) 0.1 0.2 0.3 (2) 0.4;", NETWORK,
     [[0, 0, 0.4, 0, 0, 0, 0.1, 0.2, 0.3, 0, 0, 0]]),
    ("I: () 2 3;", 3, [[2, 3, 0]]),
    ("I: 2 3;", 3, [[2, 3, 0]]),
    ("I: {1.0} 0 2 4-6 {-1.0} 1-3;", 8, [[1, -1, -1, -1, 1, 1, 1, 0]]),
    ("I: {} 0 3;", 5, [[1, 0, 0, 1, 0]]),
    ("i: {} 0 3;", 5, [[1, 0, 0, 1, 0]]),
    ("i: 0 3;", 5, [[1, 0, 0, 1, 0]]),
    ("[defI:- actI:1] i: 0-3 5 8 {2.0} 4 9-11;", 14,
     [[1, 1, 1, 1, 2, 1, NAN, NAN, 1, 2, 2, 2, NAN, NAN]]),
    ("I:0 0 T:0; I:0 1 T:1; I:1 0 T:1; I:1 1 T:0;", 2, [[0, 0], [0, 1], [1, 0], [1, 1]]),
    (";; i:1 t:0; i:0 t:0; i:*;", 2, [[0, 0], [0, 1], [1, 0], [1, 1]]),
    ("I:1 0 0 0 T:1 0 0 0; I:0 1 0 0 T:0 1 0 0;", 4, [[1, 0, 0, 0], [0, 1, 0, 0]]),
    ("i:0 t:0; i:1 t:1; i:2 t:2; i:3 t:3;", 4, np.eye(4).tolist()),
    ("b:0; b:1; b:2; b:3;", 4, np.eye(4).tolist()),
    ("; 6 [0-2 4] I: 0 1 0 I: 1 0 1 T: 1 0;", 3,
     [[0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0, 0], [0, 1, 0], [1, 0, 1]]),
    ("; 3 I: 1 0 0 I: 0 1 0 I: 0 0 1 T: 0 1 T: 1 0 T: 1 1;", 3, np.eye(3).tolist()),
    ("; 3 I: 1 0 0 T: 0 1 I: 0 1 0 T: 1 0 I: 0 0 1 T: 1 1;", 3, np.eye(3).tolist()),
    ("; 2 [max: 3] [0] I: 1 0 0 I: 0 1 0 T: 0 1 T: 1 1;", 3, [[1, 0, 0], [0, 1, 0]]),
    ("; 2 [* defI:-1];", 2, [[-1, -1], [-1, -1]]),
    ("; 2 [defI:-1];", 2, [[-1, -1], [-1, -1]]),
]  # fmt: skip
TARGETS = [
    ("T:{-}*;", 3, [[NAN] * 3]),
    (";; i:1 t:0; i:0 t:0; i:*;", 1, [[0], [1], [1], [0]]),
    ("I:1 0 0 0 T:1 0 0 0; I:0 1 0 0 T:0 1 0 0;", 4, [[1, 0, 0, 0], [0, 1, 0, 0]]),
    ("b:0; b:1; b:2; b:3;", 4, np.eye(4).tolist()),
    ("i:0 t:0; i:1 t:1; i:2 t:2; i:3 t:3;", 4, np.eye(4).tolist()),
    ("; 6 [0-2 4] I: 0 1 0 I: 1 0 1 T: 1 0;", 2,
     [[1, 0], [1, 0], [1, 0], [0, 0], [1, 0], [0, 0]]),
    ("; 3 I: 1 0 0 T: 0 1 I: 0 1 0 T: 1 0 I: 0 0 1 T: 1 1;", 2, [[0, 1], [1, 0], [1, 1]]),
    ("actI: 3 actT: 7; b: 1;", 2, [[0, 3]]),
    ("; 2 [0 actI: 3] [1 actI: 7] [0-1] i: 1 [0-1] t: 0 ;", 2, [[1, 0], [1, 0]]),
]  # fmt: skip
SHARED = ("; 2 [0 actI: 3] [1 actI: 7] [0-1] i: 1;", 2, [[0, 3], [0, 3]])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("source, layout, expected", [*MANUAL, SHARED])
def test_inputs_of_the_manual(
    device: Device, source: str, layout: dict[str, int] | int, expected: list[list[float]]
) -> None:
    arrays = to_arrays(text(source), layout, 4, device=device)
    np.testing.assert_array_equal(to_host(arrays.inputs), np.array(expected, np.float32))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("source, layout, expected", TARGETS)
def test_targets_of_the_manual(
    device: Device, source: str, layout: int, expected: list[list[float]]
) -> None:
    arrays = to_arrays(text(source), 4, layout, device=device)
    targets = np.array(expected, np.float32)
    np.testing.assert_array_equal(to_host(arrays.targets), targets)
    np.testing.assert_array_equal(to_host(arrays.target_mask), ~np.isnan(targets))


SAME = [
    ("I: () 2 3;", "I: 2 3;"),
    ("B: 2 0 3;", "I: 2 0 3 T: 2 0 3;"),
    ("b: 0 2;", "i: 0 2 t: 0 2;"),
    ("; 2 [* defI:-1] T: 1;", "; 2 [defI:-1] T: 1;"),
    ("I: {} 0 3;", "i: 0 3;"),
    ("I:0 0 T:0; I:0 1 T:1; I:1 0 T:1; I:1 1 T:0;", ";; i:1 t:0; i:0 t:0; i:*;"),
    ("; 3 I: 1 0 0 I: 0 1 0 I: 0 0 1 T: 0 1 T: 1 0 T: 1 1;",
     "; 3 I: 1 0 0 T: 0 1 I: 0 1 0 T: 1 0 I: 0 0 1 T: 1 1;"),
    ("I:1 0 0 0 T:1 0 0 0; I:0 1 0 0 T:0 1 0 0; I:0 0 1 0 T:0 0 1 0; I:0 0 0 1 T:0 0 0 1;",
     "i:0 t:0; i:1 t:1; i:2 t:2; i:3 t:3;"),
    ("i:0 t:0; i:1 t:1; i:2 t:2; i:3 t:3;", "b:0; b:1; b:2; b:3;"),
]  # fmt: skip


@pytest.mark.parametrize("one, other", SAME)
def test_equivalent_files_of_the_manual(one: str, other: str) -> None:
    a = to_arrays(text(one), findings=exset.Findings())
    b = to_arrays(text(other), a.input_layout, a.target_layout)
    for column in ("inputs", "targets", "example", "event"):
        np.testing.assert_array_equal(getattr(a, column), getattr(b, column))


def test_the_event_list_of_the_manual() -> None:
    arrays = to_arrays(text("; 10 [0 3-6 9 max:3.5 min:1] I: 1;"), 1, 0)
    listed = np.isin(np.arange(10), [0, 3, 4, 5, 6, 9])
    assert (arrays.max_time == 3.5).tolist() == (arrays.min_time == 1).tolist() == listed.tolist()
    assert arrays.inputs.ravel().tolist() == listed.tolist()


def test_the_crazy_xor_of_the_manual() -> None:
    """Times, shared inputs, events without targets, as far as Lens loads it."""
    source = """
    max:2 min:0.5
    name:{0 0} freq:2.7 2 [0 max:2 min: 1] [1 max:2.5] [0] I: 0 0 [1] T: 0;
    freq: 4.5 name: "0 1" [max:3.5] i:1 T:1;
    name:1-0 2 [] I: 1 0 [1] t:*;
    name: {1 1} 3 [0-1 min:1.5] I: 1 1 [0 2] T: 0;
    """
    arrays = to_arrays(text(source))
    assert arrays.inputs.tolist() == [
        [0, 0], [0, 0], [0, 1], [1, 0], [1, 0], [1, 1], [1, 1], [0, 0]
    ]  # fmt: skip
    assert arrays.targets.ravel().tolist() == [0, 0, 1, 0, 1, 0, 0, 0]
    assert arrays.example.tolist() == [0, 0, 1, 2, 2, 3, 3, 3]
    assert arrays.event.tolist() == [0, 1, 0, 0, 1, 0, 1, 2]
    assert arrays.max_time.tolist() == [2, 2.5, 3.5, 2, 2, 2, 2, 2]
    assert arrays.min_time.tolist() == [1, 0.5, 0.5, 0.5, 0.5, 1.5, 1.5, 0.5]
    np.testing.assert_array_equal(
        arrays.frequency, np.array([2.7, 2.7, 4.5, 1, 1, 1, 1, 1], np.float32)
    )
    assert arrays.by_tick(2).tick.tolist() == [
        *range(4), *range(5), *range(7), *range(4), *range(4), *range(4), *range(4), *range(4)
    ]  # fmt: skip
