"""Fuzz readers and writers: `python -m exset.testing.fuzz`.

The seeds are files from the strategies of formats, the bundled samples, and files in folders. The
fuzzer changes them (`exset.testing.mutations`), and checks the contract of each format
(`exset.testing.contract`) in a process of its own, in bounded time and memory. A case that breaks
the contract is made small and kept as a file, in a folder with the name of the format. The exit
code is 1 if a case broke the contract.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path

from exset.core.process_pool import Processes
from exset.testing.fuzzer import Fuzzer, build
from exset.testing.targets import Target, all_targets

ROOM = 64 << 20
"""Bytes of memory that a reader may add to the process, besides 8 for each byte of its input."""


def fuzz(
    fuzzers: Sequence[Fuzzer],
    *,
    seconds: float = inf,
    cases: float = inf,
    keep: Path | None = None,
    echo: Callable[[str], None] = print,
) -> None:
    """Try `cases` cases in all, or for `seconds`, with equal time for each target.

    The fuzzers' tallies have the outcomes.
    """
    for fuzzer in fuzzers:
        fuzzer.warm()
    end, done = time.monotonic() + seconds, 0
    while fuzzers and done < cases and time.monotonic() < end:
        fuzzer = min(fuzzers, key=lambda each: each.tally.seconds)
        number, then = fuzzer.tally.cases, time.perf_counter()
        if (path := fuzzer.run(number, keep)) is not None:
            echo(f"{fuzzer.target.name}, case {number}: {path}")
        fuzzer.tally.seconds += time.perf_counter() - then
        done += 1


def main(arguments: Sequence[str] | None = None, targets: Sequence[Target] | None = None) -> int:
    """Run the command, on all formats or on other targets."""
    by_name = {each.name: each for each in targets or all_targets()}
    parser = argparse.ArgumentParser(prog="python -m exset.testing.fuzz", description=__doc__)
    option = parser.add_argument
    option("--only", action="append", choices=by_name, help="one target (repeatable)")
    option("--seconds", type=float, metavar="S", help="stop after this time (default: 60)")
    option("--cases", type=int, default=inf, metavar="N", help="stop after N cases in all")
    option("--seeds", action="append", default=[], metavar="FOLDER", help="folder of good files")
    option("--keep", type=Path, metavar="FOLDER", help="keep failing cases in this folder")
    option("--seed", type=int, default=0, metavar="N", help="try other cases (default: 0)")
    option("--room", type=int, default=ROOM, metavar="BYTES", help="allowed memory; 0: any")
    chosen = parser.parse_args(arguments)
    if chosen.seconds is None:
        chosen.seconds = 60.0 if chosen.cases == inf else inf
    processes = Processes(1)
    fuzzers = [
        Fuzzer(
            by_name[name],
            build(by_name[name], chosen.seeds, start=chosen.seed),
            chosen.seed,
            processes=processes,
            room=chosen.room,
        )
        for name in chosen.only or by_name
    ]
    echo = partial(print, flush=True)
    try:
        with suppress(KeyboardInterrupt):
            fuzz(fuzzers, seconds=chosen.seconds, cases=chosen.cases, keep=chosen.keep, echo=echo)
    finally:
        processes.shutdown(cancel_futures=True)
    for fuzzer in fuzzers:
        tally = fuzzer.tally
        rate = tally.cases / tally.seconds if tally.seconds else 0.0
        died = f" {tally.died} killed the library," if fuzzer.target.is_deadly else ""
        echo(
            f"{fuzzer.target.name:<14} {tally.cases:>9,} cases {tally.read:>9,} read"
            f" {rate:>7,.0f} /s {died} {dict(tally.broken) or 'nothing broken'}"
        )
    return int(any(fuzzer.tally.broken for fuzzer in fuzzers))


if __name__ == "__main__":
    sys.exit(main())
