"""The numbers of the events that the nesting kernel logs; a grammar as arrays for this kernel."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from exset.parsers.custom import nesting as k
from exset.parsers.custom.shape import Shape
from exset.parsers.engine.expectation import CLOSERS
from exset.parsers.engine.lowering import name_of


@dataclass(frozen=True)
class Events:
    """Numbers for all kinds of events.

    A kind is: the tokens of a terminal in a table, the rows of a table, or the parents of these
    rows.
    """

    shape: Shape
    terminals: tuple[str, ...]

    @cached_property
    def columns(self) -> dict[tuple[str, str], int]:
        """The number of the event for tokens of a terminal in a table, by both names."""
        names = [
            (table, child)
            for table, children in self.shape.children.items()
            for child in children
            if child in self.terminals
        ]
        return {name: number for number, name in enumerate(names)}

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The number for the rows of a table, by its name."""
        return {name: len(self.columns) + at for at, name in enumerate(self.shape.children)}

    @cached_property
    def parents(self) -> Mapping[str, int]:
        """The number of the event for the parents of the rows of a table, by the table's name."""
        return {name: event + len(self.rows) for name, event in self.rows.items()}

    @cached_property
    def of_tokens(self) -> Mapping[int, str]:
        """For the number of each event of tokens, the name of the table that has the tokens."""
        return {event: table for (table, _), event in self.columns.items()}

    @cached_property
    def of_parents(self) -> Mapping[int, str]:
        """For the number of each event of parents, the name of the table whose rows have these
        parents.
        """
        return {event: name for name, event in self.parents.items()}

    @property
    def count(self) -> int:
        """How many kinds of events there are."""
        return len(self.columns) + 2 * len(self.rows)

    @cached_property
    def with_third(self) -> frozenset[int]:
        """The numbers of the events for which `Part.third` must be stored.

        For other events, `Part.third` is known: each row has one token, or all parents are in one
        table.
        """
        children, parents = self.shape.children, self.shape.parents
        some = {event for key, event in self.columns.items() if children[key[0]][key[1]] != (1, 1)}
        return frozenset(some | {e for name, e in self.parents.items() if len(parents[name]) > 1})


def rules_of(
    shape: Shape, terminals: tuple[str, ...], events: Events, lists: frozenset[str]
) -> k.Rules:
    """Return a grammar as the arrays that the kernel of `nesting` uses.

    terminals: the names of the terminals, in order. events: the numbers of the events. lists: the
    rules whose items may be records.
    """
    rules, kept = list[int](), list[bool]()
    tables = {name: number for number, name in enumerate(shape.children)}
    for rule in shape.rules:
        rules += [len(rule.expansion), shape.mode(rule), len(kept), shape.lacks(rule)]
        flags = [shape.is_kept(rule, symbol) for symbol in rule.expansion]
        rules += [tables.get(name_of(rule), -1), rule.origin.name in lists, not all(flags)]
        kept += flags
    columns = np.full((len(tables), len(terminals)), -1, np.int64)
    for (table, terminal), event in events.columns.items():
        columns[tables[table], terminals.index(terminal)] = event
    closing = np.zeros(128, np.uint8)
    for opener, closer in CLOSERS.items():
        closing[ord(opener)] = ord(closer)
    marks = [ord(mark) if mark else 0 for mark in shape.marks(terminals)]
    sizes = np.empty(k.SIZES, np.int64)
    sizes[[k.TERMINALS, k.TABLES]] = len(terminals), len(tables)
    sizes[k.COLUMNS] = len(events.columns)
    return k.Rules(
        rules=np.array(rules, np.int64),
        kept=np.array(kept, np.uint8),
        columns=columns.reshape(-1),
        marks=np.array(marks, np.uint8),
        closing=closing,
        sizes=sizes,
    )
