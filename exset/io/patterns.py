"""Find the files that match a pattern. Unlike Python's `glob`, report unreadable folders."""

import errno
import os
import re
from collections.abc import Iterator
from fnmatch import filter as matching
from stat import S_ISDIR

_MAGIC = re.compile(r"[*?[]")


def matches(pattern: str, folder: str = "") -> Iterator[str]:
    """Yield the paths of the files and folders that match a pattern, in any order.

    A pattern has `*`, `?`, `[...]`, and `**` for folders at any depth. A hidden name matches only
    if its part of the pattern begins with a dot. `folder`: a relative pattern begins in this
    folder, by default the current folder; the paths are then relative to it. Raises OSError for a
    folder that cannot be read.
    """
    above, part = os.path.split(pattern)
    if not _MAGIC.search(pattern):
        if os.path.lexists(os.path.join(folder, pattern)):
            yield pattern
        return
    is_plain = not above or above == pattern or not _MAGIC.search(above)
    for each in (above,) if is_plain else matches(above, folder):
        if not _is_folder(os.path.join(folder, each)):
            continue
        if part == "**":
            yield os.path.join(each, "") if each else each
            yield from _below(each, folder)
        elif _MAGIC.search(part):
            for name in matching(_names(os.path.join(folder, each)), part):
                if name[0] != "." or part[0] == ".":
                    yield os.path.join(each, name)
        elif os.path.lexists(os.path.join(folder, each, part)):
            yield os.path.join(each, part)


def _below(path: str, folder: str) -> Iterator[str]:
    """Yield all paths below a folder, without hidden files and folders."""
    for name in _names(os.path.join(folder, path)):
        if name[0] == ".":
            continue
        below = os.path.join(path, name)
        yield below
        if _is_folder(os.path.join(folder, below)):
            yield from _below(below, folder)


def _names(path: str) -> list[str]:
    return os.listdir(path or os.curdir)


def _is_folder(path: str) -> bool:
    """Return whether a path is a folder. Return False for a broken or circular link."""
    try:
        return S_ISDIR(os.stat(path or os.curdir).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        if error.errno == errno.ELOOP:
            return False
        raise
