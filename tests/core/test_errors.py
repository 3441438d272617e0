"""Findings and errors: their text, places, copies and counts."""

import copy
import json
import pickle
import unicodedata
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.core.errors import (
    MOST_ERRORS,
    STOPPED,
    Finding,
    Findings,
    FormatError,
    FormatWarning,
    LimitError,
    Place,
    Severity,
)
from exset.core.source import Source, Span
from exset.core.text import safe

DANGEROUS = {
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    *map(chr, range(0xD800, 0xE000)),
}
any_text = st.text(st.characters() | st.sampled_from(sorted(DANGEROUS)))


def shown(content: bytes, start: int, end: int) -> list[str]:
    """Return the lines of an error about a span, without the message."""
    error = FormatError("m", source=Source("x", content), span=Span(start, end))
    return str(error).splitlines()[1:]


def pointed(line: str, carets: str) -> str:
    """Return what the carets of a row of plain, narrow text stand under."""
    return line[len(carets) - carets.count("^") : len(carets)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain é € 𝄞 \\", "plain é € 𝄞 \\"),
        ("a\tb\nc\r", r"a\x09b\x0ac\x0d"),
        ("\x1b[31m\x07\x00", r"\x1b[31m\x07\x00"),
        ("\x7f\x80\x9b", r"\x7f\x80\x9b"),
        ("\u202e\u2066\u200f\u2028", r"\u202e\u2066\u200f\u2028"),
        ("\udcff\udc80", r"\xff\x80"),
        ("\ud800\udfff", r"\ud800\udfff"),
    ],
)
def test_safe(text: str, expected: str) -> None:
    assert safe(text) == expected


@given(any_text)
def test_safe_text_has_nothing_dangerous_and_can_be_encoded(text: str) -> None:
    result = safe(text)
    assert not DANGEROUS & set(result)
    result.encode()
    assert safe(result) == result
    assert result == "".join(map(safe, text))


@given(st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"])))
def test_safe_leaves_ordinary_text_alone(text: str) -> None:
    assert safe(text) == text


@pytest.mark.parametrize(
    ("content", "start", "end", "expected"),
    [
        (b"abc def", 4, 7, ["abc def", "    ^^^"]),
        (b"abc", 1, 1, ["abc", " ^"]),
        (b"abc", 3, 3, ["abc", "   ^"]),
        (b"", 0, 0, []),
        (b"a\n \t\n", 2, 3, []),
        (b"one\ntwo three\n", 8, 13, ["two three", "    ^^^^^"]),
        (b"one\r\ntwo", 3, 5, ["one", "   ^"]),
        (b"one\r\ntwo", 4, 5, ["one", "   ^"]),
        (b"one two\nthree", 4, 13, ["one two", "    ^^^"]),
        (b"\tx\ty", 1, 2, ["        x       y", "        ^"]),
        (b"\tx\ty", 0, 1, ["        x       y", "^^^^^^^^"]),
        (b"ab\tx", 3, 4, ["ab      x", "        ^"]),
        ("é€ x".encode(), 6, 7, ["é€ x", "   ^"]),
        ("é€ x".encode(), 2, 5, ["é€ x", " ^"]),
        ("é€ x".encode(), 3, 5, ["é€ x", " ^"]),
        ("日本 x".encode(), 7, 8, ["日本 x", "     ^"]),
        ("日本 x".encode(), 3, 6, ["日本 x", "  ^^"]),
        ("e\u0301 x".encode(), 4, 5, ["e\u0301 x", "  ^"]),
        (b"\xff\xfe x", 3, 4, [r"\xff\xfe x", "         ^"]),
        (b"\xff\xfe x", 1, 2, [r"\xff\xfe x", "    ^^^^"]),
        (b"\xff\xfe x", 0, 2, [r"\xff\xfe x", "^^^^^^^^"]),
        (b"a\x1bb", 1, 2, [r"a\x1bb", " ^^^^"]),
    ],
)
def test_carets(content: bytes, start: int, end: int, expected: list[str]) -> None:
    assert shown(content, start, end) == expected


@pytest.mark.parametrize("before", [0, 10, 49, 50, 51, 99, 100, 101, 5000])
@pytest.mark.parametrize("after", [0, 10, 49, 50, 51, 99, 100, 5000])
@pytest.mark.parametrize("word", ["MARK", "MÄRK"])
def test_a_long_line_is_cut_around_its_caret(before: int, after: int, word: str) -> None:
    start = len(("ü" * before).encode())
    content = ("ü" * before + word + "ü" * after).encode()
    line, carets = shown(content, start, start + len(word.encode()))
    assert pointed(line, carets) == word
    assert min(before + after + 4, 100) <= len(line) <= 106
    assert line.startswith("...") or line.startswith("ü" * before + word)
    assert line.endswith("...") or line.endswith(word + "ü" * after)
    assert (before + after + 4 <= 100) == ("..." not in line)


def test_a_part_of_a_line_is_shown_as_one() -> None:
    place = Place("x", Span(304, 307), 1, 205, "abc def", text_column=201)
    error = FormatError("m", place=place)
    assert str(error).splitlines() == ["x:1:205: m [syntax]", "...abc def", "       ^^^"]


def test_a_long_span_is_marked_as_far_as_it_is_shown() -> None:
    line, carets = shown(b"x" * 9000, 4000, 8000)
    assert pointed(line, carets) + "..." == line[53:]


pieces = st.sampled_from(["a", "\t", "é", "日", "\x1b", "\udcff", "e\u0301", "\n", "\r\n", " "])
parts = st.lists(pieces, max_size=300).map("".join)


@given(parts, parts)
def test_the_caret_stands_below_the_first_character_of_the_span(before: str, after: str) -> None:
    start = len(before.encode("utf-8", "surrogateescape"))
    content = f"{before}M{after}".encode("utf-8", "surrogateescape")
    line, caret = shown(content, start, start + 1)
    assert caret == " " * sum(map(cell_width, line[: line.index("M")])) + "^"


def cell_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) == "W" else 1


