"""Writers of tables that come in chunks: of one table, and of files that need another order."""

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
    """Return the file of one table; `write`: a `ChunkWriter`."""
    out = BytesIO()
    write([table], out, findings=findings, **options)
    return out.getvalue()


@contextmanager
def in_any_order(out: BinaryIO) -> Iterator[BinaryIO]:
    """Give a file that can be sought in and read, whose content becomes that of `out`.

    It is a temporary file unless `out` allows that itself.
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
    """Name the folder of temporary files in the errors of a file there, such as a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, gettempdir()) from None
