"""Lens binary files: properties of any set and any bytes, and what they cannot store."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.codecs.lens import to_examples
from exset.codecs.lens.bex import decode, encode
from exset.codecs.lens.event_lists import read_spans, write_spans
from exset.core.errors import Findings, FormatError
from exset.core.source import Source
from exset.grammars.columns.arrays import offsets_of
from exset.grammars.columns.ragged import Strings
from exset.grammars.lens.build import Dense, Event, Example, Sparse
from exset.grammars.lens.examples import ExampleSet, SetHeader
from exset.testing import example_sets
from tests.lens.bex_builder import (
    NAN,
    RICH,
    attempt,
    dense,
    example,
    file,
    inputs,
    ints,
    listed,
    read,
    reals,
    sets,
    targets,
)
from tests.lens.dump import to_plain


@pytest.mark.parametrize("number", [2**31 - 1, -1, -(2**31), 0x7F7F7F7F])
def test_any_number_may_be_wrong(number: int) -> None:
    """A set or a FormatError: no count is trusted."""
    for at in range(number % 3, len(RICH) - 3, 3):
        attempt(RICH[:at] + ints(number) + RICH[at + 4 :])


def test_cut_anywhere() -> None:
    for end in range(len(RICH)):
        with pytest.raises(FormatError):
            read(RICH[:end])


@given(st.lists(st.tuples(st.integers(0, len(RICH) - 1), st.integers(0, 255)), max_size=4))
def test_changed_anywhere(changes: list[tuple[int, int]]) -> None:
    data = bytearray(RICH)
    for at, byte in changes:
        data[at] = byte
    attempt(bytes(data))


@given(st.binary(max_size=60))
def test_any_bytes(tail: bytes) -> None:
    attempt(tail)
    attempt(file()[:37] + tail)
    attempt(file()[:37] + ints(1) + b"\0\0" + reals(1) + ints(2) + tail)


# Event lists and sets, compared with the loops of Lens (parseBinaryEventList, readBinaryExample).


def expanded(entries: list[int]) -> list[list[int]]:
    """The events of each entry."""
    v, events = 0, []
    for w in entries:
        if w < 0:
            v += 1
            events.append(list(range(v, -w + 1)))
            v = max(v, -w + 1)
        else:
            v = w
            events.append([w])
    return events


@given(st.lists(st.lists(st.integers(-6, 5), max_size=6), max_size=5))
def test_spans_of_event_lists(lists: list[list[int]]) -> None:
    offsets = offsets_of(np.array([len(entries) for entries in lists], np.int64))
    flat = np.array([entry for entries in lists for entry in entries], np.int32)
    first, stop = read_spans(flat, offsets)
    found = [list(range(a, b)) for a, b in zip(first.tolist(), stop.tolist(), strict=True)]
    assert found == [events for entries in lists for events in expanded(entries)]


@given(st.lists(st.sets(st.integers(0, 9)), max_size=5))
def test_event_lists_are_written_in_runs(lists: list[set[int]]) -> None:
    pairs = [(event, k) for k, events in enumerate(lists) for event in sorted(events)]
    columns = np.array(pairs, np.int64).reshape(-1, 2).T
    entries, counts = write_spans(columns[0], columns[1], len(lists))
    parts = np.split(entries, np.cumsum(counts))[:-1]
    for events, part in zip(lists, parts, strict=True):
        assert {e for span in expanded(part.tolist()) for e in span} == events
        assert all(b >= 0 or -b > a for a, b in itertools.pairwise(part.tolist()))


some_events = st.lists(st.integers(0, 3) | st.integers(-3, -1), min_size=1, max_size=3)
input_sets = st.tuples(some_events, st.integers(0, 2), st.none() | some_events | st.just([]))
target_sets = st.tuples(some_events, st.integers(0, 2))


@given(st.lists(input_sets, max_size=5), st.lists(target_sets, max_size=4))
def test_sets_of_unusual_files(
    input_rows: list[tuple[list[int], int, list[int] | None]],
    target_rows: list[tuple[list[int], int]],
) -> None:
    """The values of a list are unique, and so identify the list of an event."""
    inputs_of, targets_of = dict[int, list[float]](), dict[int, list[float]]()
    written_inputs, written_targets = [], []
    for k, (listed_events, count, shared) in enumerate(input_rows):
        values = [k + 0.25 * j for j in range(count)]
        tail = None if shared is None else listed(*shared)
        items = [dense(value) for value in values]
        written_inputs.append(inputs(listed(*listed_events), *items, shared=tail))
        current = take_set(inputs_of, listed_events, values)
        for event in {e for span in expanded(shared or []) for e in span}:
            targets_of[event] = current
    for k, (listed_events, count) in enumerate(target_rows):
        values = [100 + k + 0.25 * j for j in range(count)]
        written_targets.append(targets(listed(*listed_events), *map(dense, values)))
        take_set(targets_of, listed_events, values)
    data = file(example(sets(), sets(*written_inputs), sets(*written_targets), events=4))
    [found] = to_plain(read(data))["examples"]
    values_of = [
        [v for row in rows for v in np.array(row["values"], np.uint32).view(np.float32).tolist()]
        for rows in found["lists"]
    ]
    for v, event in enumerate(found["events"]):
        for role, expected in (("inputs", inputs_of), ("targets", targets_of)):
            number = event[role]
            assert ([] if number is None else values_of[number]) == expected.get(v, [])
    assert len(values_of) == len({tuple(values) for values in values_of})


def take_set(
    current: dict[int, list[float]], entries: list[int], values: list[float]
) -> list[float]:
    """Assign the values to the events; without values, those of the first event."""
    events = sorted({event for span in expanded(entries) for event in span})
    if values:
        current[events[0]] = values
    shared = current.get(events[0], [])
    for event in events[1:]:
        current[event] = shared
    return shared


# Round trips.


@given(example_sets(text=False))
def test_decode_is_the_inverse_of_encode(examples: ExampleSet) -> None:
    data = encode(examples)
    assert read(data) == examples
    assert encode(read(data)) == data


@given(example_sets(text=False), st.booleans())
def test_both_drivers_and_both_ways_of_reading(examples: ExampleSet, is_plain: bool) -> None:
    """The quick way for plain files gives the same set as the general way."""
    if is_plain:
        rows = [
            Example([Event(Dense([k, 0.5][: 1 + k % 2]), Sparse([k, (k + 1, k + 3)]))], name=f"{k}")
            for k in range(len(examples))
        ]
        examples = ExampleSet.from_examples(rows)
    data = encode(examples)
    assert encode(examples, engine="reference") == data
    found = read(data)
    assert decode(Source("x.bex", data), engine="reference") == found
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(to_examples, "place_plain", lambda fields: None)
        assert read(data) == found == examples


def test_an_event_may_differ_in_the_sign_of_zero_alone() -> None:
    """Lens compares -0 and 0 as equal, and would not write this event."""
    examples = ExampleSet.from_examples([Example([Event(default_input=-0.0)])])
    assert read(encode(examples)) == examples


LOSSES = [
    (Example(frequency=-0.5), "examples[1].frequency", b"\xbf\0\0\0"),
    (Example(name=""), "examples[1].name", b"\0\0" + reals(1)),
    (Example(name="ab\0c"), "examples[1].name", b"ab\0\0" + reals(1)),
    (Example(proc="\0c"), "examples[1].proc", b"\0\0" + reals(1)),
    (
        Example([Event(), Event(proc="a\0b")]),
        "examples[1].events[1].proc",
        ints(1) + b"a\0" + reals(NAN),
    ),
    (Example([Event(Dense([1], group="g\0"))]), "groups[0]", b"g\0" + ints(1)),
]


@pytest.mark.parametrize(("lossy", "path", "written"), LOSSES)
def test_losses(lossy: Example, path: str, written: bytes) -> None:
    examples = ExampleSet.from_examples([Example(), lossy, Example(name="after")])
    with pytest.raises(FormatError) as caught:
        encode(examples)
    assert caught.value.place is not None and caught.value.place.field == path
    assert caught.value.code == "lens-binary"
    findings = Findings()
    assert written in encode(examples, lossy=True, findings=findings)
    [finding] = findings
    assert finding.code == "lens-binary-loss"
    assert finding.place is not None and finding.place.field == path


def test_set_proc_with_a_nul() -> None:
    examples = ExampleSet.from_examples([], SetHeader(b"a\0b"))
    with pytest.raises(FormatError, match=r"header\.proc"):
        encode(examples)
    assert encode(examples, lossy=True) == file(proc=b"a")


def test_encode_accepts_sets_not_in_normal_form() -> None:
    found = read(RICH)
    unused = found.with_unchecked(
        lists=np.append(found.lists, found.lists[-1]),
        groups=Strings.concat([found.groups, Strings.of(["unused"])]),
    )
    assert encode(unused) == RICH
