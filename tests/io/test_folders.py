"""Folders that are one input or one output."""

import json
import os
from pathlib import Path

import pytest

import exset
from exset import FormatError, Manifest, formats
from exset.core.source import Source
from exset.io import folders
from exset.io.folders import Folder
from tests.cli.command_line import run
from tests.io.folder_format import ONES

MODEL = Manifest.of(["STRING"], [("a",), ("b",), ("c",)])


@pytest.fixture(autouse=True)
def ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Register a format of folders."""
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, ONES))
    monkeypatch.chdir(tmp_path)


def test_a_folder_reads_back() -> None:
    exset.save(MODEL, "out", format="ones")
    assert sorted(os.listdir("out")) == ["0.one", "1.one", "2.one"]
    assert os.listdir() == ["out"]
    assert exset.detect("out") == ONES
    assert exset.load("out") == exset.load("out", format="ones") == MODEL
    assert [record for record in exset.stream("out")] == [(b"a",), (b"b",), (b"c",)]
    assert not exset.validate("out")


@pytest.mark.parametrize("chunked", [True, False])
def test_conversion(chunked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not chunked:
        monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS[:-1],))
        one = type(ONES)(**{**vars(ONES), "streamer": None})
        monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, one))
    exset.save(MODEL, "x.tsv")
    assert exset.convert("x.tsv", "out", to="ones") == 3
    assert exset.convert("out", "again.tsv") == 3
    assert Path("again.tsv").read_bytes() == Path("x.tsv").read_bytes()
    os.mkdir("empty")
    assert exset.convert("out", "empty", to="ones") == 3
    assert exset.load("empty") == MODEL


def test_the_command_line() -> None:
    exset.save(MODEL, "x.tsv")
    assert run("convert", "x.tsv", "out", "--to", "ones").exit_code == 0
    assert run("convert", "out/", "y.tsv").exit_code == 0
    assert Path("y.tsv").read_bytes() == Path("x.tsv").read_bytes()
    assert json.loads(run("info", "--json", "out").stdout)["bytes"] == 3
    assert run("validate", "out").stdout == "out: ok\n"
    assert run("cat", "out").stdout == "@STRING\na\nb\nc\n"
    assert run("head", "-n", "1", "out").stdout == "@STRING\na\n"
    assert run("diff", "out", "x.tsv").exit_code == 0
    assert run("split", "out", "first=1", "rest=rest").exit_code == 0
    assert len(exset.load("first")) == 1 and len(exset.load("rest")) == 2
    assert run("convert", "x.tsv", "out", "-o", "both", "--to", "ones").exit_code == 0
    assert exset.load("both/x") == exset.load("both/out") == MODEL
    assert run("convert", "x.tsv", "-o", "-", "--to", "ones").exit_code == 1


def test_errors() -> None:
    exset.save(MODEL, "out", format="ones")
    with pytest.raises(FileExistsError):
        exset.save(MODEL, "out", format="ones")
    with pytest.raises(FormatError, match=r"is a folder") as info:
        exset.loads(b"", format="ones")
    assert info.value.code == "format"
    with pytest.raises(FormatError) as info:
        exset.dumps(MODEL, format="ones")
    assert info.value.code == "format"
    for name in ("-", "s3://x/y"):
        with pytest.raises(FormatError) as info:
            exset.save(MODEL, name, format="ones")
        assert info.value.code == "file-name"
    os.mkdir("other")
    with pytest.raises(IsADirectoryError):
        exset.load("other")
    with pytest.raises(FormatError) as info:
        exset.load("out/0.one", format="ones")
    assert info.value.code == "format"
    with pytest.raises(FormatError) as info:
        formats.get("manifest").read(Folder("out"))
    assert info.value.code == "format"
    with pytest.raises(FormatError) as info:
        ONES.read(Source("x", b""))
    assert info.value.code == "format"


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "a\0", "", "a/"])
def test_names_stay_in_the_folder(name: str) -> None:
    os.mkdir("in")
    if name:
        with pytest.raises(FormatError) as info:
            Folder("in").read(name)
        assert info.value.code == "file-name"
    with pytest.raises(FormatError) as info, folders.writing("out") as folder:
        folder.write(name, b"")
    assert info.value.code == "file-name"
    assert os.listdir() == ["in"]


def test_nothing_is_left_of_a_failure() -> None:
    with pytest.raises(ZeroDivisionError), folders.writing("out") as folder:
        folder.write("a/b", [b"1", b"2"])
        1 / 0  # noqa: B018
    with pytest.raises(FileExistsError) as info, folders.writing("out") as folder:
        folder.write("a/b", b"")
        folder.write("a/b", b"")
    assert info.value.filename == os.path.join("out", "a/b")
    assert os.listdir() == []


def test_files_of_a_folder() -> None:
    for name in ("b/2", "b/10", "a", ".hidden/x", "b/.y", "c/d/e"):
        Path(name).parent.mkdir(exist_ok=True, parents=True)
        Path(name).write_bytes(b"12")
    folder = Folder(".")
    assert folder.names == (".hidden", "a", "b", "c")
    assert [*folder.files()] == ["a", "b/10", "b/2", "c/d/e"]
    assert [*folder.files("c")] == ["c/d/e"]
    assert folder.size == 8
    with folder.blocks("a") as blocks:
        assert b"".join(blocks) == b"12"
    assert folder.has("*/1?") and not folder.has("a/") and folder.has("c/")


def test_a_dry_run() -> None:
    exset.save(MODEL, "x.tsv")
    done = run("convert", "--dry-run", "x.tsv", "out", "--to", "ones")
    assert done.exit_code == 0 and "3 records" in done.stderr + done.stdout
    assert os.listdir() == ["x.tsv"]
    with folders.writing("out", dry_run=True) as folder:
        folder.write("a", b"12")
        folder.make("b")
        folder.copy("c", "x.tsv")
    assert folder.size == 2 + len(Path("x.tsv").read_bytes())
    assert os.listdir() == ["x.tsv"]
