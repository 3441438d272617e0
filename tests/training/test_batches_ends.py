"""The thread of batches: that it ends, however the iteration does."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

from exset.runtime.training.batches import Batches
from exset.runtime.training.dataset import Values
from tests.training.squares import Squares, numbers_of, threads

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = threads()
    yield
    assert threads() == before


def begun() -> Generator[dict[str, Values], None, None]:
    iteration = iter(Batches(Squares(99), range(99), 2))
    next(iteration)
    assert len(threads()) == 1
    return iteration


def test_a_loop_that_is_left() -> None:
    for _ in Batches(Squares(99), range(99), 2):
        assert len(threads()) == 1
        break
    assert not threads()
    with pytest.raises(ZeroDivisionError):
        for _ in Batches(Squares(99), range(99), 2):
            1 / 0  # noqa: B018
    gc.collect()


def test_an_iteration_that_is_closed_or_dropped() -> None:
    begun().close()
    assert not threads()
    iteration = begun()
    del iteration
    assert not threads()


def test_garbage_is_collected_with_its_thread() -> None:
    class Cycle:
        def __init__(self) -> None:
            self.itself, self.iteration = self, begun()

    Cycle()
    assert len(threads()) == 1
    gc.collect()
    assert not threads()


def test_garbage_may_be_collected_by_the_thread_itself() -> None:
    """Then it cannot be waited for, but ends."""
    hold = threading.Event()

    class Collecting(Squares):
        def batch(self, indices: ArrayLike) -> dict[str, Values]:
            if self.read:
                hold.wait(10)
                gc.collect()
            return super().batch(indices)

    class Cycle:
        def __init__(self) -> None:
            self.itself = self
            self.iteration = iter(Batches(Collecting(99), range(99), 2))
            next(self.iteration)

    gc.disable()
    try:
        Cycle()
        (thread,) = threads()
        hold.set()
        thread.join(10)
        assert not thread.is_alive()
    finally:
        gc.enable()


def test_one_iteration_at_a_time() -> None:
    for act in ("iterate", "epoch", "state"):
        for prefetch in (0, 2):
            batches = Batches(Squares(99), range(99), 2, prefetch=prefetch)
            first = iter(batches)
            next(first)
            if act == "iterate":
                second = iter(batches)
                assert next(second)["number"].tolist() == [0, 1]
            elif act == "epoch":
                batches.set_epoch(0)
                assert next(first)["number"].tolist() == [2, 3], "it is the same"
                batches.set_epoch(1)
            else:
                batches.load_state_dict(batches.state_dict())
            with pytest.raises(RuntimeError, match="iteration has ended"):
                next(first)
            if act == "iterate":
                assert len(numbers_of(second)) == 49


def run(code: str, *, interrupt: bool = False) -> "subprocess.CompletedProcess[str]":
    """Run a script that has 99 batches, each of which takes a while, and prints `ready`."""
    script = (
        "import signal, sys, threading, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import numpy as np\n"
        "from exset.runtime.training.batches import Batches\n"
        "from exset.runtime.training.dataset import Dataset\n"
        "class Slow(Dataset):\n"
        "    fields = ('x',)\n"
        "    def __len__(self): return 99\n"
        "    def batch(self, indices):\n"
        "        time.sleep(0.05)\n"
        "        return {'x': np.asarray(indices)}\n"
        "batches = Batches(Slow(), range(99), 1)\n"
    ) + code
    with subprocess.Popen(
        [sys.executable, "-X", "dev", "-c", script],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        if interrupt:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            time.sleep(0.1)
            os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
        return subprocess.CompletedProcess([], process.returncode, out, err)


@pytest.mark.parametrize("way", ["end", "exit", "error", "atexit"])
def test_the_interpreter_exits(way: str) -> None:
    begin = "it = iter(batches); next(it); "
    code = {
        "end": begin,
        "exit": begin + "sys.exit(0)",
        "error": "for _ in batches: raise SystemExit(0)",
        "atexit": begin + "import atexit; atexit.register(lambda: print(threading.active_count()))",
    }[way]
    done = run(code)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt() -> None:
    code = (
        "try:\n"
        "    for number, batch in enumerate(batches):\n"
        "        if not number: print('ready', flush=True)\n"
        "except KeyboardInterrupt:\n"
        "    state = batches.state_dict()\n"
        "    print(threading.active_count(), state['batch'] == number + 1)\n"
        "rest = iter(batches); batches.load_state_dict(state)\n"
        "print(next(iter(batches))['x'][0] == number + 1)\n"
    )
    done = run(code, interrupt=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 True\nTrue\n", "")


def test_the_context_is_that_of_the_iteration() -> None:
    class Dividing(Squares):
        def batch(self, indices: ArrayLike) -> dict[str, Values]:
            return {"number": np.ones(1) / np.zeros(1)}

    for prefetch in (0, 2):
        batches = Batches(Dividing(3), range(3), 1, prefetch=prefetch)
        with np.errstate(divide="ignore"):
            assert len(list(batches)) == 3
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            list(batches)
