"""Commands that read HDF5 files in a process that may crash: errors, files, streams."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from exset import formats
from exset.core import supervisor
from exset.grammars.lbann.list_files import HDF5_SUFFIXES
from exset.grammars.lbann.list_types import Kind
from tests.lbann.hdf5_lists import write

PROGRAM = Path(__file__).with_name("damaged.py")
LIST = "CONDUIT_HDF5_INCLUSION\n3 0 2\n.\ngood.h5 2 0 a b\n{}.h5 1 0 a\n"
INPUTS = {"crash.h5", "good.h5", "hang.h5", "s.yaml", "crash.sample_list", "hang.sample_list"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with HDF5 files and a list; the program crashes or hangs on two."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(supervisor.ENVIRONMENT)
    monkeypatch.setenv("PYTHONPATH", str(PROGRAM.parents[2]))
    for name in ("good.h5", "crash.h5", "hang.h5"):
        write(name, ["a", "b"])
    for name in ("crash", "hang"):
        Path(f"{name}.sample_list").write_text(LIST.format(name))
    Path("s.yaml").write_text("x:\n")
    return tmp_path


def run(*words: str, **options: Any) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, str(PROGRAM), *words]
    return subprocess.run(command, stderr=subprocess.PIPE, timeout=120, **options)


def assert_crash(done: "subprocess.CompletedProcess[bytes]", name: str = "crash.h5") -> list[str]:
    """Check the error of a crash; return the names in the folder at that moment."""
    seen, message, hint = done.stderr.decode().splitlines()[-3:]
    why = "the HDF5 library crashed on this file: it is damaged, or hostile [hdf5-crash]"
    assert (message, hint) == (f"{name}: {why}", "  hint: remove the file")
    assert done.returncode == 1
    return seen.split()


@pytest.mark.parametrize(
    "command",
    [
        "info good.h5 crash.h5",
        "stats crash.h5",
        "cat crash.h5",
        "head -n 1 crash.h5",
        "diff good.h5 crash.h5",
        "validate crash.h5",
        "report crash.h5 -o it.html",
        "convert crash.h5 -o it.csv",
        "convert crash.h5 -o - --to csv",
        "convert crash.sample_list it.csv",
        "convert crash.sample_list it.sample_list --kind CONDUIT_HDF5_EXCLUSION",
        "convert good.h5 crash.h5 --to csv -o it/",
        "edit crash.h5 -o it.h5",
        "split crash.h5 it.csv=50% other.csv=rest",
        "list repack crash.sample_list it --files 2 -o it.sample_list",
        "schema show s.yaml s.yaml --sample crash.h5 a",
        "sampler plan crash.h5 -n 1 -m 1",
    ],
)
def test_a_crash(command: str, folder: Path) -> None:
    """The message names the file; no file stays that was written from it."""
    words = command.split()
    name = "./crash.h5" if "crash.sample_list" in words else "crash.h5"
    assert_crash(run(*words, stdout=subprocess.PIPE), name)
    assert {*os.listdir()} - {"it"} == INPUTS
    assert not os.path.isdir("it") or os.listdir("it") == ["good.csv"]


def test_temporary_files_are_removed(folder: Path) -> None:
    Path("it.csv").write_bytes(b"old")
    seen = assert_crash(run("convert", "crash.sample_list", "it.csv"), "./crash.h5")
    assert any(name.startswith(".exset-") for name in seen)
    assert {*os.listdir()} == {*INPUTS, "it.csv"} and Path("it.csv").read_bytes() == b"old"


@pytest.mark.parametrize("command", ["info hang.h5", "convert hang.sample_list it.csv"])
def test_a_hang(command: str, folder: Path) -> None:
    done = run(*command.split())
    message = done.stderr.decode().splitlines()[-2].removeprefix("./")
    assert message.startswith("hang.h5: a call of HDF5 did not finish in 1 s: it is damaged")
    assert done.returncode == 1 and {*os.listdir()} == INPUTS


def test_the_result_of_a_command_that_failed_is_json(folder: Path) -> None:
    done = run("diff", "--json", "good.h5", "crash.h5", stdout=subprocess.PIPE)
    assert_crash(done)
    row = json.loads(done.stdout)
    assert (row["ok"], row["error"]["code"], row["equal"]) == (False, "hdf5-crash", None)


def test_streams(folder: Path) -> None:
    """The process has the standard streams of the command, and the pipes of a shell."""
    as_text = run("cat", "good.h5", stdout=subprocess.PIPE).stdout
    content = Path("good.h5").read_bytes()
    assert as_text.startswith(b"a.x,b.x\n")
    assert run("cat", "-", input=content, stdout=subprocess.PIPE).stdout == as_text
    read, write = os.pipe()
    os.write(write, content)
    os.close(write)
    words = ("cat", f"/dev/fd/{read}")
    assert run(*words, stdout=subprocess.PIPE, pass_fds=(read,)).stdout == as_text
    os.close(read)
    closed = f'"{sys.executable}" "{PROGRAM}" info good.h5 <&- >&- 2>&-'
    assert subprocess.run(closed, shell=True, timeout=120).returncode == 0


def test_when_it_is_needed(folder: Path) -> None:
    Path("a.bin").write_bytes(Path("good.h5").read_bytes())
    Path("a.txt").write_bytes(b"\xef\xbb\xbf conduit_hdf5_inclusion\n")
    Path("a.ex").write_bytes(b"I: 1 T: 1;")
    os.mkfifo("pipe")
    for words in (
        *("cat -", "info a.ex pipe", "info a.ex *", "info @a.txt", "info a.ex a.bin", "cat a.txt"),
        *("info b.h5.gz", "list repack a.sample_list", "info https://there/a.HDF5"),
    ):
        assert supervisor.is_needed(words.split()), words
    for words in (
        *("", "info", "--version", "info a.ex .", "info -o none", "explain hdf5 good.h5"),
        *("list build good.h5", "list"),
    ):
        assert not supervisor.is_needed(words.split()), words


def test_it_knows_the_names_of_all_formats() -> None:
    of_hdf5 = [fmt for fmt in formats.FORMATS if fmt.may_crash]
    suffixes = {suffix for fmt in of_hdf5 for suffix in fmt.suffixes}
    assert {fmt.magic for fmt in of_hdf5} == {supervisor.MAGIC}
    suffixes |= {*HDF5_SUFFIXES, *formats.get("sample_list").suffixes}
    assert {each for each in suffixes if not each.endswith(supervisor.SUFFIXES)} == set()
    assert all(kind.value.encode().startswith(supervisor.LIST_TYPES) for kind in Kind)


def test_a_command_that_the_system_ends(folder: Path) -> None:
    """Only a crash while an HDF5 file is open is the fault of this file."""
    state = supervisor._State()
    state.process = SimpleNamespace(returncode=-signal.SIGKILL)  # type: ignore[assignment]
    with pytest.raises(OSError, match="ended by SIGKILL") as caught:
        state.fail()
    assert caught.value.filename is None
    state.add(b"r./a.h5\0rb.h5\0cb.h5\0m/t")
    state.add(b"emp\0")
    assert (state.file, state.made) == ("./a.h5", [b"/temp"])
    state.process = SimpleNamespace(returncode=-signal.SIGSEGV)  # type: ignore[assignment]
    with pytest.raises(ChildProcessError, match="SIGSEGV"):
        state.fail()
