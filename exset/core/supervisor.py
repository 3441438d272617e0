"""Run a command that may read HDF5 files in another process, which HDF5 may crash or block.

On a damaged file, HDF5 may crash or hang. Then this process, the supervisor, removes the temporary
files of the other process, and names the damaged file. The other process runs the same command line
with the same standard streams. So that this costs little time, the supervisor imports little, and
decides by the command line alone whether the command may read HDF5 files.
"""

import errno
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from mmap import mmap
from select import select
from stat import S_ISDIR, S_ISREG
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Final, NoReturn

from exset.core import supervised
from exset.core.signals import SIGNALS

if TYPE_CHECKING:
    from subprocess import Popen

ENVIRONMENT: Final = "EXSET_ISOLATE"
"""The environment variable that, if it is `off`, keeps all work in one process."""

MAGIC: Final = b"\x89HDF\r\n\x1a\n"
"""The first bytes of an HDF5 file."""

SUFFIXES: Final = (".h5", ".hdf5", ".hdf", ".he5", ".nc", ".conduit_hdf5", ".sample_list")
"""Suffixes of HDF5 files, and of lists that name such files."""

LIST_TYPES: Final = (b"SINGLE-SAMPLE", b"MULTI-SAMPLE", b"CONDUIT_HDF5")
"""The first bytes of these lists."""

_HEAD: Final = 64
_BLOCK: Final = 1 << 16
_INTERVAL: Final = 1.0
"""How often the supervisor looks for late calls, in seconds."""
_SEVERAL: Final = frozenset("*?[{@")
_READ_NONE: Final = (
    *("conformance", "completion", "demo", "doctor", "explain", "formats", "help", "man"),
)
"""The commands that read no HDF5 files."""

_CRASHES: Final = frozenset(("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL"))


def is_needed(arguments: Sequence[str]) -> bool:
    """Return whether a command may read HDF5 files in its own process.

    `arguments`: the command line, without the name of the program. Standard input, a pipe or a
    pattern may have HDF5 files, too.
    """
    if os.name == "nt" or os.environ.get(ENVIRONMENT) == "off" or not sys.executable:
        return False
    if not arguments or arguments[0] in _READ_NONE:
        return False
    if arguments[0] == "list" and "repack" not in arguments[1:2]:  # `build` has its own process
        return False
    return any(map(_may_name_hdf5, arguments[1:]))


def _may_name_hdf5(argument: str) -> bool:
    if argument.startswith("-"):
        return argument == "-"
    if not _SEVERAL.isdisjoint(argument) or any(each in argument.lower() for each in SUFFIXES):
        return True
    try:
        mode = os.stat(argument).st_mode
        if not S_ISREG(mode):
            return not S_ISDIR(mode)
        with open(argument, "rb", buffering=0) as file:
            head = file.read(_HEAD) or b""
    except (OSError, ValueError):
        return False
    return head.startswith(MAGIC) or head.lstrip(b"\xef\xbb\xbf \t\r\f\v").upper().startswith(
        LIST_TYPES
    )


def run() -> int:
    """Run the command line of this process in another process, and return its exit code.

    Raises ChildProcessError if the other process crashes, and TimeoutError if HDF5 hangs; both have
    the name of the HDF5 file. Raises OSError if no process can be started.
    """
    from subprocess import Popen

    records, other_records = _high(*os.pipe())
    other_alive, alive = _high(*os.pipe())
    (shared,) = _high(_shared_byte())
    calls = mmap(shared, 1)
    others = other_records, other_alive, shared
    for each in others:
        os.set_inheritable(each, True)
    environment = {**os.environ, supervised.ENVIRONMENT: " ".join(map(str, others))}
    state = _State()
    with _forwarded_signals(state):
        command = [sys.executable, *sys.orig_argv[1:]]
        # A shell may have opened further files for the command, such as /dev/fd/63.
        state.start(Popen(command, env=environment, close_fds=False))
        for each in others:
            os.close(each)
        state.watch(records, calls)
        code = state.process.wait()
    os.close(records)
    os.close(alive)
    if code >= 0:
        return code
    state.remove_files()
    state.fail()


