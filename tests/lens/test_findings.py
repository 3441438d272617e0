"""What is said of Lens texts: traps, errors with their places and hints, limits."""

import pytest

from exset.core.errors import Findings, FormatError, LimitError
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.lens.examples import ExampleSet
from exset.parsers.lens.parse import parse


def read(text: str | bytes, findings: Findings | None = None) -> ExampleSet:
    data = text.encode() if isinstance(text, str) else text
    return parse(Source("test.ex", data), findings=findings)


def codes(text: str | bytes) -> list[str]:
    findings = Findings()
    read(text, findings)
    return [finding.code for finding in findings]


DENSE_XOR = "I:0 0 T:0;\nI:0 1 T:1;\nI:1 0 T:1;\nI:1 1 T:0;\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("5 I:1;", "lens-eaten-count"),
        ("5 5 I:1;", "lens-old-counts"),
        ("max:;I:1;", "lens-missing-value"),
        ("freq:;I:1;", "lens-missing-value"),
        ("max:1 max:2;I:1;", "lens-repeated-field"),
        ("freq:1 freq:2 I:1;", "lens-repeated-field"),
        ("I:1;;", "lens-empty-example"),
        ("proc:{x};I:1;", "lens-set-proc"),
        ("I:1 0;\nT:1;\nI:0 1;\nT:0;", "lens-split-examples"),
        ("name:{}I:1;", "lens-empty-name"),
        ("freq:-1 I:1;", "lens-negative-frequency"),
        ("name:a; I:1;", "lens-bare-word"),
        ("name:aI: I:1;", "lens-bare-word"),
        ("name:{\0}I:1;", "lens-nul"),
        ("name:" + "n" * 5000 + " I:1;", "lens-refuses"),
        ("i:{nan}1;", "lens-group-number"),
        (";2 [0 max:1 max:2];", "lens-repeated-field"),
        (";2 [* 1]I:1;", "lens-every-event"),
        (";i:1[actI:2];", "lens-late-active"),
        (";t:1[actT:2];", "lens-late-active"),
        (";2 [0 actI:5][1 actI:7][0-1]i:3;", "lens-shared-active"),
        (";3 [1]T:1 B:2;", "lens-both-apart"),
        ("actI:2;b:0;", "lens-both-active"),
        ("I:;", "lens-no-ranges"),
        ("I:();", "lens-empty-range"),
        ("I:(g h)1;", "lens-group-twice"),
        ("I:(1 2)1;", "lens-value-twice"),
        ("i:{1 2}1;", "lens-value-twice"),
        ("I:(-1)1;", "lens-negative-first"),
        ("i:3-0;", "lens-zero-span"),
        ("i:4 -6;", "lens-blank-span"),
        ("i:1-3-5;", "lens-span-chain"),
        ("I:1.5.5;", "lens-glued-numbers"),
        ("I:1e;", "lens-number-tail"),
        ("I:1e99;", "lens-overflow"),
        ("\ufeffI:1;", "lens-refuses"),
        (";;", "lens-refuses"),
        (" ;\r\n", "lens-refuses"),
        ("\r\n;\r\n", "lens-refuses"),
        ("".join(f"I:({name})1;" for name in "abcdefghijklm"), "lens-refuses"),
    ],
)
def test_findings(text: str, code: str) -> None:
    assert code in codes(text)
    kept = codes(text)
    assert kept.count(code) == len([each for each in kept if each == code]) <= 2


@pytest.mark.parametrize(
    "text",
    [
        DENSE_XOR,
        "name:{a b} freq:2 I:1 - 0x1F T:(g 3)1 {h 2}*;",
        ";3 [0-1 max:2]I:1 [2]B:2;i:1 4-6 {2}8;",
        "".join(f"I:({name})1;" for name in "abcdefghijkl"),
    ],
)
def test_sound_texts_have_no_findings(text: str) -> None:
    assert codes(text) == []


