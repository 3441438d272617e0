"""Handle termination signals: remove temporary files, then end the process at once.

The handler does both itself, because a library could catch an exception. Only in a process with
child processes does it raise SystemExit first, so that the children end quietly.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Timer, current_thread, main_thread
from types import FrameType
from typing import Final

from exset.core import supervised

SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
_PATIENCE: Final = 2.0
_cleanups: list[Callable[[], object]] = []


@contextmanager
def cleanup_on_signal(cleanup: Callable[[], object], *paths: str) -> Iterator[None]:
    """Call `cleanup` if a termination signal ends the program while this context runs.

    OSErrors of `cleanup` are ignored: a file to remove may not exist. `paths`: the files and
    folders that `cleanup` removes. If the process crashes, its supervisor removes them.
    """
    _cleanups.append(cleanup)
    try:
        with supervised.making(paths):
            yield
    finally:
        _cleanups.remove(cleanup)


def install_handlers() -> None:
    """Handle termination signals, except those that this process ignores, as under nohup.

    Only the main thread can do this; in another thread, nothing changes.
    """
    if current_thread() is not main_thread():
        return
    for number in SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    for cleanup in (*_cleanups,):
        with suppress(OSError):
            cleanup()
    multiprocessing = sys.modules.get("multiprocessing")
    children = multiprocessing.active_children() if multiprocessing else ()
    for child in children:
        child.terminate()
    signal.signal(number, signal.SIG_DFL)
    die = partial(os.kill, os.getpid(), number)
    if not children:
        die()
    later = Timer(_PATIENCE, die)
    later.daemon = True
    later.start()
    raise SystemExit(128 + number)
