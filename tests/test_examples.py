import math
import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.grammars.build import Dense, Event, Example, Sparse
from exset.grammars.columns import Longs, Ragged, Reals, Strings, constant, offsets_of
from exset.grammars.examples import (
    REAL_FIELDS,
    TIME_FIELDS,
    Events,
    ExampleSet,
    Ranges,
    SetHeader,
)
from exset.testing import example_sets, text_can_say

NAN = 0x7FC00000
odd_reals = st.sampled_from(
    [0, 0x80000000, 0x3F800000, NAN, 0xFFC00000, 0x7F800001, 0x7F800000, 1, 0x40000000]
)
few_names = st.none() | st.sampled_from([b"", b"a", b"b"])
EVERY = [
    {},
    {"binary": False},
    {"text": False},
    {"text": False, "binary": False},
]
any_sets = st.one_of([example_sets(**kinds) for kinds in EVERY])


def column(bits: list[int]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(bits, np.uint32).view(np.float32)


def bits(values: np.ndarray[tuple[int], np.dtype[np.float32]]) -> list[int]:
    return values.view(np.uint32).tolist()


def offsets(lengths: list[int]) -> Longs:
    return offsets_of(np.array(lengths, np.int64))


def rows(lists: list[list[int]], dtype: type) -> Ragged:  # type: ignore[type-arg]
    flat = [x for each in lists for x in each]
    return Ragged(np.array(flat, np.uint32).view(dtype), offsets([len(each) for each in lists]))


@st.composite
def raw_sets(draw: st.DrawFn) -> ExampleSet:
    """Columns that fit together, in no form: NaNs of all kinds, lists used by several examples."""
    counts = draw(st.lists(st.integers(1, 3), max_size=4))
    n, m = len(counts), sum(counts)
    groups = draw(st.lists(st.sampled_from([b"", b"in", b"out", b"x"]), max_size=4))
    lists = draw(st.lists(st.integers(0, 2), max_size=5))
    r = sum(lists)

    def some(values: st.SearchStrategy[int], size: int) -> list[int]:
        return draw(st.lists(values, min_size=size, max_size=size))

    kinds = some(st.integers(0, 2), r)
    numbers = st.lists(odd_reals, min_size=1, max_size=3)
    units = st.lists(st.integers(0, 9) | st.sampled_from([2**32 - 1, 2**32 - 3]), min_size=1)
    values = [draw(numbers) if kind == 1 else [] for kind in kinds]
    sparse = [draw(units) if kind == 2 else [] for kind in kinds]
    number = st.integers(-1, len(lists) - 1)
    given_names = st.lists(few_names, min_size=m, max_size=m)
    present = st.lists(st.booleans(), min_size=m, max_size=m)
    return ExampleSet(
        header=SetHeader(draw(few_names), *column(some(odd_reals, 7)).tolist()),
        name=Strings.of(draw(st.lists(few_names, min_size=n, max_size=n))),
        proc=Strings.of(draw(st.lists(few_names, min_size=n, max_size=n))),
        frequency=column(some(odd_reals, n)),
        event_offsets=offsets(counts),
        events=Events(
            Strings.of(draw(given_names)),
            **{
                field: Reals(column(some(odd_reals, m)), np.array(draw(present), np.bool_))
                for field in REAL_FIELDS
            },
            inputs=np.array(some(number, m), np.int64),
            targets=np.array(some(number, m), np.int64),
        ),
        lists=offsets(lists),
        ranges=Ranges(
            group=np.array(some(st.integers(-1, len(groups) - 1), r), np.int32),
            first=np.array(some(st.integers(-2, 2), r), np.int32),
            value=column(some(odd_reals, r)),
            values=rows(values, np.float32),
            units=rows(sparse, np.int32),
        ),
        groups=Strings.of(groups),
    )


def quiet(pattern: int) -> int:
    return NAN if pattern & 0x7FFFFFFF > 0x7F800000 else pattern


def normal_by_hand(raw: ExampleSet) -> dict[str, object]:
    """What the normal form must hold, one thing after another and in no hurry."""
    events, ranges = raw.events, raw.ranges
    numbers = {"inputs": [-1] * raw.num_events, "targets": [-1] * raw.num_events}
    order: list[int] = []
    for i in range(len(raw)):
        here: dict[int, int] = {}
        for side in ("inputs", "targets"):
            for e in range(raw.event_offsets[i], raw.event_offsets[i + 1]):
                k = int(getattr(events, side)[e])
                if k < 0 or raw.lists[k] == raw.lists[k + 1]:
                    continue
                if k not in here:
                    here[k] = len(order)
                    order.append(k)
                numbers[side][e] = here[k]
    lists, group, first, value, values, units = [0], [], [], [], [], []
    groups: list[bytes] = []
    for k in order:
        lists.append(lists[-1] + int(raw.lists[k + 1] - raw.lists[k]))
        for j in range(raw.lists[k], raw.lists[k + 1]):
            name = raw.groups[ranges.group[j]] if ranges.group[j] >= 0 else b""
            if name and name not in groups:
                groups.append(name)
            group.append(groups.index(name) if name else -1)
            dense, own = [quiet(x) for x in bits(ranges.values[j])], ranges.units[j].tolist()
            first.append(int(ranges.first[j]) if dense else 0)
            value.append(0 if dense else quiet(bits(ranges.value[j : j + 1])[0]))
            values.append(dense)
            units.append([-1] if len(own) == 1 and own[0] < 0 else own)
    reals: dict[str, list[int | None]] = {}
    for field in REAL_FIELDS:
        reals[field] = []
        for pattern, is_given in zip(
            bits(getattr(events, field).values), getattr(events, field).given, strict=True
        ):
            [inherited] = bits(np.array([raw.header.real(field)]))
            absent = NAN if field in TIME_FIELDS else quiet(inherited)
            drop = not is_given or quiet(pattern) == absent
            reals[field].append(None if drop else quiet(pattern))
    return {
        "name": raw.name.tolist(),
        "proc": [proc or None for proc in raw.proc],
        "frequency": [quiet(x) for x in bits(raw.frequency)],
        "event_offsets": raw.event_offsets.tolist(),
        "event_proc": [proc or None for proc in events.proc],
        **reals,
        **numbers,
        "lists": lists,
        "group": group,
        "first": first,
        "value": value,
        "values": values,
        "units": units,
        "groups": groups,
    }


def as_lists(one: ExampleSet) -> dict[str, object]:
    reals = {}
    for field in REAL_FIELDS:
        held = one.events.real(field)
        pairs = zip(bits(held.values), held.given, strict=True)
        reals[field] = [pattern if is_given else None for pattern, is_given in pairs]
    return {
        "name": one.name.tolist(),
        "proc": one.proc.tolist(),
        "frequency": bits(one.frequency),
        "event_offsets": one.event_offsets.tolist(),
        "event_proc": one.events.proc.tolist(),
        **reals,
        "inputs": one.events.inputs.tolist(),
        "targets": one.events.targets.tolist(),
        "lists": one.lists.tolist(),
        "group": one.ranges.group.tolist(),
        "first": one.ranges.first.tolist(),
        "value": bits(one.ranges.value),
        "values": [bits(one.ranges.values[i]) for i in range(len(one.ranges))],
        "units": [one.ranges.units[i].tolist() for i in range(len(one.ranges))],
        "groups": one.groups.tolist(),
    }


@given(raw_sets())
def test_the_normal_form(raw: ExampleSet) -> None:
    normal = ExampleSet.normal(**vars(raw))
    assert as_lists(normal) == normal_by_hand(raw)
    assert normal.header == raw.header
    ExampleSet(**vars(normal))  # the columns still fit


@given(raw_sets() | any_sets)
def test_the_normal_form_is_one(raw: ExampleSet) -> None:
    normal = ExampleSet.normal(**vars(raw))
    again = ExampleSet.normal(**vars(normal), check=False)
    assert again == normal
    assert as_lists(again) == as_lists(normal)


@given(any_sets)
def test_strategies_draw_normal_sets(one: ExampleSet) -> None:
    assert ExampleSet.normal(**vars(one)) == one


@given(example_sets())
def test_what_both_formats_can_say(one: ExampleSet) -> None:
    names = [s for s in [*one.name, *one.proc, *one.events.proc, *one.groups] if s is not None]
    assert all(names) and all(map(text_can_say, names))
    assert not (one.frequency < 0).any()
    for k in np.intersect1d(one.events.inputs, one.events.targets):
        same_events = (one.events.inputs == k) == (one.events.targets == k)
        assert k == -1 or same_events.all()


@pytest.mark.parametrize(
    ("string", "can"),
    [
        (b"", True),
        (b'a {b} "c (d)" [e]', True),
        (b"a { b", False),
        (b'"a { b"', False),
        (b"a ] b", False),
        (rb"\} \"", True),
        (b"\\", False),
        (b"\\\\", True),
        (b"\\\n}", True),
        (b"a\\\n", False),
        (b"\na", False),
        (b"a\n#b", False),
        (b"#a", True),
        (b"a\rb", False),
        (b"\0", False),
        (b"(" * 31 + b")" * 31, True),
        (b"(" * 32 + b")" * 32, False),
    ],
)
def test_text_can_say(string: bytes, can: bool) -> None:
    assert text_can_say(string) is can


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
    with pytest.raises(ValueError, match="maxTime: not one of max_time"):
        one.effective("maxTime")


def test_views() -> None:
    first, second, third = xor().examples
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
    assert len(xor().examples[1:]) == 2
    with pytest.raises(IndexError):
        xor().examples[3]


def test_reprs_are_short() -> None:
    one = xor()
    assert repr(one.examples[0]) == "<example 0 'first': 3 events>"
    assert repr(one.examples[0].events[0]) == "<event 0: inputs 1 range, targets 1 range>"
    assert repr(one.examples[1].events[0]) == "<event 0: nothing>"
    assert repr(one.examples[0].events[0].targets) == "[<dense 'output' from 2: 1>]"
    assert repr(one.examples[0].events[1].inputs) == "[<sparse 'hidden' -2: 0 3 -5>]"
    assert repr(one.examples[2].events[0].inputs) == "[<empty>, <sparse 'é' 3: *>]"
    assert repr(ExampleSet.from_examples([])) == "ExampleSet(0 examples, 0 events)"
    odd = ExampleSet.from_arrays([[1]], None, input_group="a\x1b\u202e")
    assert repr(odd) == r"ExampleSet(1 example, 1 event, groups: 'a\x1b\u202e')"
    many = [Dense([1], group=f"g{i}") for i in range(9)]
    assert repr(ExampleSet.from_examples([Example([Event(many)])])).endswith("g4, ...)")


@given(any_sets)
def test_views_agree_with_columns(one: ExampleSet) -> None:
    assert len(one.examples) == len(one)
    events = [event for example in one.examples for event in example.events]
    assert len(events) == one.num_events
    for field in REAL_FIELDS:
        values = np.array([event.effective(field) for event in events], np.float32)
        assert bits(values) == bits(one.effective(field))
    lists = {
        ranges.number: len(ranges)
        for event in events
        for ranges in (event.inputs, event.targets)
        if ranges is not None
    }
    assert sorted(lists) == list(range(one.lists.size - 1))
    assert sum(lists.values()) == len(one.ranges)
    assert repr(one.examples) and repr(events)


@pytest.mark.parametrize(
    ("event", "match"),
    [
        (Event([[1, 2], [3]]), r"events\[0\].inputs\[0\]: rows of one length"),
        (Event([[1, 2]]), "one row of numbers is wanted"),
        (Event(targets=["x"]), r"targets\[0\]: real numbers are wanted"),
        (Event([1e39]), "beyond float32"),
        (Event([Sparse([2, -1])]), r"units: -1 is no unit"),
        (Event([Sparse([(5, 3)])]), "no unit, and no span"),
        (Event([Sparse([1.5])]), "an integer is wanted"),  # type: ignore[list-item]
        (Event([Sparse("all")]), "are wanted, not 'all'"),  # type: ignore[arg-type]
        (Event([Sparse([2**31])]), "beyond 32 bits"),
        (Event([Dense([1], first=2**31)]), "first: 2147483648 is beyond"),
        (Event([Dense([1]), 2]), "one row of numbers"),  # type: ignore[arg-type]
        (Event(max_time=1e39), "max_time: a number is beyond"),
        (Event(max_time="1"), "max_time: real numbers"),  # type: ignore[arg-type]
    ],
)
def test_from_examples_is_checked(event: Event, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        ExampleSet.from_examples([Example([event])])


def test_an_example_has_an_event() -> None:
    with pytest.raises(ValueError, match=r"examples\[1\]"):
        ExampleSet.from_examples([Example(), Example([])])


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
    assert one.examples[1].events[2].inputs is not None
    assert one.examples[1].events[2].inputs[0].values.tolist() == [10, 11]
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


@pytest.mark.parametrize(
    ("inputs", "targets", "more", "match"),
    [
        (None, None, {}, "not none"),
        ([1, 2], None, {}, "inputs: two or three dimensions"),
        ([[1], [2]], [[1]], {}, r"inputs \(2, 1, 1\) and targets \(1, 1, 1\)"),
        ([[[1], [2]]], [[1]], {}, "one number of examples and of events"),
        (np.zeros((1, 0, 2)), None, {}, "at least one event"),
        ([[1j]], None, {}, "real numbers"),
        ([[1e300]], None, {}, "beyond float32"),
        ([[1]], None, {"names": ["a", "b"]}, "name: 1 rows are wanted, not 2"),
        ([[1]], None, {"frequency": [1, 2]}, "frequency: 1 rows are wanted, not 2"),
    ],
)
def test_from_arrays_is_checked(
    inputs: object, targets: object, more: dict[str, list[object]], match: str
) -> None:
    with pytest.raises(ValueError, match=match):
        ExampleSet.from_arrays(inputs, targets, **more)  # type: ignore[arg-type]


@given(st.data(), any_sets)
def test_select(data: st.DataObject, one: ExampleSet) -> None:
    n = len(one)
    index = st.integers(-n, n - 1) if n else st.nothing()
    chosen = data.draw(st.lists(index, max_size=6)) if n else []
    some = one.select(chosen)
    assert [repr(some.examples[i].events) for i in range(len(chosen))] == [
        repr(one.examples[i].events) for i in chosen
    ]
    assert as_lists(some) == normal_by_hand(some)
    assert some.name.tolist() == [one.name[i] for i in chosen]
    mask = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    assert one.select(mask) == one.select(np.flatnonzero(mask))
    assert one.select(slice(1, None)) == one.select(range(min(1, n), n))
    assert one.select(slice(None)) == one


@given(st.lists(example_sets(max_examples=2), min_size=1, max_size=3))
def test_concat(sets: list[ExampleSet]) -> None:
    header = SetHeader(b"proc", max_time=math.nan)
    alike = [ExampleSet.normal(**{**vars(each), "header": header}) for each in sets]
    whole = alike[0].concat(*alike[1:])
    start = 0
    for each in alike:
        assert whole.select(slice(start, start + len(each))) == each
        start += len(each)
    assert len(whole) == start


@given(example_sets(), example_sets())
def test_concat_keeps_what_holds(a: ExampleSet, b: ExampleSet) -> None:
    quiet_times = {field: 1.0 for field in TIME_FIELDS}
    a = ExampleSet.normal(**{**vars(a), "header": replace(a.header, proc=None, **quiet_times)})
    b = ExampleSet.normal(**{**vars(b), "header": replace(b.header, proc=None)})
    if any(math.isnan(getattr(b.header, field)) for field in TIME_FIELDS) and len(b):
        return
    whole = a.concat(b)
    assert whole.header == a.header
    for field in REAL_FIELDS:
        both = np.concatenate([a.effective(field), b.effective(field)])
        assert bits(whole.effective(field)) == bits(both)


def test_concat_is_checked() -> None:
    plain = ExampleSet.from_arrays([[1]], None)
    with pytest.raises(ValueError, match="different procs"):
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
    assert SetHeader(max_time=1e300).max_time == math.inf
    with pytest.raises(ValueError, match="max_time: a real number"):
        SetHeader(max_time=None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="proc: bytes"):
        SetHeader("x")  # type: ignore[arg-type]


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


def changed(**columns: object) -> ExampleSet:
    return ExampleSet(**{**vars(xor()), **columns})


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"name": Strings.none(2)}, "name: 3 rows are wanted, not 2"),
        ({"proc": None}, "proc: Strings is wanted, not NoneType"),
        ({"frequency": np.ones(3)}, "frequency: a one-dimensional float32"),
        ({"frequency": np.ones(4, np.float32)}, "frequency: 3 rows"),
        ({"event_offsets": np.array([0, 3, 4])}, "event_offsets: the last offset is 4"),
        ({"event_offsets": np.array([0, 3, 3, 5])}, "event_offsets: example 1 has no event"),
        ({"event_offsets": np.array([0, 5, 4, 5])}, "event_offsets: offsets must not fall"),
        ({"lists": np.array([0, 1])}, "lists: the last offset is 1, of 6"),
        ({"groups": Strings.of([b"a"])}, "ranges.group: a number is not in"),
        ({"groups": Strings.of([b"a", b"b", None])}, "groups: every name"),
        ({"header": None}, "header: SetHeader is wanted"),
        ({"events": xor().events.with_columns(inputs=constant(5, 5, np.int64))}, "events.inputs"),
        ({"events": xor().events.with_columns(targets=np.full(5, -2))}, "events.targets"),
    ],
)
def test_columns_are_checked(columns: dict[str, object], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        changed(**columns)


def test_parts_are_checked() -> None:
    one = xor()
    with pytest.raises(ValueError, match=r"events\.min_time: 5 rows are wanted, not 2"):
        replace(one.events, min_time=Reals.none(2))
    with pytest.raises(ValueError, match="range 0 has both values and units"):
        replace(one.ranges, units=Ragged(np.zeros(6, np.int32), np.arange(7)))
    with pytest.raises(ValueError, match=r"ranges\.units: a one-dimensional int32"):
        replace(one.ranges, units=Ragged.none(6, np.int64))  # type: ignore[arg-type]


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
        import exset.testing  # noqa: F401
