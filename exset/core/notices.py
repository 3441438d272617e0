"""Notices while the library works, such as "compiling kernels": by default to the log `exset`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listener: Callable[[str], None] | None = None


def notify(text: str) -> None:
    """Pass a notice to the listener, or log it as a warning."""
    if _listener is not None:
        _listener(text)
        return
    import logging

    logging.getLogger("exset").warning("%s", text)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Pass notices to a function instead of the log."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before
