"""Read the files that a pattern with braces names, such as `a-{000..009}.tar`, as one input."""

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Final

from exset.core.errors import LimitError, Place
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.io.access import is_folder
from exset.io.folders import Folder

_RANGE: Final = re.compile(r"\{(\d{1,9})\.\.(\d{1,9})\}")


class Pattern(Folder):
    """The files that a pattern names, in the order of the pattern, to be read like a folder."""

    def __init__(self, pattern: str, limits: Limits = DEFAULT, roots: tuple[str, ...] = ()) -> None:
        """Make the folder of a pattern; `{000..009}` means each number from 000 to 009."""
        super().__init__(pattern, limits)
        self._folder = os.path.dirname(_RANGE.split(pattern, maxsplit=1)[0])
        self.roots = (self._folder or os.curdir, *roots) if roots else ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the files, relative to the folder. Raises LimitError for too many files."""
        names = [os.path.relpath(self.name, self._folder) if self._folder else self.name]
        while (found := _RANGE.search(names[0])) is not None:
            first, last = map(int, found.groups())
            if len(names) * (abs(last - first) + 1) > self.limits.max_objects:
                message = f"the pattern names more than {self.limits.max_objects:,} files"
                raise LimitError(message, place=Place(self.name), hint=limit_hint("max_objects"))
            numbers = range(first, last + 1) if first <= last else range(first, last - 1, -1)
            has_zeros = any(len(each) > 1 and each[0] == "0" for each in found.groups())
            width = max(map(len, found.groups())) if has_zeros else 0
            names = [
                _RANGE.sub(f"{number:0{width}}", name, count=1)
                for name in names
                for number in numbers
            ]
        return tuple(names)

    def files(self, below: str = "") -> Iterator[str]:
        """Yield the names of all files; `below` has no effect."""
        return iter(self.names)

    def has(self, pattern: str) -> bool:
        """Return whether the name of any file, without its folders, matches `pattern`."""
        return any(fnmatchcase(os.path.basename(name), pattern) for name in self.names)

    def path_of(self, name: str) -> str:
        """Return the path of a file by its name in `names`."""
        return os.path.join(self._folder, name)


def folder_at(name: str, limits: Limits = DEFAULT, roots: tuple[str, ...] = ()) -> Folder | None:
    """Return the folder at a path, or a `Pattern` for a path with braces; None for a file."""
    if name == "-" or "://" in name:
        return None
    if is_folder(name):
        return Folder(name, limits, roots)
    is_pattern = _RANGE.search(name) is not None and not os.path.lexists(name)
    return Pattern(name, limits, roots) if is_pattern else None
