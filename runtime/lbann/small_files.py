"""Many small files at a time: `exset.core.jobs.run` with several files a task.

To hand a file to another process takes as long as to look at a small one.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Generic

from exset.core.jobs import Item, Outcome, Value, cores, run

_MOST = 32


@dataclass(frozen=True)
class Batch(Generic[Item]):
    """Some files; as a path it is the first of them."""

    items: tuple[Item, ...]

    def __fspath__(self) -> str:
        """Return the path of the first file."""
        return str(getattr(self.items[0], "path", self.items[0]))


@dataclass(frozen=True)
class _Each(Generic[Item, Value]):
    """Does something to every file of a batch."""

    work: Callable[[Item], Value]

    def __call__(self, batch: Batch[Item]) -> list[Outcome[Item, Value]]:
        """Return what came of each."""
        return list(run(self.work, batch.items))


def run_in_batches(
    work: Callable[[Item], Value], items: Sequence[Item], *, jobs: int = 1
) -> Generator[Outcome[Item, Value], None, None]:
    """Do something to every file as `run` does, and yield what came of each, in their order.

    A file on which a process dies is found by doing those of its batch one by one.
    """
    size = min(len(items) // (4 * (jobs or cores())), _MOST)
    if jobs == 1 or size < 2:
        yield from run(work, items, jobs=jobs)
        return
    batches = [Batch(tuple(items[at : at + size])) for at in range(0, len(items), size)]
    for outcome in run(_Each(work), batches, jobs=jobs):
        if outcome.value is not None:
            yield from outcome.value
        elif isinstance(outcome.error, ChildProcessError):
            yield from run(work, outcome.item.items, jobs=max(jobs, 2))
        else:
            yield from (Outcome(item, error=outcome.error) for item in outcome.item.items)
