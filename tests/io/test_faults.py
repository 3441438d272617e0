"""Whatever call of the system fails while a file is written: the old file is whole, or the new one.

Nothing else is left, and the error is one that the command line knows.
"""

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest
from click.testing import CliRunner

import exset
from exset import formats, samples, streaming
from exset.cli import cli
from exset.core import disk_cache
from exset.core.errors import Findings
from exset.families.format import Format
from exset.grammars.aeon.manifest import Manifest
from exset.io import folders
from exset.io.extraction import Extractor
from exset.runtime.aeon.cache import COMPLETE, Cache
from exset.runtime.aeon.cache_build import build
from exset.runtime.aeon.cache_plan import Plan
from tests.aeon.cpio_files import TIME
from tests.good_files import good_file
from tests.io.faults import MODES, Mode, runs

OLD = b"the old content\n"
modes = pytest.mark.parametrize("mode", MODES)


def no_link(*names: object, **options: object) -> None:
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


def left(folder: Path) -> dict[str, bytes]:
    return {item.name: item.read_bytes() for item in folder.iterdir()}


def check_writer(
    write: Callable[[Path], object], target: Path, mode: Mode, *, several: bool = False
) -> None:
    """Whatever fails, the target has the old or the new content, and no other file is left."""
    folder = target.parent
    write(target)
    new = left(folder)
    for old in (OLD, None):

        def before(old: bytes | None = old) -> None:
            for item in folder.iterdir():
                item.unlink()
            if old is not None:
                target.write_bytes(old)

        before()
        untouched = left(folder)
        seen = set()
        for faults, error in runs(lambda: write(target), before=before, mode=mode):
            there = left(folder)
            seen |= {*faults.failed}
            if "unlink" in faults.failed:  # then alone something may be left
                temps = [name for name in there if name.startswith(".exset-")]
                assert several or len(temps) <= 1
                there = {name: there[name] for name in there if name not in temps}
            is_undone = not (several and mode == "dead" and "replace" in faults.failed)
            assert there in (untouched, new) or not is_undone, (faults.calls, faults.failed)
            assert error is None or isinstance(error, OSError), repr(error)
            assert error is not None or there == new
            assert error is None or ".exset-" not in str(error)
        assert {"open", "write", "fsync", "replace", "close"} <= seen
        assert not faults.failed and error is None and left(folder) == new


@pytest.mark.parametrize(
    ("fmt", "mode"),
    [*zip(formats.of_files(), cycle(MODES), strict=False)],
    ids=lambda each: getattr(each, "name", each),
)
def test_every_format(fmt: Format, mode: Mode, tmp_path: Path) -> None:
    model = exset.loads(good_file(fmt), format=fmt.name)
    target = tmp_path / f"x{fmt.suffix}"
    several = fmt.companions is not None
    write = partial(exset.save, model, format=fmt.name)
    check_writer(write, target, mode, several=several)


@pytest.mark.parametrize(
    ("suffix", "mode"), [*zip([".gz", ".bz2", ".xz", ".zst"], cycle(MODES), strict=False)]
)
def test_every_compression(suffix: str, mode: Mode, tmp_path: Path) -> None:
    model = exset.load("exset::xor.ex")
    check_writer(lambda path: exset.save(model, path), tmp_path / f"x.ex{suffix}", mode)


@modes
@pytest.mark.parametrize("name", ["x.ex", "x.bex", "x.bex.gz"])
def test_the_writer_of_parts(name: str, mode: Mode, tmp_path: Path) -> None:
    examples = exset.load("exset::xor.ex", model=exset.ExampleSet)

    def write(path: Path) -> None:
        with exset.writer(path) as out:
            for example in examples:
                out.write(example)

    check_writer(write, tmp_path / name, mode)


@modes
@pytest.mark.parametrize(
    ("source", "name"),
    [("xor.ex", "x.bex"), ("xor-binary.bex", "x.ex.xz"), ("flowers.sample_list", "x.sample_list")],
)
def test_conversion(source: str, name: str, mode: Mode, tmp_path: Path) -> None:
    check_writer(lambda path: exset.convert(f"exset::{source}", path), tmp_path / name, mode)


@pytest.mark.parametrize(
    ("fmt", "mode"),
    [*zip((fmt for fmt in formats.of_files() if fmt.chunk_writer), cycle(MODES), strict=False)],
    ids=lambda each: getattr(each, "name", each),
)
def test_conversion_in_chunks(
    fmt: Format, mode: Mode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "SMALL", -1)
    sample = "flowers.sample_list" if fmt.name == "sample_list" else "xor.ex"
    source, target = tmp_path / sample, tmp_path / "out" / f"x{fmt.suffix}"
    source.write_bytes(samples.read(sample).data)
    target.parent.mkdir()

    lossy = fmt.option("lossy") is not None

    def write(path: Path) -> None:
        exset.convert(source, path, findings=exset.Findings(), lossy=lossy)

    if not fmt.has_sidecar:
        check_writer(write, target, mode)
        return
    write(target)
    new = left(target.parent)
    for faults, error in runs(lambda: write(target), before=lambda: None, mode=mode):
        assert (error is None) <= (left(target.parent) == new), faults.failed
        there = left(target.parent)
        assert "unlink" in faults.failed or there.items() <= new.items(), faults.failed
        for name in there:
            (target.parent / name).unlink()


