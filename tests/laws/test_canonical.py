"""The laws of canonical texts: `exset.canonical` and `exset fmt`."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import formats
from exset.families.family import load
from exset.families.format import Format
from exset.io import files as io_files
from exset.testing import aeon_texts, lbann_texts, lens_texts
from tests.cli.command_line import run

TEXTS: dict[str, Callable[[], st.SearchStrategy[bytes]]] = {
    "ex": lens_texts.lens_texts,
    "sample_list": lbann_texts.list_texts,
    "schema": lbann_texts.schema_texts,
    "manifest": aeon_texts.manifest_texts,
    "loader_config": aeon_texts.config_texts,
}
# Lines of strings that begin with `#` are no comments; they stay all the same.
COMMENTS = {
    "ex": rb"(?<![^\r\n])#[^\r\n]*",
    "schema": rb"(?<!\S)#[^\r\n]*",
    "manifest": rb"(?<![^\n])#[^\n]*",
}

every = pytest.mark.parametrize(
    "fmt", [each for each in formats.FORMATS if each.canonical], ids=lambda fmt: fmt.name
)


def test_every_format_with_a_canonical_text_has_drawn_texts() -> None:
    assert {each.name for each in formats.FORMATS if each.canonical} == TEXTS.keys()


def read(data: bytes, fmt: Format, **options: Any) -> tuple[object, list[tuple[str, str]]]:
    findings = exset.Findings()
    model = exset.loads(data, format=fmt.name, findings=findings, **options)
    return model, sorted((each.code, each.message) for each in findings)


def comments(data: bytes, fmt: Format) -> list[bytes]:
    found = re.findall(COMMENTS[fmt.name], data) if fmt.name in COMMENTS else []
    return [each.rstrip() for each in found]


def check(data: bytes, fmt: Format) -> None:
    """Check all laws for a text, which need not be valid."""
    try:
        before = read(data, fmt)
    except exset.FormatError:
        with pytest.raises(exset.FormatError):
            exset.canonical(data, format=fmt.name)
        return
    text = exset.canonical(data, format=fmt.name)
    assert read(text, fmt) == before
    assert comments(text, fmt) == comments(data, fmt)
    assert exset.canonical(text, format=fmt.name) == text
    if len(data) < 1000:
        assert exset.canonical(data, format=fmt.name, engine="reference") == text


@every
@given(data=st.data())
def test_drawn_texts(fmt: Format, data: st.DataObject) -> None:
    check(data.draw(TEXTS[fmt.name]()), fmt)


@every
@given(data=st.data())
def test_the_text_that_exset_writes_is_canonical(fmt: Format, data: st.DataObject) -> None:
    assert fmt.strategy is not None
    strategy: Callable[[], st.SearchStrategy[Any]] = load(fmt.strategy)  # type: ignore[assignment]
    model = data.draw(strategy())
    options = {"dialect": model.dialect.value} if fmt.name == "manifest" else {}
    try:
        written = exset.dumps(model, format=fmt.name)
        read(written, fmt, **options)
    except exset.FormatError:
        return
    assert exset.canonical(written, format=fmt.name, **options) == written


@pytest.mark.skipif("EXSET_CORPUS" not in os.environ, reason="needs EXSET_CORPUS")
@every
def test_real_files(fmt: Format) -> None:
    folder = {"ex": "lens", "manifest": "aeon", "loader_config": "aeon"}.get(fmt.name, "lbann")
    paths = sorted(Path(os.environ["EXSET_CORPUS"], folder).rglob("*"))
    count = 0
    for path in paths:
        if not path.is_file() or path.stat().st_size > 50_000:
            continue
        data = path.read_bytes()
        if fmt.signature and re.match(fmt.signature.encode("latin-1"), data[: formats.HEAD]):
            count += 1
            if count % 5 == 0:
                check(data, fmt)
    assert count > 40


UGLY = b"""

# a picture
name:   seven
freq:2
I:  0 1\t1
 1 0 0
T: 1 \t 0
;


name: b  2 [ 0  max: 1 ]
# in an example
[1] I: {g  0.5}  1  -3   T: ( h 2 )  1 1;I: 1
"""
PRETTY = b"""# a picture
name: seven freq: 2
I: 0 1 1
   1 0 0
T: 1 0;

