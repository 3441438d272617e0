"""Lens texts and what they mean, rule by rule, against sets built in Python."""

from dataclasses import replace

import numpy as np
import pytest

from exset.core.errors import Findings, FormatError
from exset.core.source import Source
from exset.grammars.lens.build import Dense, Event, Example, RangeLike, Sparse
from exset.grammars.lens.examples import ExampleSet, SetHeader
from exset.grammars.lens.findings import RULES
from exset.parsers.lens import steps
from exset.parsers.lens.parse import parse

NAN = float("nan")


def read(text: str | bytes, findings: Findings | None = None) -> ExampleSet:
    data = text.encode() if isinstance(text, str) else text
    return parse(Source("test.ex", data), findings=findings)


def built(*examples: Example) -> ExampleSet:
    return ExampleSet.from_examples(examples)


def one(inputs: RangeLike = None, targets: RangeLike = None, **fields: float) -> Example:
    event = Event(inputs, targets)
    for field, value in fields.items():
        event = replace(event, **{field: value})  # type: ignore[arg-type]
    return Example([event])


# The examples of the manual page "Example Files".

DENSE_XOR = "I:0 0 T:0;\nI:0 1 T:1;\nI:1 0 T:1;\nI:1 1 T:0;\n"
SPARSE_XOR = ";;\ni:1 t:0;\ni:0 t:0;\ni:*;\n"
DENSE_AUTO = "I:1 0 0 0\nT:1 0 0 0;\nI:0 1 0 0\nT:0 1 0 0;\n"
CRAZY_XOR = """\
# Crazy XOR
proc: {
  puts "You just loaded the crazy XOR file, beware!"
  setTime 3
}
max:2 min:0.5

# Here is the first example.  It has two events:
name:{0 0}
freq:2.7
proc: {puts "this one's easy"}
2
[0 max:2 min: 1]
[1 max:2.5 proc:{puts "starting the second event"}]
# Only specifying inputs for the first event and targets for the second:
[0] I: 0 0
[1] T: 0;

# Here is the second example.  It has one event:
freq: 4.5
name: "0 1"
proc:{puts "example 2"}
# This means all (one) events have maxTime of 3.5:
[max:3.5]
i:1
T:1;

# Here is the third example.  It has two events with the default headers:
name:1-0
2
# Both events use inputs "1 0", but the first has no targets.
[] I: 1 0
[1] t:*;

# Here is the fourth example.  It has three events:
name: {1 1}
3
proc: {puts "This is the toughy"}
# Same inputs for all three events, no target on middle event:
[0-1 min:1.5]
I: 1 1
[0 2]
T: 0;
"""


def test_manual_dense_xor() -> None:
    pairs = [([0, 0], [0]), ([0, 1], [1]), ([1, 0], [1]), ([1, 1], [0])]
    assert read(DENSE_XOR) == built(*(one(i, t) for i, t in pairs))


def test_manual_sparse_xor() -> None:
    assert read(SPARSE_XOR) == built(
        Example(), one(Sparse([1]), Sparse([0])), one(Sparse([0]), Sparse([0])), one(Sparse("*"))
    )


def test_manual_autoencoders() -> None:
    rows = np.eye(4)[:2].tolist()
    assert read(DENSE_AUTO) == built(*(one(row, row.copy()) for row in rows))
    assert read("i:0 t:0;i:1 t:1;") == built(*(one(Sparse([n]), Sparse([n])) for n in (0, 1)))
    both = [[Sparse([n])] for n in (0, 1)]
    assert read("b:0; b:1;") == built(*(one(ranges, ranges) for ranges in both))


def test_manual_crazy_xor() -> None:
    shared, last = [Dense([1, 0])], [Dense([1, 1])]
    zero = [Dense([0])]
    proc = b'  puts "You just loaded the crazy XOR file, beware!"\n  setTime 3\n'
    assert read(CRAZY_XOR) == ExampleSet.from_examples(
        [
            Example(
                [
                    Event([0, 0], max_time=2, min_time=1),
                    Event(targets=[0], max_time=2.5, proc='puts "starting the second event"'),
                ],
                name="0 0",
                frequency=2.7,
                proc='puts "this one\'s easy"',
            ),
            Example(
                [Event(Sparse([1]), [1], max_time=3.5)],
                name="0 1",
                frequency=4.5,
                proc='puts "example 2"',
            ),
            Example([Event(shared), Event(shared, Sparse("*"))], name="1-0"),
            Example(
                [Event(last, zero, min_time=1.5), Event(last, min_time=1.5), Event(None, zero)],
                name="1 1",
                proc='puts "This is the toughy"',
            ),
        ],
        SetHeader(proc=proc, max_time=2, min_time=0.5),
    )


