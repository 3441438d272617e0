"""Writing files: the content, the place, and the old file or none after a failure."""

import errno
import gzip
import io
import os
import random
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath
from typing import NoReturn
from unittest.mock import patch

import pytest

from exset.core.errors import FormatError
from exset.io import together
from exset.io.files import read, write, writing
from tests.io.compressed import UNPACK

ROOT = Path(__file__).parents[2]
OLD = b"the old content"
TEXT = b"name: {one} 1 I: 1 0 T: 1;\n" * 100


class Stdout:
    """Stands for sys.stdout."""

    def __init__(self) -> None:
        self.buffer = io.BytesIO()

    def flush(self) -> None:
        """Do nothing."""


def left(folder: Path) -> list[str]:
    return sorted(item.name for item in folder.iterdir())


@pytest.mark.parametrize("suffix", UNPACK)
@pytest.mark.parametrize("pieces", [[], [b""], [TEXT], [b"one", b"", b"two"], [TEXT] * 1000])
def test_write_then_read(tmp_path: Path, suffix: str, pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    path = tmp_path / f"x.ex{suffix}"
    write(path, iter(pieces))
    assert UNPACK[suffix](path.read_bytes()) == whole
    assert read(tmp_path / "x.ex").data == whole
    assert left(tmp_path) == [path.name]


def test_every_kind_of_bytes_is_written_whole(tmp_path: Path) -> None:
    for data in (TEXT, bytearray(TEXT), memoryview(TEXT)):
        for suffix in UNPACK:
            write(tmp_path / f"x{suffix}", data)
            assert read(tmp_path / f"x{suffix}").data == TEXT


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_equal_data_give_equal_bytes_without_time_or_name(tmp_path: Path, suffix: str) -> None:
    write(tmp_path / f"a{suffix}", TEXT)
    with patch("time.time", return_value=1e9):
        write(tmp_path / f"b{suffix}", TEXT)
    packed = (tmp_path / f"a{suffix}").read_bytes()
    assert packed == (tmp_path / f"b{suffix}").read_bytes()
    if suffix == ".gz":
        assert packed[3:8] == bytes(5)  # no flags, so no name, and no time


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_damage_of_written_files_is_found(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    content = random.Random(0).randbytes(3000)
    write(path, content)  # nothing of which packs, so a byte there is one of the content
    packed = bytearray(path.read_bytes())
    packed[1500] ^= 1
    path.write_bytes(packed)
    with pytest.raises(FormatError, match="damaged"):
        read(path)


def test_lzw_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"\.Z"):
        write(tmp_path / "x.ex.Z", TEXT)
    assert left(tmp_path) == []


def test_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Stdout()
    monkeypatch.setattr(sys, "stdout", out)
    write("-", [b"one", b"two"])
    write("-", b"three")
    assert out.buffer.getvalue() == b"onetwothree"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_mode_bits_of_an_old_file_stay(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "x"
    path.write_bytes(OLD)
    path.chmod(mode)
    write(path, TEXT)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    write(tmp_path / "x", TEXT)
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_read_only_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_bytes(OLD)
    path.chmod(0o400)
    # The superuser may write everywhere, so the system's answer is given for it.
    monkeypatch.setattr(os, "access", lambda name, mode: mode != os.W_OK)
    with pytest.raises(PermissionError) as caught:
        write(path, TEXT)
    assert caught.value.filename == str(path)
    assert (path.read_bytes(), left(tmp_path)) == (OLD, ["x"])


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_target_is_written(tmp_path: Path, there: bool) -> None:
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "target"
    if there:
        target.write_bytes(OLD)
    (tmp_path / "middle").symlink_to(target)
    link = tmp_path / "link"
    link.symlink_to("middle")
    write(link, TEXT)
    assert link.is_symlink()
    assert target.read_bytes() == TEXT
    assert left(tmp_path) == ["far", "link", "middle"]
    assert left(tmp_path / "far") == ["target"]


def test_another_hard_link_keeps_the_old_content(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"old")
    os.link(one, other)
    write(one, b"new")
    assert (one.read_bytes(), other.read_bytes()) == (b"new", b"old")
    assert one.stat().st_nlink == other.stat().st_nlink == 1


def test_link_loop_is_an_error(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("link")
    with pytest.raises(OSError, match="symbolic links"):
        write(link, TEXT)
    assert link.is_symlink()
    assert left(tmp_path) == ["link"]


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_a_pipe_is_written_as_it_is(tmp_path: Path, suffix: str) -> None:
    pipe = tmp_path / f"pipe{suffix}"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write, args=(pipe, [TEXT, TEXT]))
    writer.start()
    got = pipe.read_bytes()
    writer.join()
    assert UNPACK[suffix](got) == TEXT * 2
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert left(tmp_path) == [pipe.name]


def test_a_failed_pipe_does_not_end_like_a_whole_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.gz"
    os.mkfifo(pipe)

    def failing() -> None:
        with pytest.raises(RuntimeError, match="half way"):
            write(pipe, halves())

    writer = threading.Thread(target=failing)
    writer.start()
    got = pipe.read_bytes()
    writer.join()
    with pytest.raises(EOFError):
        gzip.decompress(got)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_devices_are_written_as_they_are() -> None:
    before = os.stat(os.devnull)
    write(os.devnull, TEXT)
    after = os.stat(os.devnull)
    assert stat.S_ISCHR(after.st_mode)
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    with pytest.raises(OSError, match="No space left"):
        write("/dev/full", TEXT)


def test_dev_stdout_is_the_open_file_and_not_its_name(tmp_path: Path) -> None:
    target = tmp_path / "out"
    program = "from exset.io.files import write; write('/dev/stdout', b'data')"
    with target.open("wb") as out:
        subprocess.run([sys.executable, "-c", program], stdout=out, check=True, cwd=ROOT)
        assert os.fstat(out.fileno()).st_ino == target.stat().st_ino
    assert target.read_bytes() == b"data"


# Writing: whole or untouched


def halves() -> Iterator[bytes]:
    yield TEXT * 1000
    raise RuntimeError("half way")


def raising(error: BaseException) -> Callable[..., NoReturn]:
    def call(*args: object, **kwargs: object) -> NoReturn:
        raise error

    return call


@pytest.fixture(params=["x", "x.gz", "x.bz2", "x.xz", "x.zst"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a file with old content, alone in its folder."""
    name: str = request.param
    path = tmp_path / name
    path.write_bytes(OLD)
    return path


def untouched(path: Path) -> bool:
    return path.read_bytes() == OLD and left(path.parent) == [path.name]


def test_failing_source_leaves_the_old_file(target: Path) -> None:
    with pytest.raises(RuntimeError, match="half way"):
        write(target, halves())
    assert untouched(target)


def test_failing_source_leaves_no_new_file(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="half way"):
        write(tmp_path / "new", halves())
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "broken"), KeyboardInterrupt(), MemoryError()]
)
@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
def test_a_call_that_fails(
    target: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: BaseException
) -> None:
    monkeypatch.setattr(os, call, raising(error))
    with pytest.raises(type(error)):
        write(target, TEXT)
    monkeypatch.undo()
    assert untouched(target)


def test_interrupted_in_the_body(target: Path) -> None:
    with pytest.raises(KeyboardInterrupt), writing(target) as file:
        file.write(TEXT)
        raise KeyboardInterrupt
    assert untouched(target)


def test_a_full_disk(target: Path) -> None:
    program = f"""
import resource, signal, sys
from exset.io.files import write
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
import os
try:
    write({str(target)!r}, os.urandom(100_000))
except OSError:
    sys.exit(7)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False, cwd=ROOT).returncode == 7
    assert untouched(target)


def test_the_new_file_is_on_the_disk_before_it_has_the_name(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(handle: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file"
        calls.append((kind, os.fstat(handle).st_size if kind == "file" else 0))
        fsync(handle)

    def watched_replace(source: str, end: str) -> None:
        calls.append(("replace", os.stat(source).st_size))
        replace(source, end)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    write(target, TEXT)
    size = target.stat().st_size
    assert calls == [("file", size), ("replace", size), ("folder", 0)]


@pytest.mark.parametrize(("code", "passes"), [(errno.EINVAL, True), (errno.EIO, False)])
def test_a_folder_that_cannot_be_synced(
    target: Path, monkeypatch: pytest.MonkeyPatch, code: int, passes: bool
) -> None:
    fsync = os.fsync

    def failing(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(code, "no")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", failing)
    if passes:
        write(target, TEXT)
    else:
        with pytest.raises(OSError, match="no"):
            write(target, TEXT)
    assert read(target).data == TEXT
    assert left(target.parent) == [target.name]


def test_readers_see_the_old_file_until_the_new_one_is_whole(target: Path) -> None:
    with writing(target) as file:
        file.write(TEXT)
        assert target.read_bytes() == OLD
        (temp,) = set(left(target.parent)) - {target.name}
        # Only the writer may open the temporary file.
        assert temp.startswith(".exset-")
    assert read(target).data == TEXT
    assert left(target.parent) == [target.name]


def test_the_temporary_file_is_new_and_its_name_cannot_be_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int, int]] = []
    os_open = os.open

    def watched(name: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            opened.append((name, flags, mode))
        return os_open(name, flags, mode)

    monkeypatch.setattr(os, "open", watched)
    path = tmp_path / "secret"
    path.write_bytes(OLD)
    path.chmod(0o600)
    for _ in range(3):
        write(path, TEXT)
    assert len({name for name, _, _ in opened}) == 3
    for name, flags, mode in opened:
        assert PurePath(name).parent == tmp_path
        assert len(PurePath(name).name) >= 16
        assert flags & os.O_EXCL
        assert mode == 0o600


def test_a_taken_temporary_name_is_left_alone(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.urandom", lambda size: b"taken")
    other = target.parent / f".exset-{b'taken'.hex()}"
    other.write_bytes(b"other")
    for beside in ({}, {f"{target}.json": TEXT}):
        with pytest.raises(FileExistsError):
            together.write(target, TEXT, beside)
        assert (other.read_bytes(), target.read_bytes()) == (b"other", OLD)


@pytest.mark.parametrize("call", ["open", "replace"])
def test_errors_name_the_file_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "none" / "x"
    if call == "replace":
        path = tmp_path / "x"

        def failing(source: str, end: str) -> NoReturn:
            raise OSError(errno.EBUSY, "busy", source, None, end)

        monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match=r"x'$") as caught:
        write(path, TEXT)
    assert (caught.value.filename, caught.value.filename2) == (str(path), None)
    assert ".exset-" not in str(caught.value)


def test_names_of_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("", "new/", str(tmp_path)):
        with pytest.raises(OSError):
            write(name, TEXT)
    assert left(tmp_path) == []
