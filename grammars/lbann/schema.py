"""The model of a schema: a tree of HDF5 groups and fields. Each of them can have metadata.

A data schema describes the samples in HDF5 files. An experiment schema selects the fields that an
experiment reads. Both are written in the same way. In the file, the child `metadata` of a node
contains the node's directives. If the file also gives a value to the node itself, this value is
ignored. Values have conduit's types: integers and floats differ, an empty value is None, and a list
of one number equals the number.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from numbers import Integral, Real
from typing import Any, Final, TypeAlias

from exset.core.errors import Place
from exset.core.html import table
from exset.core.source import Source, Span
from exset.core.text import counted
from exset.grammars.columns.sequence import NamedSequence

METADATA: Final = "metadata"
"""The name of the child that contains directives."""

DIRECTIVES: Final = (
    *("pack", "ordering", "scale", "bias", "coerce"),
    *("dims", "channels", "layout", "transpose", "hwc"),
)
"""The directives that LBANN reads. LBANN warns of all others, and of `hwc`, although a scale for
each channel requires it: the finding about it is a note.
"""

Path: TypeAlias = tuple[str, ...]
"""The names from the root to a node."""

Value: TypeAlias = "int | float | str | tuple[Value, ...] | Mapping[str, Value] | None"


@dataclass(frozen=True, eq=False)
class Directive:
    """The value of one directive. Two directives are equal if their values have the same type and
    are equal.
    """

    value: Value
    span: Span | None = None
    """The span of the value in the source of the schema, or of the name of an empty value."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Directive) and equal_values(self.value, other.value)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Node:
    """A node of the tree. Without children it is a field (a leaf); otherwise it is a group."""

    children: "Mapping[str, Node]" = field(default_factory=dict)
    metadata: Mapping[str, Directive] = field(default_factory=dict)
    span: Span | None = field(default=None, compare=False)
    """The span of the node's name in the source of the schema."""

    __hash__ = None  # type: ignore[assignment]

    def nodes(self, path: Path = ()) -> "Iterator[tuple[Path, Node]]":
        """Yield (path, node) for this node and for all nodes below it, in file order.

        path: the path of this node.
        """
        yield path, self
        for name, child in self.children.items():
            yield from child.nodes((*path, name))

    def leaves(self, path: Path = ()) -> "Iterator[tuple[Path, Node]]":
        """Yield (path, node) for each leaf, in the order of `nodes`."""
        return ((where, node) for where, node in self.nodes(path) if not node.children)

    def find(self, path: Path) -> "Node | None":
        """Return the node at a path below this one, or None."""
        node: Node | None = self
        for name in path:
            node = None if node is None else node.children.get(name)
        return node


Field: TypeAlias = tuple[Path, Node]
"""A leaf, and its path."""


@dataclass(frozen=True)
class Schema(NamedSequence[Field, tuple[Field, ...]]):
    """A schema. Two schemas are equal if their trees are equal.

    A schema is a sequence of its fields. A field is the pair (path, node), and its name is
    "group/field".
    """

    root: Node
    source: Source | None = field(default=None, compare=False, repr=False)
    """The text of the schema; None if a program made the schema."""

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        """Return the number of fields."""
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Field]:
        return self.root.leaves() if self.root.children else iter(())

    def _unit(self, row: int) -> Field:
        return next(islice(self, row, None))

    def _some(self, rows: slice) -> tuple[Field, ...]:
        return tuple(self)[rows]

    def unit_names(self) -> Iterator[bytes]:
        """Yield the path of each field."""
        return (path_text(path).encode("utf-8", "surrogateescape") for path, _ in self)

    def _repr_html_(self) -> str:
        count = len(self)
        rows = (
            ("/".join(path), ", ".join(f"{k}: {v.value!r}" for k, v in leaf.metadata.items()))
            for path, leaf in self
        )
        return table(f"Schema({counted(count, 'field')})", ("field", "metadata"), rows, count)

    @classmethod
    def of(cls, tree: Mapping[str, Any] | None) -> "Schema":
        """Make a schema from nested dicts. The key `metadata` has directives; all other keys are
        children.

        A field without metadata is None or an empty dict. Raises TypeError for an invalid value.
        """
        return cls(_node(tree))

    def with_metadata(
        self, path: str, metadata: Mapping[str, Any] | None = None, *, without: Iterable[str] = ()
    ) -> "Schema":
        """Return a schema in which a node has other directives.

        metadata: directives to add. without: names of directives to remove. path: of the node,
        names separated by slashes; empty for the root. The new schema keeps the source text, so
        that written files keep the comments. Raises KeyError for an unknown node.
        """
        names = tuple(filter(None, path.split("/")))
        if self.root.find(names) is None:
            raise KeyError(path)
        removed = set(without)
        added = {name: Directive(to_value(value)) for name, value in (metadata or {}).items()}

        def changed(node: Node, rest: Path) -> Node:
            if rest:
                below = changed(node.children[rest[0]], rest[1:])
                return replace(node, children={**node.children, rest[0]: below})
            kept = {name: each for name, each in node.metadata.items() if name not in removed}
            return replace(node, metadata={**kept, **added})

        return replace(self, root=changed(self.root, names))

    def place(self, span: Span | None) -> Place | None:
        """Return the place of a span in the source. Return None if there is no source."""
        if self.source is None:
            return None
        return Place(self.source.name) if span is None else Place.in_text(self.source, span)


def path_text(path: Path) -> str:
    """Return a path as conduit writes it. A name that contains a slash is in braces."""
    return "/".join(f"{{{name}}}" if "/" in name else name for name in path)


def to_json(value: Value) -> object:
    """Return a value in which tuples are lists and mappings are dicts, for JSON."""
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {name: to_json(item) for name, item in value.items()}
    return value


def to_value(value: Any) -> Value:
    """Convert a Python value to a value of conduit.

    Raises TypeError for a type that conduit does not have.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {str(name): to_value(item) for name, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return list_value([to_value(item) for item in value])
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    raise TypeError(f"invalid value {value!r} of a directive: use numbers, text, lists or dicts")


def list_value(values: Sequence[Value]) -> Value:
    """Return a list as conduit reads it. If one number is a float, all become floats.

    A list of one number becomes this number.
    """
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
        raise TypeError(f"invalid node {tree!r}: use a dict, or None for a field")
    children = {str(name): _node(each) for name, each in tree.items() if name != METADATA}
    metadata = tree.get(METADATA) or {}
    return Node(
        children, {str(name): Directive(to_value(value)) for name, value in metadata.items()}
    )


def equal_values(one: Value, other: Value) -> bool:
    """Return whether two values are equal. 1 differs from 1.0, -0.0 from 0.0; NaN equals NaN."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(equal_values, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal_values(one[k], other[k]) for k in one)
    if isinstance(one, float) and isinstance(other, float):
        return one.hex() == other.hex()
    return type(one) is type(other) and one == other
