"""Read or write a folder as one input or one output, such as a folder of shards.

A reader opens only files inside the folder, even if a file in the folder names an outside file. A
new folder gets its name when all its files are complete and on disk.
"""

import errno
import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import BinaryIO, Final

from exset.core import signals
from exset.core.errors import FormatError, Place
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import safe
from exset.io import files
from exset.io.access import is_folder, raise_error
from exset.io.atomic_write import sync_folder, sync_name
from exset.io.beneath import check_regular_file, open_regular
from exset.io.blocks import Blocks
from exset.io.extraction import parts_of
from exset.io.files import FilePath
from exset.io.named import open_named, sync
from exset.io.patterns import matches
from exset.io.remote import is_remote, refusal

_CHUNK: Final = 1 << 20
_IS_FULL: Final = "the folder exists and is not empty: name a new folder, or remove this one first"


class Folder:
    """A folder to read as one input. `name`: its path, for messages.

    `roots`: if not empty, each file must be in one of these folders, or in the folder itself.
    `notes`: as in `Blocks`.
    """

    def __init__(
        self, path: FilePath, limits: Limits = DEFAULT, roots: tuple[str, ...] = ()
    ) -> None:
        self.name = os.fsdecode(path)
        self.limits = limits
        self.notes: dict[str, object] = {}
        self.roots = (self.name, *roots) if roots else ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of files and folders in this folder, sorted by their bytes.

        Raises OSError if the folder cannot be read.
        """
        return tuple(sorted(os.listdir(self.name), key=os.fsencode))

    @cached_property
    def size(self) -> int:
        """The number of bytes of all files in the folder, without links.

        Raises OSError if a folder cannot be read.
        """
        return sum(os.lstat(self.path_of(name)).st_size for name in self.files())

    def files(self, below: str = "") -> Iterator[str]:
        """Yield the relative names of all files, at any depth, sorted by folder and by bytes.

        `below`: a subfolder; yield only the files in it. Names have slashes on every system. Hidden
        files, hidden folders, and the files in linked folders are left out. Raises OSError if a
        folder cannot be read.
        """
        for inside, folders, found in os.walk(self.path_of(below), onerror=raise_error):
            folders[:] = sorted((each for each in folders if each[0] != "."), key=os.fsencode)
            for each in sorted(found, key=os.fsencode):
                if each[0] != ".":
                    path = os.path.relpath(os.path.join(inside, each), self.name)
                    yield path.replace(os.sep, "/")

    def has(self, pattern: str) -> bool:
        """Return whether any file or folder matches a pattern with `*`, `?` and `[...]`.

        A pattern for files in subfolders has a part for each folder on the path, such as `*/*.png`.
        A pattern that ends with a slash matches only folders.
        """
        if "/" not in pattern:
            return any(fnmatchcase(each, pattern) for each in self.names if each[0] != ".")
        return next(matches(pattern, self.name), None) is not None

    def path_of(self, name: str) -> str:
        """Return the path of the file with the relative name `name`; "" is the folder itself.

        Raises FormatError for a name that leads out of the folder.
        """
        return os.path.join(self.name, _checked(self.name, name)) if name else self.name

    def read(self, name: str, *, maps: Callable[[bytes], bool] | None = None) -> Source:
        """Read a file in the folder, as `exset.io.files.read` does."""
        path = self._regular(name)
        return files.read(path, limits=self.limits, maps=maps, roots=self.roots)

    def blocks(self, name: str) -> AbstractContextManager[Blocks]:
        """Open a file in the folder, as `exset.io.files.blocks` does."""
        return files.blocks(self._regular(name), limits=self.limits, roots=self.roots)

    def open(self, name: str) -> BinaryIO:
        """Open a regular file in the folder without decompressing it.

        Raises OSError if the file cannot be opened, or is not regular.
        """
        return open_regular(self.path_of(name), self.roots)

    def _regular(self, name: str) -> str:
        """Return the path of the file `name`. Raises OSError if it is not a regular file.

        Reading a pipe, for example, could wait forever.
        """
        path = self.path_of(name)
        check_regular_file(path, self.roots)
        return path


class NewFolder:
    """A folder that is being written; see `writing`. `name`: its final path, for messages."""

    def __init__(self, name: str, path: str | None) -> None:
        self.name = name
        self.size = 0
        """The number of bytes so far."""
        self._path = path

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Create a file by its relative name, and the subfolders in this name.

        The file supports seeking. Raises FormatError for a name that leads out of the folder,
        FileExistsError if another file already has the name, and OSError from the system.
        """
        checked = _checked(self.name, name)
        if self._path is None:
            file: BinaryIO = io.BytesIO()
        else:
            path = os.path.join(self._path, checked)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            file = open_named(path, "xb")
        with file:
            yield file
            self.size += file.seek(0, os.SEEK_END)

    def write(self, name: str, data: bytes | memoryview | Iterable[bytes | memoryview]) -> None:
        """Create a file with the contents `data`. Raises the errors of `open`."""
        with self.open(name) as file:
            if isinstance(data, bytes | memoryview):
                file.write(data)
            else:
                file.writelines(data)

    def path_of(self, name: str) -> str:
        """Return the path at which another process may create the file `name` of this folder.

        This path is in a temporary folder: the finished file has another path. Raises FormatError
        for a name that leads out of the folder.
        """
        assert self._path is not None, "nothing is written"
        return os.path.join(self._path, _checked(self.name, name))

    def make(self, name: str) -> None:
        """Create a subfolder, which may stay empty. Raises FormatError and OSError like `open`."""
        checked = _checked(self.name, name)
        if self._path is not None:
            os.makedirs(os.path.join(self._path, checked), exist_ok=True)

    def copy(self, name: str, path: str, roots: tuple[str, ...] = ()) -> None:
        """Create the file `name` in this folder with the contents of the regular file at `path`.

        `roots`: the folders that must contain the file at `path`, as in `exset.io.beneath`.
        """
        with open_regular(path, roots) as source, self.open(name) as file:
            while chunk := source.read(_CHUNK):
                file.write(chunk)