def test_manual_event_lists() -> None:
    shared, targets = [Dense([0, 1, 0])], [Dense([1, 0])]
    example = Example([Event(shared, targets) for _ in range(3)])
    assert read(";6 [0-2 4] I: 0 1 0 I: 1 0 1 T: 1 0;") == built(
        Example(
            [*example.events, Event(), Event(shared, targets), Event([1, 0, 1])],
        )
    )
    blocks = "I: 1 0 0 I: 0 1 0 I: 0 0 1 T: 0 1 T: 1 0 T: 1 1;"
    mixed = "I: 1 0 0 T: 0 1 I: 0 1 0 T: 1 0 I: 0 0 1 T: 1 1;"
    assert read(";3 " + blocks) == read(";3 " + mixed)
    assert read(";2 [max: 3] [0] I: 1 0 0 I: 1 0 T: 0 1 T: 1 1;") == built(
        Example([Event([1, 0, 0], [0, 1], max_time=3), Event([1, 0], [1, 1], max_time=3)])
    )


def test_manual_first_in_a_file_loses_its_number_of_events() -> None:
    with pytest.raises(FormatError, match="event 2 is out of range") as caught:
        read("6 [0-2 4] I: 0 1 0 I: 1 0 1 T: 1 0;")
    assert "Lens ignores `6` at the start of the file" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "inputs", "fields"),
    [
        ("[0 max:3.5 min:1]", None, {"max_time": 3.5, "min_time": 1}),
        ("[* defI:-1]", None, {"default_input": -1}),
        ("[defI:-1]", None, {"default_input": -1}),
        (
            "I: (input2 3) 0.1 0.2 0.3 (2) 0.4",
            [Dense([0.1, 0.2, 0.3], 3, "input2"), Dense([0.4], 2)],
            {},
        ),
        ("I: () 2 3", [2, 3], {}),
        ("I: {1.0} 0 2 4-6 {-1.0} 1-3", [Sparse([0, 2, (4, 6)], 1), Sparse([(1, 3)], -1)], {}),
        ("I: {} 0 3", Sparse([0, 3]), {}),
        ("i: {} 0 3", Sparse([0, 3]), {}),
        ("i: 0 3", Sparse([0, 3]), {}),
        (
            "[defI:- actI:1] i: 0-3 5 8 {2.0} 4 9-11",
            [Sparse([(0, 3), 5, 8]), Sparse([4, (9, 11)], 2)],
            {"default_input": NAN},
        ),
    ],
)
def test_manual_fragments(text: str, inputs: RangeLike, fields: dict[str, float]) -> None:
    assert read(text + ";") == built(one(inputs, **fields))
    assert read(text.replace("I:", "T:").replace("i:", "t:") + ";").num_events == 1


def test_manual_no_targets() -> None:
    assert read("T:{-}*;") == built(one(targets=Sparse("*", NAN)))


