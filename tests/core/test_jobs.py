import errno
import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from exset.core.batches import Batches
from exset.core.errors import FormatError, Place
from exset.core.jobs import Execution, run
from exset.core.outcome import Outcome, outcome_of, run_batch
from exset.core.pace import SMALL, Pace
from exset.core.plan import PlanWritten

R = TypeVar("R")


def length(path: str) -> int:
    """Return the length of a path; some paths fail in different ways."""
    if path == "bad":
        raise FormatError("it is bad", place=Place(path), hint="repair it")
    if path == "missing":
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if path == "vast":
        raise MemoryError
    if path == "deadly":
        os.kill(os.getpid(), signal.SIGKILL)
    if path == "wrong":
        raise ZeroDivisionError
    return len(path)


def result_of(outcome: Outcome[str, int]) -> object:
    return outcome.value if outcome.error is None else type(outcome.error)


def test_in_this_process() -> None:
    paths = ["a", "bad", "bcd", "missing", "vast", "-"]
    outcomes = list(run(length, paths))
    assert [outcome.item for outcome in outcomes] == paths
    assert [result_of(outcome) for outcome in outcomes] == [
        1,
        FormatError,
        3,
        FileNotFoundError,
        OSError,
        1,
    ]
    assert outcomes[0].result() == 1
    with pytest.raises(FormatError, match="it is bad"):
        outcomes[1].result()
    error = outcomes[4].error
    assert isinstance(error, OSError) and (error.errno, error.filename) == (errno.ENOMEM, "vast")


def test_one_job_is_lazy() -> None:
    """No file is read before its outcome is requested."""
    seen: list[str] = []
    outcomes = run(seen.append, ["a", "b"])
    assert not seen
    next(outcomes)
    assert seen == ["a"]
    outcomes.close()
    assert seen == ["a"]


def test_other_errors_are_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        list(run(length, ["a", "wrong"]))
    with pytest.raises(ValueError, match="jobs must be"):
        list(run(length, ["a"], jobs=-1))
    assert list(run(length, [], jobs=0)) == []


def test_processes() -> None:
    paths = ["a", "bad", "bcd", "missing", "vast", "-", *(10 * "x" + str(i) for i in range(20))]
    outcomes = list(run(length, paths, jobs=2, isolated=True))
    assert [outcome.item for outcome in outcomes] == paths
    assert [result_of(outcome) for outcome in outcomes[:6]] == [
        1, FormatError, 3, FileNotFoundError, OSError, 1
    ]  # fmt: skip
    assert [outcome.value for outcome in outcomes[6:]] == [11] * 10 + [12] * 10
    error = outcomes[1].error
    assert isinstance(error, FormatError) and error.hint == "repair it"


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL there")
def test_a_process_that_dies() -> None:
    """Only its own file fails; all others have their outcomes."""
    paths = ["a", "deadly", "bc", "deadly", *(str(i) for i in range(8))]
    outcomes = list(run(length, paths, jobs=2, isolated=True))
    assert [outcome.item for outcome in outcomes] == paths
    for outcome in outcomes:
        if outcome.item == "deadly":
            assert isinstance(outcome.error, ChildProcessError)
            assert outcome.error.filename == "deadly" and "died" in str(outcome.error)
        else:
            assert outcome.value == len(outcome.item)


def process(path: str) -> int:
    return os.getpid()


def test_standard_input_is_read_in_this_process() -> None:
    outcomes = list(run(process, ["a", "-", "b"], jobs=2, isolated=True))
    assert [outcome.value == os.getpid() for outcome in outcomes] == [False, True, False]


def test_the_callers_executor() -> None:
    with ThreadPoolExecutor(3) as executor:
        outcomes = list(run(length, ["a", "bad", "bcd"], executor=executor))
        assert [result_of(outcome) for outcome in outcomes] == [1, FormatError, 3]
        assert executor.submit(length, "open").result() == 4


class Broken(Executor):
    """An executor whose processes died."""

    def __init__(self, at_once: bool) -> None:
        self.at_once = at_once

    def submit(self, fn: Callable[..., R], /, *args: object, **kwargs: object) -> Future[R]:
        if self.at_once:
            raise BrokenExecutor
        future: Future[R] = Future()
        future.set_exception(BrokenExecutor())
        return future


@pytest.mark.parametrize("at_once", [True, False])
def test_a_broken_executor(at_once: bool) -> None:
    outcomes = list(run(length, ["a", "b"], executor=Broken(at_once)))
    assert [type(outcome.error) for outcome in outcomes] == [ChildProcessError] * 2


class Counting(Executor):
    """An executor that runs everything at once, and counts what was submitted and not yet taken."""

    def __init__(self) -> None:
        self.waiting = self.most = self.batches = 0

    def submit(self, fn: Callable[..., R], /, *args: object, **kwargs: object) -> Future[R]:
        self.batches += 1
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        return Taken(self, fn(*args, **kwargs))


class Taken(Future[R]):
    def __init__(self, executor: Counting, value: R) -> None:
        super().__init__()
        self.executor = executor
        self.set_result(value)

    def result(self, timeout: float | None = None) -> R:
        self.executor.waiting -= 1
        return super().result(timeout)


