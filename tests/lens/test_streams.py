"""Reading part by part: the examples, errors and findings of the whole file, for any bytes."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exset.codecs.engine import ChunkReader, Fields, Layout
from exset.codecs.lens import bex as codec
from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.lens.examples import ExampleSet
from exset.io.blocks import Blocks
from exset.parsers.lens import parse as parser
from exset.parsers.lens.render import render
from exset.testing import example_sets
from tests.lens.bex_builder import RICH, dense, example, file, inputs, ints, listed, sets
from tests.lens.streams import Reader, Streamer, Told, pieces, streamed, whole
from tests.peaks import at_most

MIB = 1 << 20
ENGINES: list[Engine] = ["auto", "table", "reference"]
TEXT: tuple[Reader, Streamer] = (parser.parse, parser.stream)
BINARY: tuple[Reader, Streamer] = (codec.decode, codec.stream)


def assert_same(
    way: tuple[Reader, Streamer],
    data: bytes,
    size: int,
    limits: Limits = DEFAULT,
    engine: Engine = "auto",
) -> Told:
    read, stream = way
    for strict in (False, True):
        expected = whole(read, data, limits, engine, strict)
        found = streamed(stream, data, pieces(size), limits, engine, strict)
        if expected.error is None:
            assert found == expected
        else:
            assert replace(found, examples=None) == expected
    return found


@st.composite
def damaged(draw: st.DrawFn, binary: bool) -> bytes:
    """A file with something cut, replaced, put in or repeated, or none of that."""
    examples = draw(example_sets(text=not binary, binary=binary))
    data = codec.encode(examples) if binary else render(examples)
    at = draw(st.integers(0, len(data)))
    match draw(st.sampled_from(["not", "cut", "replace", "insert", "repeat"])):
        case "cut":
            return data[:at]
        case "replace":
            return data[:at] + draw(st.binary(max_size=4)) + data[at + 1 :]
        case "insert":
            odd = [b"{", b'"', b"[1]", b";", b";;\n", b"-", b"\\", b"\r\n#", b"\0", b"99", b"max:"]
            return data[:at] + draw(st.sampled_from(odd) | st.binary(max_size=8)) + data[at:]
        case "repeat":
            end = draw(st.integers(at, len(data)))
            return data[:at] + data[at:end] * 3 + data[end:]
        case _:
            return data


@given(damaged(binary=False), st.integers(1, 60))
def test_a_text_gives_what_the_whole_does(data: bytes, size: int) -> None:
    assert_same(TEXT, data, size)


@given(damaged(binary=True), st.integers(1, 60))
def test_a_binary_file_gives_what_the_whole_does(data: bytes, size: int) -> None:
    assert_same(BINARY, data, size)


@given(st.binary(max_size=120), st.integers(1, 30))
def test_any_bytes_give_what_the_whole_does(data: bytes, size: int) -> None:
    assert_same(TEXT, data, size)
    assert_same(BINARY, data, size)
    assert_same(BINARY, file()[:37] + data, size)


@given(st.lists(st.tuples(st.integers(0, len(RICH) - 1), st.integers(0, 255)), max_size=3))
def test_changed_anywhere(changes: list[tuple[int, int]]) -> None:
    data = bytearray(RICH)
    for at, byte in changes:
        data[at] = byte
    assert_same(BINARY, bytes(data), 9)


def test_cut_anywhere() -> None:
    for end in range(len(RICH)):
        assert_same(BINARY, RICH[:end], 50)
    text = b"max:2\n;\nname:{a\n#c\nb} 2 [0] I: 1 2 [*] t: 3-5;\r\n;\rfreq: ;\n{x"
    for end in range(len(text) + 1):
        assert_same(TEXT, text[:end], 4)


ODD_TEXTS = {
    "nothing": b"",
    "a comment of four bytes": b"#abc",
    "a comment of five bytes": b"#abc\n",
    "a byte order mark": b"\xef\xbb\xbfI: 1;\nI: x;",
    "a mark and nothing": b"\xef\xbb\xbf",
    "characters before an error": "name:{äöü€} I: 1;\nname:ü ä;".encode() + b"\xff",
    "a long line": b"name:" + b"\xc3\xa4" * 70_000 + b" I: 1; I: 2; I: @;" + b"x" * 3000,
    "a long line of examples": b"I: 1; t: 4 5 6; " * 30_000 + b"I: ,",
    "a name taken in": b"I: 1;\nname:a;\nI: 2;\nname:b; 3 ,;",
    "a long word": b"I: 1;\nI: " + b"x" * 5000 + b";",
    "many groups": b"".join(b"I: (g%d) 1;\n" % n for n in range(14)),
    "many traps": b"[max:] [max:] I: 1e99;\n" * 150,
    "traps, and an error": b"[max:] I: 1;\n" * 3
    + b"[1] I: 1;\n"
    + b"[max:] I: 2;\nI: (9999999999);",
    "errors of two kinds": b"I: 1;\n2 [2] I: 1;\ni: 99999999999;\nx",
    "lone carriage returns": b"I: 1;\rI: 2;\rI: x;\r",
    "split examples": b"max: 2;\n" + b"I: 1;\nT: 1;\n" * 300,
    "split examples, but for the last": b"I: 1;\nT: 1;\n" * 300 + b"I: 1;\n",
    "an example at the end": b"I: 1;\nI: 2",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ODD_TEXTS)
def test_odd_texts(name: str, engine: Engine) -> None:
    data = ODD_TEXTS[name]
    if engine != "reference" or len(data) < 20_000:
        for size in (1, 5, 4096, MIB) if len(data) < 20_000 else (4096, MIB):
            assert_same(TEXT, data, size, engine=engine)


ODD_FILES = {
    "nothing": b"",
    "no examples": file(),
    "a negative count": file()[:-4] + ints(-1),
    "a count too many": file(example(), example())[:36] + file()[36:-4] + ints(3),
    "bytes after the end": file(example()) + b"more",
    "a huge count of units": file(example(), example(sets(), sets(inputs(listed(0), dense(1)))))[
        :-9
    ],
    "an event out of range, and a cut": file(
        example(), example(sets(), sets(inputs(listed(7), dense(1)))), example()
    )[:-2],
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ODD_FILES)
def test_odd_files(name: str, engine: Engine) -> None:
    for size in (1, 5, MIB):
        assert_same(BINARY, ODD_FILES[name], size, engine=engine)


@pytest.mark.parametrize("limit", ["max_depth", "max_expand", "max_events", "max_name"])
@settings(max_examples=15)
@given(st.integers(0, 12), st.integers(1, 30))
def test_limits_are_met_in_the_same_place(limit: str, value: int, size: int) -> None:
    limits = Limits(**{limit: value})
    text = b'name:{a {b (c [d "e"])}} 3 [0-2] I: 1;\n2 [*] I: 2 [0-1] T: 3;\nname:longer 4;\n'
    assert_same(TEXT, text, size, limits)
    assert_same(BINARY, codec.encode(parser.parse(_source(text))), size, limits)
    assert_same(BINARY, RICH, size, limits)


def test_a_hostile_count_takes_no_memory() -> None:
    """A count is not believed: what it asks for is read, and no more if that cannot be there."""
    data = file(*[example()] * 200)
    at = 37 + data[37:].index(b"\0\0\x3f\x80")
    hostile = data[: at + 10] + ints(2**31 - 1) + data[at + 14 :]
    with at_most(16 * MIB):
        assert_same(BINARY, hostile, 1000)


@pytest.mark.parametrize("way", [TEXT, BINARY], ids=["text", "binary"])
def test_memory_does_not_grow_with_the_file(way: tuple[Reader, Streamer]) -> None:
    line = b"name:{some example} I: 0.25 0.5 (g 3) 1 t: 1 3-5;\n"
    one = codec.encode(parser.parse(_source(line * 2)))[41:] if way is BINARY else line
    peaks = []
    for count in (20_000, 80_000):
        tracemalloc.start()
        head = b"" if way is TEXT else file()[:-4] + ints(2 * count)
        blocks = Blocks("x", iter([head, *[one * 100] * (count // 100)]), None)
        parts = way[1](blocks, limits=DEFAULT, findings=Findings(), engine="table")
        assert sum(len(part) for part in parts) >= count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.6 * peaks[0] and peaks[1] < 24 * MIB


def test_examples_are_given_when_their_line_is_there() -> None:
    """Whether the next is there or not, as Lens reads them from a pipe."""
    seen: list[int] = []

    def given() -> Iterator[bytes]:
        for piece, expected in (
            (b"max:2;", 0),
            (b"I: 1;", 0),
            (b"\n", 1),
            (b"I: 2; I: 3;\n", 3),
            (b"# a; comment\nI: 4", 3),
            (b";\r", 4),
            (b"\nfreq: ;\n", 5),
        ):
            yield piece
            assert sum(seen) == expected

    blocks = Blocks("x", given(), None, is_pipe=True)
    for part in parser.stream(blocks):
        seen.append(len(part))
    assert sum(seen) == 5


def test_binary_examples_are_given_when_their_last_byte_is_there() -> None:
    data, seen = file(*[example()] * 3), 0
    size = (len(data) - 41) // 3

    def given() -> Iterator[bytes]:
        for at in range(len(data)):
            yield data[at : at + 1]
            assert seen == max(0, at + 1 - 41) // size

    for part in codec.stream(Blocks("x", given(), None, is_pipe=True)):
        seen += len(part)
    assert seen == 3


@pytest.mark.parametrize("ready", [True, False])
def test_a_long_example_is_not_tried_again_for_every_block(
    ready: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as there is more in the pipe it is read first, until there is twice as much."""
    events = b"".join(b"[%d] I: %d 0.5 T: 1\n" % (n, n) for n in range(500))
    data = codec.encode(parser.parse(_source(b";\n500 " + events + b";\nI: 1;\n")))
    tries, read = [], ChunkReader._read

    def counted(self: ChunkReader, layout: Layout, source: Source) -> Fields:
        tries.append(len(source.data))
        return read(self, layout, source)

    monkeypatch.setattr(ChunkReader, "_read", counted)
    blocks = Blocks("x", pieces(len(data) // 500)(data), None, True, lambda seconds: ready)
    assert sum(len(part) for part in codec.stream(blocks)) == 2
    assert len(tries) < 40 if ready else len(tries) > 200


def test_real_files(corpus: Path) -> None:
    """Files of others, and the edge cases, in pieces of some sizes."""
    seen = 0
    for path in sorted((corpus / "lens").rglob("*.*ex")):
        data = path.read_bytes()
        if path.suffix in (".ex", ".bex") and len(data) < 20_000:
            way = BINARY if data.startswith(b"\xaa\xaa\xaa\xaa") else TEXT
            for size in (11, 4096) if len(data) < 2000 else (4096,):
                assert_same(way, data, size)
            seen += 1
    assert seen > 150


def _source(data: bytes) -> Source:
    return Source("x", data)


def test_parts_have_one_header() -> None:
    data = b"max: 3 defI: 0.5;\n" + b"I: 1;\n" * 9
    parts = list(parser.stream(Blocks("x", pieces(20)(data), None, is_pipe=True)))
    assert len(parts) > 2
    assert {part.header for part in parts} == {parser.parse(_source(data)).header}
    assert all(isinstance(part, ExampleSet) for part in parts)
