"""Atomic writes: a temporary file gets the target's name when it is complete and on disk."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import BinaryIO

from exset.core import signals
from exset.io.named import open_named, sync, with_file_name

FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""Errors that only writing can cause: the disk or the quota is full."""

_ACCESS_LIST = "system.posix_acl_access"


@contextmanager
def replacing(name: str, old: os.stat_result | None) -> Iterator[BinaryIO]:
    """Open a temporary file for writing; at the end, it replaces the file `name`.

    `old`: the status of the old file; None if there is no old file. The owner, group and
    permissions of the old file are kept as far as the system allows. After any failure the old file
    stays and the temporary file is removed. Raises OSError with the name of the target.
    """
    # A link that cannot be followed must not be replaced by a file.
    target = os.path.realpath(name, strict=old is not None and os.name != "nt")
    folder = os.path.dirname(target)
    temp = os.path.join(folder, f".exset-{os.urandom(8).hex()}")
    create = partial(os.open, mode=0o666 if old is None else 0o600)
    remove = partial(os.unlink, temp)
    try:
        with signals.cleanup_on_signal(remove, temp):
            try:
                with open_named(temp, "x+b", opener=create) as file:
                    yield file
                    file.flush()
                    if old is not None:
                        permit(temp, target, old)
                    sync(file, temp)
                os.replace(temp, target)
            except BaseException as error:
                if not is_taken(temp, error):
                    with suppress(OSError):
                        remove()
                raise
    except OSError as error:
        if error.filename not in (temp, target):
            raise
        # The user does not know the temporary file.
        raise OSError(error.errno, error.strerror, name) from None
    sync_name(name, folder)


def is_taken(temp: str, error: BaseException) -> bool:
    """Return whether a new file could not be created because another process has a file `temp`."""
    return isinstance(error, FileExistsError) and error.filename == temp


def permit(temp: str, target: str, old: os.stat_result) -> None:
    """Give a new file `temp` the owner, group and permissions of `target`, whose status is `old`.

    The new file never has more permissions than the old one. If the group cannot be kept, the new
    group gets the permissions of "others", who are neither the owner nor in the group.
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
                mode = narrow  # the group bits were the maximum of the list
        elif _access_list(temp) is not None:  # inherited from the folder
            os.removexattr(temp, _ACCESS_LIST)
    os.chmod(temp, mode)


def _access_list(path: str) -> bytes | None:
    try:
        return os.getxattr(path, _ACCESS_LIST)
    except OSError:  # no list, or no support for lists
        return None


def sync_name(name: str, folder: str) -> None:
    """Flush to disk that a folder contains the file `name`. Flush the file itself before this.

    If this fails, the OSError says that the file is written.
    """
    try:
        sync_folder(folder)
    except OSError as error:
        error.filename = name
        error.strerror = f"{error.strerror}: the file is written, but a power cut could undo it"
        raise


def make_folders(folder: str) -> None:
    """Create a folder and its missing parent folders; flush to disk that they exist."""
    if not folder or os.path.isdir(folder):
        return
    above = os.path.dirname(folder)
    make_folders(above)
    with suppress(FileExistsError):  # another process has just created it
        os.mkdir(folder)
    sync_folder(above or os.curdir)


def sync_folder(folder: str) -> None:
    """Flush the list of names in a folder to disk, on systems that can open and sync folders."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    with with_file_name(folder):
        try:
            sync_open_folder(handle)
        finally:
            os.close(handle)


def sync_open_folder(handle: int) -> None:
    """Flush the list of names in an open folder to disk, on systems that can sync folders."""
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