def nested(path: str) -> int:
    try:
        memoryview(b"")[len(path)]
    except IndexError as error:
        raise FormatError("it is bad") from error
    return 0


def test_errors_travel_alone() -> None:
    """Libraries that pickle contexts and frames, too, would find what cannot be pickled there."""
    [(_, error)] = run_batch(nested, ["a"]).results
    assert isinstance(error, FormatError) and "it is bad" in str(error)
    assert (error.__context__, error.__cause__, error.__traceback__) == (None, None, None)


def test_what_is_in_flight_is_bounded_and_batched() -> None:
    paths = [str(number) for number in range(20_000)]
    executor = Counting()
    outcomes = list(run(length, paths, jobs=Execution(3, executor)))
    assert [outcome.item for outcome in outcomes] == paths
    assert executor.most == 4 * 3 and executor.batches < 200


class Late(Executor):
    """An executor whose calls run only when somebody waits for the result."""

    def submit(self, fn: Callable[..., R], /, *args: object, **kwargs: object) -> Future[R]:
        return LateCall(partial(fn, *args, **kwargs))


class LateCall(Future[R]):
    def __init__(self, call: Callable[[], R]) -> None:
        super().__init__()
        self.call = call

    def result(self, timeout: float | None = None) -> R:
        return self.call()


def test_the_first_process_works_while_others_do() -> None:
    """It takes what no worker has, but not without end, and the order stays."""
    paths = [str(number) for number in range(100)]
    done: list[str] = []

    def here(batch: Sequence[str]) -> Iterator[Outcome[str, int]]:
        done.extend(batch)
        return (outcome_of(path, partial(length, path)) for path in batch)

    pace = Pace(100, 2, done=4, cost=1.0)
    outcomes = Batches(length, paths, Late(), pace, 2, here).outcomes()
    assert next(outcomes).item == "0"
    assert done == ["2", "3", "4", "5", "6", "7"]
    rest = list(outcomes)
    assert [outcome.item for outcome in rest] == paths[1:]
    assert len(done) < 90
    with pytest.raises(ZeroDivisionError):
        list(Batches(length, [*"ab", "wrong"], Late(), pace, 2, here).outcomes())


def test_the_last_batch_waits_behind_no_other() -> None:
    """The executor still has one batch, so this process takes the other one itself."""
    done: list[str] = []

    def here(batch: Sequence[str]) -> Iterator[Outcome[str, int]]:
        done.extend(batch)
        return (outcome_of(path, partial(length, path)) for path in batch)

    pace = Pace(2, 2, done=4, cost=1.0)
    outcomes = list(Batches(length, ["a", "b"], Late(), pace, 2, here).outcomes())
    assert [outcome.item for outcome in outcomes] == ["a", "b"]
    assert done == ["b"]


def test_processes_start_only_for_enough_work(tmp_path: Path) -> None:
    small = [str(tmp_path / str(number)) for number in range(8)]
    assert {each.value for each in run(process, small, jobs=2)} == {os.getpid()}
    large = tmp_path / "large"
    large.write_bytes(bytes(SMALL + 1))
    [one, two] = run(process, [str(large), str(large)], jobs=2)
    assert os.getpid() not in (one.value, two.value)
    unknown = run(process, small[:2], jobs=2, measured=False)
    assert os.getpid() not in {each.value for each in unknown}


@pytest.mark.parametrize(
    ("cost", "count", "expected"),
    [(0.001, 1000, False), (0.01, 1000, True), (2.0, 3, False), (2.0, 9, True)],
)
def test_worthwhile(cost: float, count: int, expected: bool) -> None:
    pace = Pace(count, 2, start=0.5)
    assert not pace.saves_time()
    pace.add(1, 30 * cost)  # the first one loads modules
    assert not pace.saves_time()
    for _ in range(min(count, 6) - 1):
        pace.add(1, cost)
    assert pace.saves_time() is expected
    assert pace.size(count) == max(1, min(count // 8, int(1 / cost)))


def test_the_first_part_of_a_file_decides() -> None:
    """Modules were loaded when the file was divided, so they do not count in its time."""
    parts = Pace(20, 2, are_parts=True, start=0.5)
    assert not parts.saves_time()
    parts.add(1, 0.3)
    assert parts.saves_time()
    few = Pace(5, 2, are_parts=True, start=0.5)
    few.add(1, 0.3)
    assert not few.saves_time()


def test_a_plan_and_no_work(tmp_path: Path) -> None:
    seen: list[str] = []
    there = tmp_path / "a"
    there.write_bytes(b"four")
    with pytest.raises(PlanWritten):
        list(run(seen.append, [str(there), "none"], jobs=Execution(plan=str(tmp_path / "plan"))))
    assert not seen
    rows = [json.loads(line) for line in (tmp_path / "plan").read_text().splitlines()]
    assert [(row["input"], row["size"]) for row in rows] == [(str(there), 4), ("none", None)]
    assert rows[0]["fingerprint"] == str(there.stat().st_mtime_ns)
    assert rows[0]["part"] is rows[0]["output"] is None


def test_path_objects() -> None:
    outcomes = list(run(Path.exists, [Path("nowhere"), Path("/")], jobs=2, isolated=True))
    assert [outcome.value for outcome in outcomes] == [False, True]
