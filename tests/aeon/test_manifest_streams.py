"""Manifests in chunks: the records, errors and findings of the whole file, for any bytes."""

from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Findings, Manifest, formats, streaming
from exset.core.limits import DEFAULT
from exset.core.protocols import Level
from exset.core.source import Source
from exset.grammars.aeon import units
from exset.grammars.aeon.manifest_types import Dialect
from exset.io.blocks import Blocks
from exset.parsers.aeon.manifest import parse, stream
from exset.parsers.aeon.manifest_text import render
from exset.testing.aeon import manifests
from exset.testing.contract import check
from tests.peaks import at_most

MANIFEST = formats.get("manifest")
MIB = 1 << 20


def assert_same(data: bytes, size: int) -> None:
    check(MANIFEST, data, step=size, deep=False)


@given(manifests(), st.binary(max_size=8), st.integers(0, 80), st.integers(1, 40))
def test_a_manifest_gives_what_the_whole_does(
    manifest: Manifest, more: bytes, at: int, size: int
) -> None:
    data = render(manifest)
    assert_same(data, size)
    assert_same(data[:at] + more + data[at:], size)
    assert_same(data[:at], size)


@given(st.binary(max_size=200), st.integers(1, 30))
def test_any_bytes_give_what_the_whole_does(data: bytes, size: int) -> None:
    for begin in (b"", b"@FILE\tASCII_INT\n", b"# c\n@FILE\r"):
        assert_same(begin + data, size)


ODD_TEXTS = {
    "nothing": b"",
    "a header alone": b"@FILE\tSTRING\n",
    "a header and a lone carriage return": b"# c\n@FILE\rSTRING\nx\n",
    "comments only": b"# a\n\n# b" * 50,
    "a record too wide after findings": b"@ASCII_INT\tBINARY\n" + b"x\tQ\n" * 30 + b"1\t2\t3\n",
    "findings of several columns": b"@ASCII_INT\tFILE\tBINARY\n" + b"5 \t\tQ\n" * 300,
    "returns, and bytes that are no text": b"@STRING\n" + b"\xc3\xa9x\r\n" * 90 + b"\xc3\n\xff\r\n",
    "half a character at the end": b"@STRING\n" + b"\xe2\x82\xac\n" * 40 + b"\xe2\x82",
    "UTF-16": "@FILE\nx\n".encode("utf-16-le"),
    "an empty line of UTF-16": "\n@FILE\nx\n".encode("utf-16-be"),
    "an archive": (b"x.jpg\n" * 60)[:257] + b"ustar" + b"\0" * 200,
    "types without `@`": b"FILE\tASCII_INT\nx.jpg\t1\n",
    "a comment longer than a block": b"#" + b"c" * 9000 + b"\nx.jpg,y.txt\nz\n",
    "a long field": b"@STRING\tASCII_INT\n" + (b"x" * 70_000 + b"\t1x\n") * 2 + b"y\n",
}


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_odd_texts(name: str) -> None:
    data = ODD_TEXTS[name]
    for size in (1, 5, 4096, MIB) if len(data) < 20_000 else (4096, MIB):
        assert_same(data, size)


def test_real_files(corpus: Path) -> None:
    seen = 0
    for path in sorted((corpus / "aeon").rglob("*.[tc]sv")):
        if path.stat().st_size < 50_000:
            assert_same(path.read_bytes(), 500)
            seen += 1
    assert seen > 100


@pytest.mark.parametrize("dialect", Dialect)
def test_the_dialect_is_passed_on(dialect: Dialect, tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_bytes(b"a,b\tc\n" * 3)
    found = exset.validate(path, dialect=dialect.value)
    assert found.count("syntax") == (dialect is Dialect.HEAD)
    with open(path, "rb") as file:
        blocks = Blocks.of(file, "x", DEFAULT, 4)
        if dialect is not Dialect.HEAD:
            chunks = list(stream(blocks, dialect=dialect, findings=Findings()))
            assert {chunk.dialect for chunk in chunks} == {dialect}


def test_records_come_when_the_next_one_begins() -> None:
    seen: list[bytes] = []

    def given_lines() -> Iterator[bytes]:
        for line, count in ((b"@FILE\n", 0), (b"a\nb\n", 1), (b"# c\n", 1), (b"c\n", 2)):
            yield line
            assert len(seen) == count

    for part in stream(Blocks("x", given_lines(), None, is_pipe=True)):
        seen += [record[0] for record in part]
    assert seen == [b"a", b"b", b"c"]


def test_memory_does_not_grow_with_the_manifest() -> None:
    lines = b"".join(b"images/%06d.jpg\t%d\n" % (n, n % 10) for n in range(4000))
    blocks = Blocks("x", [b"@FILE\tASCII_INT\n", *repeat(lines, 200)], None)
    with at_most(16 * MIB):
        assert sum(map(len, stream(blocks, engine="table"))) == 800_000


def test_records_one_by_one() -> None:
    with exset.stream("exset::captions.tsv") as records:
        found = list(records)
        types = records.header.types
    whole = exset.load("exset::captions.tsv", model=Manifest)
    assert found == list(whole) and types == whole.types
    header = units.header(whole)
    parts = [units.model(each, header) for each in (*found[:2], whole.select(slice(2, None)))]
    assert units.joined(parts) == whole and len(units.no_header()) == 0
    data = b"@STRING\n\xff\n"
    assert parse(Source("x", data), findings=Findings())[0] == (b"\xff",)


ROWS = b"".join(
    b"%d.jpg\t%d\t%s\n" % (row, row, b"\xff" if row == 30 else b"x") for row in range(40)
)
TYPED = b"@FILE\tASCII_INT\tSTRING\n" + ROWS.replace(b"\t7\t", b"\t 7\t").replace(
    b"\t9\t", b"\tx\t"
)


@pytest.mark.parametrize("level", ["said", "meant"])
@pytest.mark.parametrize("contents", [False, True])
def test_tables_of_chunks(level: Level, contents: bool, tmp_path: Path) -> None:
    """A manifest in chunks becomes the table of the whole manifest, with its findings."""
    path = tmp_path / "x.tsv"
    path.write_bytes(TYPED)
    for row in range(20):
        (tmp_path / f"{row}.jpg").write_bytes(b"a" * row)
    results = []
    for is_chunked in (False, True):
        findings = Findings()
        with pytest.MonkeyPatch.context() as patch:
            if is_chunked:
                patch.setattr(streaming, "SMALL", -1)
                patch.setattr(streaming, "_BLOCK", 100)
            target = tmp_path / f"{is_chunked}.npz"
            exset.convert(
                path, target, contents=contents, base=str(tmp_path), level=level, findings=findings
            )
        results.append((target.read_bytes(), sorted(map(str, findings))))
    assert results[0] == results[1]
    assert len(results[0][1]) == (23 if contents else 3)
