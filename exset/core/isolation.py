"""Run work that may crash or hang, such as calls of a C library, in one other process.

The process works on one file after another, and is kept for later work. If the process dies, or
does not finish in time, the outcome of the current file is an error, and a new process continues
with the next file. `EXSET_ISOLATE=off` keeps all work in this process, for systems that allow no
other processes.
"""

import errno
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from exset.core.errors import FormatError
from exset.core.outcome import Item, Outcome, Value, died, outcome_of
from exset.core.process_pool import uninterrupted
from exset.core.supervised import seconds_for
from exset.core.supervisor import ENVIRONMENT

_PATIENCE = 5.0
_BATCH = 64
"""How many files the process gets at a time; it sends back each result as soon as it has it."""

_idle: list["_Process"] = []


class LateError(TimeoutError):
    """The work on a file did not finish in time."""

    def __init__(self, item: str | os.PathLike[str], seconds: float) -> None:
        why = f"the work on this file did not finish in {seconds:,.0f} s"
        super().__init__(errno.ETIMEDOUT, why, os.fsdecode(item))


def is_allowed() -> bool:
    """Return whether work may run in another process."""
    return os.environ.get(ENVIRONMENT) != "off"


def run_isolated(
    work: Callable[[Item], Value], items: Sequence[Item], *, is_limited: bool = True
) -> Generator[Outcome[Item, Value], None, None]:
    """Run `work` on every file in another process, and yield the outcomes in order.

    `work`, the files and the values are pickled. `is_limited`: whether there is a time limit for
    each file. These failures become outcomes: FormatError, OSError, a lack of memory, a process
    that dies (ChildProcessError), and a process that does not finish in time (LateError). Other
    errors are raised.
    """
    with _taken() as process:
        process.work = work
        at = 0
        while at < len(items):
            for outcome in process.outcomes(items[at : at + _BATCH], is_limited):
                at += 1
                yield outcome


def prepare(module: str) -> None:
    """Start the process before it has work, so that both processes load a module at once.

    `module`: the name of the module with the work.
    """
    if is_allowed() and not _mine():
        _idle.append(_Process(module))


def _mine() -> list["_Process"]:
    """Return the idle processes of this program."""
    return [each for each in _idle if each.owner == os.getpid()]


@contextmanager
def _taken() -> Iterator["_Process"]:
    """Lend an idle process of this program, or a new one, to the code in this context.

    After the context, the process is idle again if it is ready for more work.
    """
    mine = _mine()
    process = mine[0] if mine else _Process()
    _idle[:] = mine[1:]
    try:
        yield process
    finally:
        if process.is_ready:
            _idle.append(process)


def _folder() -> str:
    """Return the current folder; "/" if it was deleted."""
    with suppress(OSError):
        return os.getcwd()
    return os.sep


class _Process:
    """Another process that does work for this one, and is started again if it has died.

    `owner`: the id of the process that started this other process.
    """

    def __init__(self, module: str = "") -> None:
        """Start the process; first, it loads `module`, unless this is ""."""
        self._module = module
        self.owner = os.getpid()
        self.is_ready = True
        """Whether the process waits for work."""
        self.work: Callable[[Any], object] | None = None
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, self._module), daemon=True)
        with uninterrupted():
            self._process.start()
        other.close()

    def outcomes(
        self, items: Sequence[Item], is_limited: bool
    ) -> Generator[Outcome[Item, Any], None, None]:
        """Yield the outcomes of the files, in order, until one crashes the process or is too slow.

        The last outcome is then the error of this file. `is_limited`: whether there is a time limit
        for each file.
        """
        if not self._process.is_alive():
            self._start()
        self.is_ready = False
        limits = [seconds_for(item) if is_limited else None for item in items]
        try:
            self.is_ready = yield from self._outcomes(items, limits)
        finally:
            if not self.is_ready:
                self._end()

    def _outcomes(
        self, items: Sequence[Item], limits: Sequence[float | None]
    ) -> Generator[Outcome[Item, Any], None, bool]:
        """Yield the outcomes of `items` until one fails; return whether the process still works.

        `limits`: for each file, the most seconds that it may take; None for no limit.
        """
        with suppress(OSError):
            self._connection.send((_folder(), self.work, items, limits))
        for item, seconds in zip(items, limits, strict=True):
            try:
                is_late = not self._connection.poll(seconds)
                value, error = (None, None) if is_late else self._connection.recv()
            except (EOFError, OSError):
                yield died(item)
                return False
            if is_late:
                yield Outcome(item, error=LateError(item, seconds or 0))
                return False
            if error is not None and not isinstance(error, OSError | FormatError):
                raise error
            yield Outcome(item, value, error)
        return True

    def _end(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.join(_PATIENCE)
        self._connection.close()


def _serve(connection: Connection, module: str) -> None:
    """Run in the other process: do the work that the parent sends, until the parent has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if module:
        with suppress(ImportError):  # the parent raises it, too
            import_module(module)
    with suppress(EOFError, OSError):
        while True:
            folder, work, items, limits = connection.recv()
            with suppress(OSError):  # the parent may have changed it since the last work
                os.chdir(folder)
            for item, seconds in zip(items, limits, strict=True):
                connection.send(_result(work, item, seconds))


def _result(
    work: Callable[[Any], object], item: Any, seconds: float | None
) -> tuple[object, Exception | None]:
    """Call `work` on a file. Return (value, None), or (None, error) if the call fails.

    `seconds`: the most seconds that the call may take; None for no limit.
    """
    try:
        with _ended_after(seconds):
            done = outcome_of(item, partial(work, item))
        return done.value, done.error
    except Exception as error:
        return None, error


@contextmanager
def _ended_after(seconds: float | None) -> Iterator[None]:
    """Let the system end this process if the code in this context takes longer than `seconds`.

    This is for a parent that has died: otherwise the parent ends a slow process earlier. With None,
    there is no limit.
    """
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds + _PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
