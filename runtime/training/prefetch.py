"""What is made ahead of its use, by a thread that never outlives who uses it."""

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
    """What comes after the last item: nothing, or an error."""

    error: BaseException | None = None


class Ahead(Generic[Item]):
    """The items of a generator, of which a thread makes some before they are asked for.

    Items come in their order; then what the generator raised, if it did, with its traceback. The
    thread begins with the first `next`, in the context (`contextvars`) that this is made in, and is
    at most `most` items, at least one, ahead of what was taken. It ends after the last item, when
    this is closed, and when the interpreter exits; the item that it is at is made to its end.
    """

    def __init__(self, source: Generator[Item, None, None], most: int) -> None:
        """Take a generator, which only the thread will use, and close."""
        self._source, self._most = source, most
        self._ready: deque[Item | _End] = deque()
        self._begun = self._taken = 0
        # Its lock may be taken twice by a thread: again by `close`, where garbage is collected.
        self._changed = Condition()
        self._over = self._stopped = False
        run = copy_context().run
        self._thread = Thread(target=run, args=(self._run,), name="exset ahead", daemon=True)

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
            del error  # whose traceback has this frame

    def close(self) -> None:
        """End the thread, and wait until it has ended; what was made and not taken is dropped."""
        with self._changed:
            self._stopped = True
            self._ready.clear()
            self._changed.notify_all()
        # Garbage may be collected, and this be called, in any thread.
        if self._thread.ident is not None and self._thread is not current_thread():
            self._thread.join()

    def _run(self) -> None:
        end = _End()
        try:
            while self._wanted():
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

    def _wanted(self) -> bool:
        """Wait until one more is to be made; false if none is."""
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


_RUNNING: "WeakSet[Ahead[Any]]" = WeakSet()


@atexit.register
def _close_all() -> None:
    """Threads that are at work while the interpreter is taken down can crash it."""
    for each in list(_RUNNING):
        each.close()
