"""The nodes that each rule of a grammar makes, and how many children of each name a node can have.

The nodes are those of Lark's tree: a node for each alias, and for each rule without a leading
underscore. A rule with `?` makes no node if it has exactly one child. A terminal that Lark filters
out is not a child.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Final, NamedTuple

from lark import Lark
from lark.grammar import Rule, Symbol

from exset.parsers.engine.expectation import CLOSERS
from exset.parsers.engine.lowering import name_of

MANY: Final = 2
"""Stands for any number above one."""


class Mode(IntEnum):
    """What a rule makes: a node; only its children; or a node, unless the rule has exactly one
    child.
    """

    CHILDREN = 0
    NODE = 1
    NODE_OR_CHILD = 2


class Count(NamedTuple):
    """The smallest and the largest number of children with the same name in a node.

    `MANY` means two or more.
    """

    least: int
    most: int

    def __add__(self, other: "Count") -> "Count":  # type: ignore[override]
        """Return the count for two consecutive parts of a rule, given the count for each part."""
        least, most = self.least + other.least, self.most + other.most
        return Count(min(least, MANY), min(most, MANY))

    def __or__(self, other: "Count") -> "Count":
        """Return the count for two alternatives of a rule, given the count for each alternative."""
        return Count(min(self.least, other.least), max(self.most, other.most))


NONE: Final = Count(0, 0)
ONE: Final = Count(1, 1)

_PLACEHOLDER: Final = ""
"""The name of a child that is absent."""

Children = Mapping[str, Count]
"""The number of children with each name: nodes and terminals."""


@dataclass(frozen=True)
class Shape:
    """The kinds of nodes of a grammar, and the children that each kind can have."""

    lark: Lark

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in the order of their numbers."""
        return tuple(self.lark.rules)

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The names of the kinds of nodes, in the order of the grammar."""
        names = (name_of(rule) for rule in self.rules if self.mode(rule) != Mode.CHILDREN)
        return tuple(dict.fromkeys(names))

    def mode(self, rule: Rule) -> Mode:
        """Return what a rule makes in Lark's tree."""
        if rule.origin.name.startswith("_") and rule.origin.name not in self.lark.options.start:
            return Mode.CHILDREN
        return Mode.NODE_OR_CHILD if rule.options.expand1 and not rule.alias else Mode.NODE

    @cached_property
    def lists(self) -> frozenset[str]:
        """The names of the rules that begin with themselves, as Lark makes them for `*` and `+`."""
        loops = (each for each in self.rules if each.expansion[:1] == [each.origin])
        return frozenset(e.origin.name for e in loops if self.mode(e) == Mode.CHILDREN)

    @cached_property
    def outer_lists(self) -> frozenset[str]:
        """The rules in `lists` that are inside the fewest nodes."""
        seen, level = set[str](), {*self.lark.options.start}
        while level:
            inside, deeper = set(level), set[str]()
            todo = [*level]
            for name in todo:
                for rule in self.rules:
                    if rule.origin.name != name:
                        continue
                    for symbol in rule.expansion:
                        is_node = not symbol.is_term and symbol.name not in self._folded
                        if is_node:
                            deeper.add(symbol.name)
                        elif not symbol.is_term and symbol.name not in inside:
                            inside.add(symbol.name)
                            todo.append(symbol.name)
            if found := inside & self.lists:
                return frozenset(found)
            seen |= inside
            level = deeper - seen
        return frozenset()

    @cached_property
    def _folded(self) -> frozenset[str]:
        """The rules that do not always make a node."""
        return frozenset(e.origin.name for e in self.rules if self.mode(e) != Mode.NODE)

    def is_kept(self, rule: Rule, symbol: Symbol) -> bool:
        """Return whether a symbol of a rule can become a child, or children, in Lark's tree."""
        filtered = symbol.is_term and getattr(symbol, "filter_out", False)
        return bool(rule.options.keep_all_tokens) or not filtered

    def lacks(self, rule: Rule) -> int:
        """Return the number of placeholders that Lark adds to a rule for absent children.

        Lark counts placeholders as children when it decides whether a rule has exactly one child.
        """
        has_placeholders = bool(self.lark.options.maybe_placeholders)
        return sum(rule.options.empty_indices or ()) if has_placeholders else 0

    @cached_property
    def children(self) -> dict[str, dict[str, Count]]:
        """For each kind of node, the names of its children, each with its count."""
        given = self._given()
        found: dict[str, dict[str, Count]] = {}
        for rule in self.rules:
            if self.mode(rule) == Mode.CHILDREN:
                continue
            inside = self._inside(rule, given)
            if inside is None or (self.mode(rule) == Mode.NODE_OR_CHILD and _is_one(inside)):
                continue
            name = name_of(rule)
            found[name] = _either(found.get(name, inside), inside)
        for inside in found.values():
            inside.pop(_PLACEHOLDER, None)
        return {name: found[name] for name in self.nodes if name in found}

    @cached_property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """For each kind of node, the kinds that can be its parent."""
        return {
            name: tuple(each for each, inside in self.children.items() if name in inside)
            for name in self.children
        }

    @cached_property
    def recursive(self) -> frozenset[str]:
        """The kinds of nodes that can contain a node of the same kind, at any depth."""
        below = {name: {*inside} & {*self.children} for name, inside in self.children.items()}
        while True:
            more = {
                name: set().union(one, *(below[each] for each in one))
                for name, one in below.items()
            }
            if more == below:
                return frozenset(name for name, inside in below.items() if name in inside)
            below = more

    def marks(self, terminals: Sequence[str]) -> list[str]:
        """Return for each terminal its text if it is a bracket or a quotation mark, else ""."""
        brackets = {*CLOSERS, *CLOSERS.values()}
        texts = {each.name: each.pattern for each in self.lark.terminals}
        return [
            str(texts[name].value)
            if texts[name].type == "str" and texts[name].value in brackets
            else ""
            for name in terminals
        ]

    def _given(self) -> dict[str, dict[str, Count]]:
        """Return the children that each symbol adds to its parent, with their counts."""
        given: dict[str, dict[str, Count]] = {}
        while True:
            after: dict[str, dict[str, Count]] = {}
            for rule in self.rules:
                inside = self._inside(rule, given)
                if inside is None:
                    continue
                origin, node = rule.origin.name, {name_of(rule): ONE}
                for part in _becomes(self.mode(rule), inside, node):
                    after[origin] = _either(after[origin], part) if origin in after else dict(part)
            if after == given:
                return given
            given = after

    def _inside(
        self, rule: Rule, given: Mapping[str, Mapping[str, Count]]
    ) -> dict[str, Count] | None:
        """Return the children of a rule with their counts, computed from what each of its symbols
        adds.

        given: the children that each symbol adds, as far as known. Returns None if `given` lacks
        one of the rule's symbols.
        """
        total: dict[str, Count] = {}
        if lacks := min(self.lacks(rule), MANY):
            total[_PLACEHOLDER] = Count(lacks, lacks)
        for symbol in rule.expansion:
            if not self.is_kept(rule, symbol):
                continue
            part = {symbol.name: ONE} if symbol.is_term else given.get(symbol.name)
            if part is None:
                return None
            for name, count in part.items():
                total[name] = total.get(name, NONE) + count
        return total


def _becomes(mode: Mode, inside: Children, node: Children) -> Iterable[Children]:
    """Return the children that a rule may add to its parent: one or two alternatives.

    inside: the children of the rule. node: the node of the rule, as a child.
    """
    if mode == Mode.CHILDREN:
        return [inside]
    if mode == Mode.NODE:
        return [node]
    least = sum(count.least for count in inside.values())
    most = sum(count.most for count in inside.values())
    can_be_one = least <= 1 <= most
    single = [{name: Count(0, min(count.most, 1)) for name, count in inside.items()}]
    if _is_one(inside):
        return [inside]
    return [node, *(single if can_be_one else [])]


def _is_one(inside: Children) -> bool:
    """Return whether there is always exactly one child, whatever its name."""
    return [count for count in inside.values() if count.most] == [ONE]


def _either(one: Children, other: Children) -> dict[str, Count]:
    """Return the counts of children for two alternatives, given the counts for each alternative."""
    names = dict.fromkeys([*one, *other])
    return {name: one.get(name, NONE) | other.get(name, NONE) for name in names}
