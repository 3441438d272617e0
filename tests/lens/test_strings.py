"""Write strings and numbers as Lens text: delimiters, impossible strings, shortest decimals."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.core.errors import Findings, FormatError
from exset.core.source import Source
from exset.grammars.columns.strings import Strings
from exset.grammars.lens.build import Dense, Event, Example
from exset.grammars.lens.examples import ExampleSet, SetHeader
from exset.parsers.engine.numbers import float32s
from exset.parsers.lens.parse import parse
from exset.parsers.lens.render import render
from exset.parsers.lens.write_strings import are_in_braces, faults, quoted, without_faults
from exset.parsers.shared import numerals
from tests.lens.string_rules import text_can_hold


def read(text: bytes) -> ExampleSet:
    return parse(Source("x.ex", text))


@pytest.mark.parametrize(
    ("string", "lossy", "why"),
    [
        (b"a}", b"a?", "an unmatched }"),
        (b"({)}", b"?{?}", "it has an unmatched ("),
        (b'6"', b"6?", 'it has an unmatched "'),
        (b"a\\\\", None, ""),
        (b"a\\", None, ""),
        (b"\\", None, ""),
        (b";#\\", None, ""),
        (b"a b\\", b"a b?", "ends in a backslash"),
        (b"a\\\\\\\n", b"a\\\\?\n", "ends in a backslash"),
        (b"a\\\n}", None, ""),
        (b"a\\}", None, ""),
        (b"\na", b"?a", "begins with a line break"),
        (b"a\n#b\n #c", b"a\n?b\n #c", "begins with #"),
        (b"a\rb", b"a?b", "carriage return"),
        (b"a\0b", b"a?b", "NUL"),
        (b"{" * 31 + b"}" * 31, None, ""),
        (b"{" * 32 + b"}" * 32, b"{" * 31 + b"?" + b"}" * 31 + b"?", "nested too deeply"),
    ],
)
@pytest.mark.parametrize("field", ["name", "proc", "set proc", "event proc", "group"])
def test_strings(string: bytes, lossy: bytes | None, why: str, field: str) -> None:
    def holding(raw: bytes) -> ExampleSet:
        return ExampleSet.from_examples(
            [
                Example(
                    [
                        Event(
                            Dense([1], group=raw if field == "group" else None),
                            proc=raw if field == "event proc" else None,
                        )
                    ],
                    name=raw if field == "name" else None,
                    proc=raw if field == "proc" else None,
                )
            ],
            SetHeader(raw if field == "set proc" else None),
        )

    examples = holding(string)
    if lossy is None:
        assert read(render(examples)) == examples
        return
    with pytest.raises(FormatError, match=re.escape(why)) as caught:
        render(examples)
    place, hint = caught.value.place, caught.value.hint
    assert hint is not None and "lossy=True" in hint
    assert place is not None
    assert (
        place.field
        == {
            "name": "examples[0].name",
            "proc": "examples[0].proc",
            "set proc": "header.proc",
            "event proc": "examples[0].events[0].proc",
            "group": "examples[0].events[0].inputs[0].group",
        }[field]
    )
    findings = Findings()
    assert read(render(examples, lossy=True, findings=findings)) == holding(lossy)
    assert findings.count("lens-text-loss") == 1
    with pytest.raises(FormatError):
        render(examples, lossy=True, findings=Findings(strict=True))


@given(st.binary() | st.text('\\{}()[]"\n\r\0#a', max_size=40).map(str.encode))
def test_faults_are_what_text_cannot_say(raw: bytes) -> None:
    found = faults(raw)
    assert bool(found) == (not text_can_hold(raw))
    patched = without_faults(raw)
    assert text_can_hold(patched)
    assert {i for i, (a, b) in enumerate(zip(raw, patched, strict=True)) if a != b} == {
        at for at, _ in found if raw[at] != ord("?")
    }


@given(st.lists(st.none() | st.text("a1.\\ {", max_size=4).map(str.encode)))
def test_a_column_is_quoted_as_its_strings_are(rows: list[bytes | None]) -> None:
    expected = [raw is not None and quoted(raw) != raw for raw in rows]
    assert are_in_braces(Strings.of(rows)).tolist() == expected


@given(st.lists(st.floats(width=32)))
def test_decimals_read_back(values: list[float]) -> None:
    column = np.array(values, np.float32)
    back = float32s(numerals.reals(column))
    assert np.array_equal(back, column, equal_nan=True)
    assert np.array_equal(np.signbit(back[back == 0]), np.signbit(column[column == 0]))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (1e-4, "0.0001"),
        (1.5e-5, "1.5e-05"),
        (16777216, "16777216"),
        (9876543210, "9876543000"),
        (1e10, "1e+10"),
        (1.25e30, "1.25e+30"),
        (2.0**-149, "1e-45"),
        (123456.789, "123456.79"),
    ],
)
def test_decimals(value: float, text: str) -> None:
    assert numerals.reals(np.array([value, -value], np.float32)) == [
        text.encode(),
        b"-" + text.encode(),
    ]


@pytest.mark.parametrize("group", [b"1\\", b"-1\\", b".5\\", b"-.5\\", b"-;\\"])
def test_a_group_that_ends_in_a_backslash_must_not_look_like_a_number(group: bytes) -> None:
    assert faults(group, is_group=True)
    assert not faults(group)


@pytest.mark.parametrize("group", [b"-\\", b".\\", b"-.\\", b"-x\\", b"a1\\\\\\"])
def test_other_groups_that_end_in_a_backslash_are_words(group: bytes) -> None:
    examples = ExampleSet.from_examples([Example([Event(Dense([1], group=group))])])
    for compact in (False, True):
        assert read(render(examples, compact=compact)) == examples
