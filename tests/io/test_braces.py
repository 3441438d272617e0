"""Patterns with braces, which name the files of one input."""

import os
from pathlib import Path

import numpy as np
import pytest

import exset
from exset import FormatError, LimitError, Table
from exset.core.limits import Limits
from exset.io.braces import Pattern, folder_at


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("a-{08..11}.tar", ["a-08.tar", "a-09.tar", "a-10.tar", "a-11.tar"]),
        ("a-{9..11}.tar", ["a-9.tar", "a-10.tar", "a-11.tar"]),
        ("a-{0..1}.tar", ["a-0.tar", "a-1.tar"]),
        ("a-{2..1}.tar", ["a-2.tar", "a-1.tar"]),
        ("{0..1}/{5..6}.tar", ["0/5.tar", "0/6.tar", "1/5.tar", "1/6.tar"]),
    ],
)
def test_names(pattern: str, names: list[str]) -> None:
    assert list(Pattern(pattern).names) == names
    below = Pattern(f"some/where/{pattern}")
    assert [below.path_of(name) for name in below.names] == [f"some/where/{each}" for each in names]


def test_no_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("{0..1}.tar").write_bytes(b"")
    for name in ("{0..1}.tar", "{a..b}.tar", "a.tar", "-", "s3://x/{0..1}.tar"):
        assert folder_at(name) is None


def test_too_many_files() -> None:
    for pattern in ("{0..999999999}.tar", "{0..99}{0..99}{0..99}.tar"):
        with pytest.raises(LimitError, match="names more than"):
            _ = Pattern(pattern, Limits(max_objects=1000)).names


@pytest.mark.parametrize("suffix", [".tar", ".tfrecord"])
def test_shards_are_one_table(suffix: str, tmp_path: Path) -> None:
    """The shards are read in the order of the pattern, and other files are not."""
    for number in range(11):
        table = Table.of({"a": np.full(2, number)})
        exset.save(table, tmp_path / f"x-{number}{suffix}")
    path = os.path.join(tmp_path, f"x-{{8..10}}{suffix}")
    assert exset.detect(path).is_folder
    assert list(exset.load(path, model=Table)["a"]) == [8, 8, 9, 9, 10, 10]
    assert len(exset.dataset(path)) == 6
    assert exset.convert(path, tmp_path / "x.npz") == 6
    with pytest.raises(FileNotFoundError, match="x-11"):
        exset.load(os.path.join(tmp_path, f"x-{{8..11}}{suffix}"))
    with pytest.raises((FileNotFoundError, FormatError)):
        exset.load(os.path.join(tmp_path, "x-{8..10}.ex"))
