"""A missing, broken or unwritable cache only costs time."""

import os
import stat
import sys
from pathlib import Path

import pytest

from exset import doctor
from exset.core import disk_cache
from exset.parsers.lens.tokens import GRAMMAR

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(disk_cache.ENVIRONMENT, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("damage", ["empty", "truncated", "garbage", "changed", "longer"])
def test_a_damaged_file_is_not_used(folder: Path, damage: str) -> None:
    assert disk_cache.store("a/b", b"some data")
    break_file(folder / "a" / "b", damage)
    assert disk_cache.load("a/b") is None
    assert disk_cache.store("a/b", b"some data") and disk_cache.load("a/b") == b"some data"


def test_a_file_under_another_name_is_not_used(folder: Path) -> None:
    assert disk_cache.store("one", b"some data")
    (folder / "one").rename(folder / "two")
    assert disk_cache.load("two") is None


@posix
def test_only_the_user_can_open_the_cache(folder: Path) -> None:
    assert disk_cache.store("kernels/group/name", b"data")
    for path in (folder, folder / "kernels", folder / "kernels" / "group"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_cache_that_others_can_write_to_is_not_used(folder: Path, mode: int) -> None:
    assert disk_cache.store("it", b"data")
    folder.chmod(mode)
    assert disk_cache.load("it") is None and not disk_cache.store("it", b"new")
    report = doctor.examine()
    assert report.cache_problem and any(report.cache_problem in text for _, text in report.rows())
    folder.chmod(0o755)
    assert disk_cache.load("it") == b"data" and doctor.examine().cache_problem is None


@posix
def test_a_cache_of_another_owner_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert disk_cache.store("it", b"data")
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert disk_cache.load("it") is None and not disk_cache.store("it", b"new")
    assert doctor.examine().cache_problem


def test_damaged_tables_are_lowered_again(folder: Path) -> None:
    fresh = GRAMMAR.__class__(GRAMMAR.file, GRAMMAR.start, GRAMMAR.steps)
    _ = fresh.lowered
    path = folder / fresh.cache_name
    break_file(path, "changed")
    assert not any(each.ready for each in doctor.examine().grammars)
    again = GRAMMAR.__class__(GRAMMAR.file, GRAMMAR.start, GRAMMAR.steps)
    assert again.lowered.terminals == GRAMMAR.terminals
    assert disk_cache.load(fresh.cache_name) is not None


def break_file(path: Path, damage: str) -> None:
    """Damage a file."""
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {
            "empty": b"",
            "truncated": data[:middle],
            "garbage": bytes(range(256)) * 4,
            "changed": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "longer": data + b"\0",
        }[damage]
    )
