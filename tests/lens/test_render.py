"""Lens text as exset writes it: the layout, and that it reads back as the very same set."""

import math

import numpy as np
import pytest
from hypothesis import given

from exset.core.errors import Findings, FormatError
from exset.core.source import Source
from exset.grammars.columns.ragged import Ragged, Strings
from exset.grammars.lens.build import Dense, Event, Example, Sparse
from exset.grammars.lens.examples import Events, ExampleSet, Ranges, SetHeader
from exset.parsers.lens.parse import parse
from exset.parsers.lens.render import render
from exset.testing import example_sets

NAN, INF = math.nan, math.inf


def read(text: bytes) -> ExampleSet:
    return parse(Source("x.ex", text))


def one(*events: Event, name: str | None = None, proc: str | None = None) -> ExampleSet:
    return ExampleSet.from_examples([Example(events, name, proc)])


def sharing(inputs: list[list[int]], targets: list[list[int]]) -> ExampleSet:
    """One example for each row; list k of a row is `I: k`, -1 is none; equal numbers are shared."""
    rows = np.array([inputs, targets]).reshape(2, len(inputs), -1)
    num_examples, num_events = rows.shape[1:]
    width = 2 * num_events
    shift = np.arange(num_examples)[:, None] * width
    numbers = np.where(rows < 0, -1, rows + shift).reshape(2, -1)
    num_lists = num_examples * width
    events = Events.empty(num_examples * num_events).with_columns(
        inputs=numbers[0], targets=numbers[1]
    )
    return ExampleSet(
        header=SetHeader(),
        name=Strings.empty(num_examples),
        proc=Strings.empty(num_examples),
        frequency=np.ones(num_examples, np.float32),
        event_offsets=np.arange(num_examples + 1) * num_events,
        events=events,
        lists=np.arange(num_lists + 1),
        ranges=Ranges(
            np.full(num_lists, -1, np.int32),
            np.zeros(num_lists, np.int32),
            np.zeros(num_lists, np.float32),
            Ragged(np.arange(num_lists, dtype=np.float32) % width, np.arange(num_lists + 1)),
            Ragged.empty(num_lists, np.int32),
        ),
        groups=Strings.empty(0),
    ).normalized()


