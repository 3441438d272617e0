"""Say in words how two meanings differ, for families that have no own module for this."""

from collections.abc import Iterator

from exset.core.text import counted
from exset.testing.conformance.nodes import Document, Json, shown

_SHOWN = 12
"""The largest number of differences that are listed."""


def explained(expected: Document, found: Document) -> list[str]:
    """Return how two canonical meanings differ: one sentence for each difference."""
    sentences = list(_differences("", expected, found))
    more = len(sentences) - _SHOWN
    return sentences[:_SHOWN] + ([f"and {more} more differences"] if more > 0 else [])


def _differences(path: str, expected: Json, found: Json) -> Iterator[str]:
    if expected == found:
        return
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{path}: expected {counted(len(expected), 'item')}, not {len(found)}"
        for i, (one, other) in enumerate(zip(expected, found, strict=False)):
            yield from _differences(f"{path}[{i}]", one, other)
    elif _is_object(expected) and _is_object(found):
        assert isinstance(expected, dict) and isinstance(found, dict)
        for name in dict.fromkeys((*expected, *found)):
            place = f"{path}.{name}" if path else name
            yield from _differences(place, expected.get(name), found.get(name))
    else:
        yield f"{path or 'the document'} is {shown(found)}: expected {shown(expected)}"


def _is_object(value: Json) -> bool:
    """Return whether a value is an object that does not represent a number or a string."""
    return isinstance(value, dict) and not value.keys() & {"bits", "base64"}
