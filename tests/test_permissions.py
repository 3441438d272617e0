"""What the system allows to some only: who may not read or write is told so, file by file."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from exset import files, samples
from exset.cli import cli

OLD = b"the old content"
XOR = samples.read("xor.ex").data
NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may reach, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Be a user to whom something can be forbidden: to root nothing is."""
    if os.geteuid():
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def run(*arguments: str) -> Result:
    CliRunner().invoke(cli, arguments)  # who is nobody may not reach what is yet to be imported
    with as_nobody():
        return CliRunner().invoke(cli, arguments)


def test_a_file_that_may_not_be_read(folder: Path) -> None:
    """It is one of many: the others are read."""
    closed, fine, packed = (str(folder / name) for name in ("closed.ex", "fine.ex", "x.ex"))
    for name in (closed, fine, packed + ".gz"):
        files.write(name, XOR)
    for name in (closed, packed + ".gz"):
        os.chmod(name, 0)
    done = run("validate", closed, fine, packed)
    assert (done.exit_code, done.stdout) == (3, f"{fine}: ok\n")
    assert done.stderr.splitlines() == [
        f"exset: {closed}: Permission denied",
        f"exset: {packed}.gz: Permission denied",
    ]
    done = run("validate", "--json", closed, fine)
    first, second = map(json.loads, done.stdout.splitlines())
    assert done.exit_code == 3 and second["ok"] and not first["ok"]
    assert (first["file"], first["error"]["code"]) == (closed, "system")
    for verb in ("info", "cat", "head", "stats"):
        assert run(verb, closed).exit_code == 3
    for arguments in (("diff", closed, fine), ("diff", fine, closed), ("info", f"@{closed}")):
        assert run(*arguments).stderr == f"exset: {closed}: Permission denied\n"


def test_a_folder_that_may_not_be_read(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir()
    files.write(closed / "x.ex", XOR)
    for mode in (0, 0o311):
        closed.chmod(mode)
        for pattern in (f"{closed}/*.ex", f"{closed}/x[.]ex", f"{closed}/**/x"):
            done = run("info", pattern)
            assert (done.exit_code, done.stderr) == (3, f"exset: {closed}: Permission denied\n")
    with as_nobody():
        assert files.read(closed / "x.ex").data == XOR
    closed.chmod(0o700)


@pytest.mark.parametrize("mode", [0o555, 0o311])
def test_a_folder_that_may_not_be_written(folder: Path, mode: int) -> None:
    """Who may not, is told so by the name that was asked for."""
    old = folder / "old"
    old.write_bytes(OLD)
    old.chmod(0o666)
    folder.chmod(mode)
    with as_nobody():
        for path in (old, folder / "new"):
            with pytest.raises(PermissionError) as caught:
                files.write(path, b"new")
            assert caught.value.filename == str(path)
    folder.chmod(0o755)
    assert {item.name: item.read_bytes() for item in folder.iterdir()} == {"old": OLD}


def test_a_file_that_may_not_be_replaced(folder: Path) -> None:
    """In a folder for all, such as /tmp, who does not own a file may not take its name."""
    old = folder / "old.ex"
    old.write_bytes(OLD)
    for mode, folder_mode in ((0o444, 0o777), (0o666, 0o1777)):
        old.chmod(mode)
        folder.chmod(folder_mode)
        if os.geteuid() and mode == 0o666:
            continue  # it is ours
        with as_nobody(), pytest.raises(PermissionError) as caught:
            files.write(old, b"new")
        assert caught.value.filename == str(old)
        assert {item.name: item.read_bytes() for item in folder.iterdir()} == {"old.ex": OLD}