BOTH = [1, 2]
SPARSE = Sparse([3])
GROUPS: list[Dense | Sparse] = [Dense([1], 2, "in"), Dense([2], 0, "1g"), Sparse([1], 0.5, 'a "b"')]
PLAIN: list[Dense | Sparse] = [Dense([1], 3), Dense([2]), Sparse("*"), Sparse([1]), Dense([3])]
EMPTY: list[Dense | Sparse] = [Sparse([]), Dense([], group="g")]
LAYOUT = {
    # name: (set, text, compact text)
    "empty set": (ExampleSet.from_examples([]), ";\n\n\n", ";\n\n\n"),
    "empty example": (one(Event()), ";\n;\n", ";\n;\n"),
    "plain": (one(Event([0, 1], [1])), ";\nI: 0 1 T: 1;\n", ";\nI:0 1T:1;\n"),
    "both": (one(Event(BOTH, BOTH)), ";\nB: 1 2;\n", ";\nB:1 2;\n"),
    "both, sparse": (one(Event(SPARSE, SPARSE)), ";\nb: 3;\n", ";\nb:3;\n"),
    "set header": (
        ExampleSet.from_examples(
            [Example(name="a")],
            SetHeader(b"puts hi", 2, -0.0, 0, NAN, 1, 0, INF),
        ),
        ";\n".join(["proc: {puts hi} max: 2 min: -0 defI: - actT: 1e999", "name: a "]) + ";\n",
        ";\n".join(["proc:{puts hi}max:2min:-0defI:- actT:1e999", "name:a "]) + ";\n",
    ),
    "set proc, bare": (
        ExampleSet.from_examples([], SetHeader(b"hello")),
        "proc: hello ;\n",
        "proc:hello ;\n",
    ),
    "example header": (
        ExampleSet.from_examples([Example([Event([1]), Event()], "a", "go there", 2.5)]),
        ";\nname: a proc: {go there} freq: 2.5 2 I: 1;\n",
        ";\nname:a proc:{go there}freq:2.5 2I:1;\n",
    ),
    "names": (
        ExampleSet.from_examples([Example(name=name) for name in ["", "a b", "1", 'say "x"', "é"]]),
        ';\nname: {};\nname: {a b};\nname: {1};\nname: {say "x"};\nname: {é};\n',
        ';\nname:{};\nname:{a b};\nname:{1};\nname:{say "x"};\nname:{é};\n',
    ),
    "special numbers": (
        one(Event([NAN, -0.0, INF, -INF, 1e-7, 3.4028235e38], [NAN])),
        ";\nI: - -0 1e999 -1e999 1e-07 3.4028235e+38 T: -;\n",
        ";\nI:- -0 1e999 -1e999 1e-07 3.4028235e+38T:-;\n",
    ),
    "dash before another word": (
        one(Event([Dense([NAN]), Dense([NAN], 1)], Sparse("*", NAN))),
        ";\nI: - (1) - t: {-} *;\n",
        ";\nI:- (1)- t:{-}*;\n",
    ),
    "units": (
        one(Event(Sparse([1, (3, 5), 0, 0, 7]), Sparse("*"))),
        ";\ni: 1 3-5 0 0 7 t: *;\n",
        ";\ni:1 3-5 0 0 7t:*;\n",
    ),
    "groups": (
        one(
            Event(
                GROUPS,
                Sparse("*", None, "o"),
            )
        ),
        ';\nI: (in 2) 1 ("1g") 2 {{a "b"} 0.5} 1 t: {o} *;\n',
        ';\nI:(in 2)1("1g")2{{a "b"} 0.5}1t:{o}*;\n',
    ),
    "plain ranges after others": (
        one(Event(PLAIN)),
        ";\nI: (3) 1 () 2 {} * {} 1 () 3;\n",
        ";\nI:(3)1()2{}*{}1()3;\n",
    ),
    "empty ranges": (
        one(Event(EMPTY, Sparse([], 2))),
        ";\ni: {} {g 0} t: {2};\n",
        ";\ni:{}{g 0}t:{2};\n",
    ),
    "own fields of the only event": (
        one(Event(SPARSE, [1], proc="go", max_time=3.5, active_input=2)),
        ";\n[max:3.5 actI:2 proc:go] i: 3 T: 1;\n",
        ";\n[max:3.5actI:2proc:go]i:3T:1;\n",
    ),
    "sparse values of both": (
        one(Event(SPARSE, SPARSE, active_input=2)),
        ";\n[actI:2] b: {2} 3;\n",
        ";\n[actI:2]b:{2}3;\n",
    ),
    "in order": (
        one(Event([1], [2]), Event([3], [4]), Event([5])),
        ";\n3\nI: 1 T: 2\nI: 3 T: 4\nI: 5;\n",
        ";\n3I:1T:2I:3T:4I:5;\n",
    ),
    "gaps": (
        one(Event([1]), Event(), Event([2], [3]), Event([4], [5])),
        ";\n4\nI: 1\n[2] I: 2 T: 3\nI: 4 T: 5;\n",
        ";\n4I:1[2]I:2T:3I:4T:5;\n",
    ),
    "shared by events": (
        one(Event(BOTH, [0]), Event(BOTH), Event(BOTH, [0]), Event()),
        ";\n4\n[0-2] I: 1 2\n[0] T: 0\n[2] T: 0;\n",
        ";\n4[0-2]I:1 2[0]T:0[2]T:0;\n",
    ),
    "shared by all": (
        one(Event(BOTH, BOTH), Event(BOTH, BOTH)),
        ";\n2 [*] B: 1 2;\n",
        ";\n2[*]B:1 2;\n",
    ),
    "own fields re-arm": (
        one(Event([1], [2], min_time=1), Event([3], max_time=2), Event([4], min_time=1)),
        ";\n3\n[0 2 min:1]\n[1 max:2]\n[0] I: 1 T: 2\nI: 3\nI: 4;\n",
        ";\n3[0 2min:1][1max:2][0]I:1T:2I:3I:4;\n",
    ),
    "own fields of all": (
        one(Event([1], max_time=2), Event([3], max_time=2)),
        ";\n2\n[max:2]\n[0] I: 1\nI: 3;\n",
        ";\n2[max:2][0]I:1I:3;\n",
    ),
    "prediction": (
        sharing([[0, 1, 2, 3]], [[1, 2, 3, 4]]),
        ";\n4\nI: 0\nB: 1\nB: 2\nB: 3 T: 4;\n",
        ";\n4I:0B:1B:2B:3T:4;\n",
    ),
    "memory": (
        sharing([[0, 1, -1]], [[-1, 0, 1]]),
        ";\n3\nT: B: 0\nB: 1;\n",
        ";\n3T:B:0B:1;\n",
    ),
}


@pytest.mark.parametrize("case", LAYOUT)
def test_layout(case: str) -> None:
    examples, text, compact = LAYOUT[case]
    assert render(examples).decode() == text
    assert render(examples, compact=True).decode() == compact
    assert read(text.encode()) == examples
    assert read(compact.encode()) == examples


# Every way in which up to three events can share lists. How many of them text can say is what an
# exhaustive search of all texts finds; it also finds that text can say no others.
def partitions(size: int) -> list[list[int]]:
    rows: list[list[int]] = [[]]
    for _ in range(size):
        rows = [[*row, n] for row in rows for n in range(-1, max(row, default=-1) + 2)]
    return rows


