"""Example sets: what builds them, what they show, and what they refuse."""

import math
import pickle
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

from exset.grammars.columns.arrays import constant
from exset.grammars.columns.ragged import Ragged, Reals, Strings
from exset.grammars.lens.build import Dense, Event, Example, Sparse
from exset.grammars.lens.examples import ExampleSet, SetHeader


def xor() -> ExampleSet:
    shared = [Sparse([0, (3, 5)], group="hidden")]
    return ExampleSet.from_examples(
        [
            Example(
                [
                    Event([1, 0], Dense([1], first=2, group="output"), active_input=0.5),
                    Event(shared, shared, proc="puts hello", max_time=2),
                    Event(shared),
                ],
                name="first",
                frequency=2.5,
            ),
            Example(),
            Example([Event([Dense([]), Sparse("*", 3, "é")], Sparse([7]))], proc=b"\xff"),
        ],
        SetHeader(active_target=9, active_input=-2),
    )


def test_from_examples() -> None:
    one = xor()
    assert repr(one) == "ExampleSet(3 examples, 5 events, groups: hidden, output, é)"
    assert one.name.tolist() == [b"first", None, None]
    assert one.frequency.tolist() == [2.5, 1, 1]
    assert one.event_offsets.tolist() == [0, 3, 4, 5]
    assert one.events.inputs.tolist() == [0, 1, 1, -1, 3]
    assert one.events.targets.tolist() == [2, 1, -1, -1, 4]
    assert one.lists.tolist() == [0, 1, 2, 3, 5, 6]
    assert one.ranges.value.tolist() == [0, -2, 0, 0, 3, 9]
    assert one.ranges.first.tolist() == [0, 0, 2, 0, 0, 0]
    assert one.ranges.units.values.tolist() == [0, 3, -5, -1, 7]
    assert one.effective("active_input").tolist() == [0.5, -2, -2, -2, -2]
    assert one.effective("max_time").tolist() == [1, 2, 1, 1, 1]
    with pytest.raises(ValueError, match="no field is called 'maxTime': choose one of max_time"):
        one.effective("maxTime")


def test_views() -> None:
    first, second, third = xor()
    assert (first.index, first.name, first.proc, first.frequency) == (0, "first", None, 2.5)
    assert (second.name, second.frequency, len(second.events)) == (None, 1, 1)
    assert third.proc == "\udcff"
    event = first.events[1]
    assert (event.proc, event.max_time, event.min_time) == ("puts hello", 2, None)
    assert (event.effective("active_target"), event.effective("max_time")) == (9, 2)
    assert event.inputs is not None and event.targets is not None
    assert event.inputs.number == event.targets.number
    [shared] = event.inputs
    assert (shared.kind, shared.group, shared.value) == ("sparse", "hidden", -2)
    assert shared.units.tolist() == [0, 3, -5]
    assert second.events[0].inputs is None
    assert third.events[0].inputs is not None
    empty, star = third.events[0].inputs
    assert (empty.kind, star.kind, star.units.tolist()) == (None, "sparse", [-1])
    assert first.events[0].targets is not None
    dense = first.events[0].targets[-1]
    assert (dense.kind, dense.first, dense.values.tolist()) == ("dense", 2, [1])
    assert np.shares_memory(dense.values, dense._columns.ranges.values.values)
    assert len(xor()[1:]) == 2
    with pytest.raises(IndexError):
        xor()[3]


def test_reprs_are_short() -> None:
    one = xor()
    assert repr(one[0]) == "<example 0 'first': 3 events>"
    assert repr(one[0].events[0]) == "<event 0: inputs 1 range, targets 1 range>"
    assert repr(one[1].events[0]) == "<event 0: nothing>"
    assert repr(one[0].events[0].targets) == "[<dense 'output' from 2: 1>]"
    assert repr(one[0].events[1].inputs) == "[<sparse 'hidden' -2: 0 3 -5>]"
    assert repr(one[2].events[0].inputs) == "[<empty>, <sparse 'é' 3: *>]"
    assert repr(ExampleSet.from_examples([])) == "ExampleSet(0 examples, 0 events)"
    odd = ExampleSet.from_arrays([[1]], None, input_group="a\x1b\u202e")
    assert repr(odd) == r"ExampleSet(1 example, 1 event, groups: 'a\x1b\u202e')"
    many = [Dense([1], group=f"g{i}") for i in range(9)]
    assert repr(ExampleSet.from_examples([Example([Event(many)])])).endswith("g4, ...)")


def test_tuples_are_not_shared() -> None:
    pair, listed = (1, 0), [1, 0]
    one = ExampleSet.from_examples([Example([Event(pair, pair), Event(listed, listed)])])
    assert one.events.inputs.tolist() == [0, 1] and one.events.targets.tolist() == [2, 1]
    assert ExampleSet.from_examples([Example([Event([], ())])]).events.inputs.tolist() == [-1]


