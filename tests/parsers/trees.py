"""The trees of Lark and the tables of exset in one form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lark import Lark, Token, Tree

from exset.grammars.tables.columns import Lists
from exset.parsers.custom.columns import Columns


@dataclass(frozen=True, eq=False)
class Node:
    """A node: its tokens by terminal, the node above as rule and row, and its bytes, if any."""

    tokens: Mapping[str, Sequence[str]]
    parent: tuple[str, int] | None
    bytes: tuple[int, int] | None

    def __eq__(self, other: object) -> bool:
        """Compare; Lark leaves out brackets around a token, but has those around an empty node."""
        assert isinstance(other, Node)
        one, two = self.bytes or other.bytes, other.bytes or self.bytes
        if one is not None and two is not None and one != two:
            inner, outer = sorted((one, two), key=lambda each: each[1] - each[0])
            if not outer[0] <= inner[0] <= inner[1] <= outer[1]:
                return False
        return (self.tokens, self.parent) == (other.tokens, other.parent)


Nodes: TypeAlias = dict[str, list[Node]]
"""The nodes of each rule, in the order of the text."""


def parser(text: str, **options: Any) -> Lark:
    """Return Lark's parser, which notes the places of the nodes."""
    return Lark(text, parser="lalr", propagate_positions=True, **options)


def of_lark(tree: Tree[Token] | Token, text: str) -> Nodes:
    """Return the nodes of a tree of Lark."""
    found: Nodes = {}
    offsets = [0]
    for character in text:
        offsets.append(offsets[-1] + len(character.encode()))
    todo: list[tuple[Tree[Token] | Token, tuple[str, int] | None]] = [(tree, None)]
    while todo:
        node, parent = todo.pop()
        if isinstance(node, Token):
            continue
        tokens: dict[str, list[str]] = {}
        for child in node.children:
            if isinstance(child, Token):
                tokens.setdefault(child.type, []).append(str(child))
        name = str(node.data)
        place = None
        if not node.meta.empty:
            place = offsets[node.meta.start_pos], offsets[node.meta.end_pos]
        rows = found.setdefault(name, [])
        me = name, len(rows)
        rows.append(Node(tokens, parent, place))
        todo += [(child, me) for child in reversed(node.children) if child is not None]
    return found


def of_columns(columns: Columns) -> Nodes:
    """Return the nodes of a parse."""
    found: Nodes = {}
    for name, table in columns.items():
        above = columns.shape.parents[name]
        for row in table:
            values = {**row}
            start, end = values.pop("start"), values.pop("end")
            number, rule = values.pop("parent"), values.pop("parent_rule", None) or above[0:1]
            tokens = {
                key: [*value] if isinstance(table.columns[key], Lists) else [value]
                for key, value in values.items()
                if value is not None
            }
            tokens = {key: some for key, some in tokens.items() if some}
            parent = (
                None if number is None else (rule if isinstance(rule, str) else rule[0], number)
            )
            place = (start, end) if end > start else None
            found.setdefault(name, []).append(Node(tokens, parent, place))
    return found
