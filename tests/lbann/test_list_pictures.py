"""SINGLE-SAMPLE lists that are built from folders of pictures and from label files."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, SampleList
from exset.core.source import Source
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.labels import Labels
from exset.parsers.lbann.labels import parse, render
from exset.runtime.lbann.list_pictures import from_folder, from_labels
from tests.cli.command_line import run


def put(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(b"picture")


def test_a_folder_of_classes(folder: Path) -> None:
    put("p/dog/1.jpg", "p/cat/deep/2.jpg", "p/cat/1.JPG", "p/cat/notes.txt", "p/.hidden/3.jpg")
    build = ("list", "build", "--kind", "single-sample", "p")
    done = run(
        *build, "--suffix", ".jpg", "--labels", "l.txt", "--classes", "c", "-o", "a.sample_list"
    )
    assert done.exit_code == 0 and "3 samples of 3 files" in done.stderr, done.output
    assert Path("a.sample_list").read_text() == (
        "SINGLE-SAMPLE\n3\np\nl.txt\ncat/1.JPG\ncat/deep/2.jpg\ndog/1.jpg\n"
    )
    assert Path("l.txt").read_text() == "cat/1.JPG 0\ncat/deep/2.jpg 0\ndog/1.jpg 1\n"
    assert Path("c").read_text() == "cat\ndog\n"
    assert run("validate", "--files", "a.sample_list").stdout == "a.sample_list: ok\n"
    assert len(exset.load("a.sample_list", model=SampleList)) == 3
    done = run(
        "list",
        "build",
        "--kind",
        "SINGLE-SAMPLE",
        "l.txt",
        "--directory",
        "p",
        "-o",
        "b.sample_list",
    )
    assert done.exit_code == 0, done.output
    assert Path("b.sample_list").read_bytes() == Path("a.sample_list").read_bytes()


def test_a_folder_without_classes(folder: Path) -> None:
    put("p/2.png", "p/1.png", "p/a b.png")
    findings = Findings()
    made = from_folder("p", findings, label_file="l.txt")
    assert [*made.samples.name] == [b"1.png", b"2.png"] and made.samples.label_file == b""
    assert len(made.labels) == 0 and made.classes == ()
    assert [each.code for each in findings] == ["lbann-blank", "lbann-no-label-file"]
    with pytest.raises(FormatError, match="list-empty"):
        from_folder("p", findings, suffixes=[".jpg"])


def test_a_label_file(folder: Path) -> None:
    put("p/1.png", "p/2.png")
    Path("p/labels").write_text("2.png 1\n1.png 0\n2.png 3\n3.png 1\n")
    findings = Findings()
    samples = from_labels("p/labels", "p", findings)
    assert [*samples.name] == [b"2.png", b"1.png", b"3.png"]
    assert [each.code for each in findings] == ["lbann-repeated-label", "lbann-missing-file"]
    done = run("list", "build", "--kind", "SINGLE-SAMPLE", "p/labels", "-o", "a.sample_list")
    assert done.exit_code == 1 and "[lbann-missing-file]" in done.stderr
    assert exset.load("a.sample_list", model=SampleList).directory == b"p"
    Path("p/labels").write_text("\n")
    with pytest.raises(FormatError, match="list-empty"):
        from_labels("p/labels", "p", findings)
    with pytest.raises(FileNotFoundError):
        from_labels("none", "p", findings)


def test_wrong_usage(folder: Path) -> None:
    put("p/c/1.png")
    Path("l").write_text("c/1.png 0\n")
    single = ("list", "build", "--kind", "SINGLE-SAMPLE")
    for arguments, message in (
        ((*single, "p", "--sample", "x"), "--sample needs a list of HDF5 files"),
        ((*single, "p", "l"), "one folder, or one label file"),
        ((*single, "l", "--labels", "m"), "--labels needs a folder of pictures"),
        ((*single, "p", "--directory", "x"), "--directory needs a label file"),
        (("list", "build", "p", "--labels", "m"), "--labels needs --kind SINGLE-SAMPLE"),
    ):
        done = run(*arguments)
        assert done.exit_code == 2 and message in done.stderr
    assert sorted(os.listdir()) == ["l", "p"]


WORDS = st.binary(min_size=1).filter(lambda word: not set(word) & set(b" \t\n\v\f\r"))


@given(st.lists(st.tuples(WORDS, st.integers(-(2**63) + 1, 2**63 - 1))))
def test_labels_read_back(rows: list[tuple[bytes, int]]) -> None:
    labels = Labels(Strings.of(name for name, _ in rows), np.array([n for _, n in rows], np.int64))
    assert parse(Source("l", render(labels))) == labels
