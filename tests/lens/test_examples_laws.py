"""Laws of example sets: one normal form, and what select and concat keep."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.grammars.columns.arrays import Longs, offsets_of
from exset.grammars.columns.ragged import Ragged, Reals, Strings
from exset.grammars.lens.examples import (
    REAL_FIELDS,
    TIME_FIELDS,
    Events,
    ExampleSet,
    Ranges,
    SetHeader,
)
from exset.testing import example_sets
from tests.lens.string_rules import text_can_hold

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
            units.append(own)
    reals: dict[str, list[int | None]] = {}
    for field in REAL_FIELDS:
        reals[field] = []
        for pattern, is_given in zip(
            bits(getattr(events, field).values), getattr(events, field).present, strict=True
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
        pairs = zip(bits(held.values), held.present, strict=True)
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
    normal = ExampleSet(**vars(raw)).normalized()
    assert as_lists(normal) == normal_by_hand(raw)
    assert normal.header == raw.header
    ExampleSet(**vars(normal))  # the columns still fit


@given(raw_sets() | any_sets)
def test_the_normal_form_is_one(raw: ExampleSet) -> None:
    normal = ExampleSet(**vars(raw)).normalized()
    again = ExampleSet.unchecked(**vars(normal)).normalized()
    assert again == normal
    assert as_lists(again) == as_lists(normal)


@given(any_sets)
def test_strategies_draw_normal_sets(one: ExampleSet) -> None:
    assert ExampleSet(**vars(one)).normalized() == one


@given(example_sets())
def test_what_both_formats_can_say(one: ExampleSet) -> None:
    names = [s for s in [*one.name, *one.proc, *one.events.proc, *one.groups] if s is not None]
    assert all(names) and all(map(text_can_hold, names))
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
        (b"\\", True),
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
def test_strings_that_text_can_hold(string: bytes, can: bool) -> None:
    assert text_can_hold(string) is can


@given(any_sets)
def test_views_agree_with_columns(one: ExampleSet) -> None:
    events = [event for example in one for event in example.events]
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
    assert repr(one) and repr(events)


@given(st.data(), any_sets)
def test_select(data: st.DataObject, one: ExampleSet) -> None:
    n = len(one)
    index = st.integers(-n, n - 1) if n else st.nothing()
    chosen = data.draw(st.lists(index, max_size=6)) if n else []
    some = one.select(chosen)
    assert [repr(some[i].events) for i in range(len(chosen))] == [
        repr(one[i].events) for i in chosen
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
    alike = [ExampleSet(**{**vars(each), "header": header}).normalized() for each in sets]
    whole = alike[0].concat(*alike[1:])
    start = 0
    for each in alike:
        assert whole.select(slice(start, start + len(each))) == each
        start += len(each)
    assert len(whole) == start


@given(example_sets(), example_sets())
def test_concat_keeps_what_holds(a: ExampleSet, b: ExampleSet) -> None:
    quiet_times = {field: 1.0 for field in TIME_FIELDS}
    a = ExampleSet(
        **{**vars(a), "header": replace(a.header, proc=None, **quiet_times)}
    ).normalized()
    b = ExampleSet(**{**vars(b), "header": replace(b.header, proc=None)}).normalized()
    if any(math.isnan(getattr(b.header, field)) for field in TIME_FIELDS) and len(b):
        return
    whole = a.concat(b)
    assert whole.header == a.header
    for field in REAL_FIELDS:
        both = np.concatenate([a.effective(field), b.effective(field)])
        assert bits(whole.effective(field)) == bits(both)
