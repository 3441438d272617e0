"""Threads that work on one file, and threads of a program that load files at once."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np
import pytest

import exset
from exset import samples
from exset.core import kernels, native, threads


@pytest.mark.parametrize("count", [1, 2, 3])
def test_results_come_in_order(count: int) -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(10):
            taken.append(number)
            yield number

    results = threads.ordered(lambda number: number**2, items(), count)
    assert list(islice(results, 3)) == [0, 1, 4]
    assert len(taken) <= 3 + count + 1  # it works only a little ahead
    results.close()


def test_an_error_of_the_work_is_raised_in_its_place() -> None:
    results = threads.ordered(lambda number: 1 // number, [1, 1, 0, 1], 2)
    assert list(islice(results, 2)) == [1, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "cores", lambda: 64)
    for value, expected in (("3", 3), ("1", 1), ("0", 8), ("-1", 8), ("many", 8), ("", 8)):
        monkeypatch.setenv(threads.ENVIRONMENT, value)
        assert threads.count() == expected
    assert threads.cores() == 64


@pytest.mark.parametrize("is_large", [False, True])
def test_ranges_of_threads(is_large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.ENVIRONMENT, "3")
    for total in range(6):
        done = np.zeros(total, np.int64)

        def work(
            low: int, high: int, done: np.ndarray[tuple[int], np.dtype[np.int64]] = done
        ) -> None:
            done[low:high] += 1

        threads.divided(work, total, is_large)
        assert done.tolist() == [1] * total


def test_a_thread_that_works_starts_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.ENVIRONMENT, "2")
    assert list(threads.ordered(lambda _: threads.count(), range(3), 2)) == [1, 1, 1]
    assert threads.count() == 2


def test_an_error_in_a_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.ENVIRONMENT, "2")
    with pytest.raises(ZeroDivisionError):
        threads.divided(lambda low, _: 1 // (1 - low), 2, True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    assert list(threads.ordered(abs, [-1], 2)) == [1]
    if (child := os.fork()) == 0:
        os._exit(next(threads.ordered(abs, [-7], 2)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_kernels_are_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    linked: list[bytes] = []

    def link(data: bytes) -> dict[str, native.Function]:
        linked.append(data)
        threading.Event().wait(0.05)
        return {"any": len}

    monkeypatch.setattr(native, "link", link)
    monkeypatch.setattr("exset.core.disk_cache.load", lambda _: b"object")
    monkeypatch.setattr(kernels, "GROUPS", [])
    group = kernels.Kernels("exset.parsers.engine.conversion")
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda _: group.use_compiled(1 << 20), range(8)))
    assert len(linked) == 1


def test_files_loaded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All formats from several threads, with grammars, layouts and kernels that are not loaded."""

    def load(name: str) -> object:
        data = samples.read(name).data
        return exset.loads(data, name=name, findings=exset.Findings(), engine="table")

    names = samples.names()
    expected = [load(name) for name in names]
    for group in kernels.GROUPS:
        monkeypatch.setattr(group, "_functions", {})

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(load, names * 2)) == expected * 2
