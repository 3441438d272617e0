"""Report how many bytes of a file were read or written, to a listener such as the command line."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(eq=False)
class Task:
    """Work on a file: `done` of `total` bytes are done; `total` is None if it is unknown."""

    action: str
    name: str
    total: int | None
    done: int = 0


Listener: TypeAlias = Callable[[Task | None], None]
"""A function that gets the current task after each block of bytes, and None when a task ends."""

_listener: Listener | None = None
_tasks: list[Task] = []


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Report progress to a function while this context runs; with None, report nothing."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _report_end()
        _listener = before


@contextmanager
def task(action: str, name: str, total: int | None) -> Iterator[None]:
    """Report work on a file. The work begins and ends with this context.

    `action`: what is done, as a verb. `name`: the file. `total`: the number of its bytes; None if
    unknown. Inside another task, exset reports only the progress of the inner task.
    """
    begun = Task(action, name, total)
    _tasks.append(begun)
    try:
        yield
    finally:
        if begun in _tasks:
            _tasks.remove(begun)
            _report_end()


def end() -> None:
    """End all tasks. After an error, an unfinished generator cannot end its task itself."""
    _tasks.clear()
    _report_end()


def advance(count: int) -> None:
    """Report that `count` more bytes of the current task are done; without a task, do nothing."""
    if _listener is not None and _tasks:
        _tasks[-1].done += count
        _listener(_tasks[-1])


def _report_end() -> None:
    if _listener is not None:
        _listener(None)
