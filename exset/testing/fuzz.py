"""Fuzzing of readers and writers, for as long as it is told: `python -m exset.testing.fuzz`.

Files that are drawn from exset's strategies, bundled with it or found in folders are made wrong in
every way of `exset.testing.mutations`, and each format is held to what `exset.testing.contract`
checks, in bounded time and memory. What breaks a promise is made small and kept as a file, in a
folder that is named after the format. Exit code 1 where anything was broken.
"""

import argparse
import mmap
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path

from exset import formats
from exset.format import Format
from exset.kernels import Engine
from exset.testing import seeds
from exset.testing.contract import Broken, Readable, check, described
from exset.testing.mutations import Mutator, minimised

MIB = 1 << 20
ROOM = 64 * MIB
"""Bytes that reading may take beyond what the program has when it is warm, and 8 an input byte."""
SLOW = 20
"""Seconds in which any file of some kilobytes must be done with."""

_TURNS: tuple[tuple[Engine, ...], ...] = (
    ("auto", "table"),
    ("auto", "reference"),
    ("auto", "table"),
    ("table", "auto"),
    ("auto", "table"),
)
_ASKED = 4 << 30
_STATUS = Path("/proc/self/status")
_REFS = Path("/proc/self/clear_refs")
_ALIKE = 3
_IN_HAND = "in-hand"


@dataclass
class Tally:
    """What came of the cases of a format."""

    cases: int = 0
    taken: int = 0
    seconds: float = 0.0
    broken: Counter[str] = field(default_factory=Counter)


class Fuzzer:
    """Tries cases of one format, of which each number is always the same."""

    def __init__(self, known: Readable, mutator: Mutator, start: int = 0, room: int = ROOM) -> None:
        """Take what makes the cases; `start` seeds them, `room` is how much memory they may take.

        room: 0 for any.
        """
        self.known = known
        self.start = start
        self.room = room
        self.tally = Tally()
        self._mutator = mutator

    def case(self, number: int) -> bytes:
        """Return the bytes of a case."""
        return self._mutator.made(random.Random(f"{self.known.name} {self.start} {number}"))

    def trial(self, data: bytes, number: int) -> bool:
        """Check some bytes, as the case of that number is; raises Broken."""
        step = 1 + number % 97 if number % 7 == 0 else None
        engines = _TURNS[number % len(_TURNS)]
        room = self.room + 8 * len(data) if self.room else 0

        def once() -> bool:
            with _bounded(room), _timed(SLOW):
                return check(self.known, data, engines=engines, step=step, deep=number % 4 == 0)

        try:
            return once()
        except Broken as broken:
            if broken.rule not in ("memory", "slow"):
                raise
        return once()  # kernels may have been compiled, which takes both

    def run(self, number: int, keep: Path | None) -> Path | None:
        """Try a case; return the file in which one that breaks a promise is kept, made small."""
        data = self.case(number)
        self.tally.cases += 1
        try:
            self.tally.taken += self.trial(data, number)
            return None
        except Broken as broken:
            kind = _kind(broken)
            self.tally.broken[kind] += 1
            if keep is None or self.tally.broken[kind] > _ALIKE:
                return None

        def fails(smaller: bytes) -> bool:
            try:
                self.trial(smaller, number)
            except Broken as other:
                return _kind(other) == kind
            return False

        small = minimised(data, fails)
        folder = keep / self.known.name
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{kind.partition(' ')[0]}-{sha256(small).hexdigest()[:8]}"
        path.write_bytes(small)
        return path


def _kind(broken: Broken) -> str:
    """Return what tells one fault from another: its rule, and where it was raised."""
    where = re.findall(r"\(([\w.]+:\d+ in \S+)\)", broken.why)
    return " ".join((broken.rule, *where[-1:]))


class _Late(BaseException):
    """Time is up: no reader may catch it."""


