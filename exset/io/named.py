"""Open files whose errors have the file's name; Python's errors about open files have none."""

import io
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


@contextmanager
def with_file_name(name: str, codes: Collection[int | None] = ()) -> Iterator[None]:
    """Add a file name to each OSError of this context that has none.

    `codes`: if not empty, add the name only to errors with these codes (`errno`).
    """
    try:
        yield
    except OSError as error:
        if error.filename or error.errno is None or (codes and error.errno not in codes):
            raise
        raise OSError(error.errno, error.strerror, name) from None


def open_named(
    path: str | int,
    mode: str,
    *,
    name: str | None = None,
    opener: Callable[[str, int], int] | None = None,
) -> BinaryIO:
    """Open a binary file as `open` does; all errors of the file have the file's name.

    `path`: a path, or the number of an open file. `name`: the name in errors, by default the path.
    `opener`: as for `open`.
    """
    shown = str(path) if name is None else name
    with with_file_name(shown):
        plain = cast(io.FileIO, open(path, mode, buffering=0, opener=opener))  # noqa: SIM115
    raw = _Named(plain, shown)
    if "+" in mode:
        return cast(BinaryIO, io.BufferedRandom(raw))
    return cast(BinaryIO, io.BufferedReader(raw) if "r" in mode else io.BufferedWriter(raw))


def sync(file: BinaryIO, name: str) -> None:
    """Flush a file to disk. If this fails, the OSError has the file name `name`."""
    with with_file_name(name):
        file.flush()
        os.fsync(file.fileno())


class _Named(io.RawIOBase):
    """A file whose errors all have its name."""

    def __init__(self, file: io.FileIO, name: str) -> None:
        self._file = file
        self.name = name
        self.mode = file.mode

    def readinto(self, buffer: "WriteableBuffer", /) -> int | None:
        with with_file_name(self.name):
            return self._file.readinto(buffer)

    def readall(self) -> bytes:
        with with_file_name(self.name):
            return self._file.readall()

    def write(self, data: "ReadableBuffer", /) -> int | None:
        with with_file_name(self.name):
            return self._file.write(data)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        with with_file_name(self.name):
            return self._file.seek(offset, whence)

    def truncate(self, size: int | None = None, /) -> int:
        with with_file_name(self.name):
            return self._file.truncate(size)

    def tell(self) -> int:
        return self._file.tell()

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()

    def readable(self) -> bool:
        return self._file.readable()

    def writable(self) -> bool:
        return self._file.writable()

    def seekable(self) -> bool:
        with suppress(OSError):
            return self._file.seekable()
        return False

    def close(self) -> None:
        if not self.closed:
            super().close()
            with with_file_name(self.name):
                self._file.close()
