import bz2
import gzip
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import FormatError, formats
from exset.formats import FORMATS, Format

TEXTS = [
    b"I:0 0 T:0;",
    b"i:1 t:0;",
    b"b:0;",
    b";;\ni:*;",
    b"# a comment\n\n  name:{a b} I:1;",
    b"#\r#\r\nproc:{puts hi}",
    b"7 7 2 I:1 I:0;",
    b"3\n[0-1] I:1;",
    b"\xef\xbb\xbfI:1;",
    b"defT:- actI:2;",
]


def test_registry() -> None:
    assert formats.names() == ("ex", "bex")
    assert [formats.get(name) for name in formats.names()] == list(FORMATS)
    with pytest.raises(ValueError, match="there are ex, bex"):
        formats.get("tsv")


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_every_format_is_whole(known: Format) -> None:
    for target in (known.reader, known.writer):
        module, _, function = target.partition(":")
        assert callable(getattr(import_module(module), function))
    assert known.title and known.family and all(each.startswith(".") for each in known.suffixes)
    assert known.binary == bool(known.magic)
    assert not formats.text_of(known).binary


@pytest.mark.parametrize("head", TEXTS)
@pytest.mark.parametrize("name", ["x.ex", "x.bex", "x", "<stdin>", "x.txt.gz"])
def test_text_is_known_by_its_first_bytes(head: bytes, name: str) -> None:
    assert formats.detect(head, name).name == "ex"


@pytest.mark.parametrize("name", ["x.ex", "x.bex", "x", "<stdin>"])
def test_magic_goes_before_everything(name: str) -> None:
    assert formats.detect(b"\xaa\xaa\xaa\xaa\0\0\0\4", name).name == "bex"


@pytest.mark.parametrize("head", [b"", b"\0\1\2", b"hello", b"<html>"])
@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("x.ex", "ex"),
        ("x.EX", "ex"),
        ("x.ex.gz", "ex"),
        ("x.bex.bz2", "bex"),
        ("a.ex/x.bex", "bex"),
    ],
)
def test_suffix_decides_what_bytes_do_not(head: bytes, name: str, wanted: str) -> None:
    assert formats.detect(head, name).name == wanted


@pytest.mark.parametrize("name", ["x", "x.txt", "<stdin>", "ex", "x.gz", "x.ex.gz.txt"])
def test_unknown_is_an_error_that_lists_the_candidates(name: str) -> None:
    with pytest.raises(FormatError) as caught:
        formats.detect(b"hello", name)
    assert caught.value.code == "format"
    for word in ("ex (", "bex (", "--from", "format="):
        assert word in str(caught.value)


def test_ambiguous_is_an_error_that_lists_the_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    twin = Format("twin", "Twin", "twin", (".twin",), "m:f", "m:f", first_bytes="I:")
    monkeypatch.setattr(formats, "FORMATS", (*FORMATS, twin))
    assert formats.detect(b"I:1;", "x.twin") is twin
    assert formats.detect(b"I:1;", "x.ex").name == "ex"
    with pytest.raises(FormatError, match=r"ambiguous(.|\n)*ex \((.|\n)*twin \(") as caught:
        formats.detect(b"I:1;", "x")
    assert "bex" not in str(caught.value)


@given(st.binary(max_size=64), st.text(max_size=8))
def test_detection_gives_a_format_or_an_error(head: bytes, name: str) -> None:
    try:
        assert formats.detect(head, name) in FORMATS
    except FormatError as error:
        assert "--from" in str(error)


def test_detection_looks_at_a_bounded_head() -> None:
    assert formats.detect(b" " * 10**6 + b"I:1;", "x.bex").name == "bex"
    assert formats.detect(b"#" * 10**6, "x.ex").name == "ex"


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("x.ex", "x"),
        ("x.ex.gz", "x"),
        ("x.bex.bz2", "x"),
        ("x.txt", "x.txt"),
        ("a.ex/x", "a.ex/x"),
        ("x.ex.ex", "x.ex"),
        ("x.gz", "x"),
    ],
)
def test_stem(name: str, stem: str) -> None:
    assert formats.stem(name) == stem


def test_detect_opens_what_is_compressed(tmp_path: Path) -> None:
    packed = {"a.gz": gzip.compress(b"I:1;"), "b": bz2.compress(b"\xaa\xaa\xaa\xaa"), "c": b"I:1;"}
    for name, data in packed.items():
        (tmp_path / name).write_bytes(data)
    found = [exset.detect(tmp_path / name).name for name in packed]
    assert found == ["ex", "bex", "ex"]


def test_a_strange_option_is_refused() -> None:
    model = exset.loads("I:1;")
    with pytest.raises(TypeError, match="'bex' takes no option 'compact'"):
        formats.get("bex").write(model, compact=True)
    plain = formats.get("bex").write(model)
    assert formats.get("bex").write(model, compact=False) == plain
