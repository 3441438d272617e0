"""The lock of a cache: one builder at a time, also where the file system has no locks.

It is aeon's own file, `caching_in_progress`. aeon leaves it empty and holds it by flock; here it
says who made it, and appears in one step, by a link, so that nobody sees half of it. flock is asked
too, where there is one: whoever holds that is at work. A lock is stale whose owner, on this
machine, is gone; that of another machine is not, and has to be removed by hand.
"""

from __future__ import annotations

import errno
import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Self

from exset.io.access import check_plain

NAME: Final = "caching_in_progress"

_YOUNG: Final = 10.0  # seconds: an empty lock that its maker may be about to fill
_TRIES: Final = 20
_MOMENT: Final = 0.01
_LONGEST: Final = 1 << 16
_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


@dataclass(frozen=True)
class Owner:
    """Who holds a lock: pid 0 if that is not said; start: when the process began."""

    pid: int
    host: str
    start: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} made it" if self.pid else "aeon made it"


class Lock:
    """Holds a cache's folder for one builder. As a context it takes the lock and lets it go."""

    def __init__(self, folder: str) -> None:
        """Name the folder."""
        self.path = os.path.join(folder, NAME)
        self._handle = -1

    def __enter__(self) -> Self:
        """Take the lock. Raises BlockingIOError if somebody else has it, and OSError."""
        try:
            for _ in range(_TRIES):
                if self._made():
                    while _flock(self._handle) is False and self.is_held():
                        time.sleep(_MOMENT)  # somebody is judging it
                    if self.is_held():
                        return self
                self._close()
                self._judge()
        except BaseException:
            # Nobody could tell that it is not held: we are still there.
            with suppress(OSError):
                self._let_go()
            raise
        raise BlockingIOError(errno.EWOULDBLOCK, "others take this lock all the time", self.path)

    def __exit__(self, *error: object) -> None:
        self._let_go()

    def _let_go(self) -> None:
        try:
            if self._handle >= 0 and self.is_held():
                os.unlink(self.path)
        finally:
            self._close()

    def _close(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)

    def is_held(self) -> bool:
        """Whether the lock is still there, and the one that was made."""
        try:
            there = os.stat(self.path, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(there, os.fstat(self._handle))

    def _made(self) -> bool:
        """Whether the lock could be made; it is open then."""
        temp = f"{self.path}.{os.urandom(8).hex()}"
        try:
            self._write(temp)
            try:
                os.link(temp, self.path)
                return True
            except OSError as error:
                if isinstance(error, FileExistsError | FileNotFoundError):
                    return False
                if error.errno not in _NO_LINKS:
                    raise
            self._close()
            try:
                self._write(self.path)
                return True
            except FileExistsError:
                return False
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temp)

    def _write(self, path: str) -> None:
        """Write who we are to a new file, which stays open."""
        pid = os.getpid()
        text = json.dumps({"pid": pid, "host": host(), "start": start_of(pid)}).encode()
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        self._handle = os.open(path, flags, 0o666)
        os.write(self._handle, text)

    def _judge(self) -> None:
        """Take away a lock that is stale. Raises BlockingIOError for one that is not."""
        try:
            check_plain(self.path)
            handle = os.open(self.path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError:
            return
        try:
            status = os.fstat(handle)
            raw = os.read(handle, _LONGEST)
            owner = owner_in(raw)
            if not _is_stale(handle, owner, status.st_mtime):
                what = f"the cache is being built: {owner}"
                if owner.pid and owner.host != host():
                    what += f"; if that machine works on it no more, remove {NAME}"
                raise BlockingIOError(errno.EWOULDBLOCK, what, os.path.dirname(self.path))
            self._take_away(status)
        finally:
            os.close(handle)

    def _take_away(self, judged: os.stat_result) -> None:
        """Remove the lock that was judged, and not one that was made since."""
        aside = f"{self.path}.{os.urandom(8).hex()}"
        try:
            os.rename(self.path, aside)
        except FileNotFoundError:
            return
        if not os.path.samestat(os.stat(aside), judged):
            with suppress(OSError):
                os.link(aside, self.path)
        os.unlink(aside)


def owner_of(folder: str) -> Owner | None:
    """Who made the lock of a folder; None if there is none. What cannot be read says nobody."""
    path = os.path.join(folder, NAME)
    try:
        check_plain(path)
        with open(path, "rb") as file:
            return owner_in(file.read(_LONGEST))
    except FileNotFoundError:
        return None
    except OSError:
        return owner_in(b"")


def owner_in(raw: bytes) -> Owner:
    """Who says in a lock that it is his."""
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        told = json.loads(raw)
        pid = told["pid"]
        if isinstance(pid, int) and 0 < pid < 1 << 31:
            return Owner(pid, str(told["host"]), str(told["start"]))
    return Owner(0, "", "")


def host() -> str:
    """The name of this machine."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def start_of(pid: int) -> str:
    """When a process began, in words that no other has; empty if there is none, or no telling."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            ticks = file.read().rpartition(b")")[2].split()[19]
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            return f"{file.read().strip().decode()} {ticks.decode()}"
    except (OSError, IndexError, ValueError):
        return ""


def _is_stale(handle: int, owner: Owner, changed: float) -> bool:
    free = _flock(handle)
    if free is False:
        return False
    if not owner.pid:  # aeon's: it holds the file as long as it works
        return free is True and abs(time.time() - changed) > _YOUNG
    if owner.host != host():
        return False
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    now = start_of(owner.pid)
    if now != owner.start:
        return bool(now and owner.start)
    return free is True and owner.pid == os.getpid()  # ours, which we could not take away


def _flock(handle: int) -> bool | None:
    """Whether a file could be locked, until it is closed; None where there are no such locks."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True
