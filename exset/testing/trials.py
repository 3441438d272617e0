"""Try one case of the fuzzer: check its bytes, with limited time and memory."""

import faulthandler
import os
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from exset.testing.contract import Broken, Rule, described, line_of
from exset.testing.targets import Target

if TYPE_CHECKING:
    from exset.testing.coverage import Reached

SLOW = 10.0
"""How many seconds of processor time a file of some kilobytes may take."""

_WAIT = 10
"""A process that waits instead of working ends after this factor times its time limit."""
_ADDRESSES = 4 << 30
"""The bytes of memory that a check may reserve without using them."""
_STATUS = Path("/proc/self/status")
_REFS = Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Verdict:
    """The outcome of a case: whether the bytes were read, or which rule they broke.

    `has_died`: whether the process ended without an answer. `reached`: the numbers of the lines and
    states that this process reached for the first time; see `exset.testing.coverage`.
    """

    is_read: bool = False
    rule: Rule | None = None
    why: str = ""
    has_died: bool = False
    reached: frozenset[int] = frozenset()

    @property
    def kind(self) -> str:
        """The broken rule and, if known, the line that raised the error: equal for equal errors."""
        places = re.findall(r"\([\w.]+:\d+ in \S+\)", self.why)
        return " ".join((str(self.rule), *places[-1:]))


def verdict(
    target: Target,
    data: bytes,
    number: int | None,
    room: int,
    slow: float,
    exits: bool = False,
    watches: bool = False,
) -> Verdict:
    """Check the bytes of a case, and return the verdict.

    - `room`: how many more bytes of memory the process may use for the check; 0: no limit.
    - `slow`: the seconds that the check may take.
    - `exits`: end this process if it hangs, even in a library.
    - `watches`: report what the case reaches.
    """
    watch = _watch() if watches else None
    check = partial(_checked, target, data, number, room, slow)
    if exits:
        faulthandler.dump_traceback_later(_WAIT * slow, exit=True)
    try:
        if watch is not None:
            watch.new()  # no case reached what ran since the last one
        found = check()
        # Try again: the time or memory may have gone into compiling kernels.
        found = check() if found.rule in ("memory", "slow") else found
        return found if watch is None else replace(found, reached=watch.new())
    finally:
        faulthandler.cancel_dump_traceback_later()


def verdicts(
    target: Target,
    cases: Sequence[tuple[bytes, int]],
    room: int,
    slow: float,
    exits: bool = False,
    watches: bool = False,
) -> list[Verdict]:
    """Check the bytes of several cases, and return their verdicts; see `verdict`.

    cases: pairs of the bytes of a case and its number. They share the limit of memory: if they
    exceed it together, or if one of them breaks a rule, they are checked again, one by one.
    """
    watch = _watch() if watches else None
    one_by_one = partial(verdict, target, room=room, slow=slow, exits=exits, watches=watches)
    if watch is not None:
        watch.new()  # no case reached what ran since the last one
    made = list[Verdict]()
    least = min((len(data) for data, _ in cases), default=0)
    if exits:
        faulthandler.dump_traceback_later(_WAIT * slow, exit=True)
    try:
        with _bounded_memory(_allowed(room, least)):
            for data, number in cases:
                found = _checked(target, data, number, 0, slow)
                if found.rule is not None:
                    break
                made.append(found if watch is None else replace(found, reached=watch.new()))
    except Broken:
        made.clear()
    finally:
        faulthandler.cancel_dump_traceback_later()
    return [*made, *(one_by_one(*case) for case in cases[len(made) :])]


@cache
def _watch() -> "Reached":
    from exset.testing.coverage import Reached

    return Reached()


def _checked(target: Target, data: bytes, number: int | None, room: int, slow: float) -> Verdict:
    try:
        with _bounded_memory(_allowed(room, len(data))), _bounded_time(slow):
            return Verdict(target.check(data, number))
    except Broken as broken:
        return Verdict(rule=broken.rule, why=broken.why)
    except Exception as error:
        return Verdict(rule="raises", why=f"the check itself: {described(error)}")


def _allowed(room: int, size: int) -> int:
    """Return how many bytes of memory a case of `size` bytes may use; 0: no limit."""
    return room + 8 * size if room else 0


class _Timeout(BaseException):
    """The time limit is exceeded. As this is no Exception, no reader catches it."""


@contextmanager
def _bounded_time(seconds: float) -> Iterator[None]:
    """In this context, raise Broken after `seconds` of processor time. This needs signals."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise _Timeout

    signal.signal(signal.SIGPROF, stop)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
    except _Timeout as error:
        where = line_of(error, -2)  # the frame that the signal interrupted
        raise Broken("slow", f"not done in {seconds} seconds ({where})") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@contextmanager
def _bounded_memory(room: int) -> Iterator[None]:
    """In this context, raise Broken if the process uses `room` bytes more memory than before.

    This needs Linux.
    """
    if not room or not os.access(_REFS, os.W_OK):
        yield
        return
    import resource  # missing on Windows

    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_bytes_of("VmSize") + _ADDRESSES, limits[1]))
    _REFS.write_bytes(b"5")  # reset the peak
    before = _bytes_of("VmHWM")
    try:
        yield
    except (MemoryError, Broken) as error:
        if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
            raise Broken("memory", f"it reserves {_ADDRESSES} bytes: {error}") from error
        raise
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    if (grown := _bytes_of("VmHWM") - before) > room:
        raise Broken("memory", f"it takes {grown} bytes, more than {room}")


def _bytes_of(name: str) -> int:
    """Return a size of this process in bytes. name: its name in /proc, such as VmSize."""
    match = re.search(rf"{name}:\s*(\d+) kB", _STATUS.read_text())
    assert match is not None
    return int(match[1]) * 1024
