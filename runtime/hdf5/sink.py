"""A file into which the HDF5 library writes. It hides errors, on which the library may crash."""

import os
from collections.abc import Callable
from io import RawIOBase
from typing import Any, BinaryIO


class Sink(RawIOBase):
    """A file that ignores all writes after a system error or a lack of memory.

    `check` raises the error. The library may still write when the file is closed.
    """

    def __init__(self, file: BinaryIO) -> None:
        """Write to `file`. It must be empty, and must allow seeking and reading."""
        self._file = file
        self._error: Exception | None = None
        self._at = self._size = 0

    def check(self) -> None:
        """Raise the first error that was hidden, if any."""
        if self._error is not None:
            raise self._error

    def write(self, data: Any, /) -> int:
        """Write bytes, unless there was an error. In both cases, return the number of bytes of
        `data`.
        """
        view = memoryview(data)
        self._try(lambda: self._file.write(view))
        self._at += view.nbytes
        self._size = max(self._size, self._at)
        return view.nbytes

    def readinto(self, into: Any, /) -> int:
        """Fill a buffer with the next bytes, and with zeros after the end of the file. Return the
        buffer's size.
        """
        view = memoryview(into).cast("B")
        read = self._try(lambda: self._file.read(view.nbytes)) or b""
        view[: len(read)] = read
        view[len(read) :] = bytes(view.nbytes - len(read))
        self._at += view.nbytes
        return view.nbytes

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Set the position, and return it."""
        begins = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}
        self._at = begins[whence] + offset
        self._try(lambda: self._file.seek(self._at))
        return self._at

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def truncate(self, size: int | None = None, /) -> int:
        """Set the size of the file, by default to the current position. Return the size."""
        self._size = self._at if size is None else size
        self._try(lambda: self._file.truncate(self._size))
        return self._size

    def flush(self) -> None:
        """Do nothing: the file is flushed at its end."""

    def _try(self, act: Callable[[], Any]) -> Any:
        if self._error is None:
            try:
                return act()
            except (OSError, MemoryError, ValueError) as error:  # ValueError: it is closed
                self._error = error
        return None
