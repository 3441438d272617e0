"""Whatever call of the system fails, once, in any verb: the same output, or an error that says so.

Calls that only read count, too: a folder that cannot be listed must not look empty, a file whose
status cannot be read must not look missing.
"""

import errno
import os
import re
import shutil
from itertools import cycle
from pathlib import Path

import pytest
from click.testing import Result

import exset
from exset import samples
from exset.core import isolation
from tests.cli.command_line import run
from tests.io.faults import runs

CODES = {"EIO": errno.EIO, "ESTALE": errno.ESTALE, "EACCES": errno.EACCES}
"""A disk that fails, a file that an NFS server has replaced, and a missing permission."""

TEMPORARY = re.compile(r"\.exset-[0-9a-f]{16}")

READERS = (
    "info in.ex",
    "info --json in.bex in.ex.gz",
    "info *.ex",
    "info p",
    "info cache",
    "cat in.ex.gz",
    "cat p",
    "head -n 1 in.ex",
    "stats in.ex",
    "diff in.ex in.bex",
    "validate in.ex in.bex",
    "validate --files m.tsv",
    "validate --files --root . m.tsv",
    "validate --files l.sample_list",
    "cache check cache",
    "manifest build p -o -",
    "list build d -o -",
)
WRITERS = (
    "convert in.ex o.bex",
    "convert in.ex o.ex.gz",
    "convert p o.tar",
    "convert m.tsv oshards --to webdataset-shards",
    "convert m.tsv o.cpio",
    "split in.ex a.ex=50% b.ex=rest --seed 1",
    "edit in.ex -o e.ex --keep name=0*",
    "manifest build p -o o.tsv",
    "list build d -o o.sample_list",
    "list order --ranks 2 l.sample_list -o o.sample_list",
    "cache build s.tsv . --block-size 2",
    "cache extract cache -o out",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an input of each kind."""
    h5py = pytest.importorskip("h5py")
    folder = tmp_path_factory.mktemp("every_call")
    (folder / "in.ex").write_bytes(samples.read("xor.ex").data)
    exset.convert(folder / "in.ex", folder / "in.bex")
    exset.convert(folder / "in.ex", folder / "in.ex.gz")
    for name in ("p/cats/1.jpg", "p/dogs/1.jpg"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(b"1")
    (folder / "m.tsv").write_bytes(b"@FILE\tASCII_INT\np/cats/1.jpg\t0\np/dogs/1.jpg\t1\n")
    (folder / "s.tsv").write_bytes(b"@STRING\tASCII_INT\n" + b"abc\t1\n" * 3)
    (folder / "d").mkdir()
    for name in "ab":
        with h5py.File(folder / "d" / f"{name}.h5", "w") as file:
            file["run1/x"] = [1.0]
    before = os.getcwd()
    os.chdir(folder)
    try:
        run("list", "build", "d", "-o", "l.sample_list")
        run("cache", "build", "s.tsv", ".", "--block-size", "2")
        [cache] = folder.glob("aeon_cache_*")
        cache.rename("cache")
    finally:
        os.chdir(before)
    return folder


@pytest.mark.parametrize(("command", "code"), [*zip((*READERS, *WRITERS), cycle(CODES))])
def test_every_call(command: str, code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(isolation.ENVIRONMENT, "off")
    monkeypatch.chdir(folder)
    inputs = {*os.listdir()}
    done: list[Result] = []

    def clean() -> None:
        for name in {*os.listdir()} - inputs:
            shutil.rmtree(name) if os.path.isdir(name) else os.unlink(name)

    def act() -> None:
        done.append(run(*command.split()))

    act()
    expected = done[-1]
    assert expected.exit_code == 0, expected.output
    failed = 0
    for faults, error in runs(act, before=clean, mode="once", reads=True, code=CODES[code]):
        assert error is None, faults.failed
        failed += len(faults.failed)
        check(done[-1], expected, faults.failed)
    assert failed > 10
    clean()


def check(found: Result, expected: Result, failed: list[str]) -> None:
    shown = (found.output, failed)
    if found.exit_code == 0:
        assert found.stdout == expected.stdout, shown
    elif found.exit_code == 1:
        assert "[" in found.stdout + found.stderr, shown  # the code of a finding
    else:
        assert found.exit_code == 3, shown
        first = found.stderr.splitlines()[0]
        assert first.startswith("exset: ") and not TEMPORARY.search(first), shown
        assert ": " in first.removeprefix("exset: ") or failed == ["getcwd"], shown
