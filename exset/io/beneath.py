"""Open regular files inside given folders, also while another process changes these folders.

exset checks a path, and opens each folder of the path relative to its parent folder, never through
a link. So exset reads the file that it checked, even if another process replaces a folder or a file
by a link to an outside file.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterable
from functools import partial
from typing import BinaryIO, Final, Self

from exset.io.named import open_named, with_file_name

_FILE: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FOLDER: Final = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0)
_CAN: Final = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


class OutsideError(OSError):
    """A file is outside of the allowed folders."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.EACCES, "the file is outside of the allowed folders", path)


class PathInside(str):
    """The path of a file that the user did not name, with the folders that must contain the file.

    `roots`: these folders. The path is checked when the file is opened, as `open_regular` does.
    """

    roots: tuple[str, ...]

    def __new__(cls, path: str, roots: tuple[str, ...]) -> Self:
        """Make the path; the file is not checked yet."""
        made = super().__new__(cls, path)
        made.roots = roots
        return made

    def __getnewargs__(self) -> tuple[str, tuple[str, ...]]:  # type: ignore[override]
        """Return the arguments of `__new__`, so that a path can be pickled."""
        return str(self), self.roots


def open_regular(path: str | bytes, roots: Iterable[str] = ()) -> BinaryIO:
    """Open a regular file for reading.

    Use it for files that the user did not name: opening a pipe could wait forever. roots: the
    folders that must contain the file after links are followed; by default the file may be
    anywhere. Raises OutsideError for a file outside of `roots`. Raises OSError for a file that
    cannot be opened or is not regular.
    """
    return open_named(_checked(path), "rb", opener=partial(_descriptor, roots=tuple(roots)))


def read_regular(
    path: str | bytes, size: Callable[[os.stat_result], int], roots: Iterable[str] = ()
) -> bytes:
    """Open a regular file, and read its first bytes at once.

    size: a function that returns how many bytes to read, from the status of the file; it raises
    OSError for a file that is not regular. roots: as in `open_regular`. Raises the errors of `size`
    and of `open_regular`.
    """
    name = _checked(path)
    handle = _opened(name, tuple(roots))
    with with_file_name(name):
        try:
            left = size(os.fstat(handle))
            data = os.read(handle, left)
            if len(data) == left:
                return data
            chunks = [data]  # a system call reads at most 2 GiB
            while chunks[-1] and (left := left - len(chunks[-1])):
                chunks.append(os.read(handle, left))
            return b"".join(chunks)
        finally:
            os.close(handle)


def check_regular_file(path: str | bytes, roots: Iterable[str] = ()) -> None:
    """Raise the errors of `open_regular` if it cannot open the file."""
    file_size(path, roots)


def file_size(path: str | bytes, roots: Iterable[str] = ()) -> int:
    """Return the size of a regular file. Raises the errors of `open_regular`."""
    with open_regular(path, roots) as file, with_file_name(file.name):
        return os.fstat(file.fileno()).st_size


def status(path: str | bytes, roots: Iterable[str] = ()) -> os.stat_result:
    """Return the status of a file of any type. With `roots`, exset must be able to read the file.

    Raises OutsideError for a file outside of `roots`, and OSError if there is no such file.
    """
    name, folders = _checked(path), tuple(roots)
    if not folders:
        return os.stat(name)
    handle = _opened(name, folders)
    with with_file_name(name):
        try:
            return os.fstat(handle)
        finally:
            os.close(handle)


def _descriptor(path: str, flags: int, roots: tuple[str, ...]) -> int:
    """Open a regular file inside the roots, and return its descriptor.

    `open` takes this function as its `opener`. flags: the flags of `os.open`.
    """
    handle = _opened(path, roots)
    try:
        with with_file_name(path):
            mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _opened(path: str, roots: tuple[str, ...]) -> int:
    """Open a file inside the roots, and return its descriptor."""
    if not roots:
        return os.open(path, os.O_RDONLY | _FILE)
    real, root = _real(path, roots)
    if not _CAN:
        return _opened_by_path(path, real, roots)
    parts = [part for part in os.path.relpath(real, root).split(os.sep) if part != os.curdir]
    try:
        here = os.open(root, os.O_RDONLY | _FOLDER)
        for depth, part in enumerate(parts, 1):
            above = here
            kind = _FILE if depth == len(parts) else _FOLDER
            try:
                here = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | kind, dir_fd=above)
            finally:
                os.close(above)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    return here


def _opened_by_path(path: str, real: str, roots: tuple[str, ...]) -> int:
    """Open a file by its path, and return its descriptor. Then check that it is inside the roots.

    This is for systems that cannot open folders. real: the path without links.
    """
    try:
        handle = os.open(real, os.O_RDONLY | _FILE)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    try:
        again, _ = _real(path, roots)
        if not os.path.samestat(os.fstat(handle), os.stat(again)):
            raise OutsideError(path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _checked(path: str | bytes) -> str:
    """Return a path as text. Raises OSError for a path that no file can have."""
    name = os.fsdecode(path)
    try:
        if b"\0" not in os.fsencode(name):
            return name
    except UnicodeEncodeError:
        pass
    raise OSError(errno.EINVAL, "invalid file name", name)


def _real(path: str, roots: tuple[str, ...]) -> tuple[str, str]:
    """Return the path of a file without links, and which of the roots contains it."""
    real = os.path.realpath(path)
    for root in map(os.path.realpath, roots):
        if real == root or real.startswith(os.path.join(root, "")):
            return real, root
    raise OutsideError(path)
