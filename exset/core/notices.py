"""What the library says while it works, such as that kernels are compiled: to its log, `exset`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listener: Callable[[str], None] | None = None


def say(text: str) -> None:
    """Say something to whoever listens; to the log, as a warning, if nobody does."""
    if _listener is not None:
        _listener(text)
        return
    import logging

    logging.getLogger("exset").warning("%s", text)


@contextmanager
def heard_by(listener: Callable[[str], None]) -> Iterator[None]:
    """Have all that is said go to a function instead of to the log."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before
