"""Read the files of FILE elements, as aeon does."""

import os
import stat
from typing import Final

from exset.core.errors import LimitError
from exset.core.limits import limit_hint
from exset.core.text import safe
from exset.grammars.aeon.manifest_types import Dialect

HUGE: Final = 1 << 31
"""The size of a file, in bytes, from which the dialect `head` reads zeros."""


def path_of(field: bytes) -> bytes:
    """Return the path that aeon opens: as all programs in C, it stops at a NUL."""
    return field.partition(b"\0")[0]


def read_file(path: bytes, dialect: Dialect, max_bytes: int | None) -> bytes:
    """Read a file. Raises OSError where aeon fails, hangs or reads something else; LimitError."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise OSError(f"it is {what}, on which aeon hangs")
    if status.st_size >= HUGE and dialect is Dialect.HEAD:
        raise OSError("it has 2 GiB or more, and aeon reads only zeros")
    if max_bytes is not None and status.st_size > max_bytes:
        raise LimitError(
            f"{safe(os.fsdecode(path))} has {status.st_size:,} bytes, but only {max_bytes:,} are"
            " left",
            hint=f"take fewer records at a time; or {limit_hint('max_array')}",
        )
    with open(path, "rb") as file:
        return file.read(status.st_size)
