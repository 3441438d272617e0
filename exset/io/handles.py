"""Open files: their type and size, and the bytes that are available without waiting."""

import errno
import io
import os
import select
import stat
from collections.abc import Callable
from typing import BinaryIO

from exset.io.atomic_write import with_file_name


def size_of(file: BinaryIO) -> int | None:
    """Return the size of a regular file, None for other files."""
    status = status_of(file)
    return status.st_size if status is not None and stat.S_ISREG(status.st_mode) else None


def status_of(file: BinaryIO) -> os.stat_result | None:
    """Return the status of a file; None if it has no file descriptor."""
    try:
        return os.fstat(file.fileno())
    except io.UnsupportedOperation:
        return None


def check_device(file: BinaryIO, name: str) -> None:
    """Raise OSError for a device other than a terminal or the null device: many never end."""
    status = status_of(file)
    if status is None or not stat.S_ISCHR(status.st_mode) or os.isatty(file.fileno()):
        return
    if status.st_rdev != os.stat(os.devnull).st_rdev:
        raise OSError(errno.EINVAL, "exset reads no devices but terminals", name)


def available(file: BinaryIO, name: str, size: int) -> bytes:
    """Read what a file has available, at most `size` bytes; none only at its end."""
    # `read` of a buffered file waits for all bytes, `read1` does not.
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    with with_file_name(name):
        data = read(size)
        if not data and _is_non_blocking(file):
            select.select([file], [], [])
            data = read(size)
    return data


def _is_non_blocking(file: BinaryIO) -> bool:
    """Return whether reads do not block: then an empty read need not be the end."""
    try:
        return not os.get_blocking(file.fileno())
    except (io.UnsupportedOperation, AttributeError):  # no such files on Windows
        return False


def is_ready_to_read(pipe: BinaryIO, seconds: float) -> bool:
    """Return whether a pipe has data, or ends, within some seconds."""
    try:
        return bool(select.select([pipe], [], [], seconds)[0])
    except (OSError, ValueError):  # not possible on Windows, nor for file descriptors above 1023
        return False
