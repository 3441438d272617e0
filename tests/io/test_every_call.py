"""Whatever call of the system fails, once, in any verb: the same output, or an error that says so.

Calls that only read count, too: a folder that cannot be listed must not look empty, a file whose
status cannot be read must not look missing.
"""

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import click
import pytest
from click.testing import Result

import exset
from exset import samples
from exset.cli import cli
from exset.core import supervisor
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
    "validate --output-format sarif in.ex",
    "validate --baseline baseline.json in.ex",
    "cache check cache",
    "cache predict s.tsv",
    "config schema",
    "config show c.json",
    "conformance meaning --format ex in.ex",
    "gather journal.jsonl",
    "list balance --ranks 2 l.sample_list -o -",
    "list build d -o -",
    "list merge l.sample_list -o -",
    "manifest balance m.tsv --by 1 -o -",
    "manifest build p -o -",
    "manifest pick m.tsv -o - --subset-fraction 0.5",
    "sampler plan s.tsv -n 1 -m 1 --column 1",
    "schema build d -o -",
    "schema check d.yaml x.yaml l.sample_list",
    "schema show d.yaml x.yaml --sample d/a.h5 run1",
)
WRITERS = (
    "convert in.ex o.bex",
    "convert in.ex o.ex.gz",
    "convert p o.tar",
    "convert m.tsv oshards --to webdataset-shards",
    "convert m.tsv o.cpio",
    "split in.ex a.ex=50% b.ex=rest --seed 1",
    "edit in.ex -o e.ex --keep name=0*",
    "fmt o.ex",
    "manifest build p -o o.tsv",
    "list build d -o o.sample_list",
    "list order --ranks 2 l.sample_list -o o.sample_list",
    "cache build s.tsv . --block-size 2",
    "cache extract cache -o out",
    "cache repair odamaged/aeon_cache_dba39ae9 --manifest s.tsv --block-size 2",
    "convert in.ex other.ex -o oshare/ --to bex --journal ojournal/",
    "diff in.ex in.bex --html o.html",
    "list repack l.sample_list orepack --files 1 -o o.sample_list",
    "provision c.json -o oprovided",
    "schema build d -o o.yaml --experiment x.yaml",
    "validate --baseline o.json --update-baseline in.ex",
)


LARGE = (
    "conformance export ocases --format block",
    "demo odemo",
    "man oman",
    "plot in.ex -o o.svg",
    "report in.ex -o o.html",
)
"""These make many calls, or take long: only some of their calls fail, all with `nightly`."""
MOST = 1500 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 4

NO_FILES = {"completion", "conformance list", "doctor", "explain", "formats", "help"}
"""These write to standard output alone, and read only files of exset."""
PROGRAMS = {"conformance run"}
"""These run a program of the user."""

LIBRARIES = {
    "diff in.ex in.bex --html o.html": "jinja2",
    "plot in.ex -o o.svg": "matplotlib",
    "provision c.json -o oprovided": "cv2",
    "report in.ex -o o.html": "matplotlib",
}
"""The optional library that a command needs."""

CONFIG = {
    "manifest_filename": "i.tsv",
    "batch_size": 1,
    "etl": [{"type": "image", "height": 2, "width": 2}],
}


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
    (folder / "other.ex").write_bytes(samples.read("xor-sparse.ex").data)
    (folder / "i.tsv").write_bytes(b"@FILE\ni.ppm\n")
    (folder / "i.ppm").write_bytes(b"P6 2 2 255\n" + bytes(12))
    (folder / "c.json").write_text(json.dumps(CONFIG))
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
        shutil.copytree(cache, f"damaged/{cache.name}")
        os.unlink(f"damaged/{cache.name}/block_1.cpio")
        cache.rename("cache")
        run("schema", "build", "d", "-o", "d.yaml", "--experiment", "x.yaml")
        run("validate", "--baseline", "baseline.json", "--update-baseline", "in.ex")
        run("validate", "--journal", "journal.jsonl", "in.ex", "in.bex")
    finally:
        os.chdir(before)
    return folder


@pytest.mark.parametrize(("command", "code"), [*zip((*READERS, *WRITERS, *LARGE), cycle(CODES))])
def test_every_call(command: str, code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if library := LIBRARIES.get(command):
        pytest.importorskip(library, reason=f"{library} is not installed")
    monkeypatch.setenv(supervisor.ENVIRONMENT, "off")
    monkeypatch.chdir(folder)
    inputs = {*os.listdir()}
    done: list[Result] = []

    def clean() -> None:
        for name in {*os.listdir()} - inputs:
            shutil.rmtree(name) if os.path.isdir(name) else os.unlink(name)
        if "odamaged" in command:
            shutil.copytree("damaged", "odamaged")
        if "fmt" in command:
            shutil.copy("in.ex", "o.ex")

    def act() -> None:
        done.append(run(*command.split()))

    clean()
    act()
    expected = done[-1]
    assert expected.exit_code == 0, expected.output
    failed = 0
    most = MOST if command in LARGE else 1500
    number = CODES[code]
    for faults, error in runs(act, before=clean, mode="once", reads=True, code=number, most=most):
        assert error is None, faults.failed
        failed += len(faults.failed)
        check(done[-1], expected, faults.failed)
    assert failed > 2
    clean()


def check(found: Result, expected: Result, failed: list[str]) -> None:
    shown = (found.output, failed)
    if found.exit_code == 0:
        assert found.stdout == expected.stdout, shown
    elif found.exit_code == 1:
        assert "[" in found.stdout + found.stderr, shown  # the code of a finding
    else:
        assert found.exit_code == 3, shown
        lines = [line for line in found.stderr.splitlines() if line.startswith("exset: ")]
        first = lines[0] if lines else ""
        assert first and not TEMPORARY.search(first), shown
        assert ": " in first.removeprefix("exset: ") or failed == ["getcwd"], shown


def test_every_verb_has_its_faults() -> None:
    tried = {*READERS, *WRITERS, *LARGE}
    words = {" ".join(each.split()[:count]) for each in tried for count in (1, 2)}
    assert {*verbs(cli, "")} - PROGRAMS - NO_FILES - words == set()


def verbs(command: click.Command, name: str) -> Iterator[str]:
    if not isinstance(command, click.Group):
        yield name
        return
    context = click.Context(command)
    for each in command.list_commands(context):
        inner = command.get_command(context, each)
        assert inner is not None
        yield from verbs(inner, f"{name} {each}".strip())
