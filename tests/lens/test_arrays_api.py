"""The arguments, errors and findings of to_arrays; arrays that share memory."""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import exset
from exset import Dense, Event, Example, ExampleSet, FormatError, LimitError, Sparse
from exset.runtime.arrays import (
    Device,
    evenly,
    namespace,
    namespace_of,
    repeat,
    spread,
    to_device,
    to_host,
)
from exset.runtime.lens.network_layout import Layout
from tests.lens.test_arrays import DEVICES


def one(inputs: object = None, targets: object = None, **fields: float) -> ExampleSet:
    return ExampleSet.from_examples([Example([Event(inputs, targets, **fields)])])  # type: ignore[arg-type]


def test_the_layout_is_inferred_and_a_note_says_so() -> None:
    ranges = [Sparse([0, (3, 5)], group="a"), Dense([1, 2], 1, group="b")]
    findings = exset.Findings(strict=True)
    arrays = exset.to_arrays(one(ranges, [0, 0, 1]), findings=findings)
    assert arrays.input_layout == Layout(9, {"a": 6, "b": 3})
    assert arrays.target_layout == Layout(3)
    assert arrays.inputs[:, arrays.input_layout["b"]].tolist() == [[0, 1, 2]]
    notes = [(finding.code, str(finding.severity)) for finding in findings]
    assert notes == [("lens-layout-inferred", "note")] * 2
    assert "inputs: exset assumes 9 units" in str(next(iter(findings))) and "'a' 6, 'b' 3" in str(
        next(iter(findings))
    )
    with pytest.raises(KeyError):
        _ = arrays.input_layout["c"]


def test_unknown_layouts_are_not_guessed() -> None:
    with pytest.warns(exset.FormatWarning, match="the size of the network"):
        assert exset.to_arrays(one(Sparse("*"))).inputs.shape == (1, 0)
    with pytest.raises(FormatError, match="the size of group 'a'"):
        exset.to_arrays(one(Sparse("*", group="a")), strict=True)
    mixed = one([Dense([1], group="a"), Dense([1, 2], 3)])
    with pytest.raises(FormatError, match="layout of inputs") as caught:
        exset.to_arrays(mixed)
    assert caught.value.code == "lens-layout"
    assert exset.to_arrays(mixed, {"a": 5}).inputs.tolist() == [[1, 0, 0, 1, 2]]


@pytest.mark.parametrize(
    "ranges, place, message",
    [
        (
            [Dense([1, 2], 1)],
            "examples[0].events[0].inputs[0]",
            "units 1 to 2 do not fit into the 2",
        ),
        ([Dense([1], -1)], "examples[0].events[0].inputs[0]", "unit -1 is outside"),
        ([Dense([1]), Sparse([1, 2])], "examples[0].events[0].inputs[1]", "unit 2 is outside"),
        ([Sparse([(0, 9)])], "examples[0].events[0].inputs[0]", "units 0 to 9 do not fit into"),
    ],
)
def test_a_unit_outside(ranges: list[Dense], place: str, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        exset.to_arrays(one(ranges), 2, 1)
    assert caught.value.place is not None and caught.value.place.field == place
    assert caught.value.code == "lens-unit-outside"


def test_a_unit_outside_of_a_group_of_a_later_event() -> None:
    good, bad = Event(inputs=Sparse([1], group="a")), Event(targets=Sparse([2], group="a"))
    examples = ExampleSet.from_examples([Example([good]), Example([good, bad])])
    with pytest.raises(FormatError, match="unit 2 is outside of the 2 targets of") as e:
        exset.to_arrays(examples, {"a": 2}, {"a": 2})
    assert e.value.place is not None and e.value.place.field == "examples[1].events[1].targets[0]"


def test_a_group_that_is_missing() -> None:
    ranges = [Dense([1], group="b"), Sparse([99], group="a"), Sparse("*", group="a")]
    findings = exset.Findings()
    arrays = exset.to_arrays(one(ranges), {"b": 2}, 0, findings=findings)
    assert arrays.inputs.tolist() == [[1, 0]]
    assert findings.count("lens-group-missing") == 2 and len(findings) == 1
    place = next(iter(findings)).place
    assert place is not None and place.field == "examples[0].events[0].inputs[1]"
    with pytest.raises(FormatError, match="the layout of inputs has no group 'a'"):
        exset.to_arrays(one(ranges), {"b": 2}, 0, strict=True)
    with pytest.warns(exset.FormatWarning, match="group 'a'"):
        exset.to_arrays(one(ranges), {"b": 2}, 0)


def test_hostile_sets() -> None:
    far = one(Dense([1.0], 2**31 - 2))
    with pytest.raises(LimitError, match="numbers, more than"):
        exset.to_arrays(far)
    wide = one([Sparse([(0, 999)] * 50)])
    limits = exset.Limits(max_expand=1000)
    with pytest.raises(LimitError, match="spans of inputs"):
        exset.to_arrays(wide, 1000, limits=limits)
    long = exset.to_arrays(one([1], max_time=1e30))
    with pytest.raises(LimitError, match="ticks, more than"):
        long.by_tick(1)
    with pytest.raises(ValueError, match=r"^examples\[0\].events\[0\] never ends"):
        exset.to_arrays(one([1], max_time=math.inf)).by_tick(1)


@pytest.mark.parametrize("layout", [-1, True, 1.5, {"a": -1}, {b"a": 1}])
def test_invalid_layouts(layout: object) -> None:
    with pytest.raises(ValueError, match="inputs"):
        exset.to_arrays(one([1]), layout)  # type: ignore[arg-type]


@pytest.mark.parametrize("layout", ["3", ["a"], ("a", "b"), [], [3], {"a"}])
def test_a_layout_of_another_type_names_the_argument(layout: object) -> None:
    with pytest.raises(TypeError, match=r"inputs must be .* inputs=\{"):
        exset.to_arrays(one([1]), layout)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"targets must be .* targets=\{"):
        exset.to_arrays(one([1]), 1, layout)  # type: ignore[arg-type]


