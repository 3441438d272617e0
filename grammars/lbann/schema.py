"""What a schema says: a tree of HDF5 groups and fields, and the metadata of each.

A data schema tells how samples lie in HDF5 files, an experiment schema which of their fields an
experiment uses; both are the same language, and only their use tells them apart. The reserved
child `metadata` of a node holds directives; the value of a node itself means nothing, and is not
kept. Values have conduit's types: an integer and a real differ, `null` is what was left empty, and
a list of one number is that number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Final, TypeAlias

from exset.core.errors import Place
from exset.core.source import Source, Span
from exset.core.text import counted
from exset.grammars.columns.html import table

METADATA: Final = "metadata"
"""The name of the child that holds directives."""

DIRECTIVES: Final = (
    *("pack", "ordering", "scale", "bias", "coerce"),
    *("dims", "channels", "layout", "transpose"),
)
"""The directives that LBANN lists; of any other it warns."""

HWC: Final = "hwc"
"""A key that LBANN asks for but does not list: that the scales of channels are channels-last."""

NOTHING: Final[Mapping[str, Any]] = {}

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

    def _repr_html_(self) -> str:
        count = len(self)
        rows = (
            ("/".join(path), ", ".join(f"{k}: {v.value!r}" for k, v in leaf.metadata.items()))
            for path, leaf in (self.root.leaves() if count else ())
        )
        return table(f"Schema({counted(count, 'field')})", ("field", "metadata"), rows, count)

    @classmethod
    def of(cls, tree: Mapping[str, Any] | None) -> Schema:
        """Make a schema of dicts: a node's `metadata` holds directives, all else is a child.

        A field without metadata is None or an empty dict. TypeError for what is no value.
        """
        return cls(_node(tree))

    def with_metadata(
        self, path: str, given: Mapping[str, Any] = NOTHING, *, without: Iterable[str] = ()
    ) -> Schema:
        """Return a schema that gives a node these directives, and no longer those `without`.

        path: names with slashes between them, empty for the root. The text that this schema was
        read from stays with it, so that its comments are kept when it is written. KeyError for a
        node that there is not.
        """
        names = tuple(filter(None, path.split("/")))
        if self.root.find(names) is None:
            raise KeyError(path)
        gone = set(without)
        added = {name: Directive(valued(value)) for name, value in given.items()}

        def changed(node: Node, left: Path) -> Node:
            if left:
                below = changed(node.children[left[0]], left[1:])
                return replace(node, children={**node.children, left[0]: below})
            kept = {name: each for name, each in node.metadata.items() if name not in gone}
            return replace(node, metadata={**kept, **added})

        return replace(self, root=changed(self.root, names))

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


def valued(value: Any) -> Value:
    """Return a Python value as conduit has it in memory; TypeError for what is none."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {str(name): valued(item) for name, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return listed([valued(item) for item in value])
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    raise TypeError(f"a directive cannot be {value!r}: give numbers, text, lists or dicts")


def listed(values: Sequence[Value]) -> Value:
    """Return what a list of values is: numbers become reals if one is, one number stands alone."""
    numbers = [value for value in values if isinstance(value, int | float)]
    if not numbers or len(numbers) < len(values):
        return tuple(values)
    if any(isinstance(value, float) for value in numbers):
        numbers = [float(value) for value in numbers]
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def _node(tree: Mapping[str, Any] | None) -> Node:
    if tree is None:
        return Node()
    if not isinstance(tree, Mapping):
        raise TypeError(f"a node cannot be {tree!r}: give a dict, or None for a field")
    children = {str(name): _node(each) for name, each in tree.items() if name != METADATA}
    given = tree.get(METADATA) or {}
    return Node(children, {str(name): Directive(valued(value)) for name, value in given.items()})


def alike(one: Value, other: Value) -> bool:
    """Tell whether values are the same: 1 is not 1.0, -0.0 not 0.0, and a NaN is itself."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(one[k], other[k]) for k in one)
    if isinstance(one, float) and isinstance(other, float):
        return one.hex() == other.hex()
    return type(one) is type(other) and one == other
