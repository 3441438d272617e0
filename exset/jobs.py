"""Many files: the one seam for doing something to each, here or in other processes.

A file that fails is a result like any other, and the rest goes on. Processes are spawned, on every
platform: a script that asks for them needs the usual `if __name__ == "__main__":`.
"""

import errno
import logging
import math
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar, cast

from exset.errors import FormatError

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event, Lock

P = ParamSpec("P")
R = TypeVar("R")
Item = TypeVar("Item", bound=str | os.PathLike[str])
Value = TypeVar("Value")

_stop: "Event | None" = None
"""In a process of ours: whether nothing more is to be done."""


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


class Serial(Executor):
    """Does at once, in this process, what is submitted."""

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Do it; the future is done."""
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes(Executor):
    """Spawned processes; where one dies, others take its place."""

    def __init__(self, jobs: int) -> None:
        """Take so many; they are started as they are needed."""
        from multiprocessing import get_context

        self._jobs = jobs
        self._context = get_context("spawn")
        self._voice = self._context.Lock()
        self._stop = self._context.Event()
        self._pool = self._started(jobs)

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Have it done; function, arguments and result are pickled."""
        with _uninterrupted():
            try:
                return self._pool.submit(_done, fn, *args, **kwargs)
            except BrokenExecutor:
                self._pool = self._started(self._jobs)
                return self._pool.submit(_done, fn, *args, **kwargs)

    def alone(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Have it done by a process that does nothing else; BrokenExecutor if that dies."""
        with self._started(1) as pool:
            with _uninterrupted():
                future = pool.submit(_done, fn, *args, **kwargs)
            return future.result()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the processes end: after what is submitted, or else after what they are at."""
        if cancel_futures:
            self._stop.set()
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def _started(self, jobs: int) -> Executor:
        from concurrent.futures import ProcessPoolExecutor

        return ProcessPoolExecutor(
            jobs, mp_context=self._context, initializer=_begin, initargs=(self._voice, self._stop)
        )


def run(
    work: Callable[[Item], Value],
    items: Iterable[Item],
    *,
    jobs: int = 1,
    executor: Executor | None = None,
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
    if executor is not None:
        yield from _run(work, items, executor, math.inf)
        return
    items = list(items)
    jobs = min(jobs or cores(), len(items))
    if jobs <= 1:
        yield from _run(work, items, Serial(), 1)
        return
    processes = Processes(jobs)
    try:
        yield from _run(work, items, processes, 2 * jobs)
    finally:
        processes.shutdown(cancel_futures=True)


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _run(
    work: Callable[[Item], Value], items: Iterable[Item], executor: Executor, ahead: float
) -> Generator[Outcome[Item, Value], None, None]:
    """Keep so many items submitted, the one that is waited for among them."""
    here = Serial()
    waiting: deque[tuple[Item, Future[Value]]] = deque()
    try:
        for item in items:
            place = here if _path(item) == "-" else executor
            waiting.append((item, _submitted(work, item, place)))
            if len(waiting) >= ahead:
                yield _outcome(work, *waiting.popleft(), executor)
        while waiting:
            yield _outcome(work, *waiting.popleft(), executor)
    finally:
        for _, future in waiting:
            future.cancel()


def _submitted(work: Callable[[Item], Value], item: Item, executor: Executor) -> Future[Value]:
    try:
        return executor.submit(_attempt, work, item)
    except BrokenExecutor as error:
        future: Future[Value] = Future()
        future.set_exception(error)
        return future


def _outcome(
    work: Callable[[Item], Value], item: Item, future: Future[Value], executor: Executor
) -> Outcome[Item, Value]:
    try:
        try:
            return Outcome(item, future.result())
        except BrokenExecutor:
            # All that was under way is lost with a process; whose fault it was shows alone.
            if not isinstance(executor, Processes):
                raise
            return Outcome(item, executor.alone(_attempt, work, item))
    except (FormatError, OSError) as error:
        return Outcome(item, error=error)
    except BrokenExecutor:
        why = "the process that worked on it died"
        return Outcome(item, error=ChildProcessError(errno.ECHILD, why, _path(item)))


def _path(item: str | os.PathLike[str]) -> str:
    return os.fspath(item)


def _attempt(work: Callable[[Item], Value], item: Item) -> Value:
    try:
        return work(item)
    except MemoryError:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM), _path(item)) from None


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Keep an interrupt waiting: a process that is started meanwhile is deaf to it at first."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(voice: "Lock", stop: "Event") -> None:
    """Begin a process: it hears an interrupt only while it works, so that it dies in silence."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # One process of all says that kernels are compiled: that which takes the voice, for good.
    logging.getLogger("exset").addFilter(lambda record: voice.acquire(block=False))


def _done(fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Do something in a process of ours; an interrupt ends it as it would here, and all others."""
    assert _stop is not None
    if _stop.is_set():  # it was on its way already
        raise KeyboardInterrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return fn(*args, **kwargs)
    except KeyboardInterrupt:
        _stop.set()
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
