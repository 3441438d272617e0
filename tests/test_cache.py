"""aeon's caches: built as aeon builds them, checked, mended, and never half believed."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from exset.codecs.cpio import decode
from exset.errors import Findings, FormatError
from exset.files import writing
from exset.grammars.blocks import Block
from exset.grammars.manifests import Manifest
from exset.runtime import cache_build, cache_lock
from exset.runtime.cache import COMPLETE, JOURNAL, Cache
from exset.runtime.cache_build import Plan, build, repair
from exset.source import Source
from tests.cpio_files import TIME, TRAILER, block, elements, header

ROOT = Path(__file__).parent.parent
KILLS = int(os.environ.get("EXSET_CASES", "8"))


def manifest(count: int = 10) -> Manifest:
    return Manifest.of(["STRING", "ASCII_INT"], [(f"name{i}", i) for i in range(count)])


def records(count: int = 10) -> list[list[bytes]]:
    return [[b"name%d" % i, i.to_bytes(4, "little")] for i in range(count)]


def seen(path: str) -> list[list[bytes]]:
    return [[bytes(each) for each in record] for record in Cache(path)]


def codes(cache: Cache, plan: Plan | None = None) -> list[str]:
    findings = Findings()
    if plan is None:
        cache.check(findings)
    else:
        plan.check(cache, findings)
    return [finding.code for finding in findings]


@pytest.fixture
def plan() -> Plan:
    return Plan.of(manifest(), block_size=3)


@pytest.fixture
def built(plan: Plan, tmp_path: Path) -> Path:
    """A cache of blocks of 4, 4 and 2 records."""
    return Path(build(plan, str(tmp_path), clock=lambda: TIME).folder)


def test_built_as_aeon_does(built: Path, plan: Plan) -> None:
    assert built.name == "aeon_cache_c7716f98"
    assert sorted(os.listdir(built)) == [
        *("block_0.cpio", "block_1.cpio", "block_2.cpio"),
        "cache_complete",
    ]
    assert (built / COMPLETE).read_bytes() == b""
    for number, part in enumerate((records()[:4], records()[4:8], records()[8:])):
        assert (built / f"block_{number}.cpio").read_bytes() == block(part)
    assert seen(str(built)) == records()
    cache = Cache(str(built))
    assert len(cache) == 3 and cache.uid == "c7716f98" and cache.owner is None
    assert not codes(cache) and not codes(cache, plan)
    again = build(plan, str(built.parent))
    assert again.written == () and again.kept == (0, 1, 2)


def test_other_blocks_than_those_there(built: Path) -> None:
    other = Plan.of(manifest(), block_size=5)
    assert "aeon-cache-count" in codes(Cache(str(built)), other)
    assert not codes(Cache(str(built)), other.fitted(Cache(str(built))))
    with pytest.raises(FormatError, match="complete cache already"):
        build(other, str(built.parent))
    more = Plan.of(manifest(), block_size=2)
    assert "aeon-cache-gap" in codes(Cache(str(built)), more)
    assert repair(other, str(built)).written == (0, 1)
    assert seen(str(built)) == records() and len(Cache(str(built))) == 2


def test_an_empty_last_block() -> None:
    findings = Findings()
    made = Plan.of(manifest(16), block_size=3, findings=findings)
    assert [len(each) for each in made.blocks] == [4, 4, 4, 4]
    assert [finding.code for finding in findings] == ["aeon-cache-empty-block"]
    with pytest.raises(FormatError, match="no records"):
        Plan.of(manifest(0))


def test_what_is_wrong(built: Path, plan: Plan, tmp_path: Path) -> None:
    path = built / "block_1.cpio"
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    assert codes(Cache(str(built))) == ["aeon-cache-block"]
    path.write_bytes(b"")
    assert codes(Cache(str(built)), plan) == ["aeon-cache-block"]
    with pytest.raises(FormatError):
        seen(str(built))
    path.unlink()
    assert codes(Cache(str(built))) == ["aeon-cache-gap"]
    shifted = header(4) + b"".join(elements([[b"a"], [b"b", b"1234"]])) + TRAILER
    path.write_bytes(shifted)
    assert codes(Cache(str(built))) == ["aeon-block-no-end", "aeon-block-shift"]
    path.write_bytes(block([[b"a"]] * 4))
    assert codes(Cache(str(built))) == ["aeon-cache-width"]
    other = records()[4:8]
    other[3][1] = bytes(4)
    path.write_bytes(block(other))
    assert codes(Cache(str(built))) == [] and codes(Cache(str(built)), plan) == ["aeon-cache-count"]
    path.write_bytes(whole)
    (built / COMPLETE).unlink()
    assert codes(Cache(str(built))) == ["aeon-cache-incomplete"]
    with pytest.raises(FormatError, match="no cache_complete"):
        seen(str(built))
    (built / cache_lock.NAME).touch()
    (built / "notes").touch()
    os.mkfifo(built / "block_3.cpio")
    assert codes(Cache(str(built))) == [
        *("aeon-cache-incomplete", "aeon-cache-lock"),
        *("aeon-cache-other", "aeon-cache-other"),
    ]
    (tmp_path / "empty").mkdir()
    assert codes(Cache(str(tmp_path / "empty"))) == [
        *("aeon-cache-name", "aeon-cache-none", "aeon-cache-incomplete"),
    ]
    with pytest.raises(NotADirectoryError):
        Cache(str(path))
    (tmp_path / "empty" / "block_999999999.cpio").touch()
    assert len(codes(Cache(str(tmp_path / "empty")))) < 110


def test_another_manifest(built: Path) -> None:
    other = Plan.of(manifest(9), block_size=3)
    assert "aeon-cache-uid" in codes(Cache(str(built)), other)
    with pytest.raises(FormatError, match="the manifest's is"):
        repair(other, str(built))


def test_mended(built: Path, plan: Plan) -> None:
    before = (built / "block_0.cpio").stat().st_mtime_ns
    (built / "block_1.cpio").write_bytes(b"junk")
    (built / "block_2.cpio").unlink()
    (built / COMPLETE).unlink()
    done = repair(plan, str(built), clock=lambda: TIME)
    assert done.written == (1, 2) and done.kept == (0,)
    assert seen(str(built)) == records() and not codes(Cache(str(built)), plan)
    assert (built / "block_0.cpio").stat().st_mtime_ns == before


def test_old_caches(tmp_path: Path) -> None:
    folder = tmp_path / "0123456789abcdef_c7716f98"
    folder.mkdir()
    (folder / "0-5000.cpio").write_bytes(block(records()))
    assert Cache(str(folder)).uid == "c7716f98" and seen(str(folder)) == records()


def test_elements_that_there_are_not(tmp_path: Path) -> None:
    """aeon would write a block in which all that follows is shifted: nothing is written."""
    (tmp_path / "a").write_bytes(b"12345")
    made = Manifest.of(["FILE", "ASCII_INT"], [("a", 1), ("missing", 2), ("a", "x")])
    plan = Plan.of(made, root=str(tmp_path))
    with pytest.raises(FormatError, match=r"record 1, .*missing.*record 2, column 1") as caught:
        build(plan, str(tmp_path))
    assert caught.value.code == "aeon-file"
    folder = tmp_path / plan.folder
    assert os.listdir(folder) == [JOURNAL] and not Cache(str(folder)).is_complete
    (tmp_path / "missing").write_bytes(b"")
    fixed = Plan.of(made.select([0, 1]), root=str(tmp_path))
    assert seen(build(fixed, str(tmp_path)).folder) == [
        [b"12345", b"\1\0\0\0"],
        [b"", b"\2\0\0\0"],
    ]


def test_only_the_last_folder_is_made(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        build(plan, str(tmp_path / "no" / "such"))


def test_blocks_of_others_are_not_trusted(plan: Plan, tmp_path: Path) -> None:
    """What is there without a journal may be half written, or of another block size."""
    folder = tmp_path / plan.folder
    folder.mkdir()
    for number in range(4):
        (folder / f"block_{number}.cpio").write_bytes(block(records()[:4]))
    done = build(plan, str(tmp_path))
    assert done.written == (0, 1, 2) and seen(done.folder) == records()
    assert not (folder / "block_3.cpio").exists()


def test_a_journal_is_trusted_for_its_own_plan(plan: Plan, tmp_path: Path) -> None:
    folder = tmp_path / plan.folder
    folder.mkdir()
    good, bad = block(records()[:4]), block(records()[4:7])
    for token, kept in ((plan.token, (0,)), ([1], ())):
        shutil.rmtree(folder)
        folder.mkdir()
        (folder / "block_0.cpio").write_bytes(good)
        (folder / "block_1.cpio").write_bytes(bad)
        (folder / JOURNAL).write_text(json.dumps({"plan": token, "done": [0, 1, "x"]}))
        assert build(plan, str(tmp_path)).kept == kept
        assert seen(str(folder)) == records()
    for junk in (b"", b"[", b"{}", b'{"plan": 1, "done": 2}', b"\xff", b"[" * 10**6):
        (folder / JOURNAL).write_bytes(junk)
        (folder / COMPLETE).unlink()
        assert build(plan, str(tmp_path)).kept == ()


SCRIPT = """
import sys
from tests.test_cache import manifest
from exset.runtime.cache_build import Plan, build
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


