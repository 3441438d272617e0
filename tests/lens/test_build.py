"""Builders of example sets: the arguments that they accept, and errors that name the argument."""

import copy
import math
import pickle
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.grammars.columns.arrays import is_constant
from exset.grammars.columns.ragged import Reals, Strings
from exset.grammars.columns.rows import FrozenColumns
from exset.grammars.lens.build import Dense, Event, Example, Sparse
from exset.grammars.lens.examples import REAL_FIELDS, ExampleSet, SetHeader
from exset.parsers.lens.write_strings import faults
from exset.testing import example_sets
from tests.lens.string_rules import text_can_hold

masked = np.ma.masked_array


def of(event: Event) -> ExampleSet:
    return ExampleSet.from_examples([Example([event])])


def values(one: ExampleSet) -> list[float | None]:
    """The values of all dense ranges, None for NaN."""
    return [None if math.isnan(x) else x for x in one.ranges.values.values.tolist()]


MASKED: list[object] = [
    masked([[1, 2], [3, 4]], [[False, True], [False, False]]),
    masked([[1.0, 1e300], [3, 4]], [[False, True], [False, False]]),
    [masked([1, 9], [False, True]), [3, 4]],
    ([1, np.ma.masked], np.array([3, 4])),
]


@pytest.mark.parametrize("rows", MASKED)
def test_what_is_masked_is_not_known(rows: object) -> None:
    one = ExampleSet.from_arrays(rows, None)  # type: ignore[arg-type]
    assert values(one) == [1, None, 3, 4]
    assert one == ExampleSet.from_arrays([[1.0, math.nan], [3.0, 4.0]], None)


def test_what_is_masked_in_an_event() -> None:
    one = of(Event(masked([1, 2], [True, False]), Dense(masked([3], [True]))))
    assert values(one) == [None, 2, None]
    assert values(ExampleSet.from_arrays(masked(np.ones((1, 2))), None)) == [1, 1]


def test_masks_mean_nothing_elsewhere() -> None:
    with pytest.raises(ValueError, match="frequency: each example needs a number"):
        ExampleSet.from_arrays([[1]], None, frequency=masked([1], [True]))
    with pytest.raises(ValueError, match=r"units\[1\]: expected an integer"):
        of(Event([Sparse(masked([1, 2], [False, True]))]))


WRONG_EVENTS: list[tuple[Event, str]] = [
    (Event(max_time="1"), "max_time"),  # type: ignore[arg-type]
    (Event(max_time=1e39), "max_time"),
    (Event(min_time=[1]), "min_time"),  # type: ignore[arg-type]
    (Event(active_input=10**400), "active_input"),
    (Event(proc=3), "proc"),  # type: ignore[arg-type]
    (Event(proc="\ud800"), "proc"),
    (Event([1e39]), "inputs[0]"),
    (Event([[1, 2]]), "inputs[0]"),
    (Event([[1, 2], [3]]), "inputs[0]"),
    (Event({"a": 1}), "inputs[0]"),  # type: ignore[arg-type]
    (Event([Dense([1]), 2]), "inputs[1]"),  # type: ignore[arg-type]
    (Event(None, ["x" * 99]), "targets[0]"),
    (Event([Dense([1], group=0)]), "inputs[0].group"),  # type: ignore[arg-type]
    (Event([Dense([1], first=True)]), "inputs[0].first"),
    (Event([Dense([1], first=2**31)]), "inputs[0].first"),
    (Event([Dense([1, None])]), "inputs[0].values"),  # type: ignore[arg-type]
    (Event([Sparse([1], "2")]), "inputs[0].value"),  # type: ignore[arg-type]
    (Event([Sparse([0, True])]), "inputs[0].units[1]"),
    (Event([Sparse([(0, True)])]), "inputs[0].units[0]"),
    (Event([Sparse(np.array([True]))]), "inputs[0].units[0]"),
    (Event([Sparse([2, -1])]), "inputs[0].units[1]"),
    (Event([Sparse([(5, 3)])]), "inputs[0].units[0]"),
    (Event([Sparse([0, 5.5])]), "inputs[0].units[1]"),  # type: ignore[list-item]
    (Event([Sparse([2**31])]), "inputs[0].units[0]"),
    (Event([Sparse("all")]), "inputs[0].units"),  # type: ignore[arg-type]
    (Event([Sparse(b"*")]), "inputs[0].units"),
    (Event([Sparse(3)]), "inputs[0].units"),  # type: ignore[arg-type]
    (Event([Sparse({3: 0.5})]), "inputs[0].units"),
]