def test_arrays_with_other_rows_are_refused() -> None:
    arrays = exset.to_arrays(one([1]))
    assert repr(arrays) == "ExampleArrays(1 event, 1 input, 0 targets)"
    with pytest.raises(ValueError, match="one row per event"):
        arrays.by_example().by_tick(1)
    with pytest.raises(ValueError, match="one row per event"):
        arrays.by_tick(2).by_example()
    with pytest.raises(ValueError, match="ticks"):
        arrays.by_tick(0)
    with pytest.raises(ValueError, match="units"):
        Layout(3, {"a": 2})
    empty = exset.to_arrays(ExampleSet.from_examples([]), 3, 2)
    assert empty.inputs.shape == (0, 3) and empty.by_example().inputs.shape == (0, 0, 3)
    assert len(empty.by_tick(3)) == 0


def test_an_event_lasts_until_its_time_is_reached() -> None:
    """Half a tick is one, as in Lens; what single precision makes of 0.1 is not one more."""
    times = [0.0, 0.5, 1.0, 1.2, 100.3, 0.1]
    examples = ExampleSet.from_examples([Example([Event([1], max_time=t) for t in times])])
    ticked = exset.to_arrays(examples).by_tick(10)
    assert np.bincount(ticked.event).tolist() == [1, 5, 10, 12, 1003, 1]
    assert np.bincount(exset.to_arrays(examples).by_tick(1).event).tolist() == [1, 1, 1, 2, 101, 1]


@pytest.mark.parametrize("device", DEVICES)
def test_a_negative_max_time_leaves_no_grace_time(device: Device) -> None:
    """Lens scores the one tick of an event unless its grace time is above 0."""
    events = [
        Event([1], [1], max_time=max_time, grace_time=grace)
        for max_time, grace in ((-1, 0), (-2, -1), (-1, 0.5), (-math.inf, 0), (2, 0.5))
    ]
    arrays = exset.to_arrays(ExampleSet.from_examples([Example(events)]), device=device)
    assert to_host(arrays.by_tick(2).scored).tolist() == [
        *(True, True, False, True),
        *(False, True, True, True),
    ]


@pytest.mark.parametrize("device", DEVICES)
def test_an_event_without_targets_reaches_its_criterion(device: Device) -> None:
    """It then ends at its min time, but not before, and not after its max time."""
    known, unknown = [1.0, 0.0], [math.nan, math.nan]
    times = [(4, 1), (4, 1), (2, 3), (math.inf, 2), (4, -1), (-1, 2)]
    targets = [known, unknown, unknown, unknown, unknown, unknown]
    events = [
        Event([1], target, max_time=most, min_time=least, grace_time=0.5)
        for target, (most, least) in zip(targets, times, strict=True)
    ]
    arrays = exset.to_arrays(ExampleSet.from_examples([Example(events)]), device=device)
    ticked = arrays.by_tick(2, criterion=True)
    assert np.bincount(to_host(ticked.event)).tolist() == [8, 2, 4, 4, 1, 1]
    assert to_host(ticked.scored).tolist() == [to_host(ticked.tick)[k] > 0 for k in range(20)]
    with pytest.raises(ValueError, match="never ends"):
        arrays.by_tick(2)
    without = exset.to_arrays(exset.loads("max: 3; I: 1;", model=ExampleSet))
    assert len(without.by_tick(1, criterion=True)) == 3, "no outputs, no criterion"