@contextmanager
def _timed(seconds: float) -> Iterator[None]:
    """Break the promise of time after so many seconds, where signals can."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def late(*_: object) -> None:
        raise _Late

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _Late as error:
        raise Broken("slow", f"not done in {seconds} seconds, {described(error)}") from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def _bounded(room: int) -> Iterator[None]:
    """Break the promise of memory where the process has so much more, where that can be told.

    What is only asked for counts from `_ASKED` bytes on.
    """
    if not room or not _STATUS.exists() or not os.access(_REFS, os.W_OK):
        yield
        return
    import resource  # which Windows has not

    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_kilobytes("VmSize") * 1024 + _ASKED, limits[1]))
    _REFS.write_bytes(b"5")  # the peak begins anew
    before = _kilobytes("VmHWM")
    try:
        yield
    except (MemoryError, Broken) as error:
        if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
            raise Broken("memory", f"{_ASKED} bytes are asked for: {error}") from error
        raise
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    if (grown := (_kilobytes("VmHWM") - before) * 1024) > room:
        raise Broken("memory", f"{grown} bytes, of {room}")


def _kilobytes(name: str) -> int:
    """Return a size that Linux knows of this process."""
    match = re.search(rf"{name}:\s*(\d+) kB", _STATUS.read_text())
    assert match is not None
    return int(match[1])


@contextmanager
def _in_hand(keep: Path | None, most: int) -> Iterator[Callable[[bytes, str], None]]:
    """Give what writes down the case in hand, so that it outlives a crash of the process."""
    if keep is None:
        yield lambda data, name: None
        return
    keep.mkdir(parents=True, exist_ok=True)
    path = keep / f"{_IN_HAND}-{os.getpid()}"
    with open(path, "w+b") as file:
        file.truncate(most + 100)
        with mmap.mmap(file.fileno(), 0) as view:

            def note(data: bytes, name: str) -> None:
                head = f"{name} {len(data)}\n".encode()
                view[: len(head) + len(data)] = head + data

            yield note
    path.unlink()


def build(
    known: Format, folders: Sequence[str] = (), *, start: int = 0, draw: int = 300
) -> Mutator:
    """Return what makes the cases of a format: its seeds, and the words of its grammar."""
    files = [
        *seeds.drawn(known, draw, start),
        *(data for data in seeds.found(known, folders)),
    ]
    small = [data for data in files if len(data) <= 2048]
    return Mutator(small or files, seeds.words(known))


def fuzz(
    fuzzers: Sequence[Fuzzer],
    *,
    seconds: float | None = None,
    cases: int | None = None,
    keep: Path | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Try so many cases in all, or for so long, each format for as long as the others.

    The tallies tell what came of it.
    """
    begun, done = time.monotonic(), 0
    with _in_hand(keep, 3 * 4096) as note:
        for fuzzer in fuzzers:  # all that is loaded and compiled once, before memory is measured
            for number in range(12):
                with suppress(Broken):
                    check(fuzzer.known, fuzzer.case(number), step=7)
        while fuzzers and (cases is None or done < cases):
            if seconds is not None and time.monotonic() - begun >= seconds:
                return
            fuzzer = min(fuzzers, key=lambda each: each.tally.seconds)
            number, then = fuzzer.tally.cases, time.perf_counter()
            note(fuzzer.case(number), fuzzer.known.name)
            if (path := fuzzer.run(number, keep)) is not None:
                say(f"{fuzzer.known.name}, case {number}: {path}")
            fuzzer.tally.seconds += time.perf_counter() - then
            done += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m exset.testing.fuzz", description=__doc__)
    parser.add_argument("--format", action="append", choices=formats.names(), help="only this one")
    parser.add_argument("--seconds", type=float, metavar="S", help="for so long (60)")
    parser.add_argument("--cases", type=int, metavar="N", help="so many in all")
    parser.add_argument("--seeds", action="append", default=[], metavar="FOLDER", help="good files")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to keep what is found")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="other cases (0)")
    parser.add_argument("--room", type=int, default=ROOM, metavar="BYTES", help="memory; 0: any")
    chosen = parser.parse_args(arguments)
    if chosen.seconds is None and chosen.cases is None:
        chosen.seconds = 60.0
    names = chosen.format or formats.names()
    fuzzers = [
        Fuzzer(known, build(known, chosen.seeds, start=chosen.seed), chosen.seed, chosen.room)
        for known in map(formats.get, names)
    ]
    say = partial(print, flush=True)
    with suppress(KeyboardInterrupt):
        fuzz(fuzzers, seconds=chosen.seconds, cases=chosen.cases, keep=chosen.keep, say=say)
    for fuzzer in fuzzers:
        tally = fuzzer.tally
        rate = tally.cases / tally.seconds if tally.seconds else 0.0
        say(
            f"{fuzzer.known.name:<14} {tally.cases:>9,} cases {tally.taken:>9,} read"
            f" {rate:>7,.0f} /s  {dict(tally.broken) or 'nothing broken'}"
        )
    return int(any(fuzzer.tally.broken for fuzzer in fuzzers))


if __name__ == "__main__":
    sys.exit(main())
