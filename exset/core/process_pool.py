"""The worker processes of `exset.core.jobs`: the pool, and the code that runs in each process."""

import logging
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.synchronize import Event, Lock
from threading import Thread
from typing import ParamSpec, TypeVar

from exset.core import signals, threads

P = ParamSpec("P")
R = TypeVar("R")

_stop: Event | None = None
"""In a worker process: set when all work must stop."""


def begin(log_lock: Lock, stop: Event) -> None:
    """Set up a worker process before its first call.

    From then on, an interrupt ends only the current call, and prints no traceback. `stop`: set when
    all workers must stop. `log_lock`: the worker that takes it first logs messages; the other
    workers log none.
    """
    global _stop
    _stop = stop
    os.environ.setdefault(threads.ENVIRONMENT, "1")  # the processes already use the cores
    signals.install_handlers()
    Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # Only the first process that takes the lock logs messages, such as that kernels compile.
    logging.getLogger("exset").addFilter(lambda record: log_lock.acquire(block=False))


def _end_with_parent() -> None:
    """Wait until the parent process has ended, then end this process."""
    if (parent := parent_process()) is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def run_call(fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call `fn` in a worker process. If an interrupt comes, make all workers stop."""
    assert _stop is not None
    if _stop.is_set():  # the call was submitted before the stop
        raise KeyboardInterrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return fn(*args, **kwargs)
    except KeyboardInterrupt:
        _stop.set()
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


class Processes(Executor):
    """A pool of spawned processes. If a process dies, a new pool replaces this pool."""

    def __init__(self, jobs: int) -> None:
        """Make a pool of at most `jobs` processes, which start when needed."""
        self._jobs = jobs
        self._context = get_context("spawn")
        self._log_lock = self._context.Lock()
        self._stop = self._context.Event()
        self._pool = self._started(jobs)

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Call `fn` in one of the processes; `fn`, its arguments and its result are pickled."""
        with uninterrupted():
            try:
                return self._pool.submit(run_call, fn, *args, **kwargs)
            except BrokenExecutor:
                self._pool = self._started(self._jobs)
                return self._pool.submit(run_call, fn, *args, **kwargs)

    def alone(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call `fn` in a new process, and return its result.

        Raises BrokenExecutor if the process dies.
        """
        with self._started(1) as pool:
            with uninterrupted():
                future = pool.submit(run_call, fn, *args, **kwargs)
            return future.result()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes when all calls are done; with `cancel_futures`, drop waiting calls.

        `wait`: return only after the processes have ended.
        """
        if cancel_futures:
            self._stop.set()
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def _started(self, jobs: int) -> Executor:
        return ProcessPoolExecutor(
            jobs, mp_context=self._context, initializer=begin, initargs=(self._log_lock, self._stop)
        )


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Block interrupts in this process, and in processes that start in this context.

    This process stops blocking at the end of the context, each new process when it is ready.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
