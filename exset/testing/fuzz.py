"""Fuzz readers and writers: `python -m exset.testing.fuzz`.

The seeds are files from the strategies of formats, the bundled samples, and files in folders. The
fuzzer changes the seeds (`exset.testing.mutations`). For each changed file, a case, it checks the
contract of the format (`exset.testing.contract`) in another process, with limited time and memory.
If a case breaks the contract, the fuzzer makes it smaller and keeps it as a file, in a folder with
the name of the format. The exit code is then 1.

With `--corpus`, each case that reaches new lines of Python, or new states of a grammar or a layout,
becomes a seed. It stays in the corpus folder for later runs.

Each case is read. Only some cases are also read by a second engine and in chunks, and only some of
the models are written and read again (`exset.testing.targets`); the number of a case says which.

With `--counts`, the number of cases of each target is added to a file, and how many of them got
these further checks. The next run continues with the next numbers, so no case is tried twice. The
file is also written each minute. SIGINT and SIGTERM end a run early; it still writes the counts and
prints the results.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from math import inf
from pathlib import Path

from exset.core.process_pool import Processes
from exset.testing.counts import CountsFile, read_counts
from exset.testing.mutations import Mutator, minimised
from exset.testing.stops import interrupt_workers, stoppable
from exset.testing.targets import Target, all_targets
from exset.testing.trials import SLOW, Verdict, verdict, verdicts

ROOM = 64 << 20
"""How many bytes of memory a reader may use; each byte of its input adds 8 bytes."""

PATIENCE = 60.0
"""How many seconds making a failing case small may take."""

INTERVAL = 60.0
"""How many seconds pass between two writes of the file of counts."""

TOGETHER = 0.2
"""About how many seconds of cases are sent to the other process at once."""

_MOST = 256
"""How many cases are sent to the other process at once, at most."""
_KEPT = 2
"""How many failing cases of one kind are kept."""
_WARMUP = 30
_COMPILATION = 100.0


@dataclass
class Tally:
    """How many cases of a target had each outcome.

    died: how often the process died. grown: how many cases became seeds. rarer: how many cases got
    each of the rarer checks; `written` counts only what was read. broken: for each rule, how many
    cases broke it.
    """

    cases: int = 0
    read: int = 0
    died: int = 0
    grown: int = 0
    seconds: float = 0.0
    rarer: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)

    def counts(self) -> dict[str, int]:
        """Return the numbers for the file of counts."""
        done = {"cases": self.cases, "read": self.read, "died": self.died}
        return {**done, **self.rarer, "broken": self.broken.total()}


@dataclass
class Fuzzer:
    """Tries cases of one target; the number of a case determines its bytes.

    - `mutator`: makes the cases, with the seed `start`.
    - `processes`: the processes that try the cases, by default this process.
    - `room`, `slow`: as in `verdict`.
    - `first`: the number of the first case.
    - `corpus`: the folder for cases that reach something new. They become seeds, so the bytes of a
      case then depend on this folder, too.
    """

    target: Target
    mutator: Mutator
    start: int = 0
    processes: Processes | None = None
    room: int = 0
    slow: float = SLOW
    first: int = 0
    corpus: Path | None = None
    tally: Tally = field(default_factory=Tally)
    reached: set[int] = field(default_factory=set)

    def case(self, number: int) -> bytes:
        """Return the bytes of a case by its number."""
        return self.mutator.made(random.Random(f"{self.target.name} {self.start} {number}"))

    def warm(self) -> None:
        """Read some good and some bad files before the first case.

        The first files need more time and memory, for imports and compilation. No case should fail
        because of this.
        """
        some = (*self.mutator.seeds[:_WARMUP], *map(self.case, range(_WARMUP)))
        for number, data in enumerate(some):
            found = self.tried(data, number, slow=_COMPILATION)
            self.reached |= found.reached
            if found.rule == "slow":
                return

    def _learn(self, data: bytes, found: Verdict) -> None:
        """If a case reached something new, keep it, and use it as a seed from now on."""
        if self.corpus is None or found.reached <= self.reached:
            return
        self.reached |= found.reached
        if found.rule is None:
            self.tally.grown += 1
            self.mutator.add(data)
            self.corpus.mkdir(parents=True, exist_ok=True)
            (self.corpus / sha256(data).hexdigest()[:16]).write_bytes(data)

    def tried(self, data: bytes, number: int | None, *, slow: float | None = None) -> Verdict:
        """Return the verdict on `data`; the number of the case selects the checks.

        `slow`: the seconds that the checks may take, by default the fuzzer's own limit.
        """
        slow = self.slow if slow is None else slow
        trial = (self.target, data, number, self.room, slow)
        watches = self.corpus is not None
        if self.processes is None:
            return verdict(*trial, watches=watches)
        begun = time.monotonic()
        try:
            return self.processes.submit(verdict, *trial, exits=True, watches=watches).result()
        except BrokenExecutor as error:
            is_late = time.monotonic() - begun > slow
            return Verdict(rule="slow" if is_late else "crash", why=f"{error}", has_died=True)

    def run(self, count: int, keep: Path | None) -> Iterator[tuple[int, Path]]:
        """Try the next cases. If a case fails, make it smaller, and keep it as a file.

        Yield the number of the case and the path of each kept file.
        """
        begin = self.first + self.tally.cases
        cases = [(self.case(number), number) for number in range(begin, begin + count)]
        for (data, number), found in zip(cases, self._tried_together(cases), strict=True):
            if (path := self._learned(data, number, found, keep)) is not None:
                yield number, path

    def _tried_together(self, cases: Sequence[tuple[bytes, int]]) -> Iterable[Verdict]:
        """Send cases to the process all at once, and return the verdicts."""
        if self.processes is not None:
            trial = (self.target, cases, self.room, self.slow)
            watches = self.corpus is not None
            try:
                return self.processes.submit(verdicts, *trial, exits=True, watches=watches).result()
            except BrokenExecutor:
                pass  # the cases one by one show which of them ended the process
        return (self.tried(*case) for case in cases)

    def _learned(self, data: bytes, number: int, found: Verdict, keep: Path | None) -> Path | None:
        """Count a case. If it failed, make it smaller, keep it, and return its file.

        Return None if no file was kept.
        """
        self.tally.cases += 1
        self.tally.read += found.is_read
        for check in self.target.rarer:
            is_done = self.target.has(check, number) and (check != "written" or found.is_read)
            self.tally.rarer[check] += is_done
        self._learn(data, found)
        if found.rule is None:
            return None
        if self.target.is_deadly and found.has_died:
            self.tally.died += 1
            return None
        self.tally.broken[found.kind] += 1
        if keep is None or self.tally.broken[found.kind] > _KEPT:
            return None
        end = time.monotonic() + PATIENCE
        slow = self.slow / 5 if found.rule == "slow" else self.slow

        def fails(smaller: bytes) -> bool:
            is_in_time = time.monotonic() < end
            return is_in_time and self.tried(smaller, number, slow=slow).kind == found.kind

        small = data
        try:
            small = minimised(data, fails)
        finally:  # an interrupt must not lose the case
            folder = keep / self.target.name
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{found.rule}-{sha256(small).hexdigest()[:8]}"
            path.write_bytes(small)
        return path


def build(
    target: Target,
    folders: Sequence[str] = (),
    *,
    start: int = 0,
    draw: int = 300,
    corpus: Path | None = None,
) -> Mutator:
    """Return a mutator that changes a target's seeds, and inserts words of its grammar.

    folders: folders with more seeds (valid files). draw: how many seeds are drawn at random, with
    the seed `start`. corpus: another folder of seeds, which need not exist.
    """
    seeds = target.seeds(folders, draw, start)
    if corpus is not None and corpus.is_dir():
        seeds += [path.read_bytes() for path in sorted(corpus.iterdir())]
    most = max(4096, *map(len, seeds))
    seeds = [*dict.fromkeys(seeds)]
    return Mutator(seeds, target.words(), most=most, repaired=target.repaired)


def fuzz(
    fuzzers: Sequence[Fuzzer],
    *,
    seconds: float = inf,
    cases: float = inf,
    keep: Path | None = None,
    echo: Callable[[str], None] = print,
    save: Callable[[], None] | None = None,
) -> None:
    """Try cases for `seconds`, or until `cases` cases are tried. All targets get equal time.

    `save`: a function that is called every `INTERVAL` seconds.
    """
    for fuzzer in fuzzers:
        fuzzer.warm()
    saved = time.monotonic()
    end, done = saved + seconds, 0
    while fuzzers and done < cases and time.monotonic() < end:
        fuzzer = min(fuzzers, key=lambda each: each.tally.seconds)
        tally, then = fuzzer.tally, time.perf_counter()
        rate = tally.cases / tally.seconds if tally.seconds else 0.0
        count = int(min(max(1, TOGETHER * rate), _MOST, cases - done))
        for number, path in fuzzer.run(count, keep):
            echo(f"{fuzzer.target.name}, case {number}: {path}")
        tally.seconds += time.perf_counter() - then
        done += count
        if save is not None and time.monotonic() - saved >= INTERVAL:
            save()
            saved = time.monotonic()


def main(arguments: Sequence[str] | None = None, targets: Sequence[Target] | None = None) -> int:
    """Run the command, by default on all formats; return its exit code."""
    by_name = {each.name: each for each in targets or all_targets()}
    parser = argparse.ArgumentParser(prog="python -m exset.testing.fuzz", description=__doc__)
    option = parser.add_argument
    option("--only", action="append", choices=by_name, help="one target (repeatable)")
    option("--seconds", type=float, metavar="S", help="stop after this time (default: 60)")
    option("--cases", type=int, default=inf, metavar="N", help="stop after N cases in all")
    option("--seeds", action="append", default=[], metavar="FOLDER", help="folder of good files")
    option("--keep", type=Path, metavar="FOLDER", help="keep failing cases in this folder")
    option("--corpus", type=Path, metavar="FOLDER", help="keep cases that reach something new")
    option("--counts", type=Path, metavar="FILE", help="add the numbers of cases to this file")
    option("--seed", type=int, default=0, metavar="N", help="try other cases (default: 0)")
    option("--room", type=int, default=ROOM, metavar="BYTES", help="allowed memory; 0: any")
    chosen = parser.parse_args(arguments)
    if chosen.seconds is None:
        chosen.seconds = 60.0 if chosen.cases == inf else inf
    with stoppable():
        return _run(chosen, by_name)


def _run(chosen: argparse.Namespace, by_name: Mapping[str, Target]) -> int:
    """Fuzz the chosen targets until they are done or a signal comes; return the exit code."""
    processes = Processes(1)
    before = {} if chosen.counts is None else read_counts(chosen.counts)
    fuzzers: list[Fuzzer] = []
    counts = None if chosen.counts is None else CountsFile(chosen.counts)

    def save() -> None:
        if counts is not None:
            counts.add({each.target.name: each.tally.counts() for each in fuzzers})

    echo = partial(print, flush=True)
    try:
        for name in chosen.only or by_name:
            corpus = None if chosen.corpus is None else chosen.corpus / name
            fuzzers.append(
                Fuzzer(
                    by_name[name],
                    build(by_name[name], chosen.seeds, start=chosen.seed, corpus=corpus),
                    chosen.seed,
                    processes=processes,
                    room=chosen.room,
                    first=before.get(name, {}).get("cases", 0),
                    corpus=corpus,
                )
            )
        limits = {"seconds": chosen.seconds, "cases": chosen.cases}
        fuzz(fuzzers, **limits, keep=chosen.keep, echo=echo, save=save)
    except KeyboardInterrupt:
        interrupt_workers()
    finally:
        save()
        processes.shutdown(cancel_futures=True)
    for fuzzer in fuzzers:
        tally = fuzzer.tally
        rate = tally.cases / tally.seconds if tally.seconds else 0.0
        died = f" {tally.died} killed the library," if fuzzer.target.is_deadly else ""
        died += f" {tally.grown} new," if chosen.corpus is not None else ""
        echo(
            f"{fuzzer.target.name:<14} {tally.cases:>9,} cases {tally.read:>9,} read"
            f" {rate:>7,.0f} /s {died} {dict(tally.broken) or 'nothing broken'}"
        )
    return int(any(fuzzer.tally.broken for fuzzer in fuzzers))


if __name__ == "__main__":
    sys.exit(main())
