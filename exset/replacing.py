"""How a file is replaced: by another one, which takes its name when it is whole and on the disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import BinaryIO

from exset import ending

FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""What only a write fails with: there is no more room."""


@contextmanager
def replacing(name: str, mode: int | None) -> Iterator[BinaryIO]:
    """Give a file to write, beside the one of that name, which it replaces at the end.

    mode: the mode bits of the old file; None if there is none. On any failure the old file stays as
    it was, and the new one is taken away. OSError as the system gives it, with the name.
    """
    # A link that cannot be followed must not be taken for the file itself.
    target = os.path.realpath(name, strict=mode is not None and os.name != "nt")
    folder = os.path.dirname(target)
    temp = os.path.join(folder, f".exset-{os.urandom(8).hex()}")
    try:
        create = partial(os.open, mode=0o666 if mode is None else mode)
        with ending.tidied(partial(os.unlink, temp)):
            file = open(temp, "xb", opener=create)  # noqa: SIM115  # it is closed before it goes
            try:
                with file:
                    yield file
                    file.flush()
                    if mode is not None:
                        os.chmod(temp, mode)
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
