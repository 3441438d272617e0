"""Run a function on many files: in this process, in several, or on any executor.

If the work on a file fails, its outcome is an error, and work on other files continues. The
outcomes have the order of the files, with one process or many. Processes are spawned on every
platform, so a script that uses them needs `if __name__ == "__main__":`.
"""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias

from exset.core.outcome import Item, Outcome, Value, outcome_of, part_of
from exset.core.pace import Pace, is_small
from exset.core.threads import cores

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from exset.core.journal import Journals
    from exset.core.recorded import Record

_AHEAD = 4
"""How many batches are submitted for each worker of an executor."""

_AT_A_TIME = 64
"""How many files one process gets at a time, before more processes may start."""


class Watch(Protocol):
    """A function, such as a progress bar, that shows outcomes and passes them on."""

    def __call__(
        self, outcomes: Iterator[Outcome[Item, Value]], count: int, /, *, is_share: bool
    ) -> Iterator[Outcome[Item, Value]]:
        """Yield the outcomes unchanged; `count` is their number.

        `is_share`: whether these are the outcomes of one share of a larger work. The caller of
        `run` does not get the outcomes of a share.
        """


@dataclass(frozen=True)
class Execution:
    """How to run work on many files.

    - jobs: the number of processes; 1: only this process; 0: one for each core.
    - executor: runs the work in place of exset's processes, and is not closed. `jobs` is then the
      number of its workers, by default the number that the executor itself reports.
    - plan: write the plan (the list of all units of work) to this file, and do no work.
    - isolated: the work may crash or hang. So even if `jobs` is 1, another process runs it, with a
      time limit; see `exset.core.isolation`.
    - record: where to keep the outcomes, and which share of the work to do.
    - gathered: journals that have all outcomes. exset reads the outcomes from the journals, and
      does not process the files.
    - work: the id of the work, which journals must also have; see `Header.work`.
    - watch: a function that gets all outcomes, also those of a share.
    """

    jobs: int = 1
    executor: "Executor | None" = None
    plan: str = ""
    isolated: bool = False
    record: "Record | None" = None
    gathered: "Journals | None" = None
    work: str = ""
    watch: Watch | None = None

    def __post_init__(self) -> None:
        if self.jobs < 0:
            raise ValueError(f"jobs must be a number from 0, not {self.jobs}")

    def __reduce__(self) -> "tuple[type[Execution], tuple[()]]":
        """Pickle as `Execution()`, so that a worker process starts no further processes."""
        return Execution, ()

    @property
    def workers(self) -> int:
        """The number of processes, or of workers of the executor."""
        if self.executor is not None and self.jobs < 2:
            own = getattr(self.executor, "_max_workers", None)
            return own if isinstance(own, int) and own > 0 else cores()
        return self.jobs or cores()

    @property
    def first_pass(self) -> "Execution":
        """How to run the work that comes before the plan, such as counting the parts of files."""
        return replace(self, plan="", record=None, gathered=None, watch=None)

    @property
    def is_partial(self) -> bool:
        """Whether `run` may do less than all work, as it writes a plan or uses journals."""
        return bool(self.plan or self.record or self.gathered)

    def known_parts(self, paths: Sequence[str | os.PathLike[str]]) -> list[int] | None:
        """Return, for each file, the number of its parts that the journals give.

        Return None if there are no journals.
        """
        if self.gathered is None:
            return None
        return [self.gathered.parts.get(os.fsdecode(path), 1) for path in paths]

    def watched(
        self, outcomes: Iterator[Outcome[Item, Value]], count: int, *, is_share: bool = False
    ) -> Iterator[Outcome[Item, Value]]:
        """Pass the outcomes through `watch`, if it is not None; yield them unchanged.

        `count`: how many outcomes there are. `is_share`: whether they are the outcomes of one
        share.
        """
        return outcomes if self.watch is None else self.watch(outcomes, count, is_share=is_share)


class WorkerError(RuntimeError):
    """A worker of a cluster cannot do the work: it has no exset, or another version of exset."""


Jobs: TypeAlias = int | Execution
"""The number of processes, or a full description of how to run work."""


def execution(jobs: Jobs) -> Execution:
    """Return the `Execution` for an argument `jobs`. Raises ValueError for a negative number."""
    return jobs if isinstance(jobs, Execution) else Execution(jobs)


