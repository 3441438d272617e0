"""Writers that are killed at any time: `python -m tests.io.kills 200` in the checkout.

Each process writes the same files over and over, one content and the other by turns; then it is
killed. The files are whole whenever that is: the one content, or the other.
"""

import itertools
import multiprocessing
import random
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import exset

SAVED = ("x.ex", "x.bex", "x.ex.zst")
NAMES = (*SAVED, "parts.bex", "parts.ex.gz")


def write(folder: str, connection: Connection) -> None:
    """Write the files over and over, after a message that says that this begins."""
    small = exset.load("exset::xor.ex", model=exset.ExampleSet)
    large = small.select([0, 1, 2, 3] * 2000)
    connection.send("ready")
    for turn in itertools.count():
        model = (small, large)[turn % 2]
        for name in SAVED:
            exset.save(model, f"{folder}/{name}")
        with exset.writer(f"{folder}/parts.bex") as out:
            out.write(model)
        exset.convert(f"{folder}/parts.bex", f"{folder}/parts.ex.gz")


def kill(folder: Path, wait: float) -> None:
    """Start a writer, and kill it some seconds after it began to write."""
    context = multiprocessing.get_context("fork")  # all that this process has imported is there
    ours, other = context.Pipe()
    writer = context.Process(target=write, args=(str(folder), other))
    writer.start()
    other.close()
    assert ours.recv() == "ready"
    time.sleep(wait)
    writer.kill()
    writer.join()
    ours.close()


def check(folder: Path) -> int:
    """Whether every file that is there is whole; return how many others there are."""
    small = exset.load("exset::xor.ex", model=exset.ExampleSet)
    large = small.select([0, 1, 2, 3] * 2000)
    others = 0
    for path in folder.iterdir():
        if path.name in NAMES:
            found = exset.load(path)
            assert found in (small, large), path
        else:
            assert path.name.startswith(".exset-"), path
            path.unlink()
            others += 1
    return others


def run(count: int, seed: int = 1) -> int:
    """Kill `count` writers; return how many of them left a temporary file."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder, others = Path(name), 0
        for _ in range(count):
            kill(folder, chance.uniform(0, 0.1))
            found = check(folder)
            assert found <= 1
            others += found
        return others


if __name__ == "__main__":
    count = int(sys.argv[1])
    print(f"{count} writers killed, {run(count)} of them while they wrote; all files are whole")
