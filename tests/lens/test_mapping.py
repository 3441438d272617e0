"""`edit.map_inputs` and noise: new values, and all other columns as they were."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import exset
from exset import (
    Dense,
    Event,
    Example,
    ExampleArrays,
    ExampleSet,
    Findings,
    FormatError,
    LimitError,
    Sparse,
    edit,
)
from exset.grammars.columns.arrays import Floats
from exset.testing.lens import text_example_sets


def arrays(examples: ExampleSet) -> ExampleArrays:
    return exset.to_arrays(examples, findings=Findings())


def load(text: str) -> ExampleSet:
    return exset.loads(text, model=ExampleSet, findings=Findings())


def test_values_change() -> None:
    xor = exset.load("exset::xor.ex", model=ExampleSet)
    flipped = edit.map_inputs(xor, lambda values: 1 - values)
    assert np.array_equal(arrays(flipped).inputs, 1 - arrays(xor).inputs)
    assert flipped.with_unchecked(ranges=xor.ranges) == xor
    assert edit.map_inputs(flipped, lambda values: 1 - values) == xor
    targets = edit.map_targets(xor, lambda values: values * 3)
    assert arrays(targets).targets.max() == 3 and (targets.name == xor.name)
    assert edit.map_inputs(xor, np.copy) is xor


def test_a_group_alone() -> None:
    groups = exset.load("exset::groups.ex", model=ExampleSet)
    sizes = {"onset": 20, "vowel": 6, "coda": 26}
    before = exset.to_arrays(groups, inputs=sizes, findings=Findings())
    changed = edit.map_inputs(groups, lambda values: values + 1, group="vowel", inputs=sizes)
    after = exset.to_arrays(changed, inputs=sizes, findings=Findings())
    expected = before.inputs.copy()
    expected[:, before.input_layout["vowel"]] += 1
    assert np.array_equal(after.inputs, expected)
    first_list = changed.ranges.take(np.arange(*changed.lists[changed.events.inputs[0] :][:2]))
    assert first_list.units.lengths.tolist() == [1, 1, 0], "other groups stay sparse"


def test_lists_that_do_not_change_stay_shared_and_sparse() -> None:
    shared, both = Sparse([0, 2]), Dense([1, 0, 0])
    first = Example([Event(inputs=shared, targets=[1]), Event(inputs=shared)])
    second = Example([Event(inputs=[1, 1, 0]), Event(inputs=Sparse([1])), Event(both, both)])
    examples = ExampleSet.from_examples([first, second])

    def third_event(values: Floats) -> Floats:
        values[2] = [7, 8, 9]
        return values

    changed = edit.map_inputs(examples, third_event)
    assert changed.events.inputs[0] == changed.events.inputs[1]
    assert changed.events.inputs[4] == changed.events.targets[4]
    assert (changed.ranges.units.lengths > 0).sum() == 2, "sparse ranges stay"
    assert edit.map_inputs(changed, lambda values: arrays(examples).inputs) == examples
    mapped = edit.map_inputs(examples, lambda values: values + 1)
    assert mapped.events.inputs[0] == mapped.events.inputs[1], "equal values stay shared"
    assert mapped.events.inputs[4] != mapped.events.targets[4]
    layout = arrays(examples).target_layout
    after = exset.to_arrays(mapped, targets=layout, findings=Findings())
    assert np.array_equal(after.targets, arrays(examples).targets)


def test_events_without_inputs() -> None:
    examples = load("[defI: 0.5] T: 1; I: 1 2 T: 1;")
    same = edit.add_noise(examples, 1, seed=0)
    assert same.events.inputs.tolist() == [-1, 1]
    assert arrays(edit.map_inputs(examples, lambda x: x * 2)).inputs.tolist() == [[1, 1], [2, 4]]


def test_nan_is_not_given() -> None:
    examples = load("I: 1 - 2; I: 0 0 0;")
    noisy = edit.add_noise(examples, 0.5, seed=3)
    assert np.isnan(arrays(noisy).inputs).tolist() == [[False, True, False], [False] * 3]
    seen = []

    def fill(values: Floats) -> Floats:
        seen.append(np.isnan(values).sum())
        return np.nan_to_num(values, nan=4)

    assert arrays(edit.map_inputs(examples, fill)).inputs[0].tolist() == [1, 4, 2] and seen == [1]


def test_noise_is_reproducible() -> None:
    examples = ExampleSet.from_arrays(np.zeros((200, 50)), np.ones((200, 1)))
    noisy = edit.add_noise(examples, 0.1, seed=5)
    assert noisy == edit.add_noise(examples, 0.1, seed=5) != edit.add_noise(examples, 0.1, seed=6)
    values = arrays(noisy).inputs
    assert abs(values.std() - 0.1) < 0.005 and abs(values.mean()) < 0.005
    clipped = arrays(edit.add_noise(examples, 0.1, seed=5, clip=(0, 0.1))).inputs
    assert np.array_equal(clipped, np.clip(values, 0, np.float32(0.1)))
    assert edit.add_noise(examples, 0, seed=5) is examples


@given(text_example_sets(), st.booleans())
def test_any_set(examples: ExampleSet, other: bool) -> None:
    """The arrays are those of the function, and the targets and all else stay."""
    try:
        before = exset.to_arrays(examples, findings=Findings())
    except (FormatError, LimitError):
        assume(False)
    event = np.arange(examples.num_events)[:, None]
    expected = np.where(event % 2 == other, before.inputs[:, ::-1], before.inputs)
    changed = edit.map_inputs(examples, lambda values: expected, findings=Findings())
    after = exset.to_arrays(changed, before.input_layout, before.target_layout, findings=Findings())
    assert np.array_equal(after.inputs, expected, equal_nan=True)
    assert np.array_equal(after.targets, before.targets, equal_nan=True)
    assert (changed.name, changed.header) == (examples.name, examples.header)
    assert changed == changed.normalized()
    text = exset.dumps(changed, format="ex", unshare=True, lossy=True, findings=Findings())
    assert len(load(text.decode("utf-8", "surrogateescape"))) == len(changed)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (
            lambda xor: edit.map_inputs(xor, lambda x: x[0]),
            r"^map_inputs: the function must return",
        ),
        (lambda xor: edit.map_targets(xor, lambda x: ["a"]), "^map_targets: expected real numbers"),
        (lambda xor: edit.map_inputs(xor, np.copy, group="a"), "no group of inputs is called 'a'"),
        (lambda xor: edit.add_noise(xor, -1, seed=0), "^deviation: must not be negative"),
        (lambda xor: edit.add_noise(xor, 1, seed=0, clip=(1, 0)), "^clip: 1 is more than 0"),
    ],
)
def test_errors(wrong: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrong(exset.load("exset::xor.ex"))  # type: ignore[operator]
