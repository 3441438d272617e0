"""Views: what they say when they are compared, copied, or asked for what is not there."""

import pickle
from typing import SupportsIndex

import numpy as np
import pytest
from hypothesis import given

from exset.grammars.columns.views import Views
from exset.grammars.lens.build import Dense, Event, Example, Sparse
from exset.grammars.lens.examples import ExampleSet, SetHeader
from exset.grammars.lens.views import RangeView
from exset.testing import example_sets


def two() -> ExampleSet:
    inputs = [Dense([1, 0]), Sparse([3, (5, 9)], 2.0, "hidden")]
    return ExampleSet.from_examples([Example(), Example([Event(inputs), Event(inputs, [1])])])


def ranges(given: object) -> Views[RangeView]:
    one = ExampleSet.from_examples([Example([Event(given)])])  # type: ignore[arg-type]
    found = one[0].events[0].inputs
    assert found is not None
    return found


def test_errors_say_which_sequence_and_how_long() -> None:
    examples = two()
    beyond: list[SupportsIndex] = [2, -3, np.int64(2)]
    for index in beyond:
        with pytest.raises(
            IndexError, match=f"^ExampleSet: no index {index}: the last index is 1$"
        ):
            examples[index]
    with pytest.raises(
        IndexError, match=r"^examples\[1\]\.events: no index 7: the last index is 1$"
    ):
        examples[1].events[7]
    shared = examples[1].events[1].inputs
    assert shared is not None
    where = r"^examples\[1\]\.events\[1\]\.inputs: "
    with pytest.raises(IndexError, match=where + "no index 2: the last index is 1$"):
        shared[2]
    with pytest.raises(TypeError, match=where + "expected an integer or a slice, not str$"):
        shared["a"]  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"^ExampleSet: "):
        examples[[0, 1]]  # type: ignore[call-overload]
    assert examples[np.int64(1)].events[-1].index == 1


def test_ranges_are_equal_by_value() -> None:
    dense = Dense([1, np.nan, -0.0], 3, "g")
    assert ranges([dense]) == ranges([Dense([1, -np.nan, -0.0], 3, b"g")])
    others = [
        [],
        [dense, dense],
        [Dense([1, np.nan, 0.0], 3, "g")],
        [Dense([1, np.nan, -0.0], 4, "g")],
        [Dense([1, np.nan, -0.0], 3)],
        [Dense([1, np.nan], 3, "g")],
        [Dense([], 3, "g")],
        [Sparse([3], group="g")],
    ]
    for other in others[1:]:
        assert ranges([dense]) != ranges(other)
    sparse = ranges([Sparse([1, 2], 0.0)])
    assert sparse == ranges([Sparse([1, 2], 0.0)])
    assert sparse != ranges([Sparse([1, 2], -0.0)])
    assert sparse != ranges([Sparse([1, (2, 3)], 0.0)])
    assert sparse != ranges([Sparse("*", 0.0)])
    assert ranges([Sparse([])]) == ranges([Dense([])]) != ranges([Dense([], group="g")])
    assert sparse[0] == sparse[:1][0] and sparse[0] != 1 and sparse != [sparse[0]]


def test_sharing_and_place_are_not_compared() -> None:
    _, example = two()
    first, second = example.events
    assert first.inputs == second.inputs and first != second
    copied = ExampleSet.from_examples([Example([Event([1], [1])])], SetHeader(max_time=9))
    values = [1]
    shared = ExampleSet.from_examples([Example([Event(values, values)])])
    assert copied != shared
    assert list(copied) == list(shared)
    assert example in two() and list(two()).index(example) == 1


@pytest.mark.parametrize(
    "example",
    [
        Example([Event([1])]),
        Example([Event([1], max_time=2)], frequency=2),
        Example([Event([1], max_time=2)], "n"),
        Example([Event([1], max_time=2)], proc="p"),
        Example([Event([1], max_time=2), Event()]),
        Example([Event([1], max_time=2, proc="p")]),
        Example([Event([1], [1], max_time=2)]),
        Example([Event(None, [1], max_time=2)]),
    ],
)
def test_what_examples_differ_by(example: Example) -> None:
    usual = Example([Event([1], max_time=2)])
    one, other, again = ExampleSet.from_examples([usual, example, usual])
    assert one == again != other


@given(example_sets(max_examples=3))
def test_views_of_copies_are_equal(one: ExampleSet) -> None:
    assert list(one) == list(pickle.loads(pickle.dumps(one)))
    assert list(one.select(slice(1, None))) == list(one)[1:]


def test_views_have_no_hash() -> None:
    examples = two()
    event = examples[1].events[0]
    assert event.inputs is not None
    for view in (examples, examples[1], event, event.inputs, event.inputs[0]):
        with pytest.raises(TypeError, match="unhashable"):
            hash(view)


def test_views_can_be_pickled() -> None:
    examples = two()
    events = examples[1].events[1:]
    for views in (examples[1], events):
        back = pickle.loads(pickle.dumps(views))
        assert back == views and repr(back) == repr(views)
