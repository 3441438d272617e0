"""Files written below one folder and nowhere else, whatever their names are and whoever interferes.

A name is taken apart at its slashes, and each part is opened from the folder before it, never
through a link: what is in the way is an error, and nothing outside of the folder is touched. A file
gets its name when it is whole.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Final, Self

from exset.core import signals
from exset.core.errors import safe

_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE: Final = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)
_CAN: Final = {os.open, os.mkdir, os.unlink, os.link, os.rename} <= os.supports_dir_fd
_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_RESERVED: Final = frozenset(b'<>:"\\|?*')
_DEVICE: Final = re.compile(rb"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE | re.DOTALL)
_DEEPEST: Final = 64


def parts_of(name: bytes) -> list[bytes]:
    """Return the parts of a relative name; ValueError that says why it is not safe to write.

    `./` at the beginning and doubled slashes are nothing; `...tmp` is a name like others.
    """
    if not name:
        raise ValueError("the name is empty")
    if b"\0" in name:
        raise ValueError("the name has a NUL in it")
    if name.startswith(b"/"):
        raise ValueError("the name is absolute")
    parts = [part for part in name.split(b"/") if part not in (b"", b".")]
    if b".." in parts:
        raise ValueError("the name leads out of the folder")
    if not parts or name.endswith((b"/", b"/.")):
        raise ValueError("the name is that of a folder")
    if len(parts) > _DEEPEST:
        raise ValueError(f"the name has more than {_DEEPEST} parts")
    if max(map(len, parts)) > 255:
        raise ValueError("a part of the name has more than 255 bytes")
    if os.name == "nt" and not all(map(_is_plain, parts)):
        raise ValueError("the name is one that Windows gives another meaning")
    return parts


def _is_plain(part: bytes) -> bool:
    """Whether Windows takes a part of a name as it is: `.. ` is `..` there, and `nul.txt` NUL."""
    odd = _RESERVED & set(part) or part.endswith((b".", b" ")) or min(part) < 32
    return not odd and _DEVICE.fullmatch(part) is None


class Extractor:
    """Writes new plain files below a folder, which is made if it is not there."""

    def __init__(self, folder: str) -> None:
        """Open the folder; it alone may be reached through a link. Raises OSError."""
        self.folder = folder
        self.count = 0
        """Files written."""
        self.bytes = 0
        os.makedirs(folder, exist_ok=True)
        flags = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
        self._root = os.open(folder, flags) if _CAN else -1
        self._last: tuple[list[bytes], int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        try:
            self._forget()
        finally:
            root, self._root = self._root, -1
            if root >= 0:
                os.close(root)

    def write(self, name: bytes, pieces: Iterable[bytes | memoryview]) -> None:
        """Write a file that is not there yet, and the folders that its name has.

        Raises ValueError for a name as `parts_of`, and OSError: FileExistsError for a file that is
        there, whatever it is; what is a link or no folder is not gone through. A file that cannot
        be written to its end is taken away.
        """
        parts = parts_of(name)
        if not _CAN:
            self._write_by_path(parts, pieces)
            return
        folder = self._folder(parts[:-1])
        temp = f".exset-{os.urandom(8).hex()}"
        take_away = partial(os.unlink, temp, dir_fd=folder)
        with signals.tidied(take_away):
            try:
                handle = os.open(temp, _FILE, 0o666, dir_fd=folder)
            except OSError as error:
                raise self._named(error, parts) from None
            try:
                self._fill(handle, pieces)
                try:
                    _name(temp, parts[-1], folder)
                except OSError as error:
                    raise self._named(error, parts) from None
            finally:
                with suppress(OSError):
                    take_away()
        self.count += 1

    def _fill(self, handle: int, pieces: Iterable[bytes | memoryview]) -> None:
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                self.bytes += file.write(piece)

    def _folder(self, parts: list[bytes]) -> int:
        """Return an open folder below the root, made where it is not there."""
        if self._last is not None and self._last[0] == parts:
            return self._last[1]
        self._forget()
        here = self._root
        for depth, part in enumerate(parts):
            try:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=here)
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

    def _forget(self) -> None:
        last, self._last = self._last, None
        if last is not None:
            os.close(last[1])

    def _write_by_path(self, parts: list[bytes], pieces: Iterable[bytes | memoryview]) -> None:
        """As `write`, where no folder can be opened: each part is looked at before it is used."""
        path = os.fsencode(os.path.realpath(self.folder))
        for part in parts[:-1]:
            path = os.path.join(path, part)
            with suppress(FileExistsError):
                os.mkdir(path)
            if os.path.realpath(path) != path:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fsdecode(path))
        path = os.path.join(path, parts[-1])
        handle = os.open(path, _FILE, 0o666)
        try:
            self._fill(handle, pieces)
        except BaseException:
            with suppress(OSError):
                os.unlink(path)
            raise
        self.count += 1

    def _named(self, error: OSError, parts: list[bytes]) -> OSError:
        """Return the error with the whole name."""
        name = os.path.join(self.folder, os.fsdecode(b"/".join(parts)))
        return type(error)(error.errno, error.strerror, safe(name))


def _name(temp: str, name: bytes, folder: int) -> None:
    """Give a file its name, if nothing has it; FileExistsError otherwise."""
    try:
        os.link(temp, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Where a file has one name only, an empty one keeps the place for a moment.
        handle = os.open(name, _FILE, 0o666, dir_fd=folder)
        try:
            os.close(handle)
            os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)
            raise