def test_from_arrays() -> None:
    inputs = np.arange(12).reshape(2, 3, 2)
    one = ExampleSet.from_arrays(
        inputs, inputs[:, :, :1] > 4, names=["a", None], frequency=[1, 2], target_group="out"
    )
    two = ExampleSet.from_examples(
        [
            Example(
                [Event(list(x), Dense([x[0] > 4], group="out")) for x in row], name, frequency=f
            )
            for row, name, f in zip(inputs.tolist(), ["a", None], [1, 2], strict=True)
        ]
    )
    assert one == two
    assert one[1].events[2].inputs is not None
    assert one[1].events[2].inputs[0].values.tolist() == [10, 11]
    flat = ExampleSet.from_arrays(np.eye(3), None)
    assert (flat.num_events, flat.events.targets.tolist()) == (3, [-1, -1, -1])
    assert len(ExampleSet.from_arrays(np.zeros((0, 4)), np.zeros((0, 2)))) == 0
    wide = ExampleSet.from_arrays(np.zeros((2, 0)), np.ones((2, 1)))
    assert wide.events.inputs.tolist() == [-1, -1]
    assert ExampleSet.from_arrays(np.zeros((2, 0)), None).lists.tolist() == [0]


def test_from_arrays_copies() -> None:
    mine = np.zeros((2, 2), np.float32)
    one = ExampleSet.from_arrays(mine, None)
    mine[:] = 1
    assert not one.ranges.values.values.any()


def test_concat_is_checked() -> None:
    plain = ExampleSet.from_arrays([[1]], None)
    with pytest.raises(ValueError, match="differ in proc"):
        plain.concat(ExampleSet.from_arrays([[1]], None, header=SetHeader(b"x")))
    timeless = ExampleSet.from_arrays([[1]], None, header=SetHeader(max_time=math.nan))
    with pytest.raises(ValueError, match="max_time is NaN"):
        plain.concat(timeless)
    assert timeless.concat(plain).events.max_time[1] == 1


def test_headers() -> None:
    assert SetHeader(b"").proc is None
    assert SetHeader(max_time=0.1).max_time == np.float32(0.1)
    assert SetHeader(max_time=math.nan) == SetHeader(max_time=-math.nan)
    assert SetHeader(min_time=0.0) != SetHeader(min_time=-0.0)
    assert len({SetHeader(), SetHeader(), SetHeader(b"x")}) == 2
    with pytest.raises(ValueError, match="max_time: a number does not fit in float32"):
        SetHeader(max_time=1e300)
    with pytest.raises(ValueError, match="max_time: expected a real number"):
        SetHeader(max_time=None)  # type: ignore[arg-type]


def test_equality_is_bitwise() -> None:
    def of(value: float) -> ExampleSet:
        return ExampleSet.from_arrays([[value]], None)

    assert of(math.nan) == of(-math.nan)
    assert of(0.0) != of(-0.0)
    assert of(0.0) != 0.0
    copied = ExampleSet.from_examples([Example([Event([1], [1])])])
    values = [1]
    shared = ExampleSet.from_examples([Example([Event(values, values)])])
    assert copied != shared
    assert pickle.loads(pickle.dumps(shared)) == shared


@pytest.mark.parametrize(
    ("columns", "field"),
    [
        ({"name": Strings.empty(2)}, "name"),
        ({"proc": None}, "proc"),
        ({"frequency": np.ones(3)}, "frequency"),
        ({"frequency": np.ones(4, np.float32)}, "frequency"),
        ({"event_offsets": np.array([0, 3, 4])}, "event_offsets"),
        ({"event_offsets": np.array([0, 3, 3, 5])}, "event_offsets"),
        ({"event_offsets": np.array([0, 5, 4, 5])}, "event_offsets"),
        ({"lists": np.array([0, 1])}, "lists"),
        ({"groups": []}, "groups"),
        ({"groups": Strings.of([b"a"])}, "ranges.group"),
        ({"groups": Strings.of([b"a", b"b", None])}, "groups"),
        ({"header": None}, "header"),
        ({"events": xor().events.with_columns(inputs=constant(5, 5, np.int64))}, "events.inputs"),
        ({"events": xor().events.with_columns(targets=np.full(5, -2))}, "events.targets"),
    ],
)
def test_columns_are_checked(columns: dict[str, object], field: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(field)}: "):
        ExampleSet(**{**vars(xor()), **columns})


def test_columns_of_events_and_ranges_are_checked() -> None:
    one = xor()
    with pytest.raises(ValueError, match=r"^events\.min_time: "):
        replace(one.events, min_time=Reals.empty(2))
    with pytest.raises(ValueError, match=r"^events\.proc: "):
        replace(one.events, proc=None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^ranges: range 0 "):
        replace(one.ranges, units=Ragged(np.zeros(6, np.int32), np.arange(7)))
    with pytest.raises(ValueError, match=r"^ranges\.units: "):
        replace(one.ranges, units=Ragged.empty(6, np.int64))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^ranges\.group: "):
        replace(one.ranges, group=[])  # type: ignore[arg-type]


def test_a_set_is_read_only() -> None:
    one = xor()
    with pytest.raises(AttributeError):
        one.lists = one.lists  # type: ignore[misc]
    for array in (one.lists, one.frequency, one.events.inputs, one.ranges.values.values):
        assert not array.flags.writeable


def test_what_repeats_takes_no_space() -> None:
    n = 10_000
    one = ExampleSet.from_arrays(np.arange(2 * n).reshape(n, 2), None)
    for array in (
        one.frequency,
        one.name.offsets,
        one.events.targets,
        one.events.max_time.values,
        one.ranges.group,
        one.ranges.units.offsets,
    ):
        assert array.strides == (0,)
    picked = one.select(np.arange(n)[::-1])
    assert picked.frequency.strides == (0,)


def test_testing_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    for name in ("exset.testing", "exset.testing.lens"):
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match="the extra `test`"):
        from exset.testing import example_sets  # noqa: F401