name: b 2
[0 max:1]
# in an example
[1] I: {g 0.5} 1 -3 T: (h 2) 1 1;
I: 1
"""


def test_the_layout_of_lens_texts() -> None:
    good = UGLY.rpartition(b"I:")[0]
    assert exset.canonical(good, format="ex") == PRETTY.rpartition(b"I:")[0]
    assert exset.canonical(b"name: a ;", format="ex") == b"name: a ;\n"
    counts = b"3 2 name: a I: 1 T: 1;\n"
    assert exset.canonical(counts, format="ex") == b"3 2\nname: a I: 1 T: 1;\n"
    assert exset.canonical(b"3 2 max: 1 ; I: 1;", format="ex") == b"3 2 max: 1;\nI: 1;\n"
    assert exset.canonical(b";", format="ex") == b";"  # Lens takes it as empty
    assert exset.canonical(b";   \n", format="ex") == b";\n\n\n"  # not as empty
    assert exset.canonical(b"\xef\xbb\xbf\n;I: 1;", format="ex") == b"\xef\xbb\xbf;\nI: 1;\n"


def test_the_layout_of_other_texts() -> None:
    schema = b"\na:\n    # of b\n    b :   {  x:   [1,2] }   # note\n\n\n    # of the rest\nc:\n"
    assert exset.canonical(schema, format="schema") == (
        b"a:\n  # of b\n  b: {x: [1, 2]}  # note\n\n  # of the rest\nc:\n"
    )
    config = b'{"batch_size":2, "etl":[{"type":"label"}],"manifest_filename":"m.tsv"}'
    assert exset.canonical(config, format="loader_config") == (
        b'{\n "batch_size": 2,\n "etl": [\n  {"type": "label"}\n ],\n'
        b' "manifest_filename": "m.tsv"\n}\n'
    )
    samples = b"CONDUIT_HDF5_INCLUSION  \r\n1   0 1\n/d\n\n\na.h5  1 0\ts\n\n"
    assert exset.canonical(samples, format="sample_list") == (
        b"CONDUIT_HDF5_INCLUSION\n1 0 1\n/d\n\na.h5 1 0 s\n"
    )
    manifest = b"\n\n@STRING\n\n\n# c \na \n\n"
    assert exset.canonical(manifest, format="manifest") == b"@STRING\n\n# c\na \n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command(folder: Path) -> None:
    one, two = folder / "one.ex", folder / "two.ex"
    one.write_bytes(b"I: 1   T: 1;\n")
    two.write_bytes(b"I: 1 T: 1;\n")
    done = run("fmt", "--check", "one.ex", "two.ex")
    assert (done.exit_code, done.stdout) == (1, "one.ex: not canonical\n")
    assert one.read_bytes() == b"I: 1   T: 1;\n"
    done = run("fmt", "one.ex", "two.ex")
    assert (done.exit_code, done.stdout) == (0, "one.ex: formatted\n")
    assert one.read_bytes() == two.read_bytes()
    done = run("fmt", "-v", "--check", "one.ex", "two.ex")
    assert (done.exit_code, done.stdout) == (0, "one.ex: ok\ntwo.ex: ok\n")


def test_files_that_stay_as_they_are(folder: Path) -> None:
    bad, good = folder / "bad.ex", folder / "good.ex"
    bad.write_bytes(b"I: 1   five;\n")
    good.write_bytes(b"I: 1   2;\n")
    done = run("fmt", "bad.ex", "good.ex", "no.ex")
    assert done.exit_code == 3 and "bad.ex:1:8" in done.stderr
    assert bad.read_bytes() == b"I: 1   five;\n" and good.read_bytes() == b"I: 1 2;\n"
    assert run("fmt", "exset::xor.ex").exit_code == 1
    exset.save(exset.load("good.ex"), "good.bex")
    assert run("fmt", "good.bex").exit_code == 1


def test_standard_input_and_compressed_files(folder: Path) -> None:
    done = run("fmt", "-", stdin=b"I: 1   2;\n")
    assert (done.exit_code, done.stdout) == (0, "I: 1 2;\n")
    assert run("fmt", "--check", "-", stdin=b"I: 1   2;\n").exit_code == 1
    assert run("fmt", "--json", "-", stdin=b"I: 1   2;\n").exit_code == 2
    exset.save(exset.loads("I: 1 2;"), "a.ex.gz")
    assert run("fmt", "a.ex.gz").stdout == ""
    assert (folder / "a.ex.gz").read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("name", ["a", "a.ex"])
def test_a_compressed_file_without_the_suffix(folder: Path, suffix: str, name: str) -> None:
    with io_files.writing(f"b{suffix}") as file:
        file.write(b"I: 1   2;\n")
    path = (folder / f"b{suffix}").rename(folder / name)
    before = path.read_bytes()[:3]
    assert run("fmt", "--from", "ex", name).stdout == f"{name}: formatted\n"
    assert path.read_bytes()[:3] == before
    assert io_files.read(path).data == b"I: 1 2;\n"
