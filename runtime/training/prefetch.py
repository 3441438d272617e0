"""Read items ahead in a background thread, which never outlives its user."""

import atexit
from collections import deque
from collections.abc import Generator, Iterator
from contextvars import copy_context
from dataclasses import dataclass
from threading import Condition, Thread, current_thread
from typing import Any, Generic, TypeVar
from weakref import WeakSet

Item = TypeVar("Item")


@dataclass
class _End:
    """Marks the end of the items, with the error that ended them, if any."""

    error: BaseException | None = None


class Prefetcher(Generic[Item]):
    """The items of a generator, read ahead by a background thread.

    Items keep their order. An error of the generator is raised after the last item, with its
    traceback. The thread starts with the first `next`, in the context (`contextvars`) of the
    creation, and reads at most `most` items ahead (at least one). It ends after the last item, with
    `close`, and when the interpreter exits; it first completes the item that it is reading.
    """

    def __init__(self, source: Generator[Item, None, None], most: int) -> None:
        """Take a generator; only the thread uses and closes it."""
        self._source, self._most = source, most
        self._ready: deque[Item | _End] = deque()
        self._begun = self._taken = 0
        # The lock is reentrant: garbage collection can call `close` in a thread that holds it.
        self._changed = Condition()
        self._over = self._stopped = False
        run = copy_context().run
        self._thread = Thread(target=run, args=(self._run,), name="exset prefetch", daemon=True)

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        if self._thread.ident is None:
            _RUNNING.add(self)
            self._thread.start()
        with self._changed:
            while not self._ready:
                if self._over or self._stopped:
                    raise StopIteration
                self._changed.wait()
            item = self._ready.popleft()
            self._taken += 1
            self._changed.notify_all()
        if not isinstance(item, _End):
            return item
        error, item.error = item.error, None
        try:
            raise StopIteration if error is None else error
        finally:
            del error  # its traceback refers to this frame

    def close(self) -> None:
        """End the thread, and wait for its end; drop items that were not taken."""
        with self._changed:
            self._stopped = True
            self._ready.clear()
            self._changed.notify_all()
        # Garbage collection can call this in any thread, also in the background thread.
        if self._thread.ident is not None and self._thread is not current_thread():
            self._thread.join()

    def _run(self) -> None:
        end = _End()
        try:
            while self._wait_for_room():
                try:
                    item = next(self._source)
                except StopIteration:
                    break
                self._put(item)
                del item
            self._source.close()
        except BaseException as error:
            end.error = error
        self._put(end)

    def _wait_for_room(self) -> bool:
        """Wait until there is room for one more item; return False after `close`."""
        with self._changed:
            while not self._stopped and self._begun - self._taken >= self._most:
                self._changed.wait()
            self._begun += 1
            return not self._stopped

    def _put(self, item: Item | _End) -> None:
        with self._changed:
            if not self._stopped:
                self._ready.append(item)
            self._over = isinstance(item, _End)
            self._changed.notify_all()


_RUNNING: "WeakSet[Prefetcher[Any]]" = WeakSet()


@atexit.register
def _close_all() -> None:
    """Close all: a thread that runs while the interpreter shuts down can crash it."""
    for each in list(_RUNNING):
        each.close()
