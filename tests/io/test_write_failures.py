"""Writers that end badly, and targets that are no plain files: full disks, kills, others."""

import errno
import multiprocessing
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

import exset
from exset import samples
from exset.cli import cli
from exset.io import atomic_write, extraction, files
from exset.io.extraction import Extractor
from tests.io import kills

ROOT = Path(__file__).parents[2]
OLD = b"the old content"
KILLS = int(os.environ.get("EXSET_CASES", "4"))
FULL = """
import resource, signal, sys
from exset.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
sys.argv[0] = "exset"
main()
"""


def left(folder: Path) -> dict[str, bytes]:
    return {item.name: item.read_bytes() for item in folder.iterdir()}


def write_examples(folder: Path) -> None:
    one = exset.load("exset::xor.ex", model=exset.ExampleSet)
    exset.save(one.select([0, 1, 2, 3] * 1000), folder / "in.ex")


def test_writers_that_are_killed() -> None:
    assert kills.run(KILLS) <= KILLS


@pytest.mark.parametrize(
    "arguments",
    [
        ("convert", "in.ex", "-o", "out"),
        ("convert", "--to", "bex", "in.ex", "-o", "out"),
        ("split", "in.ex", "out=50%", "more.ex=rest"),
        ("cache", "build", "in.tsv", ".", "--block-size", "4000"),
    ],
    ids=lambda arguments: f"{arguments[0]}{len(arguments)}",
)
def test_a_full_disk(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    write_examples(tmp_path)
    (tmp_path / "in.tsv").write_bytes(b"@STRING\tASCII_INT\n" + b"name\t1\n" * 4000)
    arguments = tuple(each.replace("out", "out.ex") for each in arguments)
    (tmp_path / "out.ex").write_bytes(OLD)
    before = left(tmp_path)
    command = [sys.executable, "-c", FULL, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "File too large" in done.stderr and ".exset-" not in done.stderr
    there = [item for item in tmp_path.iterdir() if item.is_dir()]
    assert not [item for folder in there for item in folder.glob("*.cpio")]
    for folder in there:
        for item in folder.iterdir():
            assert item.name == ".exset-journal"
            item.unlink()
        folder.rmdir()
    assert left(tmp_path) == before


def write_often(path: str, data: bytes) -> None:
    for _ in range(60):
        files.write(path, [data, data])


@pytest.mark.parametrize("kind", [threading.Thread, multiprocessing.get_context("spawn").Process])
def test_writers_at_once(tmp_path: Path, kind: type[threading.Thread]) -> None:
    """The last one wins; whoever reads meanwhile sees the whole of the one or the other."""
    path = tmp_path / "x"
    contents = [bytes([65 + number]) * 5000 for number in range(3)]
    path.write_bytes(contents[0] * 2)
    writers = [kind(target=write_often, args=(str(path), data)) for data in contents]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        data = path.read_bytes()
        assert len(data) == 10_000 and data.count(data[:1]) == 10_000
    for writer in writers:
        writer.join()
    assert list(left(tmp_path)) == ["x"]


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_the_mask_counts_for_new_files(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        files.write(tmp_path / "x", b"1")
        files.write(tmp_path / "y.xz", b"1")
    finally:
        os.umask(before)
    for name in ("x", "y.xz"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o666 & ~umask


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_targets_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is written, or refused with exit code 3 and left as it was."""
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    xor = samples.read("xor.ex").data
    Path("folder").mkdir()
    Path("real.ex").write_bytes(OLD)
    os.symlink("real.ex", "link.ex")
    os.symlink("new.ex", "dangling.ex")
    os.symlink("loop.ex", "loop.ex")
    os.symlink("none/new.ex", "far.ex")
    os.mkfifo("pipe.ex")
    written = exset.dumps(exset.loads(xor), format="ex")
    for name, code in (
        *(("link.ex", 0), ("dangling.ex", 0), ("/dev/null", 0)),
        *(("loop.ex", 3), ("far.ex", 3), ("/dev/full", 3), ("none/x.ex", 3)),
    ):
        done = run(cli, ["convert", "exset::xor.ex", "--to", "ex", "-o", name])
        assert done.exit_code == code, (name, done.output)
    assert Path("real.ex").read_bytes() == Path("new.ex").read_bytes() == written
    assert all(Path(name).is_symlink() for name in ("link.ex", "dangling.ex", "loop.ex", "far.ex"))
    assert run(cli, ["convert", "--to", "ex", "exset::xor.ex", "-o", "-"]).stdout_bytes == written
    reader = subprocess.Popen(["cat", "pipe.ex"], stdout=subprocess.PIPE)
    assert run(cli, ["convert", "exset::xor.ex", "-o", "pipe.ex"]).exit_code == 0
    assert reader.communicate()[0] == written
    with pytest.raises(IsADirectoryError):
        exset.save(exset.loads(xor), "folder", format="ex")
    assert not [name for name in os.listdir() if name.startswith(".exset-")]


@pytest.mark.parametrize("name", ["x.ex", "x.npz", "folder"])
def test_a_file_is_written_although_its_folder_cannot_be_flushed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error must not say that nothing was written."""

    def fail(folder: str) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(atomic_write, "sync_folder", fail)
    model = exset.load("exset::xor.ex", model=exset.ExampleSet)
    with pytest.raises(OSError, match="the file is written") as error:
        if name == "folder":
            exset.convert("exset::xor.ex", tmp_path / name, to="webdataset-shards")
        else:
            exset.save(model if name == "x.ex" else exset.to_table(model), tmp_path / name)
    assert error.value.filename == str(tmp_path / name)
    assert (tmp_path / name).exists()
    if name != "folder":
        assert exset.load(tmp_path / name, findings=exset.Findings()) is not None


@pytest.mark.parametrize("can", [True, False])
def test_extracted_files_are_on_disk_at_the_end(
    can: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file and each folder is flushed after the last change, and no other file is."""
    real, flushed = os.fsync, dict[int, int]()

    def fsync(handle: int) -> None:
        real(handle)
        found = os.fstat(handle)
        flushed[found.st_ino] = found.st_mtime_ns

    monkeypatch.setattr(extraction, "_CAN", can)
    monkeypatch.setattr(os, "fsync", fsync)
    out = tmp_path / "out"
    names = [f"{folder}x{number}" for folder in ("", "a/", "a/b/", "c/") for number in range(40)]
    with Extractor(str(out)) as extractor:
        for name in names:
            extractor.write(name.encode(), [b"1", name.encode()])
    made = [tmp_path, out, out / "a", out / "a/b", out / "c", *(out / name for name in names)]
    states = {path.stat().st_ino: path.stat().st_mtime_ns for path in made}
    assert flushed == states
    flushed.clear()
    with pytest.raises(KeyError), Extractor(str(out)) as extractor:
        extractor.write(b"other", [b"1"])
        raise KeyError
    assert not flushed
