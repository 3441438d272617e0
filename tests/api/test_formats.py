import bz2
import gzip
import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exset
from exset import FormatError, formats, samples
from exset.families.family import load
from exset.families.format import Format
from exset.families.lens import LENS as FAMILY
from exset.formats import FORMATS
from exset.grammars.aeon.block import Block
from exset.grammars.columns.findings import Rules
from exset.testing import example_sets

LENS = [formats.get("ex"), formats.get("bex")]

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
    # A byte order mark goes before the first line, which may be a comment.
    b"\xef\xbb\xbf#c\nI:1;",
    b"\xef\xbb\xbf",
    # What follows a number is the parser's business.
    b"2;I:1 T:1;",
    b"2I:1;",
    b"2proc:x I:1;",
    b"2 #",
    b"-3\n+4\n2[1]I:1;",
    b"5 five;",
    b"7",
    # Blanks and comments alone are a set without examples.
    b"\n",
    b"# nothing",
    b"\n#\xff\n \t",
]
BINARY = [
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    b"PK\3\4",
    b"\x7fELF\2\1\1\0",
    b"7z\xbc\xaf\x27\x1c\0\4",
    b"1\0\0\0",
    b"\n\0",
    b"#\0c\0",
    b"I\0:\x001\0;\0",
    b"\xff\xfeI\0:\x001\0;\0",
    b"\0\0\0\0",
]
OTHER = [
    b"hello",
    b"<html>",
    b" # no comment",
    b"{}",
    b"I :1;",
    b"names:a",
    b"(1)",
    b"\xef\xbbI:1;",
]


def test_registry() -> None:
    assert len(set(formats.names())) == len(FORMATS)
    assert [formats.get(name) for name in formats.names()] == list(FORMATS)
    with pytest.raises(ValueError, match=r"choose one of ex, bex, .*, loader_config"):
        formats.get("nonsense")
    likely = {"lens": "ex, bex", ".TSV": "manifest, tsv", ".YAML": "schema"}
    for name, names in likely.items():
        with pytest.raises(ValueError, match=f"choose one of {names}$"):
            formats.get(name)
    with pytest.raises(ValueError, match=r"-o x\.ex\.gz"):
        formats.get("ex.gz")


@pytest.mark.parametrize("fmt", FORMATS, ids=formats.names())
def test_every_record_is_complete(fmt: Format) -> None:
    family = fmt.family
    functions = [fmt.reader, fmt.writer, fmt.strategy, fmt.streamer, fmt.incremental_writer]
    functions += [family.kind, family.summary, family.files, family.column]
    functions += [family.dataset, family.folder, family.differences]
    functions += [function for _, function in (*family.fields, *family.renames)]
    functions += [family.shuffle]
    assert fmt.strategy
    assert all(callable(load(target)) for target in functions if target)
    assert all(Rules(name) for name in fmt.findings)
    assert fmt.title and all(each.startswith(".") for each in fmt.suffixes)
    assert not fmt.binary or fmt.magic or fmt.suffixes or fmt.is_folder
    assert fmt.is_folder == bool(fmt.contains) and (fmt.suffixes or fmt.is_folder)
    assert (fmt.streamer is None) or family.unit_functions()
    for option in (*fmt.options, *fmt.read_options):
        assert option.help.endswith(".") and option.name.isidentifier()


def test_every_sample_has_a_record() -> None:
    folder = Path(samples.__file__).parent
    files = {path.name for path in folder.iterdir() if path.suffix != ".py" and path.is_file()}
    assert files == set(samples.names())
    for fmt in FORMATS:
        for name, line in fmt.samples:
            assert line and formats.detect(samples.read(name).data[: formats.HEAD], name) is fmt


@pytest.mark.parametrize("head", TEXTS)
@pytest.mark.parametrize("name", ["x.ex", "x.bex", "x", "<stdin>", "x.txt.gz"])
def test_text_is_detected_by_its_signature(head: bytes, name: str) -> None:
    assert formats.detect(head, name).name == "ex"


@pytest.mark.parametrize("name", ["x.ex", "x.bex", "x", "<stdin>"])
def test_magic_decides_first(name: str) -> None:
    assert formats.detect(b"\xaa\xaa\xaa\xaa\0\0\0\4", name).name == "bex"


@pytest.mark.parametrize("head", [b"", *BINARY, *OTHER])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x.ex", "ex"),
        ("x.EX", "ex"),
        ("x.ex.gz", "ex"),
        ("x.bex.bz2", "bex"),
        ("a.ex/x.bex", "bex"),
    ],
)
def test_the_suffix_decides_if_the_bytes_do_not(head: bytes, name: str, expected: str) -> None:
    assert formats.detect(head, name).name == expected


@pytest.mark.parametrize("name", ["x", "x.txt", "<stdin>", "ex", "x.gz", "x.ex.gz.txt"])
@pytest.mark.parametrize("head", [b"", *BINARY, *OTHER])
def test_an_unknown_format_is_an_error_that_lists_the_candidates(head: bytes, name: str) -> None:
    message = "exset does not recognise the format" if head else "the file is empty"
    with pytest.raises(FormatError, match=message) as caught:
        formats.detect(head, name)
    assert caught.value.code == "format"
    likely = "NAME: bex, block, cpio" if b"\0" in head else "NAME: ex, sample_list, schema"
    assert likely in str(caught.value)