@pytest.mark.parametrize("mode", ["once", "full"])
def test_the_command_line(mode: Mode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of several targets has the old or the new content; the exit code is 3."""
    monkeypatch.chdir(tmp_path)
    Path("in.ex").write_bytes(samples.read("xor.ex").data)
    names = ["a.ex", "b.bex"]

    def before() -> None:
        for name in names:
            Path(name).write_bytes(OLD)

    codes = []

    def act() -> None:
        arguments = ["split", "in.ex", "a.ex=50%", "b.bex=rest", "--seed", "1"]
        codes.append(CliRunner().invoke(cli, arguments).exit_code)

    act()
    new = {name: Path(name).read_bytes() for name in names}
    for faults, error in runs(act, before=before, mode=mode):
        assert error is None
        there = left(tmp_path)
        assert {*there} == {"in.ex", *names}
        assert all(there[name] in (OLD, new[name]) for name in names)
        whole = all(there[name] == new[name] for name in names)
        assert codes[-1] == 3 or (codes[-1] == 0 and whole), (faults.failed, codes[-1])
    assert codes[-1] == 0


@modes
def test_a_cache(mode: Mode, tmp_path: Path) -> None:
    """Blocks are whole, only whole caches are marked complete, and a second build completes it."""
    rows = [(f"name{i}", i) for i in range(2)]
    plan = Plan.of(Manifest.of(["STRING", "ASCII_INT"], rows), block_size=1)
    folder = tmp_path / plan.folder

    def act() -> None:
        build(plan, str(tmp_path), clock=lambda: TIME)

    def before() -> None:
        shutil.rmtree(folder, ignore_errors=True)

    act()
    new = left(folder)
    for faults, error in runs(act, before=before, mode=mode):
        assert error is None or isinstance(error, OSError), repr(error)
        there = left(folder) if folder.exists() else {}
        for name in new:
            assert name not in there or there[name] == new[name]
        assert (COMPLETE in there) <= (new.keys() <= there.keys())
        if error is None:
            assert new.keys() <= there.keys()
        if "unlink" not in faults.failed and faults.failed:
            assert not folder.exists() or not Cache(str(folder)).temporary
            act()
            assert left(folder) == new
    assert left(folder) == new


@modes
@pytest.mark.parametrize("links", [True, False])
def test_extraction(
    mode: Mode, links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file is whole, with and without hard links."""
    if not links:
        monkeypatch.setattr(os, "link", no_link)
    new = {"x": b"1" * 100, "y": b"2" * 100_000}
    folder = tmp_path / "a" / "b"

    def act() -> None:
        with Extractor(str(tmp_path)) as out:
            for name, data in new.items():
                out.write(f"a/b/{name}".encode(), [data[:10], data[10:]])

    def before() -> None:
        shutil.rmtree(tmp_path / "a", ignore_errors=True)

    for faults, error in runs(act, before=before, mode=mode):
        assert error is None or isinstance(error, OSError), repr(error)
        there = left(folder) if folder.exists() else {}
        if "unlink" not in faults.failed:
            assert there.items() <= new.items(), faults.failed
    assert left(folder) == new


@modes
def test_a_folder(mode: Mode, tmp_path: Path) -> None:
    """A new folder is whole, or is not there."""
    target = tmp_path / "out"
    new = {"x": b"1" * 100, "y": b"2" * 100_000}

    def act() -> None:
        with folders.writing(target) as folder:
            for name, data in new.items():
                folder.write(f"a/{name}", data)

    def before() -> None:
        shutil.rmtree(target, ignore_errors=True)

    for faults, error in runs(act, before=before, mode=mode):
        assert error is None or isinstance(error, OSError), repr(error)
        assert error is None or ".exset-" not in str(error)
        assert not target.exists() or left(target / "a") == new
        assert error is not None or target.exists()
        for each in tmp_path.glob(".exset-*"):
            assert mode == "dead" or {"unlink", "open", "stat", "lstat"} & {*faults.failed}
            shutil.rmtree(each)
    assert left(target / "a") == new


@modes
def test_disk_cache(mode: Mode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure only costs time."""
    monkeypatch.setenv(disk_cache.ENVIRONMENT, str(tmp_path / "cache"))

    def before() -> None:
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        assert disk_cache.store("it", b"old")

    for faults, error in runs(lambda: disk_cache.store("it", b"new"), before=before, mode=mode):
        assert error is None
        assert disk_cache.load("it") in (b"old", b"new")
        assert "unlink" in faults.failed or os.listdir(tmp_path / "cache") == ["it"]
    assert disk_cache.load("it") == b"new"


@modes
def test_a_journal(mode: Mode, tmp_path: Path) -> None:
    """Whatever fails, a search that continues from the journal finds the same."""
    import h5py

    from exset.core.jobs import Execution, run
    from exset.core.journal import Header
    from exset.core.recorded import JournalError, Record
    from exset.runtime.lbann.hdf5_search import SearchResult
    from exset.runtime.lbann.list_build import search_for

    paths = []
    for number in range(3):
        paths.append(str(tmp_path / f"{number}.h5"))
        with h5py.File(paths[-1], "w") as file:
            for sample in range(2):
                file[f"run{sample}/x"] = number
    search = search_for(paths, Findings(), pattern="run*")
    journal = tmp_path / "journal"
    record = Record(str(journal), Header("search"), resume=True)

    def act() -> list[object]:
        found = run(search, paths, jobs=Execution(record=record), returns=SearchResult)
        try:
            with closing(found):
                return [outcome.result().samples for outcome in found]
        except JournalError as error:
            raise error.error from None

    expected = act()
    for _, error in runs(act, before=lambda: journal.unlink(missing_ok=True), mode=mode):
        assert error is None or isinstance(error, OSError), repr(error)
        assert act() == expected == act()
