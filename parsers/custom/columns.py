"""The columns of a parsed text: a table for each kind of node."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from exset.grammars.columns.arrays import Flags, Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text, spread
from exset.grammars.tables.table import Table
from exset.parsers.custom.shape import MANY, Count, Shape

PARENT, PARENT_RULE, START, END = "parent", "parent_rule", "start", "end"


@dataclass(frozen=True)
class Rows:
    """The rows of a table. Each row is a node; the rows are in the order in which the nodes end.

    starts, ends: int64 [rows], where the bytes of each node begin and end. children: int64, the
    rows that have a parent. parents: int64, the row of each parent. tables: int64, the table of
    each parent; empty if all parents are in the same table.
    """

    starts: Longs
    ends: Longs
    children: Longs
    parents: Longs
    tables: Longs


@dataclass(frozen=True)
class Values:
    """The values of a terminal in a table, in the order in which the nodes of the table end.

    read: a function that returns the values with the given indices. owners: int64, the row of each
    value; None if every row has exactly one value.
    """

    read: Callable[[Longs | slice], TableColumn]
    owners: Longs | None


@dataclass(frozen=True, eq=False)
class Columns(Mapping[str, Table]):
    """The tables of a parsed text: `columns[name]`, for each rule or alias of the grammar.

    A row is a node of Lark's tree. A terminal becomes a column of single values; if the text leaves
    the terminal out, the row has no value. A terminal that the grammar allows several times in a
    node becomes a column of lists. Each table also has these columns:

    - `parent`: the row of the node above, in the table of the rule of that node.
    - `parent_rule`: the name of this rule, if the node above can be of several rules.
    - `start`, `end`: the first byte of the node, and the byte after its last.

    In a chunk of a stream, rows count from 0, and `parent` has no value if the node above is in a
    later chunk.
    """

    shape: Shape = field(repr=False)
    nodes: Mapping[str, Rows] = field(repr=False)
    tokens: Mapping[tuple[str, str], Values] = field(repr=False)

    def __getitem__(self, name: str) -> Table:
        """Return the table of a rule or an alias. Raises KeyError for an unknown name."""
        if name not in self._tables:
            self._tables[name] = self._table(name)
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.shape.children)

    def __len__(self) -> int:
        return len(self.shape.children)

    def __repr__(self) -> str:
        rows = ", ".join(f"{name}: {len(rows.starts)}" for name, rows in self.nodes.items())
        return f"Columns({rows} rows)"

    def to_table(self, name: str) -> Table:
        """Return the table of a rule, with the tables of its children as columns `child.COLUMN`.

        Children that the grammar allows several times become lists. The table does not include
        lists in lists, the children of a child that has lists, and rules that can contain
        themselves. Raises KeyError for an unknown name.
        """
        own = self[name]
        columns = {key: own.columns[key] for key in own.columns if not _is_place(key)}
        return Table(columns | self._below(name), own.rows, {})

    @cached_property
    def _tables(self) -> dict[str, Table]:
        return {}

    @cached_property
    def _orders(self) -> dict[str, tuple[Longs, Longs] | None]:
        return {}

    def _order(self, name: str) -> tuple[Longs, Longs] | None:
        """Return the rows of the table `name` in the order in which their nodes begin, and the
        place of each row in this order.

        Rows are numbered in the order in which the nodes end. The two orders differ if a node
        contains another node of the same rule: the outer node begins first, but ends last. Returns
        None if both orders are the same.
        """
        if name not in self._orders:
            starts = self.nodes[name].starts
            if name not in self.shape.recursive or (starts[1:] > starts[:-1]).all():
                self._orders[name] = None
            else:
                order = len(starts) - 1 - starts[::-1].argsort(kind="stable")
                places = np.empty_like(order)
                places[order] = np.arange(len(order))
                self._orders[name] = order, places
        return self._orders[name]

    def _placed(self, name: str, rows: Longs) -> Longs:
        """Return the places of `rows` of the table `name`, in the order in which nodes begin."""
        order = self._order(name)
        return rows if order is None else order[1][rows]

    def _table(self, name: str) -> Table:
        rows, order = self.nodes[name], self._order(name)
        count = len(rows.starts)
        columns: dict[str, TableColumn] = {}
        for child, how_many in self.shape.children[name].items():
            if (values := self.tokens.get((name, child))) is not None:
                columns[child] = self._column(name, values, how_many)
        by_rows = self._parents(name)
        by_rows[START], by_rows[END] = Numbers.of(rows.starts), Numbers.of(rows.ends)
        for key, column in by_rows.items():
            columns[key] = column if order is None else column.take(order[0])
        return Table(columns, count, {})

    def _column(self, name: str, values: Values, count: Count) -> TableColumn:
        """Return the column of a terminal. `count`: how many of the terminal's tokens a node can
        have.
        """
        order, owners = self._order(name), values.owners
        if order is None:
            return _column(values.read(slice(None)), owners, len(self.nodes[name].starts), count)
        if owners is None:
            return values.read(order[0])
        owners = order[1][owners]
        chosen = owners.argsort(kind="stable")
        rows = len(self.nodes[name].starts)
        return _column(values.read(chosen), owners[chosen], rows, count)

    def _parents(self, name: str) -> dict[str, TableColumn]:
        """Return the columns `parent` and `parent_rule` of the table `name`, in the order of the
        table's rows.
        """
        rows, above = self.nodes[name], self.shape.parents[name]
        count, tables = len(rows.starts), tuple(self.shape.children)
        parents = rows.parents.copy()
        if len(above) > 1:
            for number, table in enumerate(tables):
                if (inside := rows.tables == number).any():
                    parents[inside] = self._placed(table, parents[inside])
        elif above:
            parents = self._placed(above[0], parents)
        present, numbers = np.ones(count, np.bool_), rows.tables
        children = rows.children
        if len(children) < count or (children[1:] < children[:-1]).any():
            present = np.zeros(count, np.bool_)
            present[children] = True
            parents, numbers = (_placed(each, children, count) for each in (parents, numbers))
        columns: dict[str, TableColumn] = {PARENT: Numbers.of(parents, present)}
        if len(above) > 1:
            columns[PARENT_RULE] = _names(tables, numbers, present)
        return columns

    def _owners(self, name: str, child: str) -> tuple[Longs, Longs]:
        """Return the rows of the table `child` whose parents are in the table `name`, and the rows
        of these parents.
        """
        rows = self.nodes[child]
        mine = np.arange(len(rows.children))
        if len(self.shape.parents[child]) > 1:
            mine = np.flatnonzero(rows.tables == tuple(self.shape.children).index(name))
        found = self._placed(child, rows.children[mine])
        owners = self._placed(name, rows.parents[mine])
        order = np.lexsort((found, owners))
        return found[order], owners[order]

    def _below(self, name: str) -> dict[str, TableColumn]:
        """Return the columns that `to_table` adds to the table `name`: those of the children of
        each row.
        """
        columns: dict[str, TableColumn] = {}
        for child, count in self.shape.children[name].items():
            if child not in self.nodes or child in self.shape.recursive:
                continue
            table = self[child]
            inner = {key: table.columns[key] for key in table.columns if not _is_place(key)}
            inner |= self._below(child)
            mine, owners = self._owners(name, child)
            for key, column in inner.items():
                if count.most < MANY or not isinstance(column, Lists):
                    values = column.take(mine)
                    columns[f"{child}.{key}"] = _column(values, owners, self[name].rows, count)
        return columns


_PLACES: Final = frozenset((PARENT, PARENT_RULE, START, END))


def _is_place(name: str) -> bool:
    return name in _PLACES


def _placed(values: Longs, rows: Longs, count: int) -> Longs:
    """Return an array of `count` numbers: `values[i]` at the index `rows[i]`, and 0 elsewhere."""
    placed = np.zeros(count, np.int64)
    placed[rows[: len(values)]] = values
    return placed


def _names(names: tuple[str, ...], chosen: Longs, present: Flags) -> Text:
    """Return a column of names, with a value in each present row.

    chosen: for each present row, the index of its name in `names`.
    """
    raw = [name.encode() for name in names]
    lengths = np.array([len(each) for each in raw], np.int64)
    ends = np.cumsum(lengths)
    buffer = np.frombuffer(b"".join(raw), np.uint8)
    spans = (ends - lengths)[chosen], ends[chosen]
    return Text.unchecked(**vars(Strings.from_spans(buffer, *spans, present)))


def _column(values: TableColumn, owners: Longs | None, rows: int, count: Count) -> TableColumn:
    """Return values as a column with a row for each node.

    owners: int64, ascending, the row of each value; None if each row has one value. rows: the
    number of rows. count: how many values a row can have.
    """
    if owners is None:
        return values
    if count.most >= MANY:
        return Lists.of(values, np.bincount(owners, minlength=rows))
    return values if len(owners) == rows else spread(values, owners, rows)
