"""Laws that bind the text and the binary form of Lens examples, for any set and any bytes."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.codecs.lens.bex import decode, encode
from exset.core.errors import FormatError
from exset.core.source import Source
from exset.grammars.lens.examples import ExampleSet
from exset.parsers.lens.parse import parse
from exset.parsers.lens.render import render
from exset.testing import example_sets
from tests.peaks import at_most

MIB = 1 << 20


def read(data: bytes) -> ExampleSet:
    source = Source("test", data)
    return decode(source) if data.startswith(b"\xaa\xaa\xaa\xaa") else parse(source)


@given(example_sets(text=True, binary=False))
def test_text_reads_back(examples: ExampleSet) -> None:
    text = render(examples)
    assert read(text) == examples
    assert render(read(text)) == text


@given(example_sets(text=False, binary=True))
def test_binary_reads_back(examples: ExampleSet) -> None:
    data = encode(examples)
    assert read(data) == examples
    assert encode(read(data)) == data


@given(example_sets(text=True, binary=True))
def test_text_and_binary_are_the_same_set(examples: ExampleSet) -> None:
    assert read(encode(read(render(examples)))) == examples
    assert read(render(read(encode(examples)))) == examples


@given(example_sets(text=True, binary=True), st.booleans(), st.data())
def test_damaged_files_give_a_set_or_an_error(
    examples: ExampleSet, binary: bool, data: st.DataObject
) -> None:
    whole = encode(examples) if binary else render(examples)
    at = data.draw(st.integers(0, len(whole)))
    match data.draw(st.sampled_from(["cut", "replace", "insert", "repeat"])):
        case "cut":
            damaged = whole[:at]
        case "replace":
            damaged = whole[:at] + data.draw(st.binary(max_size=4)) + whole[at + 1 :]
        case "insert":
            odd = st.sampled_from([b"{", b"}", b'"', b"[", b";", b"-", b"\\", b"#", b"\0", b"99"])
            damaged = whole[:at] + data.draw(odd | st.binary(max_size=8)) + whole[at:]
        case _:
            end = data.draw(st.integers(at, len(whole)))
            damaged = whole[:at] + whole[at:end] * 3 + whole[end:]
    assert_bounded(damaged)


def assert_bounded(data: bytes) -> None:
    """Reading gives a set or a FormatError, and takes little memory whatever the bytes say."""
    with at_most(64 * MIB), suppress(FormatError):
        read(data)


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_give_a_set_or_an_error(data: bytes, binary: bool) -> None:
    assert_bounded(b"\xaa\xaa\xaa\xaa\0\0\0\4" + data if binary else data)


HOSTILE = {
    "many events": b"name:a 1000000;",
    "more events than allowed": b";2000000000;",
    "many lists of all events": b";100000" + b"[*max:1]" * 2000 + b";",
    "deep nesting": b"name:" + b"{" * 20_000 + b"}" * 20_000 + b";",
    "unclosed nesting": b"name:" + b"{[(" * 10_000,
    "quotation marks": b"name:" + b'"' * 20_001,
    "backslashes": b"name:{" + b"\\" * 20_001 + b"} I:1;",
    "escaped breaks": b"name:{\\" + b"\r\n" * 10_000,
    "escaped comments": b"name:{\\" + b"\r\n#" * 10_000,
    "comments": b"#\n" * 20_000,
    "breaks in a name": b"name:{" + b"\n" * 20_000 + b"} I:1;",
    "semicolons": b";" * 20_000,
    "dashes": b"I:" + b"-" * 20_000 + b";",
    "digits": b"I:" + b"9" * 90_000 + b";",
    "small digits": b"I:0." + b"0" * 90_000 + b"1e90000;",
    "exponent": b"I:1e" + b"9" * 90_000 + b";",
    "hexadecimal": b"I:0x" + b"f" * 90_000 + b"p" + b"9" * 1000 + b";",
    "long integer": b"i:" + b"9" * 90_000 + b";",
    "many groups": b"I:" + b"".join(b"(g%d)" % n for n in range(5000)) + b";",
    "stars": b"[" + b"*" * 20_000 + b"];",
    "blanks": b"I:" + b" \t\r\n" * 20_000 + b";",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts(name: str) -> None:
    assert_bounded(HOSTILE[name])
