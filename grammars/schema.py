"""What a schema says: a tree of HDF5 groups and fields, and the metadata of each.

A data schema tells how samples lie in HDF5 files, an experiment schema which of their fields an
experiment uses; both are the same language, and only their use tells them apart. The reserved
child `metadata` of a node holds directives; the value of a node itself means nothing, and is not
kept. Values have conduit's types: an integer and a real differ, `null` is what was left empty, and
a list of one number is that number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from exset.errors import Place
from exset.source import Source, Span

METADATA: Final = "metadata"
"""The name of the child that holds directives."""

DIRECTIVES: Final = (
    *("pack", "ordering", "scale", "bias", "coerce"),
    *("dims", "channels", "layout", "transpose"),
)
"""The directives that LBANN lists; of any other it warns."""

HWC: Final = "hwc"
"""A key that LBANN asks for but does not list: that the scales of channels are channels-last."""

Path: TypeAlias = tuple[str, ...]
"""The names from the root to a node."""

Value: TypeAlias = "int | float | str | tuple[Value, ...] | Mapping[str, Value] | None"


@dataclass(frozen=True, eq=False)
class Directive:
    """One key of a metadata node; equal to another if the value is, types included."""

    value: Value
    span: Span | None = None
    """Where the value is in the source of its schema."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Directive) and alike(self.value, other.value)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Node:
    """A group or a field of the samples; it is a leaf if it has no children."""

    children: Mapping[str, Node] = field(default_factory=dict)
    metadata: Mapping[str, Directive] = field(default_factory=dict)
    span: Span | None = field(default=None, compare=False)
    """Where its name is in the source of its schema."""

    __hash__ = None  # type: ignore[assignment]

    def leaves(self, path: Path = ()) -> Iterator[tuple[Path, Node]]:
        """Yield the leaves at and below this node, which is at a path, in the order written."""
        if not self.children:
            yield path, self
        for name, child in self.children.items():
            yield from child.leaves((*path, name))

    def find(self, path: Path) -> Node | None:
        """Return the node at a path below this one, or None."""
        node: Node | None = self
        for name in path:
            node = None if node is None else node.children.get(name)
        return node


@dataclass(frozen=True)
class Schema:
    """A schema; equal to another if the trees are, wherever and however they were written."""

    root: Node
    source: Source | None = field(default=None, compare=False, repr=False)
    """The text that it was read from, with its comments; None for one made by a program."""

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        """How many fields it names."""
        return 0 if not self.root.children else sum(1 for _ in self.root.leaves())

    def place(self, span: Span | None) -> Place | None:
        """Return the place of a span in the source; None where there is none."""
        if self.source is None:
            return None
        return Place.of(self.source.name) if span is None else Place.in_text(self.source, span)


def named(path: Path) -> str:
    """Return a path as conduit writes it: names that hold a slash stand in braces."""
    return "/".join(f"{{{name}}}" if "/" in name else name for name in path)


def plain(value: Value) -> object:
    """Return a value as JSON has it: lists and dicts."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return value


def alike(one: Value, other: Value) -> bool:
    """Tell whether values are the same: 1 is not 1.0, -0.0 not 0.0, and a NaN is itself."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(one[k], other[k]) for k in one)
    if isinstance(one, float) and isinstance(other, float):
        return one.hex() == other.hex()
    return type(one) is type(other) and one == other
