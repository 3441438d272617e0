"""Lens binary files: how they are decoded, rule by rule, and where they have errors."""

import math
import struct

import numpy as np
import pytest

from exset.codecs.lens.bex import decode, encode
from exset.codecs.lens.layout import BinaryExampleFile
from exset.core.errors import Findings, FormatError, LimitError
from exset.core.source import Source
from exset.grammars.lens.build import Dense, Event, Example, Sparse
from exset.grammars.lens.examples import ExampleSet, SetHeader
from tests.lens.bex_builder import (
    NAN,
    RICH,
    codes,
    dense,
    example,
    file,
    inputs,
    ints,
    listed,
    read,
    sets,
    sparse,
    special,
    targets,
)
from tests.lens.dump import to_plain


def test_everything() -> None:
    first = [Dense([0.5, -0.0, NAN], 2, "in"), Sparse([(3, 5), 7])]
    second = [Sparse("*", NAN)]
    own = [Dense([math.inf], 0, "out"), Sparse([], 0.75)]
    both = Dense([1])
    events = [
        Event(first, own),
        Event(first, second, "puts x", max_time=5, default_target=NAN),
        Event(first, None, min_time=2.5, grace_time=0.5, active_input=0.25),
        Event(second, second),
        Event(first, second),
    ]
    built = ExampleSet.from_examples(
        [
            Example(events, b"caf\xe9", "set a {", 2.5),
            Example(frequency=NAN),
            Example([Event(shared := [both], shared)]),
        ],
        SetHeader(b"puts {hello}", 2, 0, 0.5),
    )
    assert to_plain(read(RICH)) == to_plain(built)
    assert read(RICH) == built
    assert encode(built) == RICH


def test_the_declaration_is_plain_construct() -> None:
    """Construct itself reads and writes with it, and computes the counts."""
    parsed = BinaryExampleFile.parse(RICH)
    assert parsed.examples[0].inputs[1].ranges[0].units.unit_index == [-1]
    assert parsed.examples[1].example_numEvents == 1
    built = BinaryExampleFile.build(parsed)
    assert read(built) == read(RICH)


def test_empty_set() -> None:
    assert len(read(file())) == 0
    assert encode(read(file())) == file()


# How Lens reads unusual files. Lens, example.c: readBinaryExample.


def lists_of(data: bytes) -> tuple[list[list[float]], list[int | None], list[int | None]]:
    """Of the first example: the values of each list's only range, each event's inputs, targets."""
    plain = to_plain(read(data))["examples"][0]
    values = [
        np.array(rows[0]["values"], np.uint32).view(np.float32).tolist() for rows in plain["lists"]
    ]
    events = plain["events"]
    return values, [event["inputs"] for event in events], [event["targets"] for event in events]


def test_later_sets_replace_earlier_ones() -> None:
    data = file(
        example(
            sets(),
            sets(
                inputs(listed(0, -2), dense(1)),
                inputs(listed(1), dense(2), shared=listed(0, -1)),
                inputs(listed(2), dense(3), shared=listed(1)),
            ),
            sets(targets(listed(1), dense(4))),
            events=3,
        )
    )
    assert lists_of(data) == ([[1], [2], [3], [4]], [0, 1, 2], [1, 3, None])
    findings = Findings()
    decode(Source("x.bex", data), findings=findings)
    assert {finding.code for finding in findings} == {"lens-replaced-list"}
    assert [finding.place and finding.place.field for finding in findings] == [
        "examples[0].inputs[1].events.set_numEventsInList",
        "examples[0].inputs[2].events.set_numEventsInList",
        "examples[0].inputs[2].target_events.set_numEventsInList",
        "examples[0].targets[0].events.set_numEventsInList",
    ]


def test_a_repeated_event_replaces_nothing() -> None:
    assert codes(file(example(sets(), sets(inputs(listed(0, 0), dense(1)))))) == []


def test_a_set_without_ranges_shares_the_list_of_its_first_event() -> None:
    data = file(
        example(
            sets(),
            sets(
                inputs(listed(1), dense(1)),
                inputs(listed(3), dense(2)),
                inputs(listed(1, 3), shared=listed(0)),
                inputs(listed(2)),
            ),
            sets(targets(listed(0, -1)), targets(listed(2, -3))),
            events=4,
        )
    )
    assert lists_of(data) == ([[1]], [None, 0, None, 0], [0, 0, None, None])
    assert set(codes(data)) == {"lens-replaced-list", "lens-no-ranges"}


