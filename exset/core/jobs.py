"""Run a function on many files, in this process or in several.

A file that fails gives an error as its outcome, and the others continue. Processes are spawned on
every platform, so a script that uses them needs `if __name__ == "__main__":`.
"""

import errno
import math
import os
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from exset.core.errors import FormatError

if TYPE_CHECKING:
    from concurrent.futures import Executor

Item = TypeVar("Item", bound=str | os.PathLike[str])
Value = TypeVar("Value")


@dataclass(frozen=True)
class Outcome(Generic[Item, Value]):
    """The outcome of one file: a value or an error."""

    item: Item
    value: Value | None = None
    error: FormatError | OSError | None = None

    def result(self) -> Value:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return cast(Value, self.value)


def run(
    work: Callable[[Item], Value],
    items: Iterable[Item],
    *,
    jobs: int = 1,
    executor: "Executor | None" = None,
) -> Generator[Outcome[Item, Value], None, None]:
    """Run `work` on every file, and yield the outcomes in the order of the files.

    `items`: paths, or objects with a path (`os.PathLike`). `jobs`: how many processes; 1: only this
    process; 0: one on each core. This process always reads `-`, standard input. `executor`: runs
    the work instead; it gets all items at once, and stays open. FormatError and OSError become
    outcomes; so do a lack of memory and a process that died, as OSError. Raises all other
    exceptions, and ValueError for a negative number of jobs.
    """
    if jobs < 0:
        raise ValueError(f"jobs must be a number from 0, not {jobs}")
    if executor is None:
        items = list(items)
        jobs = min(jobs or cores(), len(items))
        if jobs <= 1:
            for item in items:
                yield _outcome(item, partial(work, item))
            return
    from exset.core.process_pool import Processes, results

    with ExitStack() as stack:
        ahead = math.inf
        if executor is None:
            executor, ahead = Processes(jobs), 2 * jobs
            stack.callback(executor.shutdown, cancel_futures=True)
        for item, result in stack.enter_context(closing(results(work, items, executor, ahead))):
            yield _outcome(item, result)


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _outcome(item: Item, result: Callable[[], Value]) -> Outcome[Item, Value]:
    try:
        try:
            return Outcome(item, result())
        except MemoryError:
            why = os.strerror(errno.ENOMEM)
            raise OSError(errno.ENOMEM, why, os.fsdecode(item)) from None
    except (FormatError, OSError) as error:
        return Outcome(item, error=error)
