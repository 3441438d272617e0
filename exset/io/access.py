"""What may be done to get at the files that a file names."""

import errno
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Access:
    """What may be done to get at data.

    links: follow soft and external links of HDF5, within `roots`; roots: folders that all files
    must lie in, by default that of the file itself for what its links name, and any for the file;
    plugins: let HDF5 load filter plugins; locking: lock HDF5 files (None: as HDF5 does by default;
    parallel file systems want False).
    """

    links: bool = False
    roots: tuple[str, ...] = ()
    plugins: bool = False
    locking: bool | None = None


USUAL: Final = Access()
"""What is done unless something else is asked for."""


def lies_in(path: str, roots: Iterable[str]) -> bool:
    """Tell whether a file, all links followed, lies in one of some folders, or if none is named."""
    folders = [os.path.realpath(root) for root in roots]
    if "\0" in path or not folders:
        return "\0" not in path
    real = os.path.realpath(path)
    return any(real == folder or real.startswith(os.path.join(folder, "")) for folder in folders)


def check_plain(path: str) -> None:
    """Let the system say what it has against a file; OSError for what is no plain file, too.

    For files that the user did not name: a pipe would be waited for, without end.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        mode = os.fstat(handle).st_mode
    finally:
        os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "no regular file: it is not read", path)
