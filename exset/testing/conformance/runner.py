"""Run the cases against a reader."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from queue import SimpleQueue

from exset.testing.conformance.cases import Case
from exset.testing.conformance.judge import FAILED, Judge, Result
from exset.testing.conformance.readers import Reader


@dataclass(frozen=True)
class Score:
    """How many cases passed (`passed`) of those that count (`run`), and how many do not count.

    `not_judged`: files on which the real systems disagree. Any answer to such a file is right.
    """

    passed: int
    run: int
    not_judged: int
    unsupported: int
    skipped: int

    @property
    def text(self) -> str:
        """The score in words."""
        percent = f"{self.passed / self.run:.1%}" if self.run else "none"
        extras = [f"{self.not_judged} not judged"] if self.not_judged else []
        extras += [f"{self.unsupported} unsupported"] if self.unsupported else []
        extras += [f"{self.skipped} skipped"] if self.skipped else []
        return ", ".join([f"{self.passed} of {self.run} cases pass ({percent})", *extras])


def score(results: Iterable[Result]) -> Score:
    """Return the score of these results."""
    count = Counter(each.outcome for each in results)
    others = [count[outcome] for outcome in ("not judged", "unsupported", "skipped")]
    return Score(count["passed"], count.total() - sum(others), *others)


def selected(chosen: Iterable[Case], patterns: Sequence[str]) -> list[Case]:
    """Return the cases whose name or id matches a pattern; without patterns, return all.

    Raises ValueError for a pattern that matches no case.
    """
    some = list(chosen)
    for each in patterns:
        if not any(matches(case, [each]) for case in some):
            raise ValueError(f"no case matches {each!r}: exset conformance list shows their names")
    return [case for case in some if not patterns or matches(case, patterns)]


def features_of(names: Iterable[str], chosen: Iterable[Case]) -> frozenset[str]:
    """Return the names of features as a set. Raise ValueError for a feature that no case has."""
    features = frozenset(names)
    known = {feature for case in chosen for feature in case.features}
    if unknown := sorted(features - known):
        there = ", ".join(sorted(known))
        raise ValueError(f"no case has the feature {unknown[0]!r}: choose one of {there}")
    return features


def matches(case: Case, patterns: Iterable[str]) -> bool:
    """Return whether the name or id of a case matches a pattern with `*`, `?` and `[...]`."""
    return any(fnmatchcase(text, each) for each in patterns for text in (case.name, case.id))


def run(
    make: Callable[[], Reader],
    chosen: Iterable[Case],
    judge: Judge | None = None,
    *,
    skip: Sequence[str] = (),
    parallel: int = 1,
    stop_early: bool = False,
) -> Iterator[Result]:
    """Yield the result of each case, in the order of the cases.

    - `make`: a function that makes a reader; each thread has its own reader.
    - `skip`: patterns of cases that need not pass. If a skipped case passes, this is a failure.
    - `parallel`: the number of threads.
    - `stop_early`: stop at the first failure.

    Raises OSError if a program cannot be started.
    """
    judge = judge or Judge()
    with ExitStack() as stack:
        free: SimpleQueue[Reader] = SimpleQueue()
        for _ in range(max(parallel, 1)):
            free.put(stack.enter_context(make()))

        def one(case: Case) -> Result | None:
            question = judge.question(case)
            if question is None:
                return None
            if not judge.supports(case):
                return Result(case, "unsupported")
            reader, begin = free.get(), time.perf_counter()
            try:
                result = judge.judge(case, reader.answer(question, case.options))
            finally:
                free.put(reader)
            result = replace(result, seconds=time.perf_counter() - begin)
            return _skipped(result) if matches(case, skip) else result

        results = map(one, chosen) if parallel <= 1 else _in_threads(one, chosen, parallel, stack)
        for result in results:
            if result is not None:
                yield result
                if stop_early and result.failed:
                    return


def _in_threads(
    one: Callable[[Case], Result | None], chosen: Iterable[Case], count: int, stack: ExitStack
) -> Iterator[Result | None]:
    pool = stack.enter_context(ThreadPoolExecutor(count))
    waiting: list[Future[Result | None]] = [pool.submit(one, case) for case in chosen]
    stack.callback(pool.shutdown, wait=True, cancel_futures=True)
    for each in waiting:
        yield each.result()


def _skipped(result: Result) -> Result:
    if result.outcome == "passed":
        message = "the case passes: remove the pattern that skips it"
        return replace(result, outcome="skipped but passes", messages=(message,))
    return replace(result, outcome="skipped") if result.outcome in FAILED else result
