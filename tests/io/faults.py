"""Let system calls fail: call number n alone, or all calls from it on.

Only calls that write files count: functions of `os`, and the opening, writing and closing of files.
"""

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal
from unittest.mock import patch

Mode = Literal["once", "full", "dead"]
"""One call fails; or, from it on, all calls that need room on the disk; or all calls."""

MODES: tuple[Mode, ...] = ("once", "full", "dead")

_CALLS = (
    *("open", "close", "fsync", "replace", "rename", "link", "unlink", "mkdir", "chmod", "chown"),
    *("write", "stat", "lstat", "fstat"),
)
_ROOM = ("open", "fsync", "replace", "rename", "link", "mkdir", "write")
_ENOUGH = 500


class Faults:
    """The calls, and the calls that failed."""

    def __init__(self, number: int, mode: Mode) -> None:
        self.number = number
        self.mode = mode
        self.calls: list[str] = []
        self.failed: list[str] = []

    def meet(self, call: str) -> None:
        """Count a call; raise OSError if it must fail."""
        self.calls.append(call)
        here = len(self.calls) - 1
        later = here > self.number and (
            self.mode == "dead" or (self.mode == "full" and call in _ROOM)
        )
        if here == self.number or later:
            self.failed.append(call)
            code = errno.ENOSPC if self.mode == "full" else errno.EIO
            raise OSError(code, os.strerror(code))


@contextmanager
def failing(number: int, mode: Mode) -> Iterator[Faults]:
    """Let the call with this number, from 0, fail."""
    faults = Faults(number, mode)

    class Raw(io.FileIO):
        def __init__(self, file: Any, mode: str, closefd: bool, opener: Any) -> None:
            if isinstance(file, str | bytes | os.PathLike) and opener is None:
                faults.meet("open")
            super().__init__(file, mode, closefd, opener)

        def write(self, data: Any, /) -> int:
            faults.meet("write")
            return super().write(data)

        def close(self) -> None:
            if not self.closed:
                super().close()
                faults.meet("close")

    real = io.open

    def opened(
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        if not {*mode} & {*"wxa+"}:
            return real(file, mode, buffering, encoding, errors, newline, closefd, opener)
        raw = Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if not buffering:
            return raw
        both = "+" in mode
        file = io.BufferedRandom(raw) if both else io.BufferedWriter(raw)
        return file if "b" in mode else io.TextIOWrapper(file, encoding, errors, newline)

    def met(call: str) -> Callable[..., Any]:
        function = getattr(os, call)

        def meeting(*args: Any, **kwargs: Any) -> Any:
            if call == "close":
                function(*args, **kwargs)
            faults.meet(call)
            return None if call == "close" else function(*args, **kwargs)

        return meeting

    changes = [patch.object(os, call, met(call)) for call in _CALLS]
    changes += [patch.object(module, "open", opened) for module in (builtins, io)]
    for change in changes:
        change.start()
    try:
        yield faults
    finally:
        for change in changes:
            change.stop()


def runs(
    act: Callable[[], object], *, before: Callable[[], object], mode: Mode
) -> Iterator[tuple[Faults, BaseException | None]]:
    """Run a function with its first call failing, then its second, and so on, until none fails.

    Among many writes in a row, only every tenth one fails. Yields the failed calls and the error of
    each run.
    """
    before()
    with failing(_ENOUGH * 10, mode) as whole:
        act()
    calls = whole.calls
    number = 0
    while True:
        before()
        error: BaseException | None = None
        with failing(number, mode) as faults:
            try:
                act()
            except BaseException as raised:
                error = raised
        yield faults, error
        if not faults.failed:
            return
        assert number < _ENOUGH
        number += 1
        while number % 10 and calls[number - 10 : number + 10] == ["write"] * 20:
            number += 1
