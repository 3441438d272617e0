"""Read items ahead in a background thread, which never outlives its user."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Final, Generic, TypeVar, cast

Item = TypeVar("Item")

_END: Final = object()


class Prefetcher(Generic[Item]):
    """The items of a generator, read ahead by a background thread.

    Items keep their order. An error of the generator is raised after the last item, with its
    traceback. The thread starts with the first `next`, in the context (`contextvars`) of the
    creation, and reads at most `most` items ahead (at least one). It ends after the last item, with
    `close`, and when the interpreter exits; it first completes the item that it is reading.
    """

    def __init__(self, source: Generator[Item, None, None], most: int) -> None:
        """Take a generator; only the thread uses and closes it."""
        self._source, self._most = source, max(most, 1)
        self._run = copy_context().run
        self._read: Callable[[], object] = partial(next, source, _END)
        self._thread = ThreadPoolExecutor(1, "exset prefetch")
        self._ahead: deque[Future[object]] = deque()
        self._is_closed = False

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        self._read_ahead()
        wait([*self._ahead][:1])  # an interrupt here loses no item
        if self._is_closed:
            raise StopIteration
        first = self._ahead.popleft()
        self._read_ahead()
        try:
            item = first.result()
        except BaseException:
            self.close()
            raise
        finally:
            del first  # an error in it refers to this frame
        if item is _END:
            self.close()
            raise StopIteration
        return cast(Item, item)

    def close(self) -> None:
        """End the thread, and wait for its end; drop items that were not taken."""
        self._is_closed = True
        for future in self._ahead:
            future.cancel()
        with suppress(RuntimeError):  # the interpreter exits, and has ended the thread
            if self._ahead:
                self._thread.submit(self._source.close)
        with suppress(RuntimeError):  # garbage collection calls this in the thread itself
            self._thread.shutdown()
        self._ahead.clear()

    def _read_ahead(self) -> None:
        while len(self._ahead) < self._most and not self._is_closed:
            self._ahead.append(self._thread.submit(self._run, self._read))
