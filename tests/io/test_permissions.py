"""Permissions: errors for files that the user may not read or write, file by file."""

import json
import os
import stat
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from exset import samples
from exset.cli import cli
from exset.io import files

OLD = b"the old content"
XOR = samples.read("xor.ex").data
NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that all users can open, unlike the folders of pytest."""
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
    CliRunner().invoke(cli, arguments)  # imports the modules, which the user `nobody` may not read
    with as_nobody():
        return CliRunner().invoke(cli, arguments)


def test_a_file_of_a_manifest_that_may_not_be_read(folder: Path) -> None:
    picture, manifest = folder / "a.jpg", folder / "a.tsv"
    picture.write_bytes(b"a")
    manifest.write_bytes(b"@FILE\n%b\n" % os.fsencode(picture))
    assert run("validate", "--files", str(manifest)).exit_code == 0
    picture.chmod(0)
    done = run("validate", "--files", str(manifest))
    assert done.exit_code == 1 and "[aeon-file-closed]" in done.stdout


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


def test_classes_that_may_not_be_looked_into(folder: Path) -> None:
    """They are not empty."""
    closed = folder / "pictures" / "dogs" / "small"
    for name in ("cats", "dogs", "dogs/small"):
        (folder / "pictures" / name).mkdir(parents=True)
        files.write(folder / "pictures" / name / "1.jpg", b"1")
    closed.chmod(0)
    done = run("manifest", "build", str(folder / "pictures"), "-o", "-")
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr == f"exset: {closed}: Permission denied\n"
    closed.chmod(0o700)


@pytest.mark.parametrize("mode", [0o555, 0o311])
def test_a_folder_that_may_not_be_written(folder: Path, mode: int) -> None:
    """The error has the name that the user gave."""
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


def state(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="who is not root cannot give files away")
def test_owner_and_group_stay(folder: Path) -> None:
    folder.chmod(0o777)
    old = folder / "old"
    old.write_bytes(OLD)
    os.chown(old, 1000, 1001)
    old.chmod(0o640)
    files.write(old, b"new")
    assert state(old) == (1000, 1001, 0o640)


@pytest.mark.skipif(os.geteuid() != 0, reason="who is not root cannot give files away")
@pytest.mark.parametrize(("mode", "kept"), [(0o662, 0o622), (0o666, 0o666), (0o606, 0o666)])
def test_another_group_may_do_no_more_than_all(folder: Path, mode: int, kept: int) -> None:
    folder.chmod(0o777)
    old = folder / "old"
    old.write_bytes(OLD)
    os.chown(old, 1000, 1001)
    old.chmod(mode)
    with as_nobody():
        files.write(old, b"new")
    assert state(old) == (NOBODY, 0, kept)
    os.chown(old, NOBODY, 1001)
    old.chmod(0o660)
    groups = os.getgroups()
    os.setgroups([1001])
    try:
        with as_nobody():
            files.write(old, b"newer")
    finally:
        os.setgroups(groups)
    assert state(old) == (NOBODY, 1001, 0o660)


LIST = "system.posix_acl_access"


def access_list(user: int, group: int, most: int) -> bytes:
    """What Linux keeps of: the owner all, user 1000, the file's group, the most, and others."""
    entries = ((1, 6, -1), (2, user, 1000), (4, group, -1), (16, most, -1), (32, 0, -1))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


def test_access_lists_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mode bits of a group are the most that a list gives anybody, not what the group gets."""
    old, other = tmp_path / "old", tmp_path / "other"
    for path in (old, other):
        path.write_bytes(OLD)
        path.chmod(0o600)
    expected = access_list(6, 0, 6)
    try:
        os.setxattr(old, LIST, expected)
        os.setxattr(tmp_path, "system.posix_acl_default", access_list(7, 7, 7))
    except (OSError, AttributeError):
        pytest.skip("the file system, or the system, knows no access lists")
    files.write(old, b"new")
    assert (os.getxattr(old, LIST), state(old)[2]) == (expected, 0o660)
    files.write(other, b"new")  # not what the folder gives to new files
    assert (os.listxattr(other), state(other)[2]) == ([], 0o600)

    def fail(*args: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", fail)
    files.write(old, b"newer")
    assert (os.listxattr(old), state(old)[2]) == ([LIST], 0o600)
