"""JSON values that know where they stand in a text, or that came from Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from exset.core.errors import FormatError
from exset.core.source import Span
from exset.core.text import with_article

DEEPEST: Final = 200
"""What no limit goes beyond: the walks through a tree recurse."""

INT64: Final = range(-(1 << 63), 1 << 64)
"""The whole numbers that stay whole: others become real ones, as in nlohmann::json."""

Scalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: its value, and where its name stands."""

    value: Node
    name: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its span; None for what was not read from a text.

    `content` is a tuple of nodes for an array, a dict of members for an object, else the value.
    """

    content: Scalar | tuple[Node, ...] | dict[str, Member]
    span: Span | None = field(default=None, compare=False)

    @property
    def kind(self) -> str:
        """What JSON calls it, array, object, string, boolean, number or null."""
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
    def items(self) -> tuple[Node, ...]:
        """The values of an array; nothing for what is none."""
        return self.content if isinstance(self.content, tuple) else ()

    @property
    def members(self) -> dict[str, Member]:
        """The members of an object; nothing for what is none."""
        return self.content if isinstance(self.content, dict) else {}

    def plain(self) -> object:
        """The value as Python has it: dict, list, str, int, float, bool, None."""
        if isinstance(self.content, tuple):
            return [item.plain() for item in self.content]
        if isinstance(self.content, dict):
            return {name: member.value.plain() for name, member in self.content.items()}
        return self.content


def node(value: object, *, depth: int) -> Node:
    """The node of a Python value: mappings, lists, tuples, strings, numbers, True, False, None.

    Raises FormatError for what JSON has no value for, and for what nests deeper than `depth`.
    """
    return _node(value, min(depth, DEEPEST), "")


def _node(value: object, depth: int, path: str) -> Node:
    if depth < 0:
        raise _impossible(path, "it nests too deep", "is it within itself?")
    if isinstance(value, Mapping):
        members = {}
        for name, item in value.items():
            if not isinstance(name, str):
                raise _impossible(
                    path, f"a name is {with_article(type(name).__name__)}", "names are strings"
                )
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
        value = _real(value)
    if isinstance(value, str):
        _check_text(value, path)
    if isinstance(value, float) and not math.isfinite(value):
        raise _impossible(path, f"JSON has no {value}", "leave it out, or name a number")
    if value is None or isinstance(value, str | bool | int | float):
        return Node(value)
    raise _impossible(
        path,
        f"JSON has no value for {with_article(type(value).__name__)}",
        "a configuration is made of dicts, lists, strings, numbers, True, False and None",
    )


def _real(whole: int) -> float:
    try:
        return float(whole)
    except OverflowError:
        return math.inf


def _check_text(text: str, path: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _impossible(path, "a lone surrogate is no character", "check the text") from None


def _impossible(path: str, what: str, hint: str) -> FormatError:
    where = f"{path}: " if path else ""
    return FormatError(f"{where}{what}", hint=hint, code="json-value")
