"""Manifests in each dialect: parsing, findings, errors, and writing."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, Manifest
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.core.text import invalid_utf8
from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.parsers.aeon.manifest import parse
from exset.parsers.aeon.manifest_text import render
from exset.runtime.aeon.elements import elements, encoded
from exset.testing.aeon import manifests
from tests.aeon.caches import raises

CLASSES = b"""\
@FILE\tASCII_INT
/pictures/birds/wren.jpg\t0
/pictures/birds/robin.jpg\t0
# the trees

/pictures/trees/elm.jpg\t1
"""
ENGINES: tuple[Engine, ...] = ("reference", "auto", "table")


def read(
    text: bytes,
    dialect: str | None = None,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Manifest:
    return parse(Source("m.tsv", text), dialect=dialect, findings=findings, engine=engine)


def codes(text: bytes, dialect: str | None = None) -> list[str]:
    findings = Findings()
    read(text, dialect, findings)
    return [finding.code for finding in findings]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_manifest(engine: Engine) -> None:
    manifest = read(CLASSES, engine=engine, findings=Findings(strict=True))
    assert repr(manifest) == "Manifest(3 records, FILE ASCII_INT, head)"
    assert len(manifest) == 3 and manifest.width == 2
    assert manifest[2] == manifest[-1] == (b"/pictures/trees/elm.jpg", b"1")
    assert [row[1] for row in manifest] == [b"0", b"0", b"1"]
    assert manifest.lines.tolist() == [2, 3, 6]
    labels = elements(manifest, 1)
    assert labels.numbers.tolist() == [0, 0, 1] and labels.errors == ()
    assert labels.numbers.dtype == np.int32
    assert render(manifest) == CLASSES.replace(b"# the trees\n\n", b"")


def test_transcriptions() -> None:
    manifest = read(b"@FILE\tFILE\na_1.wav\ta_1.txt\na_2.wav\ta_2.txt\n")
    assert manifest.columns(ElementType.FILE) == (0, 1)
    assert elements(manifest, 1, base="/data").strings[1] == b"/data/a_2.txt"


@pytest.mark.parametrize(
    ("text", "dialect", "types", "width"),
    [
        (b"", "head", (), 0),
        (b"# nothing\n", "head", (), 0),
        (b"@FILE\n", "head", ("FILE",), 1),
        (b"a.jpg\tb.txt\n", "seed", ("FILE", "FILE"), 2),
        (b"a.jpg\n", "seed", ("FILE",), 1),
        (b"#c\n\na.jpg,b.txt\n", "csv", ("FILE", "FILE"), 2),
        (b"a,b\tc\n", "seed", ("FILE", "FILE"), 2),
    ],
)
def test_the_dialect_is_guessed(
    text: bytes, dialect: str, types: tuple[str, ...], width: int
) -> None:
    findings = Findings()
    manifest = read(text, findings=findings)
    assert (manifest.dialect, manifest.types, manifest.width) == (dialect, types, width)
    assert findings.count("aeon-dialect") == (dialect != "head")
    assert findings.count("aeon-no-records") == (not len(manifest))


def test_dialects_differ() -> None:
    text = b"@STRING\na\tb\n"
    manifest = read(text, "seed")
    assert manifest.width == 2 and list(encoded(manifest)) == [[b"a"]]
    assert codes(text, "seed") == ["aeon-extra-fields"]
    assert read(b"@a,b\n", "csv")[0] == (b"@a", b"b")
    with pytest.raises(ValueError, match="tsv"):
        read(text, "tsv")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "dialect", "line", "column"),
    [
        (b"a\n", "head", 1, 1),
        (b"@FILE\na\n@FILE\n", "head", 3, 1),
        (b"a\n@FILE\n", "seed", 2, 1),
        (b"@file\n", None, 1, 2),
        (b"@FILE \n", None, 1, 6),
        (b"@\n", None, 1, 2),
        (b"@FILE\tASCII_INT\r\na\t1\r\n", None, 1, 16),
        (b"@FILE\tASCII_INT\ra\t1\r", None, 1, 16),
        (b"@FILE[tab]ASCII_INT\na\t1\n", None, 1, 6),
        ("@FILE\n".encode("utf-16"), "head", 1, 1),
        ("@FILE\tFILE\na\tb\n".encode("utf-16"), None, 1, 1),
        (b"\xef\xbb\xbf@FILE\na\n", None, 1, 1),
    ],
)
def test_syntax_errors(
    text: bytes, dialect: str | None, line: int, column: int, engine: Engine
) -> None:
    with raises("syntax") as caught:
        read(text, dialect, engine=engine)
    place = caught.value.place
    assert place and (place.line, place.column) == (line, column)
    assert caught.value.hint


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "dialect", "line"),
    [
        (b"@STRING\na\tb\n", None, 2),
        (b"@FILE\tFILE\na\tb\n\nc\n", None, 4),
        (b"a\tb\nc\n", "seed", 2),
        (b"@FILE\tFILE\na\n", "seed", 2),
    ],
)
def test_records_of_another_width(
    text: bytes, dialect: str | None, line: int, engine: Engine
) -> None:
    with raises("aeon-record-width") as caught:
        read(text, dialect, engine=engine)
    place = caught.value.place
    assert place and (place.line, place.column) == (line, 1)


@pytest.mark.parametrize(
    ("kind", "field", "code"),
    [
        ("ASCII_INT", b"12a", "aeon-number-tail"),
        ("ASCII_INT", b"3.99", "aeon-int-fraction"),
        ("ASCII_INT", b"2147483648", "aeon-int-overflow"),
        ("ASCII_INT", b"nan", "aeon-int-overflow"),
        ("ASCII_INT", b"x", "aeon-no-number"),
        ("ASCII_FLOAT", b"", "aeon-no-number"),
        ("ASCII_FLOAT", b"1e39", "aeon-number-range"),
        ("ASCII_FLOAT", b"1e-45", "aeon-number-range"),
        ("BINARY", b"AA-A", "aeon-lax-base64"),
        ("BINARY", b"AAA", "aeon-base64-memory"),
        ("FILE", b"", "aeon-empty-path"),
        ("STRING", b"x\r", "aeon-carriage-return"),
        ("ASCII_INT", b"4\r", "aeon-carriage-return"),
        ("STRING", b"caf\xe9", "aeon-not-utf8"),
        ("FILE", b"\x80.jpg", "aeon-not-utf8"),
    ],
)
def test_findings(kind: str, field: bytes, code: str) -> None:
    text = b"@STRING\t%s\nk\t%s\n" % (kind.encode(), field)
    assert codes(text) == [code]
    with pytest.raises(FormatError):
        read(text, findings=Findings(strict=True))


@pytest.mark.parametrize("before", [0, 1, 2, 3])
@pytest.mark.parametrize(
    ("end", "wrong"), [("é".encode(), None), ("😀".encode(), None), (b"\xe9", 0), (b"\xc3(", 0)]
)
def test_the_first_byte_that_is_not_utf8(before: int, end: bytes, wrong: int | None) -> None:
    """Texts are decoded in chunks of 1 MiB, and a character may be in two of them."""
    assert invalid_utf8(b"x" * before + end) == (None if wrong is None else before)
    long = "é".encode() * (1 << 19) + b"x" * before
    for text in (long, long[:-5] + end, end[:1] + long):
        try:
            text.decode()
        except UnicodeDecodeError as error:
            assert invalid_utf8(text) == error.start
        else:
            assert invalid_utf8(text) is None
    long = b"x" * ((1 << 20) - before) + end
    assert invalid_utf8(long) == (None if wrong is None else (1 << 20) - before)


def test_many_findings_are_counted() -> None:
    findings = Findings(keep=3)
    read(b"@ASCII_INT\n" + b"1x\n" * 50, findings=findings)
    assert len(findings) == 3 and findings.count("aeon-number-tail") == 50


@given(manifests(), st.sampled_from(ENGINES))
def test_round_trip(manifest: Manifest, engine: Engine) -> None:
    text = render(manifest)
    assert read(text, manifest.dialect, engine=engine) == manifest
    assert b"".join(b"".join(record) for record in manifest) == manifest.fields.data.tobytes()


def test_a_large_manifest_in_chunks() -> None:
    rows = [(f"a/{i}.jpg", i, f"{i}.5") for i in range(60_000)]
    made = Manifest.of(("FILE", "ASCII_INT", "ASCII_FLOAT"), rows)
    text = render(made).replace(b"\na/700.jpg", b"\n# here\n\na/700.jpg")
    manifest = read(text)
    assert manifest == made
    assert elements(manifest, 1).numbers.tolist() == list(range(60_000))
    assert elements(manifest, 2).numbers[-1] == np.float32(59_999.5)
    assert manifest.lines[[0, 699, 700]].tolist() == [2, 701, 704]
    with raises("aeon-record-width") as caught:
        read(text + b"x\ty\n")
    assert caught.value.place and caught.value.place.line == 60_004


def test_select_and_concat() -> None:
    manifest = read(CLASSES)
    assert manifest.select([2, 0]).concat(manifest.select(slice(1, 2)))[2] == manifest[1]
    assert manifest.select(np.array([True, False, True])).lines.tolist() == [2, 6]
    assert len(manifest.select([])) == 0
    with pytest.raises(ValueError, match="the manifests differ in types"):
        manifest.concat(Manifest.of(["FILE", "STRING"], []))
    with pytest.raises(IndexError):
        manifest[3]


def test_builders_say_where() -> None:
    with pytest.raises(ValueError, match=r"records\[1\]: expected 2 fields"):
        Manifest.of(["FILE", "STRING"], [("a", "b"), ("c",)])
    with pytest.raises(ValueError, match=r"records\[0\]\[0\] must be text"):
        Manifest.of(["FILE"], [(None,)])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="PATH"):
        Manifest.of(["PATH"], [])


@pytest.mark.parametrize(
    ("types", "record", "dialect", "field"),
    [
        (["FILE"], ["a\nb"], "head", "[0][0]"),
        (["FILE", "STRING"], ["a", "b\tc"], "head", "[0][1]"),
        (["FILE"], ["#a"], "head", "[0][0]"),
        (["FILE"], ["@a"], "seed", "[0][0]"),
        (["FILE"], [""], "head", "[0][0]"),
        (["FILE"], ["a,b"], "csv", "[0][0]"),
        (["STRING"], ["a"], "csv", "types"),
    ],
)
def test_records_that_a_manifest_cannot_store(
    types: list[str], record: list[str], dialect: str, field: str
) -> None:
    with raises("aeon-text") as caught:
        render(Manifest.of(types, [record]), dialect=dialect)
    assert caught.value.place and caught.value.place.field == field


def test_old_manifests_are_converted(tmp_path: Path) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.tsv"
    old.write_bytes(b"a.jpg,1.txt\nb.jpg,2.txt\n")
    exset.convert(old, new, dialect="head", findings=Findings())
    assert new.read_bytes() == b"@FILE\tFILE\na.jpg\t1.txt\nb.jpg\t2.txt\n"
    exset.convert(new, old, dialect="csv")
    assert old.read_bytes() == b"a.jpg,1.txt\nb.jpg,2.txt\n"
    wide = read(b"@STRING\na\tb\n", "seed")
    with raises("aeon-text"):
        render(wide, dialect="head")
    findings = Findings()
    assert render(wide, dialect=Dialect.HEAD, lossy=True, findings=findings) == b"@STRING\na\n"
    assert findings.count("aeon-text-loss") == 1


@pytest.mark.parametrize("head", [b"@FILE\tSTRING\n", b"# c\n\n@ASCII_INT\n", b"@BIN"])
def test_a_header_identifies_the_format(head: bytes) -> None:
    assert exset.formats.detect(head, "x").name == "manifest"
    assert exset.formats.by_suffix("train.tsv.gz") is exset.formats.get("manifest")


@given(
    st.lists(st.sampled_from([b"@", b"#", b"\t", b"\n", b",", b"FILE", b"ASCII_INT", b"a", b"\r"]))
    .map(b"".join)
    .flatmap(lambda text: st.just(text) | st.binary(max_size=40)),
    st.sampled_from([None, *Dialect]),
)
def test_all_engines_agree_on_any_bytes(text: bytes, dialect: Dialect | None) -> None:
    found = []
    for engine in ENGINES:
        findings = Findings()
        try:
            manifest = read(text, dialect, findings, engine)
            found.append((manifest, manifest.lines.tolist(), list(map(str, findings))))
            assert read(render(manifest), manifest.dialect) == manifest
        except FormatError as error:
            found.append(str(error))  # type: ignore[arg-type]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("text", [b"path,label\na.jpg,cat\n", b"a.jpg,cat\n"])
def test_a_table_is_sent_to_manifest_build(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    [finding] = exset.validate(path, format="manifest")
    assert finding.code == "aeon-dialect" and "manifest build --types" in str(finding.hint)