@contextmanager
def writing(path: FilePath, *, dry_run: bool = False) -> Iterator[NewFolder]:
    """Write a new folder; it gets its name only when all its files are complete and on disk.

    With `dry_run`, nothing is written: the bytes are only counted. After any failure, no file or
    folder is left. `path` must be new, or an empty folder. Raises FileExistsError for any other
    folder, OSError from the system, and FormatError for `-` and for remote folders.
    """
    from shutil import rmtree

    name = os.fsdecode(path)
    if dry_run:
        yield NewFolder(name, None)
        return
    if name == "-" or is_remote(name):
        raise refusal(name, "a folder of files can only be written to a disk", "name a folder")
    target = os.path.realpath(name)
    if is_folder(target) and os.listdir(target):
        raise FileExistsError(errno.EEXIST, _IS_FULL, name)
    temp = os.path.join(os.path.dirname(target), f".exset-{os.urandom(8).hex()}")
    remove = partial(rmtree, temp, ignore_errors=True)
    with _named(name, temp), signals.cleanup_on_signal(remove, temp):
        os.mkdir(temp)
        try:
            yield NewFolder(name, temp)
            _sync(temp)
            if os.name == "nt":
                with suppress(FileNotFoundError):
                    os.rmdir(target)
            os.rename(temp, target)
        except BaseException:
            remove()
            raise
    sync_name(name, os.path.dirname(target))


def _sync(folder: str) -> None:
    """Flush all files of a folder to disk.

    Call this after the last write: the system has written most files by then.
    """
    for inside, _, names in os.walk(folder, onerror=raise_error):
        for name in names:
            path = os.path.join(inside, name)
            with open_named(path, "r+b") as file:
                sync(file, path)
        sync_folder(inside)


@contextmanager
def _named(name: str, temp: str) -> Iterator[None]:
    """Name the new folder `name`, not the temporary folder `temp`, in OSErrors of this context."""
    try:
        yield
    except OSError as error:
        found = None if error.filename is None else os.fsdecode(error.filename)
        if found is not None and found.startswith(temp):
            raise OSError(error.errno, error.strerror, name + found[len(temp) :]) from None
        raise


def _checked(folder: str, name: str) -> str:
    """Return the path of the file `name` in a folder.

    Raises FormatError if the name leads out of the folder.
    """
    try:
        return os.path.join(*map(os.fsdecode, parts_of(os.fsencode(name))))
    except ValueError as error:
        message = f"{safe(name)!r} is not a file in the folder: {error}"
        raise FormatError(message, place=Place(folder), code="file-name") from None
