"""Trees of scalars, sequences and mappings from JSON, YAML or Python, with places in the text."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from exset.core.errors import FormatError
from exset.core.source import Span
from exset.core.text import has_surrogates, with_article

DEEPEST: Final = 200
"""The greatest depth that any limit allows, because functions on a tree recurse."""

INT64: Final = range(-(1 << 63), 1 << 64)
"""The integers that stay integers; all others become floats, as in nlohmann::json."""

Scalar: TypeAlias = str | int | float | bool | None


class Style(NamedTuple):
    """The way in which a node is written in YAML: its tag, and whether it is a text in quotation
    marks.
    """

    tag: str | None = None
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a mapping: its value, and the span and the style of its name."""

    value: "Node"
    name: Span | None = field(default=None, compare=False)
    style: Style = field(default=Style(), compare=False)


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its span. The span is None if the value was not read from a text.

    content: a tuple of nodes for a sequence, a dict of members for a mapping, or a scalar.
    """

    content: "Scalar | tuple[Node, ...] | dict[str, Member]"
    span: Span | None = field(default=None, compare=False)
    style: Style = field(default=Style(), compare=False)

    @property
    def kind(self) -> str:
        """The JSON type of the value: array, object, string, boolean, number or null."""
        content = self.content
        if content is None:
            return "null"
        if isinstance(content, bool):
            return "boolean"
        if isinstance(content, str):
            return "string"
        if isinstance(content, int | float):
            return "number"
        return "array" if isinstance(content, tuple) else "object"

    @property
    def items(self) -> "tuple[Node, ...]":
        """The values of a sequence; empty for any other node."""
        return self.content if isinstance(self.content, tuple) else ()

    @property
    def members(self) -> dict[str, Member]:
        """The members of a mapping; empty for any other node."""
        return self.content if isinstance(self.content, dict) else {}

    def plain(self) -> object:
        """Return the value as a dict, list, str, int, float, bool or None."""
        if isinstance(self.content, tuple):
            return [item.plain() for item in self.content]
        if isinstance(self.content, dict):
            return {name: member.value.plain() for name, member in self.content.items()}
        return self.content


def node(value: object, *, depth: int) -> Node:
    """Convert a Python value to a node: mappings, lists, tuples, strings, numbers, bools and None.

    Raises FormatError for a value that JSON cannot store, and for nesting deeper than `depth`.
    """
    return _node(value, min(depth, DEEPEST), "")


def _node(value: object, depth: int, path: str) -> Node:
    if depth < 0:
        hint = "check that it does not contain itself"
        raise _error(path, "the value is nested too deeply", hint)
    if isinstance(value, Mapping):
        members = {}
        for name, item in value.items():
            if not isinstance(name, str):
                found = with_article(type(name).__name__)
                raise _error(path, f"a name must be a string, not {found}", "correct the name")
            _check_text(name, path)
            inner = f"{path}.{name}" if path else name
            members[name] = Member(_node(item, depth - 1, inner))
        return Node(members)
    if isinstance(value, list | tuple):
        return Node(tuple(_node(each, depth - 1, f"{path}[{i}]") for i, each in enumerate(value)))
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():
        value = item()  # a scalar of NumPy
    if isinstance(value, int) and not isinstance(value, bool) and value not in INT64:
        value = _float(value)
    if isinstance(value, str):
        _check_text(value, path)
    if isinstance(value, float) and not math.isfinite(value):
        raise _error(path, f"JSON has no {value}", "leave it out, or give a number")
    if value is None or isinstance(value, str | bool | int | float):
        return Node(value)
    message = f"JSON has no value for {with_article(type(value).__name__)}"
    raise _error(path, message, "use dicts, lists, strings, numbers, True, False and None")


def _float(integer: int) -> float:
    try:
        return float(integer)
    except OverflowError:
        return math.inf


def _check_text(text: str, path: str) -> None:
    if has_surrogates(text):
        raise _error(path, "a lone surrogate is not a character", "check the text")


def _error(path: str, message: str, hint: str) -> FormatError:
    where = f"{path}: " if path else ""
    return FormatError(f"{where}{message}", hint=hint, code="json-value")
