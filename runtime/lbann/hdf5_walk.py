"""Walk through the groups of an HDF5 file, depth first. Walk through a large file in parts."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from exset.core.errors import FormatError, LimitError, Place
from exset.core.limits import limit_hint
from exset.core.parts import FilePart, changed, parts_of
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.objects import DEEPEST, is_group

LARGE = 1 << 22
"""A file of at least this many bytes is divided, if it has many groups."""

PART = 256
"""The number of groups, or other objects, at which the walk of a part begins; see `_PARTS`."""

_PARTS = 128
"""The most parts of a file: each process lists the objects of all parts once."""

_ENOUGH = 4
"""If there are more than this number times `PART` objects, none is opened to divide the file."""

_MOST = 1 << 18
"""The approximate number of objects that are listed to divide a file."""

Matches: TypeAlias = Callable[[str, Sequence[str]], bool]
"""A function of the path of a group and the names in it: whether the walk looks for the group."""


class _Object(NamedTuple):
    """An object of a file, before it is opened.

    path: the object's path. group: the open group that contains the object. name: its name in
    `group`.
    """

    path: str
    name: str
    group: Any


@dataclass(frozen=True)
class _Division:
    """How a file is divided.

    key: equal if the file and the search are the same. tops: the paths of the objects between
    which the file can be divided, in order. groups: the number of groups above these objects.
    """

    key: object
    tops: list[str]
    groups: int


_last: _Division | None = None
"""The division of the file of the last part, as this process often gets its other parts, too."""


@dataclass
class Walk:
    """A walk through the groups of a file.

    sought: equal for walks whose functions `matches` are equal; None if this is not known. groups:
    the number of groups visited so far.
    """

    file: File
    matches: Matches
    sought: object = None
    groups: int = 0

    def found(self, part: FilePart | None = None) -> Iterator[tuple[str, Any]]:
        """Yield (path, group) for each group that matches, in order. Skip groups inside a matching
        group.

        part: the part of the file, by default the whole file. Raises FormatError for groups that
        are nested too deep, as in a cycle of hard links, and for a file that has changed since it
        was divided. Raises LimitError for too many groups.
        """
        objects = [_Object("", "", None)]
        if part is not None:
            division = self._division()
            if _parts_of(division) != part.count:
                raise changed(part.path)
            objects = [*self._objects(division.tops[part.of(len(division.tops))])]
            # The first part counts the groups above.
            self.groups = 0 if part.rank else division.groups
        objects.reverse()
        while objects:
            each = objects.pop()
            if (group := self._group(each)) is None:
                continue
            self._visit(each.path)
            names = self.file.names(group, each.path)
            if each.path and self.matches(each.path, names):
                yield each.path, group
            else:
                objects += _inside(each.path, group, reversed(names))

    def parts(self) -> int:
        """Return the number of parts into which the file is divided."""
        return _parts_of(self._division())

    def _division(self) -> _Division:
        """Return how the file is divided."""
        global _last
        if self.sought is None:
            return self._divided(None)
        status = os.fstat(self.file.raw(self.file.find("")).fileno())
        identity = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        key = identity, self.sought, self.file.access, self.file.limits
        if (known := _last) is None or known.key != key:
            known = _last = self._divided(key)
        return known

    def _divided(self, key: object) -> _Division:
        return _Division(key, [each.path for each in self._tops()], self.groups)

    def _objects(self, paths: Sequence[str]) -> Iterator[_Object]:
        """Yield the objects with these paths. Open a group once for adjacent objects in it."""
        above, group = "", None
        for path in paths:
            parent, _, name = path.rpartition("/")
            if parent != above:
                found = self.file.find(parent)
                above, group = parent, found if found is not None and is_group(found) else None
            if group is not None or not parent:  # else a link leads to another file, and it changed
                yield _Object(path, name, group)

    def _tops(self) -> list[_Object]:
        """Return the objects, in order, between which the file can be divided.

        Each matching group is inside one of them, or is one of them. There are more objects than
        `_ENOUGH` times `PART`, unless the file has too few objects outside matching groups.
        """
        tops, is_open = [_Object("", "", None)], True
        while is_open and len(tops) <= _ENOUGH * PART:
            is_open, above, tops = False, tops, []
            for rank, each in enumerate(above):
                if len(tops) > _MOST:
                    tops += above[rank:]
                    break
                if (group := self._group(each)) is None:
                    continue
                names = self.file.names(group, each.path)
                if each.path and self.matches(each.path, names):
                    tops.append(each)
                    continue
                self._visit(each.path)
                tops += _inside(each.path, group, names)
                is_open = True
        return tops

    def _group(self, each: _Object) -> Any:
        """Open an object; return None if it is no group."""
        found = self.file.find(each.name, each.group, each.path.rpartition("/")[0])
        return found if found is not None and is_group(found) else None

    def _visit(self, path: str) -> None:
        """Count a group."""
        self.groups += 1
        check_count(self.groups, self.file.path, self.file.limits.max_objects)
        if path.count("/") > DEEPEST:
            message = f"groups are nested more than {DEEPEST} deep, or form a cycle"
            place = Place(self.file.path, field=f"{path[:40]}...")
            raise FormatError(message, place=place, code="hdf5")


def _parts_of(division: _Division) -> int:
    return min(parts_of(len(division.tops), PART), _PARTS)


def check_count(groups: int, path: str, most: int) -> None:
    """Raise LimitError for a file with more groups than `most`."""
    if groups > most:
        message = f"the file has more than {most:,} groups"
        raise LimitError(message, place=Place(path), hint=limit_hint("max_objects"))


def _inside(path: str, group: Any, names: Iterator[str] | Sequence[str]) -> Iterator[_Object]:
    for name in names:
        yield _Object(f"{path}/{name}" if path else name, name, group)
