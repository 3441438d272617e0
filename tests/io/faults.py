"""Let system calls fail: call number n alone, or all calls from it on.

Only calls of Python count: functions of `os`, and the opening, reading, writing and closing of
files. By default files that are only read never fail. A flush to the disk that does not fail does
nothing, as it would take most of the time.
"""

import builtins
import errno
import fcntl
import io
import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import MetadataPathFinder
from typing import Any, Literal
from unittest.mock import patch

Mode = Literal["once", "full", "dead"]
"""One call fails; or, from it on, all calls that need room on the disk; or all calls."""

MODES: tuple[Mode, ...] = ("once", "full", "dead")

_CALLS = (
    *("open", "close", "fsync", "replace", "rename", "link", "unlink", "mkdir", "rmdir", "write"),
    *("chmod", "chown", "stat", "lstat", "fstat", "truncate", "ftruncate"),
)
_READS = (
    *("read", "readlink", "listdir", "scandir", "access", "lseek", "getcwd", "chdir", "utime"),
    *("getxattr", "setxattr", "removexattr", "symlink", "get_blocking", "isatty", "dup", "pipe"),
)
_ROOM = ("open", "fsync", "replace", "rename", "link", "mkdir", "write")
_ENOUGH = 1500


class Faults:
    """The calls, and the calls that failed."""

    def __init__(self, number: int, mode: Mode, code: int = errno.EIO) -> None:
        self.number = number
        self.mode = mode
        self.code = errno.ENOSPC if mode == "full" else code
        self.calls: list[str] = []
        self.failed: list[str] = []

    def meet(self, call: str, file: object = None) -> None:
        """Count a call; raise OSError if it must fail, with the name if it is about a name."""
        self.calls.append(call)
        here = len(self.calls) - 1
        later = here > self.number and (
            self.mode == "dead" or (self.mode == "full" and call in _ROOM)
        )
        if here == self.number or later:
            self.failed.append(call)
            named = (file,) if isinstance(file, str | bytes | os.PathLike) else ()
            raise OSError(self.code, os.strerror(self.code), *named)


@contextmanager
def failing(
    number: int, mode: Mode, *, reads: bool = False, code: int = errno.EIO
) -> Iterator[Faults]:
    """Let the call with this number, from 0, fail with an error code.

    `reads`: calls that only read count, too.
    """
    faults = Faults(number, mode, code)

    class Raw(io.FileIO):
        def __init__(self, file: Any, mode: str, closefd: bool, opener: Any) -> None:
            if isinstance(file, str | bytes | os.PathLike) and opener is None:
                faults.meet("open", file)
            super().__init__(file, mode, closefd, opener)

        def write(self, data: Any, /) -> int:
            faults.meet("write")
            return super().write(data)

        def readinto(self, buffer: Any, /) -> int:
            self._meet("read")
            return super().readinto(buffer)

        def readall(self) -> bytes:
            self._meet("read")
            return super().readall()

        def seek(self, offset: int, whence: int = 0, /) -> int:
            self._meet("lseek")
            return super().seek(offset, whence)

        def truncate(self, size: int | None = None, /) -> int:
            faults.meet("truncate")
            return super().truncate(size)

        def _meet(self, call: str) -> None:
            if reads:
                faults.meet(call)

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
        if not (reads or {*mode} & {*"wxa+"}):
            return real(file, mode, buffering, encoding, errors, newline, closefd, opener)
        raw = Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if not buffering:
            return raw
        kind = io.BufferedReader if {*mode}.isdisjoint("wxa+") else io.BufferedWriter
        file = io.BufferedRandom(raw) if "+" in mode else kind(raw)
        return file if "b" in mode else io.TextIOWrapper(file, encoding, errors, newline)

    def met(module: Any, call: str) -> Callable[..., Any]:
        function = getattr(module, call)

        def meeting(*args: Any, **kwargs: Any) -> Any:
            if call == "close":
                function(*args, **kwargs)
            faults.meet(call, *args[:1])
            return None if call in ("close", "fsync") else function(*args, **kwargs)

        return meeting

    changes = [patch.object(os, call, met(os, call)) for call in (*_CALLS, *(_READS * reads))]
    if reads:
        changes += [patch.object(mmap, "mmap", met(mmap, "mmap"))]
        changes += [patch.object(fcntl, "flock", met(fcntl, "flock"))]
    changes += [patch.object(module, "open", opened) for module in (builtins, io)]
    for change in changes:
        change.start()
    try:
        yield faults
    finally:
        for change in changes:
            change.stop()
        # It caches a folder that it could not list as an empty one, for the whole process.
        MetadataPathFinder().invalidate_caches()


def runs(
    act: Callable[[], object],
    *,
    before: Callable[[], object],
    mode: Mode,
    reads: bool = False,
    code: int = errno.EIO,
    most: int = _ENOUGH,
) -> Iterator[tuple[Faults, BaseException | None]]:
    """Run a function with its first call failing, then its second, and so on, until none fails.

    Among many writes in a row, only every tenth one fails. Yields the failed calls and the error of
    each run. `reads`, `code`: as in `failing`. `most`: the runs; with more calls, only some fail.
    """
    before()
    with failing(_ENOUGH * 10, mode, reads=reads, code=code) as whole:
        act()
    calls = whole.calls
    number = 0
    while True:
        before()
        error: BaseException | None = None
        with failing(number, mode, reads=reads, code=code) as faults:
            try:
                act()
            except BaseException as raised:
                error = raised
        yield faults, error
        if not faults.failed:
            return
        assert number < _ENOUGH or most < _ENOUGH
        number += max(1, len(calls) // most)
        while number % 10 and calls[number - 10 : number + 10] == ["write"] * 20:
            number += 1
