"""Helpers for writers of tables in chunks: write a whole table, or parts in any order."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile, gettempdir
from typing import BinaryIO


@contextmanager
def in_any_order(out: BinaryIO) -> Iterator[BinaryIO]:
    """Give a file that can be read and that allows seeking; its content goes to `out` at the end.

    It is `out` itself if this allows both, else a temporary file.
    """
    if out.seekable() and out.readable():
        yield out
        return
    with TemporaryFile() as file:
        with temporary():
            yield file
        file.seek(0)
        shutil.copyfileobj(file, out)


@contextmanager
def temporary() -> Iterator[None]:
    """Name the folder of temporary files in system errors of this context, such as a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, gettempdir()) from None
