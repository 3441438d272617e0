"""The bundled samples, small files that show each part of a format, with paths `exset::NAME`.

`Format.samples` of each format lists and describes its samples.
"""

import errno
import os

from exset import formats
from exset.core.source import Source
from exset.io.named import open_named

PREFIX = "exset::"
"""The beginning of a path that names a bundled sample."""


def names() -> tuple[str, ...]:
    """Return the file names of the samples, sorted."""
    return tuple(sorted(name for fmt in formats.FORMATS for name, _ in fmt.samples))


def read(name: str) -> Source:
    """Return a sample by its file name, with or without `exset::`.

    Raises FileNotFoundError, which lists the samples, for an unknown name.
    """
    bare = name.removeprefix(PREFIX)
    if bare not in names():
        reason = f"no such sample: choose one of {', '.join(names())}"
        raise FileNotFoundError(errno.ENOENT, reason, PREFIX + bare)
    path = os.path.join(os.path.dirname(__file__), bare)
    with open_named(path, "rb", name=PREFIX + bare) as file:
        return Source(PREFIX + bare, file.read())
