"""One case: what came of checking some bytes, in bounded time and memory."""

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
"""Seconds of work in which any file of some kilobytes must be done with."""

_WAITING = 5
_ASKED = 4 << 30
_STATUS = Path("/proc/self/status")
_REFS = Path("/proc/self/clear_refs")


class Checked(Protocol):
    """What holds some bytes to what is promised of them."""

    @property
    def name(self) -> str:
        """What it is called; a folder of what was found has this name."""
        ...

    def check(self, data: bytes, number: int | None = None) -> bool:
        """Return whether something was read; raises Broken.

        number: of the case, which chooses in which ways it is looked at; None for all of them.
        """
        ...


@dataclass(frozen=True)
class Verdict:
    """What came of a case: whether it was read, or the promise that was broken, and how.

    has_died: whether the process did, and cannot say more.
    """

    taken: bool = False
    rule: Rule | None = None
    why: str = ""
    has_died: bool = False

    @property
    def where(self) -> str:
        """Where it was raised, if that is known."""
        found = re.findall(r"\(([\w.]+:\d+ in \S+)\)", self.why)
        return found[-1] if found else ""

    @property
    def kind(self) -> str:
        """What tells one fault from another: its rule, and where it was raised."""
        return f"{self.rule} {self.where}".rstrip()


@dataclass(frozen=True)
class Trial:
    """Some bytes to be checked, here or in another process (`exset.core.jobs`).

    room: bytes that may be taken beyond what the process has when it is warm; 0 for any. slow: the
    seconds after which it is too late. apart: a process that is deaf to that may be ended.
    """

    target: Checked
    data: bytes
    number: int | None
    room: int = 0
    slow: float = SLOW
    apart: bool = False

    def __fspath__(self) -> str:
        """Return what stands for a path: the name of the target."""
        return self.target.name

    def verdict(self) -> Verdict:
        """Check them."""
        verdict = self._once()
        if verdict.rule in ("memory", "slow"):  # kernels may have been compiled, which takes both
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
    """Time is up: no reader may catch it."""


@contextmanager
def _timed(seconds: float) -> Iterator[None]:
    """Break the promise of time after so many seconds of work, or some more of waiting.

    That is where signals are; other programs do not count, as far as can be.
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
    """Break the promise of memory where the process has so much more, where that can be told.

    What is only asked for counts from `_ASKED` bytes on.
    """
    if not room or not _STATUS.exists() or not os.access(_REFS, os.W_OK):
        yield
        return
    import resource  # which Windows has not

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
    """Return a size that Linux knows of this process."""
    match = re.search(rf"{name}:\s*(\d+) kB", _STATUS.read_text())
    assert match is not None
    return int(match[1])
