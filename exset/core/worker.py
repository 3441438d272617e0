"""The code that runs in the worker processes of `exset.core.process_pool`."""

import logging
import os
import signal
from collections.abc import Callable
from multiprocessing import parent_process
from multiprocessing.synchronize import Event, Lock
from threading import Thread
from typing import ParamSpec, TypeVar

from exset.core import signals

P = ParamSpec("P")
R = TypeVar("R")

_stop: Event | None = None
"""In a worker process: set when all work must stop."""


def begin(log_lock: Lock, stop: Event) -> None:
    """Set up a worker process: it handles interrupts only while it works, without a traceback."""
    global _stop
    _stop = stop
    signals.install_handlers()
    Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # Only the first process that takes the lock logs messages, such as that kernels compile.
    logging.getLogger("exset").addFilter(lambda record: log_lock.acquire(block=False))


def _end_with_parent() -> None:
    """End this process when its parent is gone: other processes may keep its pipes open."""
    if (parent := parent_process()) is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def run_call(fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a call in a worker process; an interrupt stops all workers."""
    assert _stop is not None
    if _stop.is_set():  # submitted before the stop
        raise KeyboardInterrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return fn(*args, **kwargs)
    except KeyboardInterrupt:
        _stop.set()
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
