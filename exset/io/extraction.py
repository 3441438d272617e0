"""Extract files: write them below one folder and nowhere else, whatever their names are.

Each folder of a path is opened relative to its parent folder, never through a link, so that another
process cannot redirect a write. A file gets its name when it is complete. If the extraction ends
without an error, all files are on disk.
"""

import errno
import os
import re
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from functools import partial
from typing import Final, Self

from exset.core import signals
from exset.core.text import safe
from exset.io.atomic_write import sync_folder, sync_open_folder
from exset.io.named import open_named, with_file_name

_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE: Final = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)
_CAN: Final = {os.open, os.mkdir, os.unlink, os.link, os.rename} <= os.supports_dir_fd
_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_RESERVED: Final = frozenset(b'<>:"\\|?*')
_DEVICE: Final = re.compile(rb"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE | re.DOTALL)
_DEEPEST: Final = 64
_KEPT: Final = 128
"""How many files stay open to be flushed together; for small files this is much faster."""


def parts_of(name: bytes) -> list[bytes]:
    """Split a relative name at its slashes. Raise ValueError, with the reason, for an unsafe name.

    A leading `./` and doubled slashes are dropped.
    """
    if not name:
        raise ValueError("the name is empty")
    if b"\0" in name:
        raise ValueError("the name contains a NUL")
    if name.startswith(b"/"):
        raise ValueError("the name is absolute")
    parts = [part for part in name.split(b"/") if part not in (b"", b".")]
    if b".." in parts:
        raise ValueError("the name leads out of the folder")
    if not parts or name.endswith((b"/", b"/.")):
        raise ValueError("the name is a folder")
    if len(parts) > _DEEPEST:
        raise ValueError(f"the name has more than {_DEEPEST} parts")
    if max(map(len, parts)) > 255:
        raise ValueError("a part of the name has more than 255 bytes")
    if os.name == "nt" and not all(map(_is_plain, parts)):
        raise ValueError("the name has a special meaning on Windows")
    return parts


def _is_plain(part: bytes) -> bool:
    """Return whether Windows keeps a part of a path unchanged.

    For example, Windows changes `.. ` to `..`.
    """
    changed = _RESERVED & set(part) or part.endswith((b".", b" ")) or min(part) < 32
    return not changed and _DEVICE.fullmatch(part) is None


class Extractor:
    """Writes new regular files below a folder, and creates the folder if it is missing."""

    def __init__(self, folder: str) -> None:
        """Open the folder, which may itself be a link. Raises OSError if it cannot be opened."""
        self.folder = folder
        self.count = 0
        """The numbers of files and bytes that were written."""
        self.bytes = 0
        os.makedirs(folder, exist_ok=True)
        flags = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
        self._root = os.open(folder, flags) if _CAN else -1
        self._last: tuple[list[bytes], int] | None = None
        self._unsynced: list[tuple[int, str]] = []  # open files, and their names
        self._changed: set[bytes] = set()  # folders, on systems that cannot open them

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Close the files; flush them to disk, unless an error ends the extraction."""
        try:
            self._sync(is_whole=kind is None)
            with ExitStack() as stack:
                if kind is not None:
                    stack.enter_context(suppress(OSError))
                self._close_last()
            if kind is None and self.count:
                self._sync_root()
        finally:
            root, self._root = self._root, -1
            if root >= 0:
                with with_file_name(self.folder):
                    os.close(root)

    def write(self, name: bytes, pieces: Iterable[bytes | memoryview]) -> None:
        """Write a new file, and create the folders in its name.

        Raises ValueError for an unsafe name, and FileExistsError for a name that exists. Raises
        OSError if a part of the path is a link, or is not a folder. If writing fails, the
        incomplete file is removed.
        """
        parts = parts_of(name)
        if not _CAN:
            self._write_by_path(parts, pieces)
            return
        folder = self._folder(parts[:-1])
        temp = f".exset-{os.urandom(8).hex()}"
        remove = partial(os.unlink, temp, dir_fd=folder)
        with signals.cleanup_on_signal(remove):
            try:
                handle = os.open(temp, _FILE, 0o666, dir_fd=folder)
            except OSError as error:
                raise self._named(error, parts) from None
            try:
                self._fill(handle, pieces, self._path(parts))
                try:
                    _name(temp, parts[-1], folder)
                except OSError as error:
                    raise self._named(error, parts) from None
            finally:
                with suppress(OSError):
                    remove()
        self.count += 1

    def _fill(self, handle: int, pieces: Iterable[bytes | memoryview], name: str) -> None:
        """Write the pieces to the open file `handle`.

        A copy of the handle stays open until the file is flushed to disk. name: the name of the
        file, for errors.
        """
        with open_named(handle, "wb", name=name) as file:
            for piece in pieces:
                self.bytes += file.write(piece)
            file.flush()
            with with_file_name(name):
                self._unsynced.append((os.dup(handle), name))
        if len(self._unsynced) >= _KEPT:
            self._sync()

    def _sync(self, is_whole: bool = True) -> None:
        """Close the files that are still open; with `is_whole`, flush them to disk first."""
        files, self._unsynced = self._unsynced, []
        failed: OSError | None = None
        for handle, name in files:
            try:
                with with_file_name(name):
                    try:
                        if is_whole and failed is None:
                            os.fsync(handle)
                    finally:
                        os.close(handle)
            except OSError as error:
                failed = failed or error
        if failed is not None and is_whole:
            raise failed

    def _sync_root(self) -> None:
        with with_file_name(self.folder):
            if self._root >= 0:
                sync_open_folder(self._root)
            for folder in self._changed:
                sync_folder(os.fsdecode(folder))
            sync_folder(os.path.dirname(os.path.realpath(self.folder)))

    def _folder(self, parts: list[bytes]) -> int:
        """Open a subfolder of the extraction folder, and create it if it is missing.

        parts: the names of the folders on the path to the subfolder, and its own name.
        """
        if self._last is not None and self._last[0] == parts:
            return self._last[1]
        self._close_last()
        here = self._root
        for depth, part in enumerate(parts):
            try:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=here)
                    sync_open_folder(here)
                below = os.open(part, _FOLDER, dir_fd=here)
            except OSError as error:
                raise self._named(error, parts[: depth + 1]) from None
            finally:
                if here != self._root:
                    os.close(here)
            here = below
        if parts:
            self._last = parts, here
        return here

    def _close_last(self) -> None:
        """Flush the names in the folder that was used last to disk, and close this folder."""
        last, self._last = self._last, None
        if last is not None:
            with with_file_name(self._path(last[0])):
                try:
                    sync_open_folder(last[1])
                finally:
                    os.close(last[1])

    def _write_by_path(self, parts: list[bytes], pieces: Iterable[bytes | memoryview]) -> None:
        """Write a file on a system that cannot open folders.

        Each part of the path is checked before it is used.
        """
        path = os.fsencode(os.path.realpath(self.folder))
        for part in parts[:-1]:
            path = os.path.join(path, part)
            with suppress(FileExistsError):
                os.mkdir(path)
                self._changed.add(os.path.dirname(path))
            if os.path.realpath(path) != path:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fsdecode(path))
        path = os.path.join(path, parts[-1])
        handle = os.open(path, _FILE, 0o666)
        try:
            self._fill(handle, pieces, self._path(parts))
        except BaseException:
            self._sync(is_whole=False)  # Windows removes no open files
            with suppress(OSError):
                os.unlink(path)
            raise
        self._changed.add(os.path.dirname(path))
        self.count += 1

    def _named(self, error: OSError, parts: list[bytes]) -> OSError:
        return type(error)(error.errno, error.strerror, self._path(parts))

    def _path(self, parts: list[bytes]) -> str:
        """Return the path of a file or a folder in the extraction folder, for messages."""
        return safe(os.path.join(self.folder, os.fsdecode(b"/".join(parts))))


def _name(temp: str, name: bytes, folder: int) -> None:
    """Give a new file its final name in the open folder `folder`.

    temp: the temporary name of the file. Raises FileExistsError if the final name exists.
    """
    try:
        os.link(temp, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # No hard links here: reserve the name with an empty file, then replace that.
        handle = os.open(name, _FILE, 0o666, dir_fd=folder)
        try:
            os.close(handle)
            os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)
            raise