@pytest.mark.parametrize(("num_events", "sayable"), [(1, 5), (2, 43), (3, 539)])
def test_every_way_to_share(num_events: int, sayable: int) -> None:
    said, unsaid = [], []
    for row in partitions(2 * num_events):
        try:
            render(sharing([row[:num_events]], [row[num_events:]]))
            said.append(row)
        except FormatError:
            unsaid.append(row)
    assert len(said) == sayable
    examples = sharing([row[:num_events] for row in said], [row[num_events:] for row in said])
    for compact in (False, True):
        assert read(render(examples, compact=compact)) == examples
    if unsaid:
        examples = sharing([r[:num_events] for r in unsaid], [r[num_events:] for r in unsaid])
        findings = Findings()
        text = render(examples, unshare=True, findings=findings)
        assert findings.count("lens-text-loss") >= len(unsaid)
        again = read(text)
        assert render(again) == text
        assert again != examples
        for old, new in zip(values_of(examples), values_of(again), strict=True):
            assert old == new


def values_of(examples: ExampleSet) -> list[list[float] | None]:
    return [
        None if ranges is None else ranges[0].values.tolist()
        for example in examples
        for event in example.events
        for ranges in (event.inputs, event.targets)
    ]


def test_fields_of_an_event_do_not_change_crossed_data() -> None:
    shared = Sparse([1])
    examples = one(Event(shared, active_input=3), Event(None, shared), Event(None, [1], max_time=2))
    text = render(examples)
    assert text == b";\n3\nT: b: {3} 1\nT: 1\n[0 actI:3]\n[2 max:2];\n"
    assert read(text) == examples


@pytest.mark.parametrize(
    ("units", "why"),
    [
        ([-1, 3], "ends a span, but no span has begun"),
        ([-2, 3], "ends a span, but no span has begun"),
        ([3, -2], "ends below"),
        ([0, 3, -5, 1, -(2**31)], "beyond 31 bits"),
    ],
)
def test_units_that_text_cannot_say(units: list[int], why: str) -> None:
    examples = with_units([[1, -2], units])
    with pytest.raises(FormatError, match=why) as caught:
        render(examples, lossy=True, unshare=True)
    place = caught.value.place
    assert place is not None
    assert place.field == "examples[0].events[0].targets[1].units"


def test_a_negative_unit_alone_is_a_star() -> None:
    """Lens keeps the number in a binary file; in a text every unit is `*`."""
    examples = with_units([[-7], [3], [-1]])
    with pytest.raises(FormatError, match="unit -7 means all units") as caught:
        render(examples)
    place = caught.value.place
    assert place is not None
    assert place.field == "examples[0].events[0].targets[0].units"
    findings = Findings()
    text = render(examples, lossy=True, findings=findings)
    assert findings.count("lens-text-loss") == 1
    assert read(text) == with_units([[-1], [3], [-1]])


def test_odd_units_are_kept() -> None:
    units = [[1, -3, -5], [5, -9, -3], [3, 0], [2, 2, -2], [-1], [0, -(2**31) + 1]]
    examples = with_units(units)
    text = b"1-3-5 {} 5-9-3 {} 3 0 {} 2 2-2 {} * {} 0-2147483647"
    assert render(examples) == b";\nt: " + text + b";\n"
    assert read(render(examples)) == examples


def with_units(units: list[list[int]]) -> ExampleSet:
    base = one(Event(None, [Sparse([1]) for _ in units]))
    lengths = np.array([len(each) for each in units])
    ranges = base.ranges
    return ExampleSet(
        **(
            vars(base)
            | {
                "ranges": Ranges(
                    ranges.group,
                    ranges.first,
                    ranges.value,
                    ranges.values,
                    Ragged(
                        np.array([unit for each in units for unit in each], np.int32),
                        np.append(0, np.cumsum(lengths)),
                    ),
                )
            }
        )
    ).normalized()


@given(example_sets(text=True, binary=False))
def test_round_trip(examples: ExampleSet) -> None:
    text = render(examples)
    again = read(text)
    assert again == examples
    assert render(again) == text
    compact = render(examples, compact=True)
    assert len(compact) <= len(text)
    assert read(compact) == examples


@given(example_sets(text=False, binary=False))
def test_whatever_is_written_reads_back(examples: ExampleSet) -> None:
    try:
        text = render(examples)
    except FormatError as error:
        assert error.place is not None and error.place.field and error.hint
    else:
        assert read(text) == examples
    try:
        text = render(examples, lossy=True, unshare=True)
    except FormatError as error:
        assert "units" in error.message
    else:
        assert render(read(text)) == text