SOURCE = Source("dir/x.ex", b"name: {a}\n  1 2 \x1bthree;\n")
TEXT = Place.in_text(SOURCE, Span(16, 17))
FIELD = "examples[3].inputs[0].range_numUnits"


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (TEXT, "dir/x.ex:2:7"),
        (Place("x", line=4), "x:4"),
        (Place.in_bytes(SOURCE, 12, FIELD), f"dir/x.ex: byte 12 ({FIELD})"),
        (Place.in_bytes(SOURCE, 12), "dir/x.ex: byte 12"),
        (Place("x", field="a.b"), "x: (a.b)"),
        (Place("x\x1b\n"), r"x\x1b\x0a"),
        (Place.in_bytes(Source("\x9b", b""), 0, "\x07"), r"\x9b: byte 0 (\x07)"),
    ],
)
def test_place_as_text(place: Place, expected: str) -> None:
    assert str(place) == expected


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (Finding("c", Severity.NOTE, "just so"), "just so [c]"),
        (Finding("c", Severity.NOTE, "bad \x1b", None, "do\n"), "bad \\x1b [c]\n  hint: do\\x0a"),
        (
            Finding("lens-x", Severity.WARNING, "bad byte", TEXT, "take it out"),
            "dir/x.ex:2:7: bad byte [lens-x]\n  1 2 \\x1bthree;\n      ^^^^\n  hint: take it out",
        ),
        (
            Finding("c", Severity.ERROR, "too few", Place.in_bytes(SOURCE, 3, "a")),
            "dir/x.ex: byte 3 (a): too few [c]",
        ),
    ],
)
def test_finding_as_text(finding: Finding, expected: str) -> None:
    assert str(finding) == expected


@given(any_text, any_text, any_text, st.binary(max_size=200))
def test_findings_are_escaped(name: str, message: str, hint: str, content: bytes) -> None:
    place = Place.in_text(Source(name, content), Span(len(content) // 2, len(content)))
    printed = str(Finding("c", Severity.ERROR, message, place, hint))
    assert not (DANGEROUS - {"\n"}) & set(printed)
    assert printed.count("\n") == (3 if (place.text or "").strip(" \t") else 1)


@given(any_text, any_text)
def test_finding_as_json(name: str, message: str) -> None:
    place = Place.in_bytes(Source(name, b""), 7, message)
    finding = Finding("c", Severity.WARNING, message, place)
    text = json.dumps(finding.to_dict(), ensure_ascii=False)
    text.encode()
    assert json.loads(text) == {
        "code": "c",
        "severity": "warning",
        "message": safe(message),
        "hint": None,
        "place": {
            "source": safe(name),
            "start": 7,
            "end": 7,
            "line": None,
            "column": None,
            "field": safe(message),
            "name": None,
        },
    }


def test_place_of_an_error() -> None:
    assert FormatError("m").place is None
    assert FormatError("m", source=SOURCE).place == Place("dir/x.ex")
    assert FormatError("m", source=SOURCE, span=Span(16, 17)).place == TEXT
    assert FormatError("m", place=TEXT).place is TEXT
    field = FormatError("m", place=Place("dir/x.ex", field="a"))
    assert str(field) == "dir/x.ex: (a): m [syntax]"
    named = Place("dir/x.ex", field="a", name="red\ncat")
    assert str(named) == 'dir/x.ex: "red\\x0acat" (a)'
    assert named.to_dict()["name"] == "red\\x0acat"


def test_attributes_of_an_error() -> None:
    error = FormatError("m", code="lens-x", hint="h", place=TEXT)
    assert (error.message, error.code, error.hint, error.place) == ("m", "lens-x", "h", TEXT)
    assert error.finding == Finding("lens-x", Severity.ERROR, "m", TEXT, "h")
    assert str(error) == str(error.finding)
    assert FormatError("m").code == "syntax"
    assert LimitError("m").code == "limit"
    assert LimitError("m", code="other").code == "other"
    assert issubclass(LimitError, FormatError)
    assert issubclass(FormatError, ValueError)
    assert issubclass(FormatWarning, UserWarning)


ERRORS = [
    FormatError("m"),
    FormatError("m", source=SOURCE, span=Span(16, 17), hint="h", code="lens-x"),
    LimitError("m", place=Place("dir/x.ex", Span(1, 1), field="a")),
    FormatError.of(Finding("w", Severity.WARNING, "careful", TEXT, "h")),
]


@pytest.mark.parametrize("error", ERRORS, ids=repr)
@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))]
)
def test_errors_are_copied_and_pickled(
    error: FormatError, twin: Callable[[FormatError], FormatError]
) -> None:
    error.add_note("seen")
    other = twin(error)
    assert type(other) is type(error)
    assert other is not error
    assert other.finding == error.finding
    assert str(other) == str(error)
    assert other.__notes__ == error.__notes__


