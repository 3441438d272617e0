"""Programs that are terminated or killed while they write leave no files and no processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path

import pytest

from exset import samples
from exset.core import disk_cache, signals
from exset.core.supervisor import ENVIRONMENT

ROOT = Path(__file__).parents[2]
XOR = samples.read("xor.ex").data
OLD = b"the old content"
SECONDS = 60


def wait(happened: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


def half_written(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".exset-")]


@contextmanager
def interrupts() -> Iterator[None]:
    """Let interrupts end new processes, even if a shell ignores them because it runs these tests
    in the background.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def writing(
    folder: Path, count: int, *options: str, ignores: bool = False, supervised: bool = False
) -> Iterator[tuple["subprocess.Popen[bytes]", list[FileIO]]]:
    """Run the command on `count` files; also yield the pipes from which it reads them.

    A pipe may have an HDF5 file. `supervised`: whether the command runs in another process.
    """
    names = [f"{number}.ex" for number in range(count)]
    for name in names:
        os.mkfifo(folder / name)
        (folder / name).with_suffix(".bex").write_bytes(OLD)
    command = [sys.executable, "-m", "exset", "convert", "--to", "bex", *options, *names]
    if ignores:
        command = ["nohup", *command]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), ENVIRONMENT: "on" if supervised else "off"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    with process, ExitStack() as stack:
        pipes = []
        for name in names:
            pipes.append(stack.enter_context(open(folder / name, "wb", buffering=0)))
            pipes[-1].write(XOR)
        wait(lambda: len(half_written(folder)) == count)
        yield process, pipes


def is_unread(pipe: FileIO) -> bool:
    """Return whether no process can read the pipe."""
    try:
        pipe.write(b"\n")
    except BrokenPipeError:
        return True
    return False


def untouched(folder: Path) -> bool:
    return all(path.read_bytes() == OLD for path in folder.glob("*.bex"))


@pytest.mark.parametrize("supervised", [False, True])
@pytest.mark.parametrize(
    ("number", "options"),
    [
        *((number, ()) for number in (signal.SIGTERM, signal.SIGHUP)),
        *((number, ("--jobs", "3")) for number in (signal.SIGTERM, signal.SIGHUP)),
    ],
)
def test_termination_signals(
    number: signal.Signals, options: tuple[str, ...], supervised: bool, tmp_path: Path
) -> None:
    count = 3 if options else 1
    with writing(tmp_path, count, *options, supervised=supervised) as (process, pipes):
        process.send_signal(number)
        _, talk = process.communicate(timeout=SECONDS)
        for pipe in pipes:
            wait(lambda pipe=pipe: is_unread(pipe))  # type: ignore[misc]
    assert process.returncode in (128 + number, -number)
    assert talk == b"" and untouched(tmp_path) and not half_written(tmp_path)


@pytest.mark.parametrize("supervised", [False, True])
def test_an_interrupt(supervised: bool, tmp_path: Path) -> None:
    with interrupts(), writing(tmp_path, 1, supervised=supervised) as (process, _):
        process.send_signal(signal.SIGINT)
        _, talk = process.communicate(timeout=SECONDS)
    assert (process.returncode, talk) == (130, b"exset: interrupted\n")
    assert untouched(tmp_path) and not half_written(tmp_path)


@pytest.mark.parametrize("supervised", [False, True])
def test_workers_end_with_their_parent(supervised: bool, tmp_path: Path) -> None:
    with writing(tmp_path, 3, "--jobs", "3", supervised=supervised) as (process, pipes):
        process.kill()
        for pipe in pipes:
            wait(lambda pipe=pipe: is_unread(pipe))  # type: ignore[misc]
        wait(lambda: not half_written(tmp_path))
    assert untouched(tmp_path)


@pytest.mark.parametrize("supervised", [False, True])
def test_ignored_signals(supervised: bool, tmp_path: Path) -> None:
    """As with `nohup`."""
    with writing(tmp_path, 1, ignores=True, supervised=supervised) as (process, pipes):
        process.send_signal(signal.SIGHUP)
        pipes[0].close()
        _, talk = process.communicate(timeout=SECONDS)
    assert (process.returncode, talk) == (0, b"0.ex -> 0.bex: 4 examples\n")
    assert not half_written(tmp_path)


def test_disk_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*names: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv(disk_cache.ENVIRONMENT, str(tmp_path))
    assert disk_cache.store("it", b"old")
    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        disk_cache.store("it", b"new")
    assert os.listdir(tmp_path) == ["it"] and disk_cache.load("it") == b"old"


def test_from_another_thread() -> None:
    """Only the main thread can install handlers."""
    with ThreadPoolExecutor(1) as executor:
        executor.submit(signals.install_handlers).result()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
