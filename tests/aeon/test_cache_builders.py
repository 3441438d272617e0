"""Cache builders: killed ones, several at the same time, and folders that others left."""

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from exset.codecs.aeon.cpio_write import BlockWriter
from exset.core.errors import Findings, FormatError
from exset.core.text import counted
from exset.grammars.aeon.manifest import Manifest
from exset.runtime.aeon import cache_build, cache_lock
from exset.runtime.aeon.cache import COMPLETE, JOURNAL, Cache
from exset.runtime.aeon.cache_build import build, repair
from exset.runtime.aeon.cache_plan import Plan
from exset.runtime.aeon.lock_owner import Owner, host
from tests.aeon.caches import codes, manifest, records, seen, why
from tests.aeon.cpio_files import block

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("EXSET_CASES", "4"))


@pytest.fixture
def plan() -> Plan:
    return Plan.of(manifest(), block_size=3)


def test_blocks_without_a_journal_are_replaced(plan: Plan, tmp_path: Path) -> None:
    """They may be incomplete, or of another block size."""
    folder = tmp_path / plan.folder
    folder.mkdir()
    for number in range(4):
        (folder / f"block_{number}.cpio").write_bytes(block(records()[:4]))
    done = build(plan, str(tmp_path))
    assert done.written == (0, 1, 2) and seen(done.folder) == records()
    assert not (folder / "block_3.cpio").exists()


def test_a_journal_counts_for_its_own_plan_only(plan: Plan, tmp_path: Path) -> None:
    folder = tmp_path / plan.folder
    folder.mkdir()
    good, bad = block(records()[:4]), block(records()[4:7])
    for key, kept in ((plan.key, (0,)), ([1], ())):
        shutil.rmtree(folder)
        folder.mkdir()
        (folder / "block_0.cpio").write_bytes(good)
        (folder / "block_1.cpio").write_bytes(bad)
        (folder / JOURNAL).write_text(json.dumps({"plan": key, "done": [0, 1, "x"]}))
        assert build(plan, str(tmp_path)).kept == kept
        assert seen(str(folder)) == records()
    for junk in (b"", b"[", b"{}", b'{"plan": 1, "done": 2}', b"\xff", b"[" * 10**6):
        (folder / JOURNAL).write_bytes(junk)
        (folder / COMPLETE).unlink()
        assert build(plan, str(tmp_path)).kept == ()


SCRIPT = """
import sys
from tests.aeon.caches import manifest
from exset.runtime.aeon.cache_build import build, repair
from exset.runtime.aeon.cache_plan import Plan
from exset.runtime.aeon.lock_owner import Owner, host
print("ready", flush=True)
sys.stdin.readline()
try:
    done = build(Plan.of(manifest(int(sys.argv[2])), block_size=4), sys.argv[1])
    print("built", len(done.written), len(done.kept), flush=True)
except BlockingIOError:
    print("held", flush=True)
"""


def builder(folder: Path, count: int) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(count)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """A cache is complete, or a reader rejects it and the next build completes it."""
    count, kept, random_ = 200, 0, random.Random(0)
    whole = Plan.of(manifest(count), block_size=4)
    for case in range(KILLS):
        folder = tmp_path / str(case)
        folder.mkdir()
        process = builder(folder, count)
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        time.sleep(random_.random() * 0.3)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        path = folder / whole.folder
        if path.exists():
            cache = Cache(str(path))
            if cache.is_complete:
                assert list(cache.check(Findings())) == list(range(50))
            else:
                with pytest.raises(FormatError):
                    list(cache)
            for number in cache.blocks:
                assert why(whole, number, cache.block(number)) is None
        done = build(whole, str(folder))
        kept += len(done.kept)
        assert seen(done.folder) == records(count) and not codes(Cache(done.folder), whole)
        assert COMPLETE in os.listdir(done.folder)
        assert len(os.listdir(done.folder)) == 51
    assert kept


class Down(BaseException):
    """The machine goes down."""


