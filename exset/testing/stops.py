"""Stop a long command cleanly by SIGINT or SIGTERM."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import active_children
from threading import current_thread, main_thread
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise KeyboardInterrupt in this context at the first SIGINT or SIGTERM; ignore later ones.

    This also works if a shell started the program in the background, and so made it ignore SIGINT.
    Only the main thread handles signals: in other threads, this does nothing.
    """
    if current_thread() is not main_thread():
        yield
        return
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, _interrupt),
        signal.SIGTERM: signal.signal(signal.SIGTERM, _as_interrupt),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def interrupt_workers() -> None:
    """Interrupt the current calls of all worker processes, so that they remove temporary files."""
    for child in active_children():
        if child.pid is not None:
            with suppress(OSError):  # it has just ended
                os.kill(child.pid, signal.SIGINT)


def _interrupt(number: int, frame: FrameType | None) -> None:
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def _as_interrupt(number: int, frame: FrameType | None) -> None:
    """Turn SIGTERM into SIGINT: if a program blocks SIGINT for a while, SIGTERM then waits, too."""
    signal.raise_signal(signal.SIGINT)
