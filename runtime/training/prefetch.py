"""Read items ahead in a background thread. The thread never outlives its user."""

import atexit
from collections.abc import Generator, Iterator
from contextvars import copy_context
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import Any, Generic, TypeVar
from weakref import WeakSet

Item = TypeVar("Item")


@dataclass
class _End:
    """Marks the end of the items. error: the error that ended them, or None."""

    error: BaseException | None = None


class Prefetcher(Generic[Item]):
    """The items of a generator, read ahead by a background thread.

    Items keep their order. An error of the generator is raised after the last item, with its
    traceback. The thread starts at the first `next`, in the context (`contextvars`) in which the
    Prefetcher was made. It reads at most `most` items ahead (at least one). It ends after the last
    item, at `close`, and when the interpreter exits. Before it ends, it completes the item that it
    is reading.
    """

    def __init__(self, source: Generator[Item, None, None], most: int) -> None:
        """Read ahead from the generator `source`. From now on, only the thread may use and close
        it.

        most: how many items the thread may read ahead.
        """
        self._source, self._most = source, most
        # Garbage collection can call `close` in any thread, so these queues must be reentrant.
        self._requests: SimpleQueue[None] = SimpleQueue()
        self._items: SimpleQueue[Item | _End] = SimpleQueue()
        self._is_over = self._is_closed = False
        run = copy_context().run
        self._thread = Thread(target=run, args=(self._run,), name="exset prefetch", daemon=True)

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        if self._is_over or self._is_closed:
            raise StopIteration
        if self._thread.ident is None:
            _RUNNING.add(self)
            self._thread.start()
            for _ in range(self._most):
                self._requests.put(None)
        item = self._items.get()
        if not isinstance(item, _End):
            self._requests.put(None)
            return item
        self._is_over = True
        error, item.error = item.error, None
        try:
            raise StopIteration if error is None else error
        finally:
            del error  # its traceback refers to this frame

    def close(self) -> None:
        """End the thread, and wait for its end. Drop the items that `next` has not returned."""
        self._is_closed = True
        self._requests.put(None)
        if self._thread.ident is not None and self._thread is not current_thread():
            self._thread.join()
        self._items = SimpleQueue()

    def _run(self) -> None:
        end = _End()
        try:
            while True:
                self._requests.get()
                if self._is_closed:
                    self._source.close()
                    break
                self._items.put(next(self._source))
        except StopIteration:
            pass
        except BaseException as error:
            end.error = error
        self._items.put(end)


_RUNNING: "WeakSet[Prefetcher[Any]]" = WeakSet()


@atexit.register
def _close_all() -> None:
    """End the threads of all prefetchers before the interpreter exits.

    A thread that is still running could crash the interpreter at its exit.
    """
    for each in list(_RUNNING):
        each.close()