def test_an_ambiguous_format_is_an_error_that_lists_the_candidates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    twin = Format("twin", "Twin", FAMILY, (".twin",), "m:f", "m:f", signature="I:")
    monkeypatch.setattr(formats, "FORMATS", (*FORMATS, twin))
    assert formats.detect(b"I:1;", "x.twin") is twin
    assert formats.detect(b"I:1;", "x.ex").name == "ex"
    with pytest.raises(FormatError, match=r"ambiguous(.|\n)*NAME: ex, twin$") as caught:
        formats.detect(b"I:1;", "x")
    assert "bex" not in str(caught.value)


@pytest.mark.parametrize(
    ("head", "name", "expected"),
    [
        (b"i: 5\n", "x.yaml", "schema"),
        (b"t:\n  x:\n", "x.yml.gz", "schema"),
        (b"18 2 4\ndata\n", "x.sample_list", "sample_list"),
        (b"CONDUIT_HDF5_INCLUSION\n", "x.txt", "sample_list"),
        (b"CONDUIT_HDF5_INCLUSION\n", "x.bex", "sample_list"),
        (b"CONDUIT_HDF5_INCLUSION\n", "x.ex", "ex"),
        (b"\xaa\xaa\xaa\xaa", "x.yaml", "bex"),
    ],
)
def test_the_suffix_of_a_text_goes_before_its_signature(
    head: bytes, name: str, expected: str
) -> None:
    assert formats.detect(head, name).name == expected


@given(st.binary(max_size=64), st.text(max_size=8))
def test_detection_gives_a_format_or_an_error(head: bytes, name: str) -> None:
    try:
        assert formats.detect(head, name) in FORMATS
    except FormatError as error:
        assert error.code == "compression" or "format=NAME" in str(error)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_detected_wherever_its_head_ends(text: bytes) -> None:
    padding = b"# a comment\n" * (formats.HEAD // 12)
    for cut in range(1, 12):
        begin = padding + b" " * (formats.HEAD - len(padding) - cut - 1) + b"\n"
        whole = begin + text.removeprefix(b"\xef\xbb\xbf")
        assert formats.detect(whole, "<stdin>").name == "ex"


@settings(max_examples=40)
@given(example_sets(binary=False))
def test_written_files_are_detected(model: exset.ExampleSet) -> None:
    for fmt in LENS:
        flags = {option.name: True for option in fmt.options}
        data = fmt.write(model, findings=exset.Findings(), **flags)
        assert formats.detect(data, "<stdin>") is fmt


def test_detection_reads_a_bounded_head() -> None:
    assert formats.detect(b" " * 10**6 + b"\0", "<stdin>").name == "ex"
    assert formats.detect(b"#" * 10**6, "x.ex").name == "ex"


@pytest.mark.parametrize(
    "part", [b"# \n", b"#\n", b"\n", b" ", b"\r\n#\r", b"1 ", b"1", b"-1", b"\n\n# #\n", b"defI"]
)
@pytest.mark.parametrize("end", [b"x", b"\0", b"#", b"-", b"\n\xff"])
def test_no_head_takes_long(part: bytes, end: bytes) -> None:
    """With any choice left open to try again this would not end: every part doubles the work."""
    head = (part * formats.HEAD)[: formats.HEAD - len(end)] + end
    with suppress(FormatError):
        formats.detect(head, "<stdin>")


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)
def test_signatures_are_matched_in_linear_time(fmt: Format) -> None:
    """All repetitions are possessive, so that nothing is tried twice."""
    bare = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\\\]])*\]", "x", fmt.signature or "")
    loops = re.findall(r"(?<!\()(?:[*+?]|\{\d*,?\d*\})[+?]?", bare)
    assert all(len(loop) > 1 and loop.endswith("+") for loop in loops)


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


def test_detect_opens_compressed_files(tmp_path: Path) -> None:
    packed = {"a.gz": gzip.compress(b"I:1;"), "b": bz2.compress(b"\xaa\xaa\xaa\xaa"), "c": b"I:1;"}
    for name, data in packed.items():
        (tmp_path / name).write_bytes(data)
    found = [exset.detect(tmp_path / name).name for name in packed]
    assert found == ["ex", "bex", "ex"]


def test_an_unknown_option_is_refused() -> None:
    model = exset.loads("I:1;")
    with pytest.raises(TypeError, match="unknown option 'compact' of the format 'bex'"):
        formats.get("bex").write(model, compact=True)
    plain = formats.get("bex").write(model)
    assert formats.get("bex").write(model, compact=False) == plain
    for fmt in LENS:
        for value in (True, False):
            with pytest.raises(
                TypeError, match=f"unknown option 'losy' of the format '{fmt.name}'"
            ):
                fmt.write(model, losy=value)


@pytest.mark.parametrize("fmt", FORMATS, ids=formats.names())
def test_dumps_without_a_format_writes_the_text_of_the_family(fmt: Format) -> None:
    name = fmt.samples[0][0] if fmt.samples else None
    if name is not None:
        model = exset.load(samples.PREFIX + name, findings=exset.Findings())
        text = exset.dumps(model, findings=exset.Findings())
        assert exset.loads(text, format=formats.default_of(fmt.family).name) == model


def test_dumps_without_a_format_writes_a_block() -> None:
    block = Block.of([(b"x", b"y")])
    assert exset.loads(exset.dumps(block)) == block