def test_arrays_are_shared() -> None:
    arrays = exset.to_arrays(exset.load("exset::xor.ex", model=ExampleSet))
    shared = np.from_dlpack(arrays.inputs)
    arrays.inputs[0, 0] = 7
    assert shared[0, 0] == 7 and np.asarray(arrays.inputs) is arrays.inputs
    for name in ("example", "event", "tick", "frequency", "max_time", "present", "scored"):
        np.from_dlpack(getattr(arrays, name))[0] = 1


def test_several_arrays_are_not_one() -> None:
    """NumPy would make an array of one object, which fails much later."""
    examples = exset.load("exset::xor.ex", model=ExampleSet)
    inputs, _ = exset.to_csr(examples)
    several: list[tuple[object, str]] = [
        (exset.to_arrays(examples), "use inputs, targets"),
        (examples, "to_arrays"),
        (inputs, "csr_array"),
        (exset.dataset(examples), "to_arrays"),
    ]
    for made, hint in several:
        with pytest.raises(TypeError, match=hint):
            np.asarray(made)
        with pytest.raises(TypeError, match=hint):
            np.array(made, np.float32)


def test_torch_shares_the_arrays(torch: ModuleType) -> None:
    arrays = exset.to_arrays(exset.load("exset::xor.ex", model=ExampleSet))
    tensor = torch.from_dlpack(arrays.targets)
    tensor[0, 0] = 5
    assert arrays.targets[0, 0] == 5


def test_sparse_rows_of_a_wide_network() -> None:
    inputs, targets = exset.to_csr(one(Sparse([(2**31 - 3, 2**31 - 2)]), [0, 3]))
    assert inputs.shape == (1, 2**31 - 1) and inputs.data.tolist() == [1, 1]
    assert inputs.indices.tolist() == [2**31 - 3, 2**31 - 2] and inputs.indptr.tolist() == [0, 2]
    assert targets.data.tolist() == [0, 3] and repr(targets) == "Csr(2 of 1 x 2)"
    with pytest.raises(LimitError, match="spans of inputs"):
        exset.to_csr(one([Sparse("*"), Sparse([2**31 - 1])]))


def test_arrays_that_no_set_gives() -> None:
    arrays = exset.to_arrays(one([1]))
    with pytest.raises(ValueError, match="one row per event"):
        exset.from_arrays(arrays.by_tick(3))
    arrays.event[0] = 1
    with pytest.raises(ValueError, match="in order"):
        exset.from_arrays(arrays)
    two = ExampleSet.from_examples([Example([Event([1]), Event([2])])])
    arrays = exset.to_arrays(two)
    arrays.max_time[1] = math.nan
    with pytest.raises(ValueError, match="max_time is NaN at some"):
        exset.from_arrays(arrays)


def test_devices() -> None:
    assert namespace("cpu") is np and namespace_of(np.zeros(1)) is np
    with pytest.raises(ValueError, match="unknown device 'gpu': use 'cpu', 'cuda'"):
        namespace("gpu")
    assert namespace_of(namespace("portable").zeros(1)) is namespace("portable")


def test_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    with pytest.raises(ImportError, match=r"exset\[cuda12\]"):
        exset.to_arrays(one([1]), device="cuda")


def test_the_portable_namespace_is_as_strict_as_cupy() -> None:
    xp = namespace("portable")
    ours, theirs = xp.arange(3), np.arange(3)
    with pytest.raises(TypeError, match="host is combined"):
        ours + theirs
    with pytest.raises(TypeError, match="host is combined"):
        ours[theirs]
    with pytest.raises(TypeError, match="host is combined"):
        ours[:] = theirs
    with pytest.raises(TypeError, match="share"):
        np.repeat(ours, 2)
    with pytest.raises(AttributeError):
        _ = xp.repeat
    assert to_host(ours + 1).tolist() == [1, 2, 3]
    counts = xp.asarray(np.array([2, 0, 1]))
    assert to_host(repeat(xp, ours, counts)).tolist() == [0, 0, 2]
    assert to_host(spread(xp, ours, counts)).tolist() == [0, 1, 2]
    column = to_device(xp, np.broadcast_to(np.int64(3), (4,)))
    assert to_host(column).tolist() == [3] * 4


def test_evenly() -> None:
    assert evenly(np.array([2, 5, 8])) == slice(2, 9, 3)
    assert evenly(np.array([4])) == slice(4, 5) and evenly(np.array([], int)) == slice(0, 0)
    for uneven in ([2, 5, 9], [3, 3], [2, 1]):
        assert isinstance(evenly(np.array(uneven)), np.ndarray)


@pytest.mark.parametrize("act", [exset.to_arrays, exset.to_csr])
def test_other_objects_than_sets(act: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError, match=r"not 'train\.ex'"):
        act("train.ex")
