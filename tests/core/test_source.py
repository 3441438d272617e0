"""Positions in a source: lines, columns, and the text around a place."""

import copy
import pickle
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.core import source as module
from exset.core.source import Source, Span

# Whole, cut, overlong and stray UTF-8, and every line end.
PIECES = [
    *(b"a", b" ", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\x7f"),
    *("é".encode(), "€".encode(), "𝄞".encode(), "\ufeff".encode(), "e\u0301".encode()),
    *(b"\xc3", b"\xe2\x82", b"\xf0\x9d\x84", b"\x80", b"\xff", b"\xc0\x80", b"\xed\xa0\x80"),
    *(b"\x84\x84\x84\x84\x84", b"\xf4\x90\x80\x80"),
]
data = st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join) | st.binary(max_size=60)


def model(content: bytes) -> list[tuple[int, int]]:
    """Return the position of every offset, one character after another."""
    places = []
    line, column = 1, 1
    text = content.decode("utf-8", "surrogateescape")
    for index, char in enumerate(text):
        places += [(line, column)] * len(char.encode("utf-8", "surrogateescape"))
        column += 1
        if char == "\n" or (char == "\r" and text[index + 1 : index + 2] != "\n"):
            line, column = line + 1, 1
    return [*places, (line, column)]


def lines(content: bytes) -> list[str]:
    text = content.decode("utf-8", "surrogateescape")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@pytest.mark.parametrize(
    ("content", "offset", "position", "line"),
    [
        (b"", 0, (1, 1), ""),
        (b"ab", 2, (1, 3), "ab"),
        (b"a\nb", 1, (1, 2), "a"),
        (b"a\nb", 2, (2, 1), "b"),
        (b"a\r\nb", 1, (1, 2), "a"),
        (b"a\r\nb", 2, (1, 3), "a"),
        (b"a\r\nb", 3, (2, 1), "b"),
        (b"a\rb", 2, (2, 1), "b"),
        (b"a\n\rb", 3, (3, 1), "b"),
        (b"a\n", 2, (2, 1), ""),
        (b"\tx", 1, (1, 2), "\tx"),
        ("aéb".encode(), 1, (1, 2), "aéb"),
        ("aéb".encode(), 2, (1, 2), "aéb"),
        ("aéb".encode(), 3, (1, 3), "aéb"),
        (b"\xff\xfeb", 2, (1, 3), "\udcff\udcfeb"),
    ],
)
def test_position_and_line(
    content: bytes, offset: int, position: tuple[int, int], line: str
) -> None:
    source = Source("x", content)
    assert source.position(offset) == position
    assert line_at(source, offset) == line


@given(data, st.integers(1, 9))
def test_positions_are_those_of_reading_on_from_the_start(content: bytes, block: int) -> None:
    with patch.object(module, "_BLOCK", block):
        source = Source("x", content)
        assert [source.position(at) for at in range(len(content) + 1)] == model(content)


def line_at(source: Source, offset: int) -> str:
    return source.around(offset, 1 << 20)[0]


@given(data)
def test_line_is_the_one_that_position_names(content: bytes) -> None:
    source = Source("x", content)
    for at in range(len(content) + 1):
        assert line_at(source, at) == lines(content)[source.position(at)[0] - 1]


@given(data, st.integers(4, 30))
def test_around_is_a_part_of_the_line(content: bytes, reach: int) -> None:
    source = Source("x", content)
    for at in range(len(content) + 1):
        text, first = source.around(at, reach)
        line, column = line_at(source, at), source.position(at)[1]
        assert line[first - 1 :].startswith(text)
        assert first <= column
        assert len(text.encode("utf-8", "surrogateescape")) <= 2 * reach + 3
        if len(line.encode("utf-8", "surrogateescape")) + len("\r\n") <= reach:
            assert (text, first) == (line, 1)
        # The place itself is in it, or just after the line.
        assert column - first < len(text) or column > len(line)


def test_a_long_line_is_not_decoded_again_for_every_position() -> None:
    source = Source("x", "é".encode() * 100_000 + b"a" * 100_000)
    decoded = 0

    def counting(content: bytes) -> str:
        nonlocal decoded
        decoded += len(content)
        return content.decode("utf-8", "surrogateescape")

    with patch.object(module, "_decode", counting):
        assert source.position(300_000) == (1, 200_001)
        decoded = 0
        for at in range(0, 300_000, 1000):
            source.position(at)
            source.around(at, 400)
    assert decoded < 300 * 10 * 4096


@pytest.mark.parametrize("offset", [-1, 4])
def test_outside_is_refused(offset: int) -> None:
    source = Source("x", b"abc")
    for method in (source.position, lambda at: source.around(at, 9)):
        with pytest.raises(ValueError, match="outside 0-3"):
            method(offset)


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (2, 1)])
def test_span_is_checked(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=f"from {start} to {end}"):
        Span(start, end)


def test_values_are_copied_compared_and_shown_without_the_data() -> None:
    source = Source("x.ex", b"one\ntwo")
    assert source.position(5) == (2, 2)
    for twin in (copy.deepcopy(source), pickle.loads(pickle.dumps(source))):
        assert twin == source
        assert twin.position(5) == (2, 2)
    assert repr(source) == "Source(name='x.ex')"
    assert Span(1, 2) == Span(1, 2) != Span(1, 3)


@given(
    st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", "ä".encode(), "€".encode(), b"\xff"])),
    st.data(),
)
def test_a_part_has_the_places_of_the_whole(parts: list[bytes], data: st.DataObject) -> None:
    whole = Source("x", b"".join(parts))
    known, first = Source("x", b""), 0
    for part in parts:
        first = data.draw(st.integers(first, known.end))
        known = known.moved(first, part)
        assert first - 3 <= known.start <= first
        assert known.data == whole.data[known.start : known.end]
    for offset in range(first, known.end + 1):
        assert known.position(offset) == whole.position(offset)
        if known.first_column == 1:
            assert line_at(known, offset) == line_at(whole, offset)
            assert known.around(offset, 3) == whole.around(offset, 3)
