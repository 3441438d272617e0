"""How a file is replaced: by another one, which takes its name when it is whole and on the disk."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import BinaryIO

from exset.core import signals

FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""What only a write fails with: there is no more room."""

_ACCESS_LIST = "system.posix_acl_access"


@contextmanager
def replacing(name: str, old: os.stat_result | None) -> Iterator[BinaryIO]:
    """Give a file to write, beside the one of that name, which it replaces at the end.

    old: what the system knows of the old file, whose owner, group and permissions stay as far as
    may be; None if there is none. On any failure the old file stays as it was, and the new one is
    taken away. OSError as the system gives it, with the name.
    """
    # A link that cannot be followed must not be taken for the file itself.
    target = os.path.realpath(name, strict=old is not None and os.name != "nt")
    folder = os.path.dirname(target)
    temp = os.path.join(folder, f".exset-{os.urandom(8).hex()}")
    try:
        create = partial(os.open, mode=0o666 if old is None else 0o600)
        with signals.tidied(partial(os.unlink, temp)):
            file = open(temp, "xb", opener=create)  # noqa: SIM115  # it is closed before it goes
            try:
                with file:
                    yield file
                    file.flush()
                    if old is not None:
                        _permit(temp, target, old)
                    os.fsync(file.fileno())
                os.replace(temp, target)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temp)
                raise
    except OSError as error:
        # The user knows only the name that was asked for; a write that fails has none.
        if error.filename != temp and (error.filename or error.errno not in FULL):
            raise
        raise OSError(error.errno, error.strerror, name) from None
    _sync_folder(folder)


def _permit(temp: str, target: str, old: os.stat_result) -> None:
    """Permit what the old file permits, and nothing more.

    Who is not root can give a file to his own groups alone: another group may then do what all may.
    """
    mode = stat.S_IMODE(old.st_mode) & 0o777
    narrow = mode & ~0o070 | (mode & 0o007) << 3
    new = os.stat(temp)
    if hasattr(os, "chown") and (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.chown(temp, old.st_uid, old.st_gid)
        except OSError:
            try:
                os.chown(temp, -1, old.st_gid)
            except OSError:
                mode = narrow
    if hasattr(os, "getxattr"):
        if (listed := _access_list(target)) is not None:
            try:
                os.setxattr(temp, _ACCESS_LIST, listed)
            except OSError:
                mode = narrow  # the bits of the group were the most that the list gave anybody
        elif _access_list(temp) is not None:  # the folder's own
            os.removexattr(temp, _ACCESS_LIST)
    os.chmod(temp, mode)


def _access_list(path: str) -> bytes | None:
    try:
        return os.getxattr(path, _ACCESS_LIST)
    except OSError:  # there is none, or the file system knows of none
        return None


def _sync_folder(folder: str) -> None:
    """Make a rename last; where a folder cannot be opened or synced, the system has no way to."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(handle)