@pytest.mark.parametrize(("event", "field"), WRONG_EVENTS)
def test_the_error_of_a_wrong_event_names_the_field(event: Event, field: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"examples[0].events[0].{field}: ")):
        of(event)


WRONG_EXAMPLES: list[tuple[object, str]] = [
    ([Example([[1, 2]])], "examples[0].events[0]"),  # type: ignore[list-item]
    ([Example(), Event([1])], "examples[1]"),
    ([Example(), Example([])], "examples[1]"),
    ([Example(Event([1]))], "examples[0].events"),  # type: ignore[arg-type]
    ([Example(iter([Event()]))], "examples[0].events"),  # type: ignore[arg-type]
    ([Example(), Example(name=3)], "examples[1].name"),  # type: ignore[arg-type]
    ([Example(proc=1.5)], "examples[0].proc"),  # type: ignore[arg-type]
    ([Example(frequency="2")], "examples[0].frequency"),  # type: ignore[arg-type]
    ([Example(frequency=1e39)], "examples[0].frequency"),
    (Example(), "examples"),
    (ExampleSet.from_examples([Example()]), "examples[0]"),
    ("ab", "examples[0]"),
]


@pytest.mark.parametrize(("examples", "field"), WRONG_EXAMPLES)
def test_the_error_of_wrong_examples_names_the_field(examples: list[Example], field: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(f"{field}: ")):
        ExampleSet.from_examples(examples)


@pytest.mark.parametrize("header", [0, b"proc", {}])
def test_a_header_is_a_header(header: SetHeader) -> None:
    with pytest.raises(ValueError, match=r"^header: "):
        ExampleSet.from_examples([], header)
    with pytest.raises(ValueError, match=r"^header: "):
        ExampleSet.from_arrays([[1]], None, header=header)


