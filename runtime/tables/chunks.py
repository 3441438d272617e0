"""Helpers for writers of tables in chunks: write a whole table, or parts in any order."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from tempfile import TemporaryFile, gettempdir
from typing import BinaryIO

from exset.core.errors import Findings
from exset.core.protocols import OptionValue
from exset.grammars.tables.table import Table


def whole(
    write: Callable[..., object],
    table: Table,
    *,
    findings: Findings | None,
    **options: OptionValue,
) -> bytes:
    """Write a whole table with `write`, a writer of chunks; return the bytes of the file."""
    out = BytesIO()
    write([table], out, findings=findings, **options)
    return out.getvalue()


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
