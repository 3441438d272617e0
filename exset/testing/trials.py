"""One case of the fuzzer: a check of some bytes, in bounded time and memory."""

import faulthandler
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Protocol

from exset.testing.contract import Broken, Rule, described

SLOW = 10.0
"""The seconds of work that a file of some kilobytes may take."""

_WAITING = 5
_ASKED = 4 << 30
_STATUS = Path("/proc/self/status")
_REFS = Path("/proc/self/clear_refs")


class Checked(Protocol):
    """A target with a check of bytes."""

    @property
    def name(self) -> str:
        """The name, also of the folder of kept files."""
        ...

    def check(self, data: bytes, number: int | None = None) -> bool:
        """Return whether the bytes were read; raises Broken.

        number: of the case; it selects the checks, None selects all.
        """
        ...


@dataclass(frozen=True)
class Verdict:
    """The outcome of a case: whether it was read, or the rule that it broke.

    has_died: whether the process ended without an answer.
    """

    taken: bool = False
    rule: Rule | None = None
    why: str = ""
    has_died: bool = False

    @property
    def where(self) -> str:
        """The line that raised the error, if known."""
        found = re.findall(r"\(([\w.]+:\d+ in \S+)\)", self.why)
        return found[-1] if found else ""

    @property
    def kind(self) -> str:
        """The rule and the line that raised the error: equal for equal faults."""
        return f"{self.rule} {self.where}".rstrip()


@dataclass(frozen=True)
class Trial:
    """A check of some bytes, here or in another process (`exset.core.jobs`).

    room: the bytes of memory that the check may add to the process; 0 for any. slow: the seconds
    that it may take. apart: whether it runs in a process that may end if it ignores this limit.
    """

    target: Checked
    data: bytes
    number: int | None
    room: int = 0
    slow: float = SLOW
    apart: bool = False

    def __fspath__(self) -> str:
        """Return the name of the target, in place of a path."""
        return self.target.name

    def verdict(self) -> Verdict:
        """Check the bytes."""
        verdict = self._once()
        if verdict.rule in ("memory", "slow"):  # perhaps that was the compilation of kernels
            verdict = self._once()
        return verdict

    def _once(self) -> Verdict:
        if self.apart:
            faulthandler.dump_traceback_later(2 * _WAITING * self.slow, exit=True)
        try:
            with _bounded(self.room + 8 * len(self.data) if self.room else 0), _timed(self.slow):
                return Verdict(self.target.check(self.data, self.number))
        except Broken as broken:
            return Verdict(rule=broken.rule, why=broken.why)
        except Exception as error:
            return Verdict(rule="raises", why=f"the check itself: {described(error)}")
        finally:
            if self.apart:
                faulthandler.cancel_dump_traceback_later()


class _Late(BaseException):
    """The time limit; no reader may catch it."""


@contextmanager
def _timed(seconds: float) -> Iterator[None]:
    """Raise Broken after so many seconds of work, or five times as many of waiting.

    This needs signals. Time of other programs does not count.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def late(_: int, frame: FrameType | None) -> None:
        code = frame.f_code if frame else late.__code__
        name = code.co_filename.rpartition("/")[2]
        raise _Late(f"({name}:{frame.f_lineno if frame else 0} in {code.co_name})")

    timers = (
        (signal.ITIMER_PROF, signal.SIGPROF, seconds),
        (signal.ITIMER_REAL, signal.SIGALRM, _WAITING * seconds),
    )
    try:
        for timer, number, until in timers:
            signal.signal(number, late)
            signal.setitimer(timer, until)
        yield
    except _Late as error:
        raise Broken("slow", f"not done in {seconds} seconds {error}") from error
    finally:
        for timer, _, _ in timers:
            signal.setitimer(timer, 0)


@contextmanager
def _bounded(room: int) -> Iterator[None]:
    """Raise Broken if the process takes more than `room` bytes more; this needs Linux.

    Memory that is reserved but not used counts from `_ASKED` bytes on.
    """
    if not room or not _STATUS.exists() or not os.access(_REFS, os.W_OK):
        yield
        return
    import resource  # missing on Windows

    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_kilobytes("VmSize") * 1024 + _ASKED, limits[1]))
    _REFS.write_bytes(b"5")  # the peak begins anew
    before = _kilobytes("VmHWM")
    try:
        yield
    except (MemoryError, Broken) as error:
        if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
            raise Broken("memory", f"{_ASKED} bytes are asked for: {error}") from error
        raise
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    if (grown := (_kilobytes("VmHWM") - before) * 1024) > room:
        raise Broken("memory", f"{grown} bytes, of {room}")


def _kilobytes(name: str) -> int:
    """Return a size of this process from /proc."""
    match = re.search(rf"{name}:\s*(\d+) kB", _STATUS.read_text())
    assert match is not None
    return int(match[1])
