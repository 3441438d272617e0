"""Run batches of files on an executor: submit a few at a time, and continue if a process dies."""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass
from time import perf_counter
from typing import Generic

from exset.core.outcome import Batch, Item, Outcome, Value, died, run_batch
from exset.core.pace import Pace, is_small
from exset.core.process_pool import Processes

_DEAD = ("KilledWorker", "ExecutorlibSocketError")
"""Errors of other executors that mean the same as BrokenExecutor: the worker died."""


@dataclass
class Batches(Generic[Item, Value]):
    """Runs `work` on `items` in batches: `executor` has at most `ahead` batches at a time.

    `pace` decides how many files a batch has. `own` does the work in another place, such as this
    process: while the next outcome is not there yet, `own` works on batches of small files.
    """

    work: Callable[[Item], Value]
    items: Sequence[Item]
    executor: Executor
    pace: Pace
    ahead: int
    own: Callable[[Sequence[Item]], Iterator[Outcome[Item, Value]]] | None = None

    def outcomes(self) -> Generator[Outcome[Item, Value], None, None]:
        """Yield the outcome of each file, in order. Standard input, `-`, is read in this process.

        If the process of a batch dies, the files of this batch run again, apart from other batches.
        Only a file whose process dies again has an error as its outcome.
        """
        waiting: deque[tuple[list[Item], Future[Batch[Value]]]] = deque()
        at = 0
        try:
            while at < len(self.items) or waiting:
                if (start := self._free(at, [each for _, each in waiting])) is None:
                    yield from self._results(*waiting.popleft())
                else:
                    batch = self._next(at)
                    waiting.append((batch, start(batch)))
                    at += len(batch)
        finally:
            for _, future in waiting:
                future.cancel()

    def _free(
        self, at: int, waiting: list[Future[Batch[Value]]]
    ) -> Callable[[list[Item]], Future[Batch[Value]]] | None:
        """Return the function that starts the next batch, which begins with the item at index `at`.

        Return None if no other batch may be started before the first batch of `waiting` ends.
        waiting: the batches that have been started.
        """
        if at == len(self.items):
            return None
        if self.own is None:
            return self._submitted if len(waiting) < self.ahead else None
        # Near the end, `own` takes a batch that would only wait behind others.
        ahead = min(self.ahead, len(self.items) - at)
        if sum(not each.done() for each in waiting) < ahead and len(waiting) < self._most:
            return self._submitted
        is_late = not waiting[0].done() and len(waiting) < self._most
        return self._done_here if is_late and is_small(self.items[at]) else None

    @property
    def _most(self) -> int:
        """The most batches that may be started before the first of them is done."""
        return 4 * self.ahead

    def _next(self, at: int) -> list[Item]:
        """Return the items of the next batch, which begins with the item at index `at`.

        Standard input, `-`, gets its own batch.
        """
        left = len(self.items) - at
        batch: list[Item] = []
        for each in range(at, at + min(self.pace.size(left), left)):
            item = self.items[each]
            if os.fsdecode(item) == "-":
                return batch or [item]
            batch.append(item)
        return batch

    def _submitted(self, batch: list[Item]) -> Future[Batch[Value]]:
        """Give a batch to the executor, and return its future. Run the batch of `-` at once."""
        done: Future[Batch[Value]] = Future()
        try:
            if os.fsdecode(batch[0]) != "-":
                return self.executor.submit(run_batch, self.work, batch)
            done.set_result(run_batch(self.work, batch))
        except Exception as error:
            done.set_exception(error)
        return done

    def _done_here(self, batch: list[Item]) -> Future[Batch[Value]]:
        """Let `own` work on a batch; return a future of the result or error."""
        assert self.own is not None
        done: Future[Batch[Value]] = Future()
        begun = perf_counter()
        try:
            results = [(each.value, each.error) for each in self.own(batch)]
            done.set_result(Batch(results, perf_counter() - begun))
        except Exception as error:
            done.set_exception(error)
        return done

    def _results(
        self, batch: list[Item], future: Future[Batch[Value]]
    ) -> Iterator[Outcome[Item, Value]]:
        try:
            done = future.result()
        except Exception as error:
            if not _is_death(error):
                raise
            yield from self._alone(batch)
            return
        self.pace.add(len(batch), done.seconds)
        for item, (value, why) in zip(batch, done.results, strict=True):
            yield Outcome(item, value, why)

    def _alone(self, batch: list[Item]) -> Iterator[Outcome[Item, Value]]:
        """Run a batch again after its process died, without other batches; yield its outcomes.

        If the process dies again, do the same with each half of the batch. A single file whose
        process dies again gets an error as its outcome.
        """
        try:
            if isinstance(self.executor, Processes):
                done = self.executor.alone(run_batch, self.work, batch)
            elif len(batch) > 1:
                done = self.executor.submit(run_batch, self.work, batch).result()
            else:
                yield died(batch[0])
                return
        except Exception as error:
            if not _is_death(error):
                raise
            if len(batch) == 1:
                yield died(batch[0])
                return
            middle = len(batch) // 2
            yield from self._alone(batch[:middle])
            yield from self._alone(batch[middle:])
            return
        for item, (value, why) in zip(batch, done.results, strict=True):
            yield Outcome(item, value, why)


def _is_death(error: Exception) -> bool:
    return isinstance(error, BrokenExecutor) or type(error).__name__ in _DEAD
