"""The command line as a process of its own: closed pipes, full disks, interrupts, terminals."""

import errno
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from exset import samples
from exset.core.text import size
from tests.io.pipes import meanwhile

ROOT = Path(__file__).parents[2]
XOR = samples.read("xor.ex").data


def start(*arguments: str, **options: object) -> "subprocess.Popen[bytes]":
    """Start the command line as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-m", "exset", *arguments],
        env=environment,
        **{"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe, **options},
    )


@pytest.fixture(autouse=True)
def interrupted() -> Iterator[None]:
    """Let programs receive interrupts, also if these tests run in the background."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    path = tmp_path / "big.ex"
    path.write_bytes(XOR * 100)
    for arguments in (("cat", str(path)), ("validate", *["exset::xor.ex"] * 9)):
        reader, writer = os.pipe()
        os.close(reader)
        process = start(*arguments, stdout=writer)
        os.close(writer)
        _, errors = process.communicate(timeout=60)
        assert (errors, process.returncode) == (b"", 141)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk() -> None:
    with open("/dev/full", "wb") as full:
        process = start("cat", "exset::xor.ex", stdout=full)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 3
    message = f"exset: standard output: {os.strerror(errno.ENOSPC)}"
    assert errors.decode().splitlines() == [message]


def test_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    process = start("cat", str(path))
    with open(path, "wb"):  # waits until the other end is open, too
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, b"exset: interrupted\n")


def test_interrupted_with_processes(tmp_path: Path) -> None:
    """An interrupt reaches all processes: none prints a message, and no file is left."""
    names = [str(tmp_path / f"{i}.ex") for i in range(5)]
    for name in names:
        os.mkfifo(name)
    process = start("convert", "-j", "2", "--to", "bex", *names, start_new_session=True)
    with open(names[0], "wb"), open(names[1], "wb"):
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, b"exset: interrupted\n")
    assert sorted(map(str, tmp_path.iterdir())) == names


def on_terminal(*arguments: str, stdout: int | None = None) -> bytes:
    """Return what a command shows on a terminal; `stdout` may be another file."""
    master, terminal = pty.openpty()
    process = start(*arguments, stdout=terminal if stdout is None else stdout, stderr=terminal)
    os.close(terminal)
    shown = b""
    try:
        while data := os.read(master, 4096):
            shown += data
    except OSError:  # Linux: the other end is closed
        pass
    process.wait(60)
    os.close(master)
    return shown.replace(b"\r\n", b"\n")


def test_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    path = tmp_path / "evil.ex"
    path.write_bytes(b"name:{\x1b[31m]} I:1;")
    shown = on_terminal("cat", str(path))
    assert b"\\x1b[31m]" in shown and b"\x1b" not in shown
    assert b"not for a terminal" in on_terminal("convert", str(path), "-", "--to", "bex")


def test_progress_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    names = [str(tmp_path / f"[red]{i}.ex") for i in range(3)]
    for name in names:
        Path(name).write_bytes(XOR)
    arguments = ("convert", "--to", "bex", *names)
    shown = on_terminal(*arguments)
    assert b"converting" in shown and b"[red]1.bex: 4 examples" in shown
    monkeypatch.setenv("NO_COLOR", "1")
    assert b"\x1b[3" not in on_terminal(*arguments)
    monkeypatch.setenv("TERM", "dumb")
    assert b"\x1b" not in on_terminal(*arguments)


def test_progress_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After two seconds, a terminal shows bytes, rate and time; nothing is left of it."""
    monkeypatch.setenv("TERM", "xterm")
    path = tmp_path / "pipe.ex"
    os.mkfifo(path)

    def write() -> None:
        with open(path, "wb", buffering=0) as pipe:
            for _ in range(9):
                pipe.write(XOR.partition(b"name")[0] + b"I: 1;\n" * 1000)
                time.sleep(0.4)

    with open(tmp_path / "data", "wb") as data, meanwhile(write):
        shown = on_terminal("info", "--from", "ex", str(path), stdout=data.fileno())
    assert b"reading pipe.ex" in shown and b"kB/s" in shown
    assert shown.rstrip().endswith(b"\x1b[2K")  # the line is erased
    assert b"examples    9,000" in (tmp_path / "data").read_bytes()
    assert b"reading" not in on_terminal("info", "exset::xor.ex")


def test_progress_stays_out_of_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that shows the data shows no progress."""
    monkeypatch.setenv("TERM", "xterm")
    names = ["exset::xor.ex"] * 3
    with open(tmp_path / "data", "wb") as data:
        shown = on_terminal("validate", *names, stdout=data.fileno())
    assert b"checking" in shown and b"ok" not in shown
    assert (tmp_path / "data").read_bytes() == b"exset::xor.ex: ok\n" * 3
    assert on_terminal("validate", *names) == b"exset::xor.ex: ok\n" * 3


def test_progress_counts_files_bytes_and_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    names = [str(tmp_path / f"{number}.ex") for number in range(3)]
    for number, name in enumerate(names):
        Path(name).write_bytes(XOR * 100 if number else b"I: 1 five;" + b" " * 990)
    with open(tmp_path / "data", "wb") as data:
        shown = on_terminal("validate", *names, str(tmp_path / "none"), stdout=data.fileno())
    assert b"4/4" in shown and b"2 failed" in shown, shown
    assert f"{size(1000 + 2 * len(XOR * 100))}, 2 failed".encode() in shown


def test_progress_of_a_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is also shown where standard output is a terminal, as a share writes nothing there."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    names = [str(tmp_path / f"{number}.ex") for number in range(5)]
    for name in names:
        Path(name).write_bytes(b"I: 1 five;" + b" " * 990)
    shown = on_terminal("validate", *names, "--shard", "1/2", "--journal", str(tmp_path / "j"))
    assert b"checking" in shown and b"3/3" in shown and b"3.0 kB, 3 failed" in shown, shown


def test_head_of_a_pipe_that_stays_open(tmp_path: Path) -> None:
    """head prints the examples and does not wait for more."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    process = start("head", "-n", "2", "--from", "ex", str(path))
    with open(path, "wb", buffering=0) as pipe:
        pipe.write(XOR)
        shown, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and shown.count(b"name:") == 2


def test_closed_streams_are_no_traceback() -> None:
    for closed, verb, code in ((">&-", "info exset::xor.ex", 0), ("<&-", "cat -", 3)):
        command = f'"{sys.executable}" -c "from exset.cli import main; main()" {verb} {closed}'
        run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert run.returncode == code
        assert "Traceback" not in run.stderr