def test_split_examples_have_one_finding_at_their_first_semicolon() -> None:
    findings = Findings()
    pairs = "2 I: 1 I: 0;\nT: 1;\n" * 9
    read("max: 3;\n" + pairs, findings)
    [finding] = findings
    assert finding.code == "lens-split-examples" and finding.place is not None
    assert (finding.place.line, finding.place.column) == (2, 12)


@pytest.mark.parametrize(
    "text", ["I:1;\nT:1;\nI:1;", "T:1;\nI:1;", "I:1;\nI:1;", "T:1;\nT:1;", DENSE_XOR + "I:1;T:1;"]
)
def test_other_sets_are_not_split_examples(text: str) -> None:
    assert codes(text) == []


def test_many_findings_are_counted_but_not_all_kept() -> None:
    findings = Findings()
    read("I:1.5.5;" * 300, findings)
    assert findings.count("lens-glued-numbers") == 300
    assert len(findings) == findings.keep


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "the file is empty"),
        ("#abc", 1, 1, "Lens rejects a file of 4 bytes"),
        ("\r\n#ab", 2, 1, "Lens rejects a file of 4 bytes"),
        ("I: 1 @;", 1, 6, "found `@`"),
        ("I: 1\nT: 2 five;\n", 2, 6, "found `five`"),
        (";0 I:1;", 1, 2, "must be 1 or more"),
        (";2 [2] I:1;", 1, 5, "event 2 is out of range: example 0 has 2 events"),
        ("I:1;2[0-2]I:1;", 1, 9, "event 2 is out of range: example 1 has 2 events"),
        (";5 [3-1] I:1;", 1, 5, "ends at event 1"),
        ("I:1 I:2;", 1, 5, "for event 1, but example 0 has 1 event"),
        (";2 [0]I:1 [0]I:2;", 1, 14, "event 0 of example 0 already has inputs"),
        (";2 [1]T:1 [0-1]T:2;", 1, 16, "event 1 of example 0 already has targets"),
        ("i:-3;", 1, 3, "the span has no first unit"),
        ("i:5 3-2;", 1, 6, "its first unit is 3"),
        ("i:99999999999;", 1, 3, "does not fit in 32 bits"),
        ("I:(2147483648)1;", 1, 4, "does not fit in 32 bits"),
        ("name:\u732b @", 1, 8, "found `@`"),
        ("name:{" + "{" * 32, 1, 38, None),
    ],
)
def test_errors_have_places(text: str, line: int, column: int, message: str | None) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read(text)
    assert caught.value.place is not None
    if message:
        assert (caught.value.place.line, caught.value.place.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("I:1,2;", "by spaces only"),
        ("I:1 #c", "first column"),
        ("I:+1;", "without a plus sign"),
        ("I:nan;", "value as `-`"),
        ("I:1 name:a;", "before the data"),
        ("Name:a I:1;", "`name:`"),
        ("name :a I:1;", "without a space"),
        ("I:1", "ends with `;`"),
        ("I:-x;", "a dash means NaN only"),
        ("name:{a", "needs a closing bracket"),
        ("name:x;I:1;", "put a space after the name"),
        ("name:xI: 1.5;", "put a space after the name"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("name:{{}} I:1;", Limits(max_depth=1)),
        ("name:abc I:1;", Limits(max_name=2)),
        (";100 [*]I:1;", Limits(max_events=10)),
        (";2000000000 I:1;", Limits()),
        (";100 [*]I:1 [*]T:1;", Limits(max_expand=150)),
        (";100 [* max:1 min:2];", Limits(max_expand=150)),
    ],
)
def test_limits(text: str, limits: Limits) -> None:
    with pytest.raises(LimitError) as caught:
        parse(Source("test.ex", text.encode()), limits=limits)
    assert "limit" in (caught.value.hint or "")


def test_strict_makes_the_first_warning_an_error() -> None:
    with pytest.raises(FormatError) as caught:
        read("I:1;\ni:4 -6;\nI:1.5.5;", Findings(strict=True))
    assert caught.value.code == "lens-blank-span"
    assert caught.value.place is not None
    assert caught.value.place.line == 2