# Rules beyond the manual page.


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("3 2\nI:1 0;", "I:1 0;"),
        ("7 7 2 I:1 I:0;", ";2 I:1 I:0;"),
        ("-5 I:1;", "I:1;"),
        ("max:2 max:3;I:1;", "max:3;I:1;"),
        ("max:;I:1;", "max:-;I:1;"),
        ("max:[0]I:1;", "max:-;I:1;"),
        ("max:-[0]I:1;", "max:-;I:1;"),
        ("freq:;", "freq:nan;"),
        ("freq:[0]I:1;", "freq:- [0]I:1;"),
        (";[max:]I:1;", "I:1;"),
        (";[max:-]I:1;", "I:1;"),
        ("max:inf;I:1;", "max:1e999;I:1;"),
        ("max:+.5e+0;I:1;", "max:0x.8;I:1;"),
        ("max:2min:1;I:1T:2;", "max:2 min:1; I: 1 T: 2;"),
        (";[proc:]I:1;", "I:1;"),
        (";2 [0 proc:{a}][0 proc:{}];", ";2 ;"),
        (";[max:2][max:-]I:1;", "I:1;"),
        (";[defI:0 actI:1 defT:0 actT:1]I:1;", "I:1;"),
        ("I:1-2.5.5;", "I:1 -2.5 .5;"),
        ("I:1e T:2;", "I:1 T:2;"),
        ("I:(1g)5;", "I:(g 1)5;"),
        ('I:("g h" 1)5;', "I:(1 {g h})5;"),
        ("I:(g h)5;", "I:(h)5;"),
        ('I:{g ""}5;', "I:{g}5;"),
        ('I:{g "\n#c\n"}5;', "I:{g}5;"),
        ("I:{{} g}5;", "I:{g}5;"),
        ("I:(2 3)5;", "I:(3)5;"),
        ('i:{-"g"}1;', "i:{g}1;"),
        ("i:{-.}1;", "i:{{-.}}1;"),
        ("i:{.}1;", "i:{{.}}1;"),
        ("i:{--1}1;", "i:{{--1}}1;"),
        ("i:{- g}1;", "i:{g -}1;"),
        ("i:3-0;", "i:3 0;"),
        ("i:4 -6;", "i:4-6;"),
        (";3 [* 1]I:1;", ";3 []I:1;"),
        (";4 [1 - 3]I:1;", ";4 [1-3]I:1;"),
        (";4 [1-+3]I:1;", ";4 [1-3]I:1;"),
        (";2 [1-1 0]I:1;", None),
        (";3 [0-1 1-2]I:1;", ";3 [0-2]I:1;"),
        (";2 [1] I:1 [0] I:2 T:3;", ";2 [0] I:2 T:3 [1] I:1;"),
        (";2 [0] I: [0] I:1;", ";2 I:1;"),
        (";2 I: I:1;", ";2 [1] I:1;"),
        (";2 B: B:1;", ";2 [1] B:1;"),
        ("name:a name:b I:1;", "name:b I:1;"),
        ("name:{}I:1;", 'name:""I:1;'),
        ("name:(p q)I:1;", "name:[p q]I:1;"),
        ("name:{a\\} b}I:1;", 'name:"a\\} b"I:1;'),
        ("name:{a\r\nb\rc}I:1;", "name:{a\nb\nc}I:1;"),
        ("name:{\n\n\na}I:1;", "name:a I:1;"),
        ("name:{a\n#c }\nb}I:1;", "name:{a\nb}I:1;"),
        ("#c\n \t\f\v\r\nI:\n#d\n1;#", None),
        ("#c\n \t\f\v\r\nI:\n#d\n1;", "I:1;"),
        ("proc:{p}I:1;proc:{q}I:2;", "proc:{p};I:1;proc:{q}I:2;"),
    ],
)
def test_means_the_same(text: str, same: str | None) -> None:
    if same is None:
        with pytest.raises(FormatError):
            read(text)
    else:
        assert read(text) == read(same)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("name:{a\nb\n} I:1;", b"a\nb\n"),
        ("name:{ \na} I:1;", b" \na"),
        ("name:{a\\\n} b} I:1;", b"a\\\n} b"),
        ("name:{a\\\n\n#}\n} b} I:1;", b"a\\\n\n} b"),
        ("name:{a\\\\} I:1;", b"a\\\\"),
        ("name:it's I:1;", b"it's"),
        ('name:"a {b "c" d} e" I:1;', b'a {b "c" d} e'),
        ('name:{a "b {c}" d} I:1;', b'a "b {c}" d'),
        ("name:abc; I:1;", b"abc;"),
        ("name:#abc I:1;", b"#abc"),
        ("name:12 I:1;", b"12"),
    ],
)
def test_strings(text: str, name: bytes) -> None:
    assert read(text).name[0] == name


def test_strings_keep_their_bytes() -> None:
    raw = bytes(byte for byte in range(1, 256) if byte not in b'\r\n{}()[]"\\')
    assert read(b"name:{" + raw + b"} I:1;").name[0] == raw


def test_steps_have_the_numbers_of_their_names_and_notes_the_codes_of_findings() -> None:
    for number, name in enumerate(steps.STEPS[2 * steps.NUM_REALS :], 2 * steps.NUM_REALS):
        assert getattr(steps, name.upper()) == number
    assert {note.code for note in steps.Note} <= RULES.keys()


def test_a_field_without_a_value_ends_the_header() -> None:
    """A proc after it is the example's."""
    text = b"max:; proc: {set a 1} I: 1;"
    examples = parse(Source("a.ex", text))
    assert examples.header.proc is None and list(examples.proc) == [b"set a 1"]