def test_a_negative_number_of_ranges_is_0() -> None:
    data = file(example(sets(), sets(listed(0) + ints(-3) + b"\0")))
    assert read(data) == read(file(example()))


def test_shared_targets_may_have_no_events() -> None:
    for no_events in (listed(), ints(-7)):
        data = file(example(sets(), sets(inputs(listed(0), dense(1), shared=no_events))))
        assert lists_of(data) == ([[1]], [0], [None])
        assert codes(data) == []
    two = [inputs(listed(k), dense(k), shared=listed(*range(2 * k))) for k in range(2)]
    data = file(example(sets(), sets(*two), events=2))
    assert lists_of(data) == ([[0], [1]], [0, 1], [1, 1])


def test_special_events_given_twice() -> None:
    first = special(1, 5, 1, 1, 2, 2, 2, 2, proc=b"first")
    second = special(1, NAN, 2, NAN, 0, 1, NAN, 1)
    found = read(file(example(sets(first, second), events=2)))
    assert found == ExampleSet.from_examples(
        [Example([Event(), Event(proc="first", min_time=2, default_target=NAN)])]
    )


def test_empty_ranges_have_a_value() -> None:
    """A sparse range its own; a dense one the value of the first event of its list (newRange)."""
    active = sets(special(1, NAN, NAN, NAN, 0, 0.5, 0, 0.25))
    data = file(
        example(
            active,
            sets(inputs(listed(2, 1), dense(), sparse(value=7)), inputs(listed(0), dense(first=3))),
            sets(targets(listed(1, -2), dense()), targets(listed(0), dense())),
            events=3,
        ),
        header=(1, 0, 0, 0, 3, 0, 4),
    )
    assert read(data).ranges.value.tolist() == [3, 0.5, 7, 4, 0.25]
    assert set(codes(data)) == {"lens-empty-range"}


def test_a_negative_unit_alone_is_every_unit() -> None:
    data = file(example(sets(), sets(inputs(listed(0), sparse(-9), sparse(-9, 2), sparse(2, -1)))))
    examples = read(data)
    assert examples.ranges.units.values.tolist() == [-9, -9, 2, 2, -1], "Lens keeps the number"
    assert encode(examples) == data
    assert "<sparse 1: *>" in str(examples[0].events[0].inputs)
    assert codes(data) == ["lens-unit-span"] * 2


def test_nan_is_quiet_and_flags_are_not_zero() -> None:
    data = file(
        example(sets(), sets(inputs(listed(0), dense(NAN), sparse(1, value=NAN), shared=listed(0))))
    )
    changed = bytearray(data.replace(b"\x7f\xc0\0\0", b"\xff\x80\0\1"))
    flags = [90, 99]  # sparse, shared
    assert [changed[at] for at in flags] == [1, 1]
    for at in flags:
        changed[at] = 0x80
    assert read(bytes(changed)) == read(data)
    assert encode(read(bytes(changed))) == data


def test_sizeof_real_may_be_eight() -> None:
    data = RICH[:4] + ints(8) + RICH[8:]
    assert read(data) == read(RICH)
    assert "lens-refuses" in codes(data)


def test_findings() -> None:
    name, groups = b"x" * 4097, [dense(1, group=b"g%d" % k) for k in range(13)]
    assert codes(file(proc=b"x")) == ["lens-set-proc"]
    assert codes(file(example(name=name, proc=name))) == ["lens-refuses"] * 2
    assert codes(file() + b"xyz") == ["lens-trailing-bytes"]
    assert codes(file(example(sets(), sets(inputs(listed(0), *groups[:12]))))) == []
    assert codes(file(example(sets(), sets(inputs(listed(0), *groups))))) == ["lens-refuses"]
    negative = example(sets(), sets(inputs(listed(0), dense(1, first=-1))))
    assert codes(file(negative)) == ["lens-negative-first"]
    leading = example(sets(), sets(inputs(listed(-1), dense(1))), events=2)
    assert codes(file(leading)) == ["lens-event-span"]


def test_findings_are_counted_not_all_kept() -> None:
    findings = Findings()
    data = file(*[example(sets(), sets(inputs(listed(0), dense())))] * 250)
    decode(Source("x.bex", data), findings=findings)
    assert (len(findings), findings.count()) == (100, 250)


def test_strict_findings_are_errors() -> None:
    with pytest.raises(FormatError, match="byte 41"):
        decode(Source("x.bex", file() + b"xyz"), findings=Findings(strict=True))


