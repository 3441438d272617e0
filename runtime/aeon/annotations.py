"""Read annotations of pictures: JSON with the size of the picture, and the box of each object."""

import json
from collections.abc import Iterator
from typing import Final, NoReturn

from exset.core.limits import Limits
from exset.core.source import Source
from exset.parsers.shared import json_tree

_SIZES: Final = ("width", "height", "depth")
_EDGES: Final = ("xmax", "xmin", "ymax", "ymin")
_FLAGS: Final = ("difficult", "truncated")


def read(source: Source, limits: Limits) -> object:
    """Return the value of a JSON text, as Python's dict, list, str, int, float, bool or None.

    Raises FormatError and LimitError as `exset.parsers.shared.json_tree`.
    """
    try:
        value: object = json.loads(source.data.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        # The standard library is fast; this reader says what is wrong, and where.
        return json_tree.parse(source, limits=limits).plain()
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def problem(annotation: object) -> str | None:
    """Return why aeon rejects an annotation, or None. It looks for members in this order."""
    if not isinstance(annotation, dict):
        return "the annotation is not an object"
    if "object" not in annotation:
        return "'object' is missing"
    if "size" not in annotation:
        return "'size' is missing"
    if why := _numbers(annotation["size"], _SIZES):
        return f"{why} in size"
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
    return None


def classes(annotation: object) -> Iterator[str]:
    """Yield the class of each object of an annotation that has no `problem`."""
    if isinstance(annotation, dict):
        for each in annotation["object"]:
            yield each["name"]
