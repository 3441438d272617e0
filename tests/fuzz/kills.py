"""Kill processes of a sharded conversion at random times, and resume it.

`python -m tests.fuzz.kills --runs 100`

Two shares convert files side by side, each with worker processes. At a random time, one share or
one worker is killed. Shares that did not end are started again with `--resume`. At the end, each
output must be there once and whole, and nothing that was in a journal may have been done again.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

LOG = "EXSET_KILLS_LOG"
"""The environment variable with the file to which shares and workers write what they begin."""

SHARES = 2
_FILES = 48
_PATIENCE = 120
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Run:
    """The result of one run.

    killed: what was killed, or "nothing". units: the number of all units of work. in_flight: the
    number of those begun and not in a journal at that time. redone: the number of those that were
    in a journal and done again.
    """

    killed: str
    units: int
    in_flight: int
    redone: int


def _log_work() -> None:
    """Let this process, a share or a worker, log each conversion; start workers at once."""
    from exset.cli.convert import Converter
    from exset.cli.convert_parts import Converted, PartJob
    from exset.cli.convert_plan import Job
    from exset.core.pace import Pace

    convert = Converter.__call__
    path = os.environ[LOG]

    def logged(self: Converter, job: Job | PartJob) -> Converted:
        with open(path, "a") as log:
            log.write(f"{os.fspath(job)}\n")
        return convert(self, job)

    Converter.__call__ = logged  # type: ignore[method-assign]
    Pace.saves_time = lambda self: self.workers > 1  # type: ignore[method-assign]


def make_inputs(folder: Path) -> None:
    """Write the files to convert, and into `expected/` what one run makes of them."""
    draw = np.random.default_rng(7)
    (folder / "in").mkdir()
    for number in range(_FILES):
        rows = "".join(
            f"I: {' '.join(map(str, row))} T: 1;\n" for row in draw.random((100, 20)).tolist()
        )
        (folder / "in" / f"{number:02}.ex").write_text(rows)
    _share(folder, "expected/", []).wait(_PATIENCE)


def one_run(folder: Path, draw: random.Random, longest: float) -> Run:
    """Do the whole conversion with one kill within `longest` seconds, and check the outputs."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        out, journals, log = (Path(name) / each for each in ("out", "journals", "log"))
        target = f"{out}/"
        words = ["--journal", f"{journals}/", "--resume", "--jobs", "2"]

        def start(index: int) -> "subprocess.Popen[bytes]":
            return _share(folder, target, [*words, "--shard", f"{index}/{SHARES}"], log)

        shares = [start(index + 1) for index in range(SHARES)]
        time.sleep(draw.uniform(0, longest))
        killed = _kill(draw.choice(shares), draw)
        journaled, begun = Counter(_journaled(journals)), Counter(_lines(log))
        codes = [share.wait(_PATIENCE) for share in shares]
        for _ in range(3):
            again = [start(index + 1) for index, code in enumerate(codes) if code]
            if not again:
                break
            codes = [share.wait(_PATIENCE) for share in again]
        _check(folder, out, journals)
        later = Counter(_lines(log)) - begun
        redone = sum(later[path] > 0 for path in journaled)
        in_flight = sum(path not in journaled for path in begun)
        return Run(killed, _FILES, in_flight, redone)


def _share(
    folder: Path, target: str, words: list[str], log: Path | None = None
) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", __name__ if __name__ != "__main__" else "tests.fuzz.kills"]
    if log is None:
        command = [sys.executable, "-m", "exset"]
    command += ["convert", "--quiet", "--to", "bex", "-o", target, "in/*.ex", *words]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)} | ({LOG: str(log)} if log else {})
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _kill(share: "subprocess.Popen[bytes]", draw: random.Random) -> str:
    """Kill a share or one of its workers; return which."""
    workers: list[int] = []
    with suppress(OSError):
        text = Path(f"/proc/{share.pid}/task/{share.pid}/children").read_text()
        workers = [*map(int, text.split())]
    with suppress(ProcessLookupError):
        if workers and draw.random() < 0.5:
            os.kill(draw.choice(workers), signal.SIGKILL)
            return "worker"
        if share.poll() is None:
            share.kill()
            return "share"
    return "nothing"


def _journaled(journals: Path) -> Iterator[str]:
    for path in journals.glob("*.jsonl"):
        for line in path.read_bytes().splitlines()[1:]:
            with suppress(ValueError, KeyError, TypeError):
                yield json.loads(line)["input"]


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _check(folder: Path, out: Path, journals: Path) -> None:
    """Check that each output is there and whole, and that all journals together are complete."""
    expected = {path.name: path.read_bytes() for path in (folder / "expected").iterdir()}
    found = {path.name: path.read_bytes() for path in out.iterdir() if path.name[0] != "."}
    assert len(expected) == _FILES and found == expected, sorted(expected.keys() ^ found.keys())
    paths = sorted(map(str, journals.iterdir()))
    command = [sys.executable, "-m", "exset", "gather", *paths]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(" -> ") == _FILES, done.stderr


def main() -> int:
    """Do some runs, and print what was killed, and the work that was done again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    draw = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_inputs(folder)
        longest, runs = 3.0, []
        for number in range(chosen.runs):
            begun = time.perf_counter()
            runs.append(one_run(folder, draw, longest))
            # A kill comes at any time of a run, which the load of the machine makes longer.
            longest = max(0.5, (longest + (time.perf_counter() - begun) / 2) / 2)
            print(number, runs[-1], flush=True)
    units, redone = sum(run.units for run in runs), sum(run.redone for run in runs)
    print(f"{len(runs)} runs, killed: {dict(Counter(run.killed for run in runs))}")
    print(
        f"in flight {sum(run.in_flight for run in runs)}, done again beyond it {redone} of {units}"
    )
    return redone * 100 >= units


if os.environ.get(LOG):
    _log_work()
    if __name__ == "__main__":
        from exset.cli import main as exset_main

        sys.exit(exset_main())
elif __name__ == "__main__":
    sys.exit(main())