class _State:
    """The other process, and what its records say.

    `files`: the HDF5 files that it has open. `made`: its temporary files and folders.
    """

    process: "Popen[bytes]"

    def __init__(self) -> None:
        """Begin without a process."""
        self.files: list[bytes] = []
        self.made: list[bytes] = []
        self.received: list[int] = []
        """The signals that came before the process started."""
        self.is_late = False
        """Whether `watch` ended the process."""
        self._rest = b""

    def start(self, process: "Popen[bytes]") -> None:
        """Set the process, and send it the signals that came before."""
        self.process = process
        for number in self.received:
            process.send_signal(number)

    def send(self, number: int, frame: FrameType | None) -> None:
        """Send a signal to the process. The terminal itself interrupts both processes."""
        if number == signal.SIGINT and _is_in_foreground():
            return
        if hasattr(self, "process"):
            self.process.send_signal(number)
        else:
            self.received.append(number)

    def add(self, block: bytes) -> None:
        """Add a block of records."""
        *records, self._rest = (self._rest + block).split(b"\0")
        for record in records:
            kind, path = record[0], record[1:]
            paths = self.files if kind in (supervised.READS, supervised.CLOSES) else self.made
            if kind in (supervised.READS, supervised.MAKES):
                paths.append(path)
            else:
                paths.remove(path)

    def watch(self, records: int, calls: mmap) -> None:
        """Read records until the process ends, and end it if calls of HDF5 take too long."""
        last, since = 0, monotonic()
        while True:
            if select((records,), (), (), _INTERVAL)[0]:
                if not (block := os.read(records, _BLOCK)):
                    return
                self.add(block)
            now = monotonic()
            if calls[0] == 0 or calls[0] != last:
                last, since = calls[0], now
            elif now - since > supervised.seconds_for(self.file or ""):
                self.is_late = True
                self.process.kill()
                return

    @property
    def file(self) -> str | None:
        """The HDF5 file that the process opened last, and did not close; None if there is none."""
        return os.fsdecode(self.files[-1]) if self.files else None

    def remove_files(self) -> None:
        """Remove the temporary files and folders."""
        from shutil import rmtree

        for path in self.made:
            with suppress(OSError):
                if os.path.isdir(path) and not os.path.islink(path):
                    rmtree(path, ignore_errors=True)
                else:
                    os.unlink(path)

    def fail(self) -> NoReturn:
        """Raise the error for a process that a signal ended.

        If the signal asks a program to end, this process ends in the same way.
        """
        number = -self.process.returncode
        if number in (signal.SIGINT, *SIGNALS):
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        name = signal.Signals(number).name
        path = self.file
        if self.is_late:
            why = f"a call of HDF5 did not finish in {supervised.seconds_for(path or ''):,.0f} s"
            raise TimeoutError(errno.ETIMEDOUT, why, path)
        if path is not None and name in _CRASHES:
            raise ChildProcessError(errno.ECHILD, f"HDF5 crashed ({name})", path)
        why = f"the process of this command was ended by {name}"
        raise OSError(errno.EIO, why, path)


def _shared_byte() -> int:
    """Return the file descriptor of a new file with one byte, which is 0."""
    if hasattr(os, "memfd_create"):
        made = os.memfd_create("exset")
    else:
        from tempfile import TemporaryFile

        with TemporaryFile(buffering=0) as file:
            made = os.dup(file.fileno())
    os.truncate(made, 1)
    return made


def _high(*low: int) -> list[int]:
    """Return other descriptors of open files; none is that of a standard stream that is closed."""
    from fcntl import F_DUPFD_CLOEXEC, fcntl

    high = [fcntl(each, F_DUPFD_CLOEXEC, 3) for each in low]
    for each in low:
        os.close(each)
    return high


def _is_in_foreground() -> bool:
    """Return whether a terminal would interrupt this process and its children."""
    for stream in range(3):
        with suppress(OSError):
            return os.tcgetpgrp(stream) == os.getpgrp()
    return False


@contextmanager
def _forwarded_signals(state: _State) -> Iterator[None]:
    """Send the signals that ask this process to end to the other process instead."""
    numbers = (signal.SIGINT, *SIGNALS)
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, state.send)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
