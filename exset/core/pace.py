"""Measure the time that files take, to decide the size of batches and the number of processes."""

import os
import stat
import time
from dataclasses import dataclass, field

from exset.core.outcome import part_of

_SECONDS = 1.0
"""How many seconds of work a batch has: much more than sending it to a process and back takes."""

_SHORT = 0.1
_LARGEST = 4096
_SHARES = 4
"""How many batches each process gets at least, so that all end at about the same time."""

SMALL = 1 << 23
"""The most bytes of a small file. A larger one may take longer than the start of a process."""

_FEW, _TWO = 4, 2
_SLOWEST_START = 1.0


@dataclass
class Pace:
    """Estimates how long a file takes, from the files that are done.

    `count`: the number of all files. `workers`: the number of processes that may work. `are_parts`:
    whether they are parts of large files. `done`: the number of files that are done.
    """

    count: int
    workers: int
    are_parts: bool = False
    done: int = 0
    cost: float | None = None
    """The seconds that a file takes; the last files count more than the first ones."""

    start: float = field(default_factory=lambda: min(time.process_time(), _SLOWEST_START))
    """The seconds that a process needs to start: at most what this process has used so far."""

    def add(self, files: int, seconds: float) -> None:
        """Record that one process has worked for `seconds` on `files` more files."""
        self.done += files
        # The first file loads modules: what it took says little of the others.
        new = seconds / files
        self.cost = new if self.cost is None else min(new, (self.cost + new) / 2)

    def size(self, left: int) -> int:
        """Return the size of the next batch; `left`: how many files are not in a batch yet."""
        if self.cost is None:
            return 1
        share = left // (_SHARES * self.workers)
        return max(1, min(share, int(_SECONDS / max(self.cost, 1e-6)), _LARGEST))

    def short(self) -> int:
        """Return how many files one process does in a short time: then exset decides again."""
        if self.cost is None or self.done < self._enough:
            return 1
        return max(1, int(_SHORT / max(self.cost, 1e-6)))

    @property
    def _enough(self) -> int:
        """How many files must be done before `cost` is reliable: fewer if each file takes long.

        One part is enough, as exset loaded the modules when it divided the file.
        """
        if self.are_parts:
            return 1
        return _FEW if self.cost is None or self.cost < _SHORT else _TWO

    def saves_time(self) -> bool:
        """Return whether more processes would finish the remaining files earlier."""
        if self.workers < 2 or self.cost is None or self.done < self._enough:
            return False
        left = self.cost * (self.count - self.done)
        return left * (1 - 1 / self.workers) > 2 * self.start


def is_small(path: str | os.PathLike[str]) -> bool:
    """Return whether the file at a path is small, so that it needs little work.

    A part of a large file, standard input and a missing file count as small; a folder does not.
    """
    if (name := os.fsdecode(path)) == "-" or part_of(path) is not None:
        return True
    try:
        status = os.stat(name)
    except FileNotFoundError:
        return "://" not in name
    except (OSError, ValueError):
        return True
    return stat.S_ISREG(status.st_mode) and status.st_size < SMALL
