"""SIGINT and SIGTERM stop the fuzzer cleanly; its file of counts is right at all times."""

import os
import signal
import time
from collections.abc import Iterable, Iterator
from multiprocessing import parent_process
from pathlib import Path

import pytest

from exset.testing import fuzz
from exset.testing.counts import CountsFile, read_counts
from exset.testing.fuzz import Fuzzer, build
from exset.testing.targets import Target

tried = 0
"""How many checks this process, a worker, has made."""


class Stopping(Target):
    """A target whose check sends a signal to the fuzzer after some cases, and then hangs."""

    def __init__(self, number: signal.Signals) -> None:
        self.name = "stopping"
        self.number = number

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        return [b"any"]

    def check(self, data: bytes, number: int | None = None) -> bool:
        global tried
        tried += 1
        parent = parent_process()
        if tried > 40 and parent is not None and parent.pid is not None:
            os.kill(parent.pid, self.number)
            time.sleep(60)
        return True


@pytest.fixture
def ignored() -> Iterator[None]:
    """Ignore SIGINT, as a program does that a shell starts in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    assert signal.signal(signal.SIGINT, before) == signal.SIG_IGN


@pytest.mark.usefixtures("ignored")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it(
    number: signal.Signals, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "counts.json"
    path.write_text('{"stopping": {"cases": 5, "read": 4, "died": 0, "broken": 1}}')
    before, begun = signal.getsignal(signal.SIGTERM), time.monotonic()
    assert fuzz.main(["--seconds", "60", "--counts", str(path)], [Stopping(number)]) == 0
    assert time.monotonic() - begun < 50 and signal.getsignal(signal.SIGTERM) == before
    shown = capsys.readouterr().out.split()
    done = int(shown[1])
    assert shown[0] == "stopping" and shown[-2:] == ["nothing", "broken"] and done >= 1
    assert read_counts(path) == {
        "stopping": {"cases": 5 + done, "read": 4 + done, "died": 0, "broken": 1}
    }


def test_counts_are_written_at_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    target, seen = Stopping(signal.SIGINT), list[int]()
    fuzzer = Fuzzer(target, build(target))
    monkeypatch.setattr(fuzz, "TOGETHER", 0)
    for interval in (60, 0):
        monkeypatch.setattr(fuzz, "INTERVAL", interval)
        fuzz.fuzz([fuzzer], cases=3, save=lambda: seen.append(fuzzer.tally.cases))
    assert seen == [4, 5, 6]


def test_counts_add_up(tmp_path: Path) -> None:
    """Two runs that write in turn to one file lose nothing, and count nothing twice."""
    path = tmp_path / "counts.json"
    one, other = CountsFile(path), CountsFile(path)
    for cases in (0, 2, 2, 7):
        one.add({"a": {"cases": cases, "read": 1}})
        other.add({"a": {"cases": 10 * cases, "read": 0}, "b": {"cases": 1, "read": 0}})
    assert read_counts(path) == {"a": {"cases": 77, "read": 1}, "b": {"cases": 1, "read": 0}}
    assert [each.name for each in tmp_path.iterdir()] == ["counts.json"]
