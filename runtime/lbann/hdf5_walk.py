"""Walk through the groups of an HDF5 file, depth first. Walk through a large file in parts."""

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

PART = 1024
"""The number of groups, or other objects, at which the walk of a part begins; see `_PARTS`."""

_PARTS = 64
"""The most parts of a file: each part lists the objects of all parts."""

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


@dataclass
class Walk:
    """A walk through the groups of a file. groups: the number of groups visited so far."""

    file: File
    matches: Matches
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
            objects = self._tops()
            if _parts_of(objects) != part.count:
                raise changed(part.path)
            objects = objects[part.of(len(objects))]
            if part.rank:
                self.groups = 0  # the first part has counted the groups above
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
        return _parts_of(self._tops())

    def _tops(self) -> list[_Object]:
        """Return the objects, in order, between which the file can be divided.

        Each matching group is inside one of them, or is one of them. There are more than `PART`
        objects, unless the file has too few objects outside matching groups.
        """
        tops, is_open = [_Object("", "", None)], True
        while is_open and len(tops) <= PART:
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


def _parts_of(objects: Sequence[_Object]) -> int:
    return min(parts_of(len(objects), PART), _PARTS)


def check_count(groups: int, path: str, most: int) -> None:
    """Raise LimitError for a file with more groups than `most`."""
    if groups > most:
        message = f"the file has more than {most:,} groups"
        raise LimitError(message, place=Place(path), hint=limit_hint("max_objects"))


def _inside(path: str, group: Any, names: Iterator[str] | Sequence[str]) -> Iterator[_Object]:
    for name in names:
        yield _Object(f"{path}/{name}" if path else name, name, group)
