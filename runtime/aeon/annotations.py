"""Read annotations of pictures. An annotation is JSON with the picture's size and a box for each
object.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, NoReturn

from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.tree import DEEPEST
from exset.parsers.shared import json_tree

_SIZES: Final = ("width", "height", "depth")
_EDGES: Final = ("xmax", "xmin", "ymax", "ymin")
_FLAGS: Final = ("difficult", "truncated")
_LARGEST: Final = 2**128 - 2**103
"""The largest number that, rounded down, is still in the range of binary32."""
_MOST_PIXELS: Final = 2**31 - 1


class Box(NamedTuple):
    """The box of an object in a picture: its coordinates in pixels, from 0. The pixels at `xmax`
    and `ymax` are inside the box.
    """

    name: str
    xmin: float
    ymin: float
    xmax: float
    ymax: float

    @property
    def is_empty(self) -> bool:
        """Whether `xmax` is less than `xmin`, or `ymax` less than `ymin`."""
        return self.xmax < self.xmin or self.ymax < self.ymin

    def is_inside(self, width: float, height: float) -> bool:
        """Return whether the whole box is inside a picture of this width and height."""
        is_after = self.xmin >= 0 and self.ymin >= 0
        return is_after and self.xmax <= width - 1 and self.ymax <= height - 1


def read(source: Source, limits: Limits) -> object:
    """Return the value of a JSON text, as Python's dict, list, str, int, float, bool or None.

    Raises the FormatError and LimitError of `exset.parsers.shared.json_tree`.
    """
    try:
        value: object = json.loads(source.data.decode(), parse_constant=_refuse)
        if _is_within(value, min(limits.max_depth, DEEPEST)):
            return value
    except (ValueError, RecursionError):
        pass
    # The standard library is fast; this reader says what is wrong, and where.
    return json_tree.parse(source, limits=limits).plain()


def _is_within(value: object, depth: int) -> bool:
    """Return whether the lists and objects in a value are nested at most `depth` levels deep."""
    if not isinstance(value, dict | list):
        return True
    parts = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_within(part, depth - 1) for part in parts)


def _refuse(_: str) -> NoReturn:
    raise ValueError


def problem(annotation: object) -> str | None:
    """Return the first reason for which aeon rejects an annotation.

    Return None if aeon accepts it.
    """
    if not isinstance(annotation, dict):
        return "the annotation is not an object"
    if "object" not in annotation:
        return "'object' is missing"
    if "size" not in annotation:
        return "'size' is missing"
    if why := _numbers(annotation["size"], _SIZES):
        return f"{why} in size"
    for name in _SIZES[:2]:
        if not 1 <= annotation["size"][name] <= _MOST_PIXELS:
            return f"{name!r} is out of range in size"
    objects = annotation["object"]
    if not isinstance(objects, list):
        return "'object' is not a list"
    for number, each in enumerate(objects):
        if why := _object_problem(each):
            return f"{why} in object[{number}]"
    return None


def _object_problem(each: object) -> str | None:
    if not isinstance(each, dict):
        return "a value that is not an object"
    if why := _numbers(each.get("bndbox", {}), _EDGES):
        return why
    if not isinstance(each.get("name"), str):
        return "'name' is not a string" if "name" in each else "'name' is missing"
    for name in _FLAGS:
        if not isinstance(each.get(name, False), bool):
            return f"{name!r} is not true or false"
    return None


def _numbers(value: object, names: tuple[str, ...]) -> str | None:
    members = value if isinstance(value, dict) else {}
    for name in names:
        if name not in members:
            return f"{name!r} is missing"
        if not isinstance(members[name], int | float):
            return f"{name!r} is not a number"
        if not -_LARGEST <= members[name] <= _LARGEST:
            return f"{name!r} is out of range"
    return None


def size(annotation: Mapping[str, Any]) -> tuple[float, float]:
    """Return the width and height of an annotation's picture. `problem` must return None for the
    annotation.
    """
    return annotation["size"]["width"], annotation["size"]["height"]


def boxes(annotation: Mapping[str, Any]) -> Iterator[Box]:
    """Yield the box of each object of an annotation.

    `problem` must return None for the annotation.
    """
    for each in annotation["object"]:
        found = each["bndbox"]
        yield Box(each["name"], found["xmin"], found["ymin"], found["xmax"], found["ymax"])
