"""Hypothesis strategies for LBANN's sample lists and schemas, with unusual names and values.

The schemas have nothing that conduit cannot read from YAML. So they have no NUL in names and texts,
no texts that look like numbers (even in quotes), no lone surrogates, and no integers beyond 64
bits.
"""

from functools import cache
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from exset.grammars.lbann import schema
from exset.grammars.lbann.list_files import File
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.lbann.schema import Directive, Node, Schema, Value
from exset.parsers.lbann.conduit import INT64, scalar

_BLANKS = frozenset(b" \t\n\v\f\r")
_CHARACTERS = st.characters(exclude_characters="\0", codec="utf-8")
_RARE = st.sampled_from(
    [
        *("0.0", "(90.0, 0.0)", "010", "true", "null", "~", "<<", "- a", "a: b", "a #b", "#", "&a"),
        *("*a", "!b", "|", ">", "'", '"', "\\", "{}", "[1]", "%", "@", "`", "?", ":", "-", "---"),
        *(" a", "a ", "\ta", "\n", "a\r\nb", "\x85", "\u2028", "\ufeff", "é", "\U0001f600", ""),
    ]
)


def words() -> st.SearchStrategy[bytes]:
    """Return a strategy for names and ids: one or more bytes without white space."""
    rare = st.binary(min_size=1, max_size=6).map(
        lambda raw: bytes(byte for byte in raw if byte not in _BLANKS) or b"x"
    )
    common = st.sampled_from(
        [b"a.h5", b"/b.h5", b"#", b"...", b"1", b"-2", b"RUN/003", b"s\xc2\xa0t", b"\0"]
    )
    return common | rare


@st.composite
def sample_lists(
    draw: st.DrawFn,
    *,
    kind: Kind | None = None,
    ids: Literal["text", "integer"] | None = None,
    max_files: int = 5,
) -> SampleList:
    """Draw a sample list. By default, it has any kind, and ids of any type."""
    kinds = [each for each in Kind if not (ids == "integer" and each.is_exclusion)]
    kind = draw(st.sampled_from(kinds)) if kind is None else kind
    names = draw(st.lists(words(), max_size=max_files, unique=not kind.is_single))
    sort = ids or draw(st.sampled_from(["text", "integer"]))
    integers = sort == "integer" and not kind.is_exclusion
    files = [File(name) for name in names]
    if not kind.is_single:
        others = st.integers(0, 5) | st.integers(0, 2**50) if kind.has_excluded else st.just(0)
        numbers = st.lists(st.integers(-3, 12) | st.integers(-(2**62), 2**62), max_size=6)
        texts = st.lists(words(), max_size=6, unique=kind.is_exclusion)
        files = [
            File(name, draw(numbers) if integers else draw(texts), draw(others)) for name in names
        ]
    label_file = draw(st.just(b"") | words()) if kind.has_label_file else None
    made = SampleList.of(kind, draw(words()), files, label_file=label_file)
    return made.with_integer_ids() if integers and not len(made.ids) else made


def repeated(samples: SampleList) -> SampleList:
    """Return a list that has each file twice, and excludes no samples. LBANN accepts this form."""
    whole = samples.with_unchecked(others=np.zeros(len(samples.name), np.uint64))
    return whole.concat(whole)


@cache
def names() -> st.SearchStrategy[str]:
    """Return a strategy for names of nodes: any text except `metadata`."""
    plain = st.text("abcxyz_019.", min_size=1, max_size=4)
    return (plain | _RARE | st.text(_CHARACTERS, max_size=6)).filter(
        lambda name: name != schema.METADATA
    )


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
    return nested.map(schema.to_value)


@cache
def metadata() -> st.SearchStrategy[dict[str, Directive]]:
    """Return a strategy for the directives of a node."""
    known = st.sampled_from(schema.DIRECTIVES)
    keys = known | names()
    some = st.dictionaries(keys, values().map(Directive), max_size=3)
    return st.builds(dict[str, Directive]) | some  # most drawn values are wrong


@cache
def schemas(*, min_fields: int = 0) -> st.SearchStrategy[Schema]:
    """Return a strategy for schemas with unusual names and values."""
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
