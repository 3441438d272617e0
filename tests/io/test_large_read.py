"""A large file is read as a small one is: from where it stands to its end."""

import os
from pathlib import Path

import pytest

from exset.core import threads
from exset.io import files, large_read

DATA = os.urandom(1 << 16)


@pytest.mark.parametrize("count", ["1", "3"])
@pytest.mark.parametrize("begin", [0, 5])
def test_the_bytes_of_a_file(
    begin: int, count: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(threads.ENVIRONMENT, count)
    path = tmp_path / "data"
    path.write_bytes(DATA)
    with path.open("rb") as file:
        file.seek(begin)
        assert large_read.read(file, 1000) == DATA[begin : begin + 1000]
        assert large_read.read(file, 1) == DATA[begin + 1000 : begin + 1001]
        rest = large_read.read(file, 2 * len(DATA))  # the file has become shorter
        assert rest == DATA[begin + 1001 :]
        assert large_read.read(file, 10) == b""


def test_a_system_without_the_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data"
    path.write_bytes(DATA)
    monkeypatch.delattr(os, "preadv")
    with path.open("rb") as file:
        assert large_read.read(file, len(DATA)) == DATA


def test_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_LARGE", 1 << 10)
    path = tmp_path / "data"
    path.write_bytes(DATA)
    source = files.read(path)
    assert source.data == DATA
    assert isinstance(source.content, bytes)
