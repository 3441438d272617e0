"""Hypothesis strategies for schemas of HDF5 data: unusual names and values, and matching pairs.

They leave out everything that conduit cannot read from YAML: NUL in names and texts, texts that
look like numbers (even quoted), lone surrogates, and integers beyond 64 bits.
"""

from functools import cache
from typing import Any

from hypothesis import strategies as st

from exset.grammars.lbann.schema import (
    DIRECTIVES,
    HWC,
    METADATA,
    Directive,
    Node,
    Schema,
    Value,
    to_value,
)
from exset.parsers.lbann.conduit import INT64, scalar

_CHARACTERS = st.characters(exclude_characters="\0", codec="utf-8")
_RARE = st.sampled_from(
    [
        *("0.0", "(90.0, 0.0)", "010", "true", "null", "~", "<<", "- a", "a: b", "a #b", "#", "&a"),
        *("*a", "!b", "|", ">", "'", '"', "\\", "{}", "[1]", "%", "@", "`", "?", ":", "-", "---"),
        *(" a", "a ", "\ta", "\n", "a\r\nb", "\x85", "\u2028", "\ufeff", "é", "\U0001f600", ""),
    ]
)


@cache
def names() -> st.SearchStrategy[str]:
    """Return a strategy for names of nodes: any text except `metadata`."""
    plain = st.text("abcxyz_019.", min_size=1, max_size=4)
    return (plain | _RARE | st.text(_CHARACTERS, max_size=6)).filter(lambda name: name != METADATA)


@cache
def values() -> st.SearchStrategy[Value]:
    """Return a strategy for the values of directives, in conduit's normal form."""
    texts = (_RARE | st.text(_CHARACTERS, max_size=6)).filter(lambda text: scalar(text) == text)
    numbers = st.integers(*INT64) | st.floats() | st.integers(-3, 3)
    leaves: st.SearchStrategy[Any] = st.none() | numbers | texts
    nested = st.recursive(
        leaves | st.lists(numbers, max_size=4),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names(), inner, max_size=2),
        max_leaves=4,
    )
    return nested.map(to_value)


@cache
def metadata() -> st.SearchStrategy[dict[str, Directive]]:
    """Return a strategy for the directives of a node."""
    known = st.sampled_from([*DIRECTIVES, HWC])
    keys = known | names()
    return st.dictionaries(keys, values().map(Directive), max_size=3)


@cache
def schemas(*, min_fields: int = 0) -> st.SearchStrategy[Schema]:
    """Return a strategy for schemas with unusual names and values, without files."""
    leaves = metadata().map(lambda directives: Node(metadata=directives))

    def groups(nodes: st.SearchStrategy[Node], least: int = 0) -> st.SearchStrategy[Node]:
        below = st.dictionaries(names(), nodes, min_size=least, max_size=3)
        return st.builds(Node, below, metadata())

    return groups(st.recursive(leaves, groups, max_leaves=6), min_fields).map(Schema)


@st.composite
def schema_pairs(draw: st.DrawFn) -> tuple[Schema, Schema]:
    """Draw a data schema, and an experiment schema that selects some of its fields."""
    data = draw(schemas(min_fields=1))

    def pruned(node: Node) -> Node:
        kept = draw(st.sets(st.sampled_from(sorted(node.children)), min_size=1, max_size=3))
        return Node({name: below(node.children[name]) for name in sorted(kept)}, draw(metadata()))

    def below(node: Node) -> Node:
        if not node.children or draw(st.booleans()):
            return Node(metadata=draw(metadata()))
        return pruned(node)

    return data, Schema(pruned(data.root))