def test_killed_at_any_time(tmp_path: Path) -> None:
    """What is left is no cache to a reader, or a whole one; the next build completes it."""
    count, kept, random_ = 400, 0, random.Random(0)
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
                assert list(cache.check(Findings())) == list(range(100))
            else:
                with pytest.raises(FormatError):
                    list(cache)
            for number in cache.blocks:
                assert whole.wants(number, cache.block(number))
        done = build(whole, str(folder))
        kept += len(done.kept)
        assert seen(done.folder) == records(count) and not codes(Cache(done.folder), whole)
        assert COMPLETE in os.listdir(done.folder)
        assert len(os.listdir(done.folder)) == 101
    assert kept


def test_stopped_at_every_step(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the machine went down before the n-th thing that a builder does to its folder."""
    real = {name: getattr(os, name) for name in ("replace", "link", "unlink", "rename", "open")}

    class Down(BaseException):
        pass

    for step in range(100):
        folder = tmp_path / str(step)
        folder.mkdir()
        left = step

        def counted(name: str) -> object:
            def act(*given: object, **named: object) -> object:
                nonlocal left
                if left == 0:
                    raise Down
                left -= 1
                return real[name](*given, **named)

            return act

        for name in real:
            monkeypatch.setattr(os, name, counted(name))
        down = True
        try:
            build(plan, str(folder))
            down = False
        except Down:
            pass
        monkeypatch.undo()
        if not down:
            assert step > 15
            return
        path = folder / plan.folder
        lock = path / cache_lock.NAME
        if lock.exists():  # it is this very process that was stopped
            lock.write_text(json.dumps({"pid": 2**22 + 1, "host": cache_lock.host(), "start": ""}))
        if path.exists() and Cache(str(path)).is_complete:
            assert list(Cache(str(path)).check(Findings())) == [0, 1, 2]
        assert seen(build(plan, str(folder)).folder) == records()
        assert set(os.listdir(path)) >= {COMPLETE} and JOURNAL not in os.listdir(path)
    pytest.fail("it never came to an end")


def test_many_builders_at_once(tmp_path: Path) -> None:
    count = 200
    processes = [builder(tmp_path, count) for _ in range(4)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate()[0].strip() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert "built 50 0" in said and set(said) <= {"built 50 0", "held", "built 0 50"}
    path = str(tmp_path / Plan.of(manifest(count)).folder)
    assert seen(path) == records(count)


def test_a_lock_that_was_taken_away(plan: Plan, tmp_path: Path) -> None:
    def steal(number: int) -> None:
        if number == 1:
            (tmp_path / plan.folder / cache_lock.NAME).unlink()

    with pytest.raises(BlockingIOError, match="took the lock away"):
        build(plan, str(tmp_path), heard=steal)
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
    assert os.listdir(tmp_path / plan.folder) == [JOURNAL]


def test_a_block_of_a_stream_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "block_0.cpio"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), writing(path) as file:
        file.write(b"new")
        raise RuntimeError
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["block_0.cpio"]


def test_decode_is_what_a_cache_reads(built: Path) -> None:
    raw = (built / "block_0.cpio").read_bytes()
    assert Cache(str(built)).block(0) == decode(Source("x", raw))
    assert isinstance(Cache(str(built)).block(0), Block)
