"""The worker processes of `exset.core.jobs`."""

import errno
import logging
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.synchronize import Event, Lock
from threading import Thread
from typing import ParamSpec, TypeVar

from exset.core import signals

P = ParamSpec("P")
R = TypeVar("R")
Item = TypeVar("Item", bound=str | os.PathLike[str])
Value = TypeVar("Value")

_stop: Event | None = None
"""In a process of ours: whether nothing more is to be done."""


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
        return ProcessPoolExecutor(
            jobs, mp_context=self._context, initializer=_begin, initargs=(self._voice, self._stop)
        )


def results(
    work: Callable[[Item], Value], items: Iterable[Item], executor: Executor, ahead: float
) -> Generator[tuple[Item, Callable[[], Value]], None, None]:
    """Yield the items, each with what waits for its result and returns or raises it, in order.

    So many items are kept submitted, the one that is waited for among them; `-` is done here. For
    a process that died it is ChildProcessError.
    """
    here = Serial()
    waiting: deque[tuple[Item, Future[Value]]] = deque()

    def first() -> tuple[Item, Callable[[], Value]]:
        item, future = waiting.popleft()
        return item, partial(_result, work, item, future, executor)

    try:
        for item in items:
            place = here if _path(item) == "-" else executor
            waiting.append((item, _submitted(work, item, place)))
            if len(waiting) >= ahead:
                yield first()
        while waiting:
            yield first()
    finally:
        for _, future in waiting:
            future.cancel()


def _submitted(work: Callable[[Item], Value], item: Item, executor: Executor) -> Future[Value]:
    try:
        return executor.submit(work, item)
    except BrokenExecutor as error:
        future: Future[Value] = Future()
        future.set_exception(error)
        return future


def _result(
    work: Callable[[Item], Value], item: Item, future: Future[Value], executor: Executor
) -> Value:
    try:
        try:
            return future.result()
        except BrokenExecutor:
            # All that was under way is lost with a process; whose fault it was shows alone.
            if not isinstance(executor, Processes):
                raise
            return executor.alone(work, item)
    except BrokenExecutor:
        why = "the process that worked on it died"
        raise ChildProcessError(errno.ECHILD, why, _path(item)) from None


def _path(item: str | os.PathLike[str]) -> str:
    return os.fspath(item)


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


def _begin(voice: Lock, stop: Event) -> None:
    """Begin a process: it hears an interrupt only while it works, so that it dies in silence."""
    global _stop
    _stop = stop
    signals.heed()
    Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # One process of all says that kernels are compiled: that which takes the voice, for good.
    logging.getLogger("exset").addFilter(lambda record: voice.acquire(block=False))


def _end_with_parent() -> None:
    """End this process when that is gone which it works for: others may keep its pipes open."""
    if (parent := parent_process()) is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


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
