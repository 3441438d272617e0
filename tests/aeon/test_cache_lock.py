"""The lock of a cache: who holds it, when it is stale, and file systems without flock or links."""

import fcntl
import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from exset.runtime.aeon import cache_lock
from exset.runtime.aeon.cache_lock import locked
from exset.runtime.aeon.lock_owner import Owner, host

FAR = {"pid": 1, "host": "elsewhere", "start": ""}
ENDED = {"pid": 2**22 + 1}
REPLACED = {"start": "another boot 7"}


@pytest.fixture(params=[True, False], ids=["flock", "no flock"])
def has_flock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if not request.param:  # as on some network file systems
        monkeypatch.setattr(cache_lock, "_flock", lambda _: None)
    return bool(request.param)


@pytest.mark.usefixtures("has_flock")
def test_one_builder_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / cache_lock.NAME
    with locked(str(tmp_path)) as is_held:
        assert is_held() and json.loads(path.read_text())["pid"] == os.getpid()
        with (
            pytest.raises(BlockingIOError, match=f"process {os.getpid()} on"),
            locked(str(tmp_path)),
        ):
            pass
        assert is_held()
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "stale_without_flock"),
    [
        (ENDED, True),
        (REPLACED, True),
        ({}, False),
        ({"pid": 10**22}, False),
        ({"pid": "1"}, False),
        (FAR, False),
        ("", False),
        ("junk", False),
    ],
)
def test_stale_locks(
    tmp_path: Path, words: dict[str, object] | str, stale_without_flock: bool, has_flock: bool
) -> None:
    """A lock that nobody holds with flock is stale, unless another machine made it."""
    mine = asdict(Owner.this())
    text = words if isinstance(words, str) else json.dumps({**mine, **words})
    path = tmp_path / cache_lock.NAME
    path.write_text(text)
    if words is FAR or not (has_flock or stale_without_flock):
        with pytest.raises(BlockingIOError) as caught, locked(str(tmp_path)):
            pass
        assert path.read_text() == text
        assert ("remove caching_in_progress" in str(caught.value)) == (words is FAR)
        return
    with locked(str(tmp_path)) as is_held:
        assert is_held() and json.loads(path.read_text()) == mine
    assert not os.listdir(tmp_path)


def test_a_lock_that_aeon_holds(tmp_path: Path) -> None:
    path = tmp_path / cache_lock.NAME
    path.touch()
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError, match="by aeon"), locked(str(tmp_path)):
            pass
    assert path.exists()


def test_a_stale_lock_that_another_builder_replaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The builder puts back a lock that is not the stale one."""
    monkeypatch.setattr(cache_lock, "_flock", lambda _: None)
    path = tmp_path / cache_lock.NAME
    path.write_bytes(Owner(ENDED["pid"], host()).to_json())
    theirs = json.dumps(FAR)
    rename = os.rename

    def replaced(source: str, target: str) -> None:
        path.unlink()
        path.write_text(theirs)
        rename(source, target)

    monkeypatch.setattr(os, "rename", replaced)
    with pytest.raises(BlockingIOError, match="elsewhere"), locked(str(tmp_path)):
        pass
    assert os.listdir(tmp_path) == [cache_lock.NAME] and path.read_text() == theirs


def test_a_lock_that_its_builder_removes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / cache_lock.NAME
    path.touch()
    real = fcntl.flock

    def flock(handle: int, how: int) -> None:
        real(handle, how)
        monkeypatch.setattr(fcntl, "flock", real)
        path.unlink()

    monkeypatch.setattr(fcntl, "flock", flock)
    with locked(str(tmp_path)) as is_held:
        assert is_held()
    assert not os.listdir(tmp_path)


def test_a_failure_leaves_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_flock: bool
) -> None:
    def write(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(KeyboardInterrupt), locked(str(tmp_path)):
        pass
    assert not os.listdir(tmp_path)
