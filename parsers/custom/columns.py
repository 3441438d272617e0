"""The columns of a parse: a table for each node of the grammar."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from exset.core.source import Source
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text
from exset.grammars.tables.table import Table
from exset.parsers.custom.nodes import Nodes
from exset.parsers.custom.shape import MANY, Count, Shape
from exset.parsers.engine.lowering import name_of
from exset.parsers.engine.stream import ParseStream

Read = Callable[[str, Longs, Longs], TableColumn]
"""Returns the values of a terminal, from its name, and the first and last bytes of its tokens."""

PARENT, PARENT_RULE, START, END = "parent", "parent_rule", "start", "end"


class _Places(NamedTuple):
    """The nodes of each table, in the order of the text, and the row of each node in its table."""

    nodes: dict[str, Longs]
    rows: Longs


@dataclass(frozen=True, eq=False)
class Columns(Mapping[str, Table]):
    """The tables of a parsed text: `columns[name]`, for each rule or alias of the grammar.

    A row is a node of Lark's tree. A terminal is a column of single values, which are absent where
    the text leaves the terminal out. If the grammar allows several in a node, it is a column of
    lists. `parent` is the row of the node above, in the table of its rule, which `parent_rule`
    names if there are several. `start` and `end` are the first byte, and the byte after the last
    one.
    """

    shape: Shape
    source: Source
    stream: ParseStream
    nodes: Nodes
    terminals: tuple[str, ...]
    read: Read

    def __getitem__(self, name: str) -> Table:
        """Return the table of a rule or an alias. Raises KeyError."""
        if name not in self._tables:
            self._tables[name] = self._table(name)
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.shape.children)

    def __len__(self) -> int:
        return len(self.shape.children)

    def __repr__(self) -> str:
        rows = ", ".join(f"{name}: {len(places)}" for name, places in self._places.nodes.items())
        return f"Columns({rows} rows)"

    def to_table(self, name: str) -> Table:
        """Return the table of a rule with the tables of its children as columns `child.COLUMN`.

        Children that the grammar allows several times become lists. Lists in lists, and the
        children of children with lists, stay in their own tables. Raises KeyError.
        """
        own = self[name]
        columns = {key: own.columns[key] for key in own.columns if not _is_place(key)}
        columns |= self._below(name, (name,))
        return Table(columns, own.rows, {})

    @cached_property
    def _tables(self) -> dict[str, Table]:
        return {}

    @cached_property
    def _places(self) -> _Places:
        names = {name: number for number, name in enumerate(self.shape.children)}
        table_of = np.array([names.get(name_of(rule), -1) for rule in self.shape.rules], np.int64)
        tables, rows = table_of[self.nodes.rules], np.zeros(len(self.nodes.rules), np.int64)
        found: dict[str, Longs] = {}
        for name, number in names.items():
            nodes = np.flatnonzero(tables == number)
            begins = self.nodes.begins[nodes]
            if (begins[1:] <= begins[:-1]).any():  # nested: a node above comes first
                nodes = nodes[np.lexsort((-nodes, begins))]
            rows[nodes] = np.arange(len(nodes))
            found[name] = nodes
        return _Places(found, rows)

    def _table(self, name: str) -> Table:
        nodes = self._places.nodes[name]
        columns: dict[str, TableColumn] = {}
        for child, count in self.shape.children[name].items():
            if child in self.terminals:
                columns[child] = self._terminal(name, child, count)
        parents = self.nodes.parents[nodes]
        above = np.where(parents < 0, 0, self._places.rows[parents])
        columns[PARENT] = Numbers.of(above, parents >= 0)
        if len(self.shape.parents[name]) > 1:
            columns[PARENT_RULE] = self._rule_names(parents)
        begins, ends = self._spans(nodes)
        columns[START], columns[END] = Numbers.of(begins), Numbers.of(ends)
        return Table(columns, len(nodes), {})

    def _spans(self, nodes: Longs) -> tuple[Longs, Longs]:
        """Return the bytes of nodes; a node without tokens begins and ends where the next would."""
        begins, ends = self.nodes.begins[nodes], self.nodes.ends[nodes]
        starts = _at(self.stream.starts, begins, len(self.source.content))
        has_tokens = ends > begins
        after = np.where(has_tokens, _at(self.stream.ends, ends - has_tokens, 0), starts)
        return starts, after

    def _rule_names(self, nodes: Longs) -> Text:
        """Return the name of the rule of each node; -1 is no node."""
        names = [name_of(rule).encode() for rule in self.shape.rules]
        chosen = np.where(nodes < 0, 0, self.nodes.rules[nodes]) if len(nodes) else nodes
        lengths = np.array([len(each) for each in names], np.int64)
        ends = np.cumsum(lengths)
        buffer = np.frombuffer(b"".join(names), np.uint8)
        spans = (ends - lengths)[chosen], ends[chosen]
        return Text.unchecked(**vars(Strings.from_spans(buffer, *spans, nodes >= 0)))

    def _terminal(self, name: str, terminal: str, count: Count) -> TableColumn:
        """Return the column of a terminal in the table of a rule."""
        kind, rows = self.terminals.index(terminal), len(self._places.nodes[name])
        tokens = np.flatnonzero(self.stream.kinds == kind)
        mine, owners = self._owned(name, self.nodes.token_parents[tokens])
        tokens = tokens[mine]
        values = self.read(terminal, self.stream.starts[tokens], self.stream.ends[tokens])
        return spread(values, owners, rows, count)

    def _owned(self, name: str, parents: Longs) -> tuple[Longs, Longs]:
        """Return which of some parents are in a table, in the order of its rows, and their rows."""
        is_mine = np.zeros(len(self.nodes.rules) + 1, np.bool_)
        is_mine[self._places.nodes[name]] = True
        mine = np.flatnonzero(is_mine[parents])  # -1, no node, is the last entry
        owners = self._places.rows[parents[mine]]
        if (owners[1:] < owners[:-1]).any():
            order = np.argsort(owners, kind="stable")
            mine, owners = mine[order], owners[order]
        return mine, owners

    def _below(self, name: str, path: tuple[str, ...]) -> dict[str, TableColumn]:
        """Return the columns of the nodes below each row of a table."""
        columns: dict[str, TableColumn] = {}
        for child, count in self.shape.children[name].items():
            if child in self.terminals or child in path:
                continue
            table = self[child]
            inner = {key: table.columns[key] for key in table.columns if not _is_place(key)}
            inner |= self._below(child, (*path, child))
            parents = self.nodes.parents[self._places.nodes[child]]
            mine, owners = self._owned(name, parents)
            for key, column in inner.items():
                if count.most < MANY or not isinstance(column, Lists):
                    columns[f"{child}.{key}"] = spread(
                        column.take(mine), owners, len(self._places.nodes[name]), count
                    )
        return columns


_PLACES: Final = frozenset((PARENT, PARENT_RULE, START, END))


def _is_place(name: str) -> bool:
    return name in _PLACES


def _at(array: Longs, indices: Longs, beyond: int) -> Longs:
    """Return the elements at the indices; `beyond` replaces elements after the last one."""
    if not len(array):
        return np.full(len(indices), beyond, np.int64)
    is_inside = indices < len(array)
    found = array[np.minimum(indices, len(array) - 1)]
    return found if is_inside.all() else np.where(is_inside, found, beyond)


def spread(values: TableColumn, owners: Longs, rows: int, count: Count) -> TableColumn:
    """Return values as a column of rows: owners, int64 in order, has the row of each value."""
    if count.most >= MANY:
        return Lists.of(values, np.bincount(owners, minlength=rows))
    if len(owners) == rows:
        return values
    at = np.full(rows, len(values), np.int64)
    at[owners] = np.arange(len(values))
    return _with_absent(values).take(at)


def _with_absent(column: TableColumn) -> TableColumn:
    """Return a column with one more row, which is absent."""
    if isinstance(column, Numbers):
        values = np.concatenate([column.values, np.zeros(1, column.values.dtype)])
        return Numbers.of(values, np.append(column.present, False))
    if isinstance(column, Lists):
        return Lists.of(
            column.items, np.append(column.lengths, 0), np.append(column.present, False)
        )
    assert isinstance(column, Strings)
    return type(column).concat([column, type(column).empty(1)])
