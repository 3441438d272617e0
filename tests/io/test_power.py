"""The power may fail at any moment: what has a name is whole, and what was done stays done."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import exset
from tests.cli.command_line import run
from tests.io.power import recorded

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def convert(folder: Path) -> None:
    exset.convert(folder / "in.ex", folder / "out.bex")


def convert_in_place(folder: Path) -> None:
    exset.convert(folder / "in.ex", folder / "old.ex.gz")


def save(folder: Path) -> None:
    exset.save(exset.load(folder / "in.ex"), folder / "old.ex")


def write(folder: Path) -> None:
    with exset.writer(folder / "old.ex") as out:
        out.write(exset.load(folder / "in.ex", model=exset.ExampleSet))


def split(folder: Path) -> None:
    command("split", folder / "in.ex", f"{folder}/a.ex=50%", f"{folder}/b.ex=rest")


def shards(folder: Path) -> None:
    command("convert", folder / "in.tsv", folder / "shards", "--to", "webdataset-shards")


def folders(folder: Path) -> None:
    out = f"{folder}/all/below/"
    command("convert", folder / "in.ex", folder / "old.ex", "--to", "bex", "-o", out)


def cache(folder: Path) -> None:
    command("cache", "build", folder / "in.tsv", folder, "--block-size", "2")


def extract(folder: Path) -> None:
    words = ("-o", folder / "out", "--types", "STRING,ASCII_INT")
    command("cache", "extract", folder / "in.cpio", *words)


def command(*words: object) -> None:
    done = run(*words)
    assert done.exit_code == 0, done.output


JOBS = (convert, convert_in_place, save, write, split, shards, folders, cache, extract)
PARTIAL = (".exset-journal", "caching_in_progress")
"""Files of a cache that is being built: a new build continues with any of their contents."""


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def is_own(path: str) -> bool:
    """Whether a file has a name of its own, not one that exset gives for a while."""
    parts = Path(path).parts
    return parts[-1] not in PARTIAL and not any(part.startswith(".exset-") for part in parts)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_any_cut(tmp_path: Path, job: Callable[[Path], None]) -> None:
    folder = tmp_path.resolve()
    xor = exset.load("exset::xor.ex", model=exset.ExampleSet)
    exset.save(xor, folder / "in.ex")
    for name in ("old.ex", "old.ex.gz"):
        exset.save(xor.select([0]), folder / name)
    (folder / "in.tsv").write_bytes(
        b"@STRING\tASCII_INT\n" + b"".join(b"%d\t1\n" % i for i in range(5))
    )
    exset.convert(folder / "in.tsv", folder / "in.cpio")
    before = contents(folder)
    with recorded(folder) as recording:
        job(folder)
    after = contents(folder)
    assert after != before
    cuts = 0
    for has_ended, files in recording.cuts():
        files = {path: data for path, data in files.items() if is_own(path)}
        for path, data in files.items():
            is_late = data is None and job is extract and not has_ended  # flushed at the end
            assert is_late or data in (before.get(path, after[path]), after[path]), path
        assert before.keys() <= files.keys()
        if has_ended:
            assert files == {path: data for path, data in after.items() if is_own(path)}
        cuts += 1
    assert cuts > 10
