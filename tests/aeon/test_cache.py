"""aeon's caches: built as aeon builds them, checked and repaired."""

import os
import re
from pathlib import Path

import pytest

from exset.core.errors import Findings, FormatError
from exset.grammars.aeon.manifest import Manifest
from exset.io.access import Access
from exset.runtime.aeon import cache_lock
from exset.runtime.aeon.cache import COMPLETE, Cache
from exset.runtime.aeon.cache_build import build, repair
from exset.runtime.aeon.cache_plan import Plan
from tests.aeon.caches import codes, manifest, raises, records, seen, why
from tests.aeon.cpio_files import TIME, TRAILER, block, elements, header


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
    assert list(cache) == [cache[0], cache[1], cache[-1]] == list(cache[:])
    cache = Cache(str(built))
    assert len(cache) == 3 and cache.uid == "c7716f98" and cache.owner is None
    assert not codes(cache) and not codes(cache, plan)
    again = build(plan, str(built.parent))
    assert again.written == () and again.kept == (0, 1, 2)


def test_a_changed_value_is_reported_by_record_and_element(built: Path) -> None:
    rows = [(f"name{i}", i) for i in range(10)]
    rows[6] = ("name6", 7)
    changed = Plan.of(Manifest.of(["STRING", "ASCII_INT"], rows), block_size=4)
    block = Cache(str(built)).block(1)
    assert why(changed, 1, block) == "element 1 of its record 2 differs"
    rows[7] = ("other", 8)
    changed = Plan.of(Manifest.of(["STRING", "ASCII_INT"], rows), block_size=4)
    whole = "element 1 of its record 2 differs, and 2 other elements"
    assert why(changed, 1, block) == whole
    assert "aeon-cache-count" in codes(Cache(str(built)), changed)
    assert why(changed, 0, Cache(str(built)).block(0)) is None


def test_another_block_size(built: Path) -> None:
    other = Plan.of(manifest(), block_size=5)
    assert codes(Cache(str(built)), other) == ["aeon-cache-size"]
    assert not codes(Cache(str(built)), other.with_blocks_of(Cache(str(built))))
    with raises("aeon-cache-other"):
        build(other, str(built.parent))
    more = Plan.of(manifest(), block_size=2)
    assert codes(Cache(str(built)), more) == ["aeon-cache-size"]
    assert repair(other, str(built)).written == (0, 1)
    assert seen(str(built)) == records() and len(Cache(str(built))) == 2


def test_an_empty_last_block() -> None:
    findings = Findings()
    made = Plan.of(manifest(16), block_size=3, findings=findings)
    assert [len(each) for each in made.blocks] == [4, 4, 4, 4]
    assert [finding.code for finding in findings] == ["aeon-cache-empty-block"]
    with raises("aeon-no-records"):
        Plan.of(manifest(0))


def test_findings(built: Path, plan: Plan, tmp_path: Path) -> None:
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
    with raises("aeon-cache-incomplete"):
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
    with raises("aeon-cache-uid"):
        repair(other, str(built))


def test_other_types_of_the_same_text(tmp_path: Path) -> None:
    """aeon reads the integers of such a cache as floats."""
    ints, reals = (Manifest.of([kind], [(5,), (6,)]) for kind in ("ASCII_INT", "ASCII_FLOAT"))
    done = build(Plan.of(ints), str(tmp_path))
    assert Plan.of(reals).folder == Plan.of(ints).folder
    assert codes(Cache(done.folder), Plan.of(reals)) == ["aeon-cache-count"]
    with raises("aeon-cache-other"):
        build(Plan.of(reals), str(tmp_path))


def test_repair(built: Path, plan: Plan) -> None:
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


def test_elements_that_cannot_be_made(tmp_path: Path) -> None:
    """aeon would write a block in which all later elements are shifted; exset writes none."""
    (tmp_path / "a").write_bytes(b"12345")
    made = Manifest.of(["FILE", "ASCII_INT"], [("a", 1), ("missing", 2), ("a", "x")])
    plan = Plan.of(made, base=str(tmp_path))
    with raises("aeon-file") as caught:
        build(plan, str(tmp_path))
    places = re.findall(r"record \d, column \d", caught.value.message)
    assert places == ["record 1, column 0", "record 2, column 1"]
    assert not (tmp_path / plan.folder).exists()
    (tmp_path / "missing").write_bytes(b"")
    fixed = Plan.of(made.select([0, 1]), base=str(tmp_path))
    assert seen(build(fixed, str(tmp_path)).folder) == [
        [b"12345", b"\1\0\0\0"],
        [b"", b"\2\0\0\0"],
    ]


def test_files_outside_of_the_roots_are_not_cached(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(b"12345")
    (tmp_path / "secret").write_bytes(b"67890")
    made = Manifest.of(["FILE"], [("a",), ("../secret",)])
    root = str(tmp_path / "in")
    plan = Plan.of(made, base=root, access=Access(roots=(root,)))
    with raises("aeon-file-outside"):
        build(plan, str(tmp_path))
    assert not (tmp_path / plan.folder).exists()
    assert build(Plan.of(made, base=root), str(tmp_path)).written == (0,)


def test_the_directory_must_exist(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        build(plan, str(tmp_path / "no" / "such"))
