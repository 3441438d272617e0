"""The bundled samples, with paths `exset::NAME`: small files that show each part of a format.

Each format lists and describes its samples in `Format.samples`.
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

    Raises FileNotFoundError for an unknown name; the message lists the samples.
    """
    bare = name.removeprefix(PREFIX)
    if bare not in names():
        reason = f"no such sample: choose one of {', '.join(names())}"
        raise FileNotFoundError(errno.ENOENT, reason, PREFIX + bare)
    path = os.path.join(os.path.dirname(__file__), bare)
    with open_named(path, "rb", name=PREFIX + bare) as file:
        return Source(PREFIX + bare, file.read())