def run(
    work: Callable[[Item], Value],
    items: Sequence[Item],
    *,
    jobs: Jobs = 1,
    executor: "Executor | None" = None,
    isolated: bool = False,
    measured: bool = True,
    limited: bool = True,
    returns: object = None,
    identity: str = "",
) -> Generator[Outcome[Item, Value], None, None]:
    """Run `work` on every file, and yield the outcomes in the order of the files.

    `items`: paths, or objects with a path (`os.PathLike`). Files go to processes in batches of
    about a second of work. exset first works on a few small files in one process, and measures the
    time. It starts more processes only if they save time; the first process then continues. This
    process always reads `-`, standard input.

    - executor: short for `jobs=Execution(executor=...)`.
    - isolated: never run the work in this process, as the work may crash it.
    - measured: whether small files need little work; if not, all processes start at once.
    - limited: whether each file has a time limit, if the work is isolated and has one process.
    - returns: the type of the values, to store them in a journal; without it, exset writes no
      journal.
    - identity: a text that names all that the work depends on besides the command.

    These errors become outcomes: FormatError and OSError, and, as OSError, a lack of memory and a
    process that died. All other exceptions are raised. Also raises ValueError for a negative number
    of jobs, JournalError, and PlanWritten or ShareDone if the execution ends after the plan or the
    share.
    """
    how = execution(jobs) if executor is None else Execution(0, executor)
    if how.plan:
        from exset.core.plan import write_plan

        raise write_plan(how.plan, items)
    if returns is None or not (how.gathered or how.record):
        found = _run(work, items, how, isolated, measured, limited)
        yield from how.watched(found, len(items))
        return
    from exset.core.journal import work_id
    from exset.core.recorded import ShareDone, Summing, gathered, recorded

    if how.gathered is not None:
        of_all = work_id(how.work, identity)
        yield from how.watched(gathered(items, how.gathered, of_all, returns), len(items))
        return
    assert how.record is not None
    record = replace(how.record, header=how.record.header.with_work(identity))
    shard = record.shard
    units = items if shard is None else shard.of(items)

    def start(left: Sequence[Item]) -> Generator[Outcome[Item, tuple[Value, dict[str, str]]]]:
        return _run(Summing(work), left, how, isolated, measured, limited)

    known = recorded(units, record, returns, start)
    outcomes: Iterator[Outcome[Item, Any]] = how.watched(
        known, len(units), is_share=shard is not None
    )
    if shard is None:
        yield from outcomes
        return
    failed = sum(outcome.error is not None for outcome in outcomes)
    raise ShareDone(record, len(units), failed)


def _run(
    work: Callable[[Item], Value],
    items: Sequence[Item],
    how: Execution,
    isolated: bool,
    measured: bool,
    limited: bool,
) -> Generator[Outcome[Item, Value], None, None]:
    are_parts = bool(items) and part_of(items[0]) is not None
    pace = Pace(len(items), min(how.workers, max(len(items), 1)), are_parts)
    rest, own = items, None
    if how.executor is None and (measured or pace.workers < 2):
        first = _First(work, items, pace, isolated, is_limited=limited and how.workers < 2)
        with closing(first.outcomes()) as outcomes:
            yield from outcomes
        rest, own = items[first.done :], first.run if first.done else None
    if not rest:
        return
    from exset.core.batches import Batches
    from exset.core.process_pool import Processes

    with ExitStack() as stack:
        pool, ahead = how.executor, _AHEAD * pace.workers
        if pool is None:
            others = pace.workers - (own is not None)
            pool, ahead = Processes(others), 2 * others
            stack.callback(pool.shutdown, cancel_futures=True)
        batches = Batches(work, rest, pool, pace, ahead, own)
        yield from stack.enter_context(closing(batches.outcomes()))


@dataclass
class _First(Generic[Item, Value]):
    """Runs `work` on the first files, in one process, until more processes would save time.

    `done`: how many files are done so far. `isolated`: whether another process does this work, not
    this process. `is_limited`: whether each file then has a time limit. `pace`: measures the time.
    """

    work: Callable[[Item], Value]
    items: Sequence[Item]
    pace: Pace
    isolated: bool
    is_limited: bool
    done: int = 0

    def outcomes(self) -> Generator[Outcome[Item, Value], None, None]:
        """Yield the outcomes of the first files, or of all files if they take little time."""
        while count := self._next():
            begun = perf_counter()
            for outcome in self.run(self.items[self.done : self.done + count]):
                self.done += 1
                self.pace.add(1, perf_counter() - begun)
                yield outcome
                begun = perf_counter()

    def _next(self) -> int:
        """Return how many files to work on before deciding again; 0: start more processes now."""
        left = len(self.items) - self.done
        if self.pace.workers < 2 or left < 2:
            return min(left, _AT_A_TIME)
        if self.pace.saves_time():
            return 0
        most = range(self.done, self.done + min(left, self.pace.short(), _AT_A_TIME))
        return next(
            (rank for rank, each in enumerate(most) if not is_small(self.items[each])), len(most)
        )

    def run(self, items: Sequence[Item]) -> Iterator[Outcome[Item, Value]]:
        """Do the work on `items`; standard input, `-`, is always read in this process."""
        for is_input, some in groupby(items, lambda item: os.fsdecode(item) == "-"):
            if self.isolated and not is_input:
                from exset.core.isolation import run_isolated

                yield from run_isolated(self.work, [*some], is_limited=self.is_limited)
            else:
                for item in some:
                    yield outcome_of(item, partial(self.work, item))
