"""Many files: the one seam for doing something to each, here or in other processes.

A file that fails is a result like any other, and the rest goes on. Processes are spawned, on every
platform: a script that asks for them needs the usual `if __name__ == "__main__":`.
"""

import errno
import math
import os
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
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
    """What came of one file: a value, or the error that says why not."""

    item: Item
    value: Value | None = None
    error: FormatError | OSError | None = None

    def result(self) -> Value:
        """The value; the error is raised."""
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
    """Do something to every file, and yield what came of each, in the order of the files.

    items: paths, or what has one (`os.PathLike`). jobs: how many processes; with 1 it is done here,
    0 is one for each core; `-`, standard input, is always read here. An executor of the caller's
    own is used as it is, and left open; it is given all items at once. FormatError and OSError are
    outcomes, and so are, as OSError, a lack of memory and a process that died; other exceptions
    are raised. ValueError for a negative number of jobs.
    """
    if jobs < 0:
        raise ValueError(f"jobs must be a number from 0, not {jobs}")
    attempt = partial(_attempt, work)
    if executor is not None:
        yield from _run(attempt, items, executor, math.inf)
        return
    items = list(items)
    jobs = min(jobs or cores(), len(items))
    if jobs <= 1:
        for item in items:
            yield _outcome(item, partial(attempt, item))
        return
    from exset.core.process_pool import Processes

    processes = Processes(jobs)
    try:
        yield from _run(attempt, items, processes, 2 * jobs)
    finally:
        processes.shutdown(cancel_futures=True)


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _run(
    work: Callable[[Item], Value], items: Iterable[Item], executor: "Executor", ahead: float
) -> Generator[Outcome[Item, Value], None, None]:
    from exset.core.process_pool import results

    with closing(results(work, items, executor, ahead)) as found:
        for item, result in found:
            yield _outcome(item, result)


def _outcome(item: Item, result: Callable[[], Value]) -> Outcome[Item, Value]:
    try:
        return Outcome(item, result())
    except (FormatError, OSError) as error:
        return Outcome(item, error=error)


def _attempt(work: Callable[[Item], Value], item: Item) -> Value:
    try:
        return work(item)
    except MemoryError:
        path: str | os.PathLike[str] = item
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM), os.fspath(path)) from None
