"""Work on one file in several threads: kernels and NumPy release Python's lock (the GIL).

`EXSET_THREADS` sets the number of threads; with 1, only the calling thread works. By default there
is one thread for each core that this process may use, but at most `MOST`.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from functools import cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

T = TypeVar("T")
R = TypeVar("R")

ENVIRONMENT = "EXSET_THREADS"
"""The environment variable that sets the number of threads."""

MOST: Final = 8
"""How many threads work by default at most; more would wait for the thread that joins results."""

_this = threading.local()


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def count() -> int:
    """Return how many threads may work on a file. In one of these threads, return 1."""
    if getattr(_this, "is_worker", False):
        return 1
    with suppress(ValueError):
        if (chosen := int(os.environ.get(ENVIRONMENT, ""))) > 0:
            return chosen
    return min(cores(), MOST)


def ordered(work: Callable[[T], R], items: Iterable[T], threads: int) -> Generator[R, None, None]:
    """Yield the result of `work` for each item, in the order of the items.

    The threads work ahead of the caller, on up to `threads` + 1 items. If `work` raises an
    exception for an item, it is raised when this item's result is due.
    """
    rest, pool = iter(items), _pool(threads)
    futures = deque["Future[R]"]()
    try:
        futures.extend(pool.submit(work, item) for item in islice(rest, threads + 1))
        while futures:
            result = futures.popleft().result()
            futures.extend(pool.submit(work, item) for item in islice(rest, 1))
            yield result
    finally:
        for future in futures:
            future.cancel()


def divided(work: Callable[[int, int], object], total: int, is_large: bool) -> None:
    """Divide `range(total)` into smaller ranges, and call `work(low, high)` for each of them.

    `is_large`: whether to use several threads. If so, each thread, also the calling thread, gets
    one range.
    """
    parts = min(count(), total) if is_large else 1
    if parts < 2:
        work(0, total)
        return
    first, *others = pairwise(total * rank // parts for rank in range(parts + 1))
    futures = [_pool(parts).submit(work, *bounds) for bounds in others]
    work(*first)
    for future in futures:
        future.result()


def background(work: Callable[..., object], *arguments: object) -> "Future[object]":
    """Start a call of `work` in another thread; it waits for all earlier calls of this function."""
    return _pool(1).submit(work, *arguments)


@cache
def _pool(threads: int) -> "Executor":
    """Return a pool of `threads` threads, which start when needed and are then kept."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, "exset", lambda: setattr(_this, "is_worker", True))


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
