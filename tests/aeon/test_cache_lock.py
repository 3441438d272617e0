"""The lock of a cache: who holds it, what is stale, and what if the system has no locks."""

import json
import os
from pathlib import Path

import pytest

from exset.runtime.aeon import cache_lock
from exset.runtime.aeon.cache_lock import Lock
from tests.aeon.cpio_files import TIME


def test_one_holds_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tmp_path)
    path = tmp_path / cache_lock.NAME
    for has_flock in (True, False):
        if not has_flock:  # as on some network file systems
            monkeypatch.setattr(cache_lock, "_flock", lambda _: None)
        with Lock(folder) as lock:
            assert lock.is_held() and json.loads(path.read_text())["pid"] == os.getpid()
            with pytest.raises(BlockingIOError, match=f"process {os.getpid()} on"):
                Lock(folder).__enter__()
        assert not os.listdir(folder)


@pytest.mark.parametrize(
    ("words", "is_stale"),
    [
        ({"pid": 2**22 + 1}, True),
        ({"start": "another boot 7"}, True),
        ({"start": ""}, False),
        ({}, True),  # ours, and we do not hold it
        ({"pid": 1, "start": ""}, False),
        ({"pid": 2**22 + 1, "host": "elsewhere"}, False),
        ({"pid": 10**22}, True),
        ({"pid": "1"}, True),
        ("", True),
        ("junk", True),
    ],
)
def test_stale_locks(tmp_path: Path, words: dict[str, object] | str, is_stale: bool) -> None:
    mine = {"pid": os.getpid(), "host": cache_lock.host()}
    mine["start"] = cache_lock.start_of(os.getpid())
    text = words if isinstance(words, str) else json.dumps({**mine, **words})
    path = tmp_path / cache_lock.NAME
    path.write_text(text)
    os.utime(path, (TIME, TIME))
    lock = Lock(str(tmp_path))
    if not is_stale:
        with pytest.raises(BlockingIOError) as caught:
            lock.__enter__()
        assert path.read_text() == text
        assert ("remove caching_in_progress" in str(caught.value)) == ("elsewhere" in text)
        return
    with lock:
        assert lock.is_held()
    assert not os.listdir(tmp_path)


def test_a_lock_that_aeon_holds(tmp_path: Path) -> None:
    import fcntl

    path = tmp_path / cache_lock.NAME
    path.touch()
    os.utime(path, (TIME, TIME))
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError, match="aeon made it"):
            Lock(str(tmp_path)).__enter__()
    path.write_bytes(b"")  # just made: whoever made it may be about to lock it
    with pytest.raises(BlockingIOError):
        Lock(str(tmp_path)).__enter__()


def test_a_lock_that_is_taken_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A builder that judged an older lock moves the new one aside for a moment."""
    real = os.link
    moved = [tmp_path / cache_lock.NAME]

    def link(temp: str, path: str) -> None:
        real(temp, path)
        while moved:
            moved.pop().unlink()

    monkeypatch.setattr(os, "link", link)
    with Lock(str(tmp_path)) as lock:
        assert lock.is_held() and not moved
    assert not os.listdir(tmp_path)


def test_a_lock_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    with Lock(str(tmp_path)), pytest.raises(BlockingIOError):
        Lock(str(tmp_path)).__enter__()
    assert not os.listdir(tmp_path)
