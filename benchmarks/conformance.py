"""Measure the conformance kit: cases in a loop, against a program that refuses every file."""

import sys
from collections.abc import Sequence
from functools import partial

from benchmarks.inputs import Inputs
from benchmarks.measure import race
from benchmarks.rows import Cases, Figures
from exset.testing.conformance import LoopReader, cases, run

_COUNT = 500
_REFUSES = """
import sys
read, write = sys.stdin.buffer, sys.stdout.buffer
while line := read.readline():
    read.read(int(line))
    write.write(b"1 0\\n")
    write.flush()
"""


def loops(inputs: Inputs, runs: int) -> Cases:
    """Yield 500 cases of Lens texts and binary files: one process for each format."""
    yield "500 Lens files", partial(_race, inputs.part, runs)


def _race(part: float, runs: int) -> Figures:
    count = max(int(_COUNT * part), 4)
    exset = [sys.executable, "-m", "exset", "conformance", "meaning", "--loop", "--format"]
    plain = [sys.executable, "-I", "-S", "-c", _REFUSES]
    result = race(partial(_run, count, exset, True), partial(_run, count, plain, False), runs)
    return {
        "cases/s": result.subject.rate(count),
        "peer": "a program that refuses every file",
        "peer, cases/s": result.peer.rate(count),
        "times as fast": result.ratio,
    }


def _run(count: int, command: Sequence[str], has_format: bool) -> None:
    """Run the first cases of both formats; those of binary files are fewer."""
    left = count
    for format in ("bex", "ex"):
        chosen = cases(format)[: left if format == "ex" else left // 2]
        words = [*command, format] if has_format else command
        done = list(run(partial(LoopReader, words, 60), chosen))
        left -= len(done)
        assert not has_format or not any(each.failed for each in done)
    assert left <= 2
