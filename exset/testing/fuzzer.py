"""Try changed files of one target, and keep a small file for each broken rule."""

import random
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from exset.core.process_pool import Processes
from exset.testing.mutations import Mutator, minimised
from exset.testing.targets import Target
from exset.testing.trials import SLOW, Verdict, verdict

PATIENCE = 60.0
"""The seconds in which a failing case is made small."""

_KEPT = 2
"""How many cases of one kind are kept."""
_WARMUP = 30
_COMPILATION = 100.0


@dataclass
class Tally:
    """The outcomes of the cases of a target; `died`: how often another library crashed."""

    cases: int = 0
    read: int = 0
    died: int = 0
    seconds: float = 0.0
    broken: Counter[str] = field(default_factory=Counter)


@dataclass
class Fuzzer:
    """Tries cases of one target; the case of a number is always the same.

    `mutator`: makes the cases, with the seed `start`. `processes`: try the cases there, by default
    in this process. `room`, `slow`: as `verdict`.
    """

    target: Target
    mutator: Mutator
    start: int = 0
    processes: Processes | None = None
    room: int = 0
    slow: float = SLOW
    tally: Tally = field(default_factory=Tally)

    def case(self, number: int) -> bytes:
        """Return the bytes of a case."""
        return self.mutator.made(random.Random(f"{self.target.name} {self.start} {number}"))

    def warm(self) -> None:
        """Read good and bad files first: imports and compilation take time and memory."""
        some = (*self.mutator.seeds[:_WARMUP], *map(self.case, range(_WARMUP)))
        for number, data in enumerate(some):
            if self.tried(data, number, slow=_COMPILATION).rule == "slow":
                return

    def tried(self, data: bytes, number: int | None, *, slow: float | None = None) -> Verdict:
        """Return the verdict about some bytes, checked as the case of that number.

        `slow`: the seconds that it may take, if other than usual.
        """
        slow = self.slow if slow is None else slow
        trial = (self.target, data, number, self.room, slow)
        if self.processes is None:
            return verdict(*trial)
        begun = time.monotonic()
        try:
            return self.processes.submit(verdict, *trial, exits=True).result()
        except BrokenExecutor as error:
            is_late = time.monotonic() - begun > slow
            return Verdict(rule="slow" if is_late else "crash", why=f"{error}", has_died=True)

    def run(self, number: int, keep: Path | None) -> Path | None:
        """Try a case; make a failing case small, and return the file with it."""
        data = self.case(number)
        found = self.tried(data, number)
        self.tally.cases += 1
        self.tally.read += found.is_read
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

        small = minimised(data, fails)
        folder = keep / self.target.name
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{found.rule}-{sha256(small).hexdigest()[:8]}"
        path.write_bytes(small)
        return path


def build(
    target: Target, folders: Sequence[str] = (), *, start: int = 0, draw: int = 300
) -> Mutator:
    """Return the mutator of a target, with its seeds and the words of its grammar."""
    files = target.seeds(folders, draw, start)
    most = max(4096, *map(len, files))
    return Mutator(files, target.words(), most=most, repaired=target.repaired)
