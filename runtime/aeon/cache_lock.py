"""Lock the folder of a cache for one builder, also on file systems without locks.

The lock is aeon's file `caching_in_progress`. aeon leaves the file empty, and holds it with flock
while it builds. exset does the same, but also writes into the file which process builds the cache.

A lock that a killed builder left behind is stale. Where flock works, no process holds a stale lock,
and the next builder takes the lock over. Where flock does not work, the file itself is the lock: it
is stale if its process has ended. A lock from another machine is never stale, because flock may
work only within one machine: a user must remove the file.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final

from exset.io.beneath import check_regular_file, open_regular
from exset.io.named import with_file_name
from exset.runtime.aeon.lock_owner import Owner

NAME: Final = "caching_in_progress"

_TRIES: Final = 100
_MAX_BYTES: Final = 1 << 16
_FLAGS: Final = os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def locked(folder: str) -> Iterator[Callable[[], bool]]:
    """Hold the lock of a folder; yield a function that returns whether the lock still exists.

    Raises OSError, and BlockingIOError if another builder has the lock.
    """
    path = os.path.join(folder, NAME)
    with with_file_name(path):
        handle = _acquire(path)
    is_held = partial(_is_same, path, handle)
    try:
        yield is_held
    finally:
        with with_file_name(path):
            try:
                if is_held():
                    os.unlink(path)
            finally:
                os.close(handle)


def owner_of(folder: str) -> Owner | None:
    """Return the owner of a folder's lock.

    Return None if there is no lock, and `Owner()` if the lock cannot be read.
    """
    path = os.path.join(folder, NAME)
    try:
        with open_regular(path) as file:
            return Owner.from_json(file.read(_MAX_BYTES))
    except FileNotFoundError:
        return None
    except OSError:
        return Owner() if os.path.lexists(path) else None


def _acquire(path: str) -> int:
    """Make the lock file `path`, or take over a stale lock file. Return the file's handle."""
    for _ in range(_TRIES):
        is_new = True
        try:
            handle = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            is_new = False
            try:
                check_regular_file(path)
                handle = os.open(path, _FLAGS)
            except FileNotFoundError:
                continue
        try:
            if _take(path, handle, is_new):
                return handle
        except BaseException as error:
            if is_new and not isinstance(error, BlockingIOError):
                with suppress(OSError):
                    os.unlink(path)
            os.close(handle)
            raise
        os.close(handle)
    message = "exset cannot get this lock: other processes that build the cache keep taking it"
    raise BlockingIOError(errno.EWOULDBLOCK, message, path)


def _take(path: str, handle: int, is_new: bool) -> bool:
    """Make the lock file, which is open as `handle`, the lock of this process.

    is_new: whether this process has created the file. Returns False if another attempt is needed.
    """
    has_flock = _flock(handle)
    if has_flock is False or not is_new:
        owner = Owner.from_json(os.read(handle, _MAX_BYTES))
        is_stale = owner.has_ended() if has_flock is None else has_flock and not owner.is_foreign
        if not is_stale:
            message = f"the cache is being built by {owner}"
            if owner.is_foreign:
                message += f"; if no process on that machine builds it, remove {NAME}"
            raise BlockingIOError(errno.EWOULDBLOCK, message, os.path.dirname(path))
        if has_flock is None:
            _remove_stale(path, handle)
            return False
    if not _is_same(path, handle):  # the builder that held it has just removed it
        return False
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    os.write(handle, Owner.this().to_json())
    return True


def _remove_stale(path: str, handle: int) -> None:
    """Remove the stale lock file that is open as `handle`. Keep a newer lock file that another
    builder has made since.
    """
    aside = f"{path}.{os.urandom(8).hex()}"
    with suppress(FileNotFoundError):
        os.rename(path, aside)
        if not _is_same(aside, handle):
            with suppress(OSError):
                os.link(aside, path)
        os.unlink(aside)


def _is_same(path: str, handle: int) -> bool:
    try:
        with with_file_name(path):
            return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(handle))
    except FileNotFoundError:
        return False


def _flock(handle: int) -> bool | None:
    """Lock an open file with `flock`; return True.

    Return False if another process has locked the file, and None if `flock` does not work.
    """
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True
