"""The meaning of LBANN's schemas as JSON: the tree of nodes, each with its directives.

`schema.schema.json` describes this JSON. The values have conduit's types: the integer 1 differs
from the float 1.0. A text that looks like a number is a number.
"""

from collections.abc import Iterator, Mapping

from exset.grammars.lbann.schema import Node as SchemaNode
from exset.grammars.lbann.schema import Schema, Value
from exset.testing.conformance.nodes import Document, Json, Node, double, string
from exset.testing.conformance.plain_words import explained

__all__ = ["explained", "features", "meaning", "normalized", "unshared"]


def meaning(schema: Schema) -> Document:
    """Return the meaning of a schema, in canonical form."""
    return _tree(schema.root)


def normalized(document: Node) -> Document:
    """Return the canonical form of a meaning that a program wrote. Raises BadMeaning if invalid."""
    document.known("metadata", "children")
    children = document.get("children").members()
    return {
        "metadata": directives(document.get("metadata")),
        "children": {name: normalized(_object(child)) for name, child in children.items()},
    }


def features(document: Document) -> set[str]:
    """Return the features that a reader needs to read a schema with this canonical meaning."""
    return set(_features(Node(document), 0))


def unshared(document: Document) -> Document:
    """Return the meaning unchanged, as no values are shared in it."""
    return document


def directives(node: Node) -> dict[str, Json]:
    """Return the canonical form of a node's directives. Return {} if the directives are missing."""
    return {name: _normal(value) for name, value in node.members().items()}


def canonical(value: Value) -> Json:
    """Return the value of a directive in canonical form."""
    if isinstance(value, float):
        return double(value)
    if isinstance(value, str):
        return string(value.encode("utf-8", "surrogateescape"))
    if isinstance(value, tuple):
        return [canonical(each) for each in value]
    if isinstance(value, Mapping):
        return {"members": {name: canonical(each) for name, each in value.items()}}
    return value


def kinds(value: Json) -> Iterator[str]:
    """Yield the features that a reader needs for a value in canonical form."""
    if isinstance(value, list):
        yield "lists"
        for each in value:
            yield from kinds(each)
    elif isinstance(value, dict):
        yield "floats" if "bits" in value else "nested-values" if "members" in value else "texts"
    elif value is not None:
        yield "integers" if isinstance(value, int) else "texts"


def _tree(node: SchemaNode) -> Document:
    return {
        "metadata": {name: canonical(each.value) for name, each in node.metadata.items()},
        "children": {name: _tree(child) for name, child in node.children.items()},
    }


def _object(node: Node) -> Node:
    """Return an object; null becomes an object without members."""
    return Node({}, node.path) if node.missing else node


def _normal(node: Node) -> Json:
    value = node.value
    if value is None:
        return None
    if isinstance(value, list):
        return [_normal(each) for each in node.items()]
    if isinstance(value, dict) and "members" in value:
        node.known("members")
        return {"members": directives(node.get("members"))}
    if isinstance(value, float) or (isinstance(value, dict) and "base64" not in value):
        return node.double()
    return node.integer() if isinstance(value, int) else node.string()


def _features(node: Node, depth: int) -> Iterator[str]:
    if depth > 1:
        yield "groups"
    found = node.get("metadata").members()
    if found:
        yield "metadata"
    for value in found.values():
        yield from kinds(value.json())
    for child in node.get("children").members().values():
        yield from _features(child, depth + 1)
