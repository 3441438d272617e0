"""The trees of Lark and of exset in one form."""

from typing import TypeAlias

from lark import Token, Tree

from exset.parsers.custom.columns import Columns
from exset.parsers.engine.lowering import name_of

Plain: TypeAlias = "tuple[str, str | list[Plain]]"
"""A token with its text, or a node with its children."""


def of_lark(tree: Tree[Token] | Token) -> Plain:
    """Return a tree of Lark, without placeholders."""
    if isinstance(tree, Token):
        return tree.type, str(tree)
    return str(tree.data), [of_lark(child) for child in tree.children if child is not None]


def of_columns(columns: Columns) -> list[Plain]:
    """Return the trees in columns: of the nodes and tokens that nothing contains."""
    nodes, stream = columns.nodes, columns.stream
    names = [name_of(rule) for rule in columns.shape.rules]
    below: dict[int, list[tuple[float, Plain]]] = {}
    for token, (kind, start, end, parent) in enumerate(
        zip(stream.kinds, stream.starts, stream.ends, nodes.token_parents, strict=True)
    ):
        word = columns.terminals[kind], columns.source.data[start:end].decode()
        below.setdefault(int(parent), []).append((token, word))
    for node, (rule, begin, parent) in enumerate(
        zip(nodes.rules.tolist(), nodes.begins.tolist(), nodes.parents.tolist(), strict=True)
    ):
        # A node without tokens is before the token with its number, all others contain theirs.
        children = [child for _, child in sorted(below.get(node, []), key=lambda each: each[0])]
        below.setdefault(parent, []).append((begin - 0.5, (names[rule], children)))
    return [tree for _, tree in below[-1]]