def finding(code: str = "c", severity: Severity = Severity.WARNING) -> Finding:
    return Finding(code, severity, "m")


severities = st.sampled_from(Severity)
findings = st.lists(st.builds(finding, st.sampled_from("abc"), severities), max_size=30)


@given(findings, st.integers(0, 5))
def test_the_first_of_each_code_are_kept_and_all_are_counted(
    added: list[Finding], keep: int
) -> None:
    collected = Findings(keep=keep)
    for item in added:
        collected.add(item)
    for code in "abc":
        alike = [item for item in added if item.code == code]
        assert collected.count(code) == len(alike)
        assert [item for item in collected if item.code == code] == alike[:keep]
    assert collected.count() == len(added)
    assert len(collected) == len(list(collected))
    kept = iter(added)
    assert all(item in kept for item in collected)  # in the order in which they came
    ranks = [Severity.ERROR, Severity.WARNING, Severity.NOTE]
    assert collected.worst == next(
        (rank for rank in ranks if any(item.severity == rank for item in added)), None
    )


def test_default_number_of_kept_findings() -> None:
    collected = Findings()
    for _ in range(250):
        collected.add(finding())
    assert (len(collected), collected.count("c")) == (100, 250)
    assert repr(collected) == "<Findings: 250, worst warning>"
    assert repr(Findings()) == "<Findings: 0, worst none>"


def test_one_finding_may_represent_many() -> None:
    collected = Findings(keep=2)
    collected.add(finding(), times=3)
    collected.add(finding())
    assert (len(collected), collected.count("c"), collected.count()) == (1, 4, 4)


@pytest.mark.parametrize(
    ("severity", "hint"),
    [(Severity.WARNING, "strict=True makes this warning an error"), (Severity.ERROR, None)],
)
def test_strict_findings_raise(severity: Severity, hint: str | None) -> None:
    strict = Findings(strict=True)
    strict.add(finding("n", Severity.NOTE))
    bad = finding("b", severity)
    with pytest.raises(FormatError) as caught:
        strict.add(bad)
    assert caught.value.finding == replace(bad, hint=hint)
    assert [item.code for item in strict] == ["n"]
    assert strict.count("b") == 0


def test_a_hint_has_the_words_of_python_and_of_the_command_line() -> None:
    hint = "drop it with <--lossy or lossy=True>, or <exset convert --dialect head or ...>"
    error = FormatError("m", hint=hint)
    assert error.hint == "drop it with lossy=True, or ..." and "lossy=True" in str(error)
    again = pickle.loads(pickle.dumps(error)).finding
    assert again == error.finding and again.hint == error.hint
    shown = again.for_command_line()
    assert shown.hint == "drop it with --lossy, or exset convert --dialect head"
    assert shown.for_command_line() == shown


def test_findings_are_sorted_by_their_places() -> None:
    found = Findings()
    sources = [Source("a", b"x\ny\n"), Source("b", b"z")]
    places = [
        Place.in_text(sources[0], Span(2, 3)),
        Place.in_text(sources[1], Span(0, 1)),
        Place.in_text(sources[0], Span(0, 1)),
        Place("a"),
        None,
    ]
    for number, place in enumerate(places):
        found.add(Finding("c", Severity.NOTE, str(number), place))
    found.sort()
    assert [finding.message for finding in found] == ["3", "2", "0", "1", "4"]


def test_an_error_has_a_limited_number_of_later_errors() -> None:
    error = FormatError("first", code="c")
    assert [error.add(Finding("c", Severity.ERROR, "later")) for _ in range(30)].count(True) == 19
    assert error.findings.count() == MOST_ERRORS and error.findings.stopped
    for again in (pickle.loads(pickle.dumps(error)), error.changed(lambda finding: finding)):
        assert again.findings.stopped and str(again).endswith(f": {STOPPED})")
    found = Findings()
    found.add_all(error.findings)
    assert found.stopped


def test_an_error_with_just_the_most_errors_has_no_others() -> None:
    error = FormatError("first", code="c")
    assert all(error.add(Finding("c", Severity.ERROR, "later")) for _ in range(MOST_ERRORS - 1))
    assert not error.findings.stopped and STOPPED not in str(error)