@pytest.mark.parametrize(
    ("inputs", "targets", "more", "says"),
    [
        (None, None, {}, "must be given"),
        ([1, 2], None, {}, "inputs: "),
        ([[1], [2]], [[1]], {}, "not the shapes (2, 1) and (1, 1)"),
        ([[[1], [2]]], [[1]], {}, "not the shapes (1, 2, 1) and (1, 1)"),
        (np.zeros((1, 0, 2)), None, {}, "at least one event"),
        ([[1j]], None, {}, "inputs: "),
        ([[1e300]], None, {}, "inputs: "),
        ([[1]], None, {"names": "a"}, "names: "),
        ([[1]], None, {"names": 1}, "names: "),
        ([[1]], None, {"names": ["a", "b"]}, "names: "),
        ([[1], [2]], None, {"names": ["a", 2]}, "names[1]: "),
        ([[1]], None, {"frequency": [1, 2]}, "frequency: "),
        ([[1]], None, {"input_group": 1}, "input_group: "),
        (None, [[1]], {"target_group": 1}, "target_group: "),
    ],
)
def test_the_error_of_wrong_arrays_names_the_argument(
    inputs: object, targets: object, more: dict[str, object], says: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        ExampleSet.from_arrays(inputs, targets, **more)  # type: ignore[arg-type]


def test_units_of_any_kind() -> None:
    once = Sparse(unit for unit in (1, 2))
    kinds = [Sparse(np.array([1, 2], np.uint8)), Sparse(range(1, 3)), Sparse((1, 2)), once]
    units = [of(Event([kind], [kind])).ranges.units.values.tolist() for kind in kinds]
    assert units == [[1, 2, 1, 2]] * 4


def test_numbers_of_any_kind() -> None:
    event = Event(max_time=np.float64(0.1), min_time=np.array(2), grace_time=math.inf)  # type: ignore[arg-type]
    [view] = of(event)[0].events
    assert (view.max_time, view.min_time) == (float(np.float32(0.1)), 2)
    assert view.grace_time == math.inf


def test_names_as_bytes_and_text() -> None:
    one = ExampleSet.from_examples(
        [Example([Event(Dense([1], group=group))], name="é") for group in ("é", "é".encode())]
    )
    assert one.name.tolist() == ["é".encode()] * 2 and len(one.groups) == 1
    assert Strings.of(np.array(["a", "é"])).tolist() == [b"a", "é".encode()]
    with pytest.raises(ValueError, match="expected a list of strings, not 'abc'"):
        Strings.of("abc")
    with pytest.raises(ValueError, match=r"strings\[1\]: expected text or bytes, not 2"):
        Strings.of([b"a", 2])  # type: ignore[list-item]


def test_the_proc_of_a_set_is_like_that_of_an_example() -> None:
    header = SetHeader(proc="setTime 3")
    assert header == SetHeader(b"setTime 3") and hash(header) == hash(SetHeader(b"setTime 3"))
    one = ExampleSet.from_examples([Example(proc="setTime 3")], header)
    assert one.header.proc == one.proc[0] == b"setTime 3"
    assert one.header.proc_text == one[0].proc == "setTime 3"
    odd = SetHeader("\udcff")
    assert (odd.proc, odd.proc_text) == (b"\xff", "\udcff")
    assert SetHeader("").proc is None and SetHeader().proc_text is None
    assert repr(SetHeader("x", 2)).startswith("SetHeader(proc=b'x', max_time=2.0, min_time=0.0")


def test_headers_are_checked() -> None:
    with pytest.raises(ValueError, match="proc: expected text or bytes, not 3"):
        SetHeader(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="active_input: a number does not fit in float32"):
        SetHeader(active_input=1e39)
    for place, field in enumerate(REAL_FIELDS, 1):
        values: list[float] = [0.0] * 7
        values[place - 1] = 5.0
        assert SetHeader(None, *values) == SetHeader(None, **dict(zip(REAL_FIELDS, values)))  # noqa: B905
        assert SetHeader(None, *values).real(field) == 5


def arrays_of(table: FrozenColumns) -> Iterator[np.ndarray[tuple[int], np.dtype[np.generic]]]:
    for column in vars(table).values():
        if isinstance(column, FrozenColumns):
            yield from arrays_of(column)
        elif isinstance(column, np.ndarray):
            yield column


def repickled(one: ExampleSet) -> ExampleSet:
    back = pickle.loads(pickle.dumps(one))
    assert isinstance(back, ExampleSet)
    return back


COPIES: list[Callable[[ExampleSet], ExampleSet]] = [repickled, copy.copy, copy.deepcopy]


@given(example_sets())
def test_copies_are_read_only(one: ExampleSet) -> None:
    for copied in COPIES:
        two = copied(one)
        assert two == one
        for before, after in zip(arrays_of(one), arrays_of(two), strict=True):
            assert not after.flags.writeable
            assert before.dtype == after.dtype
            assert is_constant(before) == is_constant(after)


def test_what_repeats_takes_no_space_in_a_pickle() -> None:
    n = 100_000
    one = ExampleSet.from_arrays(np.ones((n, 1)), None)
    few = ExampleSet.from_arrays(np.ones((2, 1)), None)
    extra = len(pickle.dumps(one)) - len(pickle.dumps(few))
    # What differs from row to row is written: the offsets of events, lists and values, the lists.
    assert extra <= 4 * 8 * n + 100


def test_a_deep_copy_is_of_its_own() -> None:
    mine = np.array([1.0, 2.0], np.float32)
    column = Reals(mine, np.array([True, True]))
    copied = copy.deepcopy(column)
    mine[0] = 5
    assert (column[0], copied[0]) == (5, 1)


@given(st.binary() | st.text('\\{}()[]"\n\r\0#a1-.; ', max_size=12).map(str.encode))
def test_groups_that_text_can_hold(raw: bytes) -> None:
    assert text_can_hold(raw, group=True) == (not faults(raw, is_group=True))
    assert text_can_hold(raw) == (not faults(raw))


@pytest.mark.parametrize(
    ("string", "as_name", "as_group"),
    [
        (b"a\\", True, True),
        (b";\\", True, True),
        (b"-x\\", True, True),
        (b"1\\", True, False),
        (b"-.5\\", True, False),
        (b"-;\\", True, False),
        (b"a b\\", False, False),
        (b"{}\\", False, False),
        (b"1", True, True),
        (b"\\\\\\", True, True),
    ],
)
def test_a_backslash_at_the_end(string: bytes, as_name: bool, as_group: bool) -> None:
    assert text_can_hold(string) is as_name
    assert text_can_hold(string, group=True) is as_group
