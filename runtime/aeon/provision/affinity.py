"""Bind threads to cores, as aeon does for `cpu_list`."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import count


def usable(cores: Iterable[int]) -> list[int]:
    """Return those of `cores` that the process may use. Return [] if the system cannot bind
    threads.

    So a configuration that lists more cores also works on a smaller computer.
    """
    available = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else set[int]()
    return [core for core in cores if core in available]


def binder(cores: Sequence[int]) -> Callable[[], None]:
    """Return a function that binds the thread that calls it to a core.

    Each call takes the next of `cores`, and after the last core the first one again.
    """
    turns = count()

    def bind() -> None:
        if cores:
            with suppress(OSError):  # the core may have been taken away since
                os.sched_setaffinity(0, {cores[next(turns) % len(cores)]})

    return bind
