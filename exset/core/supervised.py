"""Tell the supervisor of this process which HDF5 files it reads, and when it calls HDF5.

`exset.core.supervisor` runs a command in a process that may crash. This process writes a record for
each HDF5 file that it opens or closes, and for each temporary file. So the supervisor knows on
which file the process crashed, and can remove the temporary files. A byte in shared memory says
whether the process is in a call of HDF5; the supervisor ends a call that takes too long. In other
processes, the functions of this module do nothing.
"""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from mmap import mmap
from threading import Thread
from typing import Final

ENVIRONMENT: Final = "EXSET_SUPERVISED"
"""The environment variable with three file descriptors: for records, for the end of the
supervisor, and of the shared byte."""

READS, CLOSES, MAKES, REMOVES = b"rcmd"
"""The first byte of a record. The rest is the path of the file; a NUL ends the record."""

SECONDS = 60.0
"""The time limit for a call of HDF5, or for the work on a file, in seconds; see `seconds_for`."""

_records: int | None = None
"""The file descriptor for records. None: this process has no supervisor."""

_calls: mmap | None = None
"""The shared byte: 0, or a number that differs from that of the call before."""

_count = 0
"""The number of calls so far."""

_depth = 0
"""The number of `Call` contexts that are active."""


def seconds_for(path: str | os.PathLike[str]) -> float:
    """Return the time limit for a file in seconds: `SECONDS`, and one second for each MiB."""
    with suppress(OSError, ValueError):
        return SECONDS + os.stat(path).st_size / 2**20
    return SECONDS


def is_on() -> bool:
    """Return whether this process has a supervisor."""
    return _records is not None


def connect() -> bool:
    """Connect this process to its supervisor. Return whether it has one."""
    global _records, _calls
    found = os.environ.pop(ENVIRONMENT, "")  # not for the processes that this process starts
    if not found:
        return False
    _records, alive, shared = map(int, found.split())
    os.set_inheritable(_records, False)
    os.set_inheritable(alive, False)
    _calls = mmap(shared, 1)
    os.close(shared)
    Thread(target=_end_with_supervisor, args=(alive,), daemon=True).start()
    return True


def _end_with_supervisor(alive: int) -> None:
    """Wait until the supervisor has ended, then end this process."""
    os.read(alive, 1)
    os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Tell the supervisor that the HDF5 file at `path` is open in this context."""
    _write(READS, path)
    try:
        yield
    finally:
        _write(CLOSES, path)


class Call:
    """A context with calls of HDF5. If they take too long, the supervisor ends this process.

    Of several nested contexts, only the outermost one has a time limit.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        """Begin the calls."""
        global _count, _depth
        if _calls is not None:
            _depth += 1
            if _depth == 1:
                _count = _count % 255 + 1
                _calls[0] = _count

    def __exit__(self, *error: object) -> None:
        """End the calls."""
        global _depth
        if _calls is not None:
            _depth -= 1
            if _depth == 0:
                _calls[0] = 0


CALL: Final = Call()
"""The context for all calls."""


@contextmanager
def making(paths: Sequence[str]) -> Iterator[None]:
    """Let the supervisor remove temporary files or folders if this process crashes in the context.

    `paths`: the files and folders, which need not exist.
    """
    paths = [os.path.abspath(path) for path in paths] if _records is not None else []
    for path in paths:
        _write(MAKES, path)
    try:
        yield
    finally:
        for path in paths:
            _write(REMOVES, path)


def _write(kind: int, path: str) -> None:
    if _records is not None:
        with suppress(BrokenPipeError):  # the supervisor has ended, and this process will, too
            os.write(_records, bytes((kind,)) + os.fsencode(path) + b"\0")