@pytest.mark.parametrize("has_flock", [True, False])
def test_stopped_at_every_step(
    has_flock: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the machine went down before the n-th change of the folder."""
    plan = Plan.of(manifest(6), block_size=3)
    if not has_flock:
        monkeypatch.setattr(cache_lock, "_flock", lambda _: None)
    left = 0

    def counted(function: Callable[..., object]) -> Callable[..., object]:
        def act(*words: object, **named: object) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                raise Down
            return function(*words, **named)

        return act

    for step in range(100):
        folder = tmp_path / str(step)
        folder.mkdir()
        left = step
        try:
            with monkeypatch.context() as patch:
                for name in ("replace", "link", "unlink", "rename", "open"):
                    patch.setattr(os, name, counted(getattr(os, name)))
                build(plan, str(folder))
            assert step > 15
            return
        except Down:
            pass
        path = folder / plan.folder
        lock = path / cache_lock.NAME
        if lock.exists():  # this process was not really killed
            lock.write_bytes(Owner(2**22 + 1, host()).to_json())
        if path.exists() and Cache(str(path)).is_complete:
            assert list(Cache(str(path)).check(Findings())) == [0, 1]
        assert seen(build(plan, str(folder)).folder) == records(6)
        assert set(os.listdir(path)) >= {COMPLETE} and JOURNAL not in os.listdir(path)
    pytest.fail("the build never ends")


def test_many_builders_at_once(tmp_path: Path) -> None:
    count = 120
    processes = [builder(tmp_path, count) for _ in range(3)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate()[0].strip() for process in processes]
    assert [process.returncode for process in processes] == [0] * 3
    assert "built 30 0" in said and set(said) <= {"built 30 0", "held", "built 0 30"}
    path = str(tmp_path / Plan.of(manifest(count)).folder)
    assert seen(path) == records(count)


def test_a_lock_that_somebody_removes(plan: Plan, tmp_path: Path) -> None:
    def steal() -> float:
        if (tmp_path / plan.folder / "block_1.cpio").exists():
            (tmp_path / plan.folder / cache_lock.NAME).unlink(missing_ok=True)
        return 0.0

    with pytest.raises(BlockingIOError, match="removed the lock"):
        build(plan, str(tmp_path), clock=steal)
    assert not Cache(str(tmp_path / plan.folder)).is_complete
    assert build(plan, str(tmp_path)).kept == (0, 1)


def test_a_full_disk_leaves_no_block(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full:
        def __init__(self, *_: object) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache_build, "BlockWriter", Full)
    with pytest.raises(OSError, match="No space"):
        build(plan, str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_a_failed_build_leaves_only_what_the_next_one_keeps(tmp_path: Path) -> None:
    """A new folder is removed; an old one stays; finished blocks stay, and the error says so."""
    made = Manifest.of(["FILE"], [(f"{number}.jpg",) for number in range(6)])
    plan = Plan.of(made, base=str(tmp_path), block_size=2)
    caches = tmp_path / "caches"
    caches.mkdir()
    folder = caches / plan.folder
    with pytest.raises(FormatError) as caught:
        build(plan, str(caches))
    assert os.listdir(caches) == [] and "resumes" not in str(caught.value.hint)
    folder.mkdir()
    with pytest.raises(FormatError):
        build(plan, str(caches))
    assert os.listdir(folder) == []
    for kept in (1, 2):
        for number in range(2 * kept):
            (tmp_path / f"{number}.jpg").write_bytes(b"x")
        with pytest.raises(FormatError) as caught:
            build(plan, str(caches))
        blocks = {f"block_{number}.cpio" for number in range(kept)}
        assert {*os.listdir(folder)} == {JOURNAL, *blocks}
        assert f"keeps {counted(kept, 'finished block')}" in str(caught.value.hint)


def test_a_failed_repair_leaves_no_journal_in_a_complete_cache(tmp_path: Path) -> None:
    made = Manifest.of(["FILE"], [("a.jpg",), ("b.jpg",)])
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).write_bytes(b"x")
    plan = Plan.of(made, base=str(tmp_path), block_size=1)
    built = build(plan, str(tmp_path))
    (Path(built.folder) / "block_1.cpio").unlink()
    (tmp_path / "b.jpg").unlink()
    before = {*os.listdir(built.folder)}
    with pytest.raises(FormatError):
        repair(plan, built.folder)
    assert {*os.listdir(built.folder)} == before


def test_a_full_disk_says_which_blocks_are_kept(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers = itertools.count()

    def full_at_the_second(file: BinaryIO, clock: Callable[[], float]) -> BlockWriter:
        if next(writers):
            raise OSError(28, "No space left on device")
        return BlockWriter(file, clock)

    monkeypatch.setattr(cache_build, "BlockWriter", full_at_the_second)
    with pytest.raises(OSError, match="keeps 1 finished block"):
        build(plan, str(tmp_path))
    monkeypatch.undo()
    assert build(plan, str(tmp_path)).kept == (0,)