# Errors: the offset of the primitive that failed, and its path. Messages are in messages/bex.txt.

BROKEN = [
    (b"", 0, "magicExampleCookie"),
    (b"\xaa\xaa\xaa", 0, "magicExampleCookie"),
    (b"UUUU" + file()[4:], 0, "magicExampleCookie"),
    (file()[:4] + ints(5), 4, "sizeof_real"),
    (file()[:10], 9, "set_maxTime"),
    (file(proc=b"x")[:9], 8, "set_proc"),
    (file()[:37] + ints(-1), 37, "num_examples"),
    (file()[:37] + ints(2**31 - 1), 37, "num_examples"),
    (file(example(freq=-1)), 43, "examples[0].example_frequency"),
    (file(example(events=0)), 47, "examples[0].example_numEvents"),
    (file(example(events=-1)), 47, "examples[0].example_numEvents"),
    (
        file(example(), example(sets(special(0, *[0.0] * 7), special(0, *[0.0] * 7)))),
        73,
        "examples[1].example_number_of_special_events",
    ),
    (
        file(example(sets(special(2, *[0.0] * 7)), events=2)),
        55,
        "examples[0].special_events[0].event_num",
    ),
    (file(example(sets(special(-1, *[0.0] * 7)))), 55, "examples[0].special_events[0].event_num"),
    (file(example(sets(), ints(-1))), 55, "examples[0].example_numInputSets"),
    (file(example(sets(), sets(), ints(3))), 59, "examples[0].example_numTargetSets"),
    (
        file(example(sets(), sets(inputs(listed(), dense(1))))),
        59,
        "examples[0].inputs[0].events.set_numEventsInList",
    ),
    (
        file(example(sets(), sets(), sets(targets(ints(-1), dense(1))))),
        63,
        "examples[0].targets[0].events.set_numEventsInList",
    ),
    (
        file(example(sets(), sets(inputs(listed(0, 9), dense(1))), events=2)),
        67,
        "examples[0].inputs[0].events.event_num[1]",
    ),
    (
        file(example(sets(), sets(inputs(listed(0, -9), dense(1))), events=2)),
        67,
        "examples[0].inputs[0].events.event_num[1]",
    ),
    (
        file(example(sets(), sets(inputs(listed(0), dense(1), shared=listed(0, 1, 9))), events=2)),
        98,
        "examples[0].inputs[0].target_events.event_num[2]",
    ),
    (
        file(example(), example(sets(), sets(), sets(targets(listed(9), dense(1))), events=2)),
        89,
        "examples[1].targets[0].events.event_num[0]",
    ),
    (
        file(example(sets(), sets(inputs(listed(-(2**31)), dense(1))), events=2)),
        63,
        "examples[0].inputs[0].events.event_num[0]",
    ),
    (
        file(example(sets(), sets(inputs(listed(0), dense(1), dense(1)[:1] + ints(-1))))),
        86,
        "examples[0].inputs[0].ranges[1].range_numUnits",
    ),
    (
        file(example(sets(), sets(inputs(listed(0), dense(*range(9)))))).replace(ints(9), ints(90)),
        72,
        "examples[0].inputs[0].ranges[0].range_numUnits",
    ),
]


@pytest.mark.parametrize(("data", "offset", "path"), BROKEN)
def test_errors(data: bytes, offset: int, path: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(data)
    place = caught.value.place
    assert place is not None and place.span is not None
    assert (place.field, place.span.start) == (path, offset)


def test_little_endian_files_have_a_hint() -> None:
    with pytest.raises(FormatError, match="little-endian"):
        read(file()[:4] + struct.pack("<i", 4) + file()[8:])


def test_limits() -> None:
    many = file(example(events=2**31 - 1))
    with pytest.raises(LimitError, match=r"examples\[0\].example_numEvents"):
        read(many)
    some = file(example(events=300), example(events=500))
    before = some.index(ints(500))
    assert read(some, max_events=800 - before).num_events == 800
    with pytest.raises(LimitError, match=r"examples\[1\]"):
        read(some, max_events=800 - before - 1)
    wide = sets(*[inputs(listed(0, -99), dense(1))] * 3)
    data = file(example(sets(), wide, events=100))
    assert read(data, max_expand=300).num_events == 100
    with pytest.raises(LimitError, match=r"inputs\[2\].events.event_num\[1\]"):
        read(data, max_expand=299)
    with pytest.raises(LimitError, match="set_proc"):
        read(file(proc=b"four"), max_name=3)
