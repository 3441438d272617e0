"""JSON for strict readers: a name that is not UTF-8 gets a second member with its bytes."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence

from exset.core.text import has_surrogates

BYTES = "_base64"
"""The suffix of a member's name, if the member has the bytes of another member."""


def line_of(row: Mapping[str, object]) -> str:
    """Return a JSON object as a line of ASCII text, which cannot contain control characters.

    If the text of a member `x` is not UTF-8, `x` has U+FFFD in place of each wrong byte, and
    another member `x_base64` has the bytes. If `x` is a list, `x_base64` is a list, too: it has the
    bytes of each item that is not UTF-8, and null for the other items.
    """
    return json.dumps(_object(row), allow_nan=False)


def _object(row: Mapping[str, object]) -> dict[str, object]:
    return {key: value for name, value in row.items() for key, value in _members(name, value)}


def _members(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield a member of a JSON object. If its text is not UTF-8, also yield one with its bytes."""
    name = _text(name)
    yield name, _plain(value)
    if isinstance(value, str):
        if has_surrogates(value):
            yield f"{name}{BYTES}", _base64(value)
    elif isinstance(value, Sequence):
        found = [_base64(each) if isinstance(each, str) else None for each in value]
        if any(found):
            yield f"{name}{BYTES}", found


def _plain(value: object) -> object:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return _object(value)
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    return value


def _text(value: str) -> str:
    return _bytes(value).decode("utf-8", "replace") if has_surrogates(value) else value


def _base64(value: str) -> str | None:
    """Return the bytes of a text in base64 if the text is not UTF-8. Return None if it is."""
    return b64encode(_bytes(value)).decode() if has_surrogates(value) else None


def _bytes(value: str) -> bytes:
    """Return a name as bytes. A surrogate that represents no byte becomes three bytes."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
