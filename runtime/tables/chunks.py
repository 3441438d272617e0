"""Helpers for writers of tables in chunks: write a whole table, or write out of order."""

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
    """Return the bytes of the file that `write`, a `ChunkWriter`, makes of one table."""
    out = BytesIO()
    write([table], out, findings=findings, **options)
    return out.getvalue()


@contextmanager
def in_any_order(out: BinaryIO) -> Iterator[BinaryIO]:
    """Yield a file that can be read and sought in; its content is copied to `out` at the end.

    It is `out` itself if this can be read and sought in, else a temporary file.
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
    """Add the folder of temporary files to system errors that occur there, such as a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, gettempdir()) from None
