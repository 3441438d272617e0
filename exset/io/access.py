"""Permissions for opening the files that a file names."""

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NoReturn


@dataclass(frozen=True)
class Access:
    """Which files may be opened, and how.

    - `links`: follow soft and external links of HDF5, and read the data of datasets that are in
      other files, within `roots`.
    - `roots`: the folders that must contain all opened files. By default, a file may be in any
      folder, and its links must stay in the file's own folder.
    - `plugins`: let HDF5 load filter plugins.
    - `locking`: whether to lock HDF5 files; None: as HDF5 does by default. Use False on parallel
      file systems.
    """

    links: bool = False
    roots: tuple[str, ...] = ()
    plugins: bool = False
    locking: bool | None = None


DEFAULT_ACCESS: Final = Access()
"""The default permissions."""


def is_inside(path: str, roots: Iterable[str]) -> bool:
    """Return whether a file is in one of the folders `roots`, after following links.

    Return True if `roots` is empty.
    """
    folders = [os.path.realpath(root) for root in roots]
    if "\0" in path or not folders:
        return "\0" not in path
    real = os.path.realpath(path)
    return any(real == folder or real.startswith(os.path.join(folder, "")) for folder in folders)


def is_folder(path: str) -> bool:
    """Return whether a path is a folder. Raises OSError if it exists but cannot be inspected."""
    return _has_type(path, stat.S_ISDIR)


def is_file(path: str) -> bool:
    """Return whether a path is a regular file. Raises OSError as `is_folder` does."""
    return _has_type(path, stat.S_ISREG)


def _has_type(path: str, test: Callable[[int], bool]) -> bool:
    try:
        return test(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False


def raise_error(error: OSError) -> NoReturn:
    """Raise the error: with this function as `onerror`, `os.walk` reports folders it cannot read.

    Without it, `os.walk` skips such folders.
    """
    raise error
