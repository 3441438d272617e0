"""Signals that ask a program to end: it ends at once, and leaves nothing that is half written.

What is to be done first is done by the handler. An exception that it raised could be lost, where
Python itself or a library takes one for its own: one is only tried where others work for this
program, since they are let go with fewer words so.
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

SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
_PATIENCE: Final = 2.0
_acts: list[Callable[[], object]] = []


@contextmanager
def tidied(act: Callable[[], object]) -> Iterator[None]:
    """Have something done if the program is asked to end before the context does.

    Its OSErrors are passed over, as what it takes away may not be there yet, or no more.
    """
    _acts.append(act)
    try:
        yield
    finally:
        _acts.remove(act)


def heed() -> None:
    """Be ended so by these signals, but those to which this program is deaf, as after nohup.

    Python lets only the main thread say what signals do: called from another, it changes nothing.
    """
    if current_thread() is not main_thread():
        return
    for number in SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    for act in (*_acts,):
        with suppress(OSError):
            act()
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
