"""Collect what a writer must know about a whole table before it writes the table's first chunk."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Self

from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import ITEM, ColumnPath, Lists, Numbers, Records, TableColumn
from exset.grammars.tables.table import Table

_OFFSET: Final = 8
_SMALL: Final = 1 << 23
"""About the bytes of rows that writers encode at once."""


@dataclass
class Survey:
    """Facts about a whole table, collected from its chunks.

    `first`: a table without rows that has the columns and the metadata. `size`: the number of
    bytes of all values. `absent`: the paths of the columns in which some rows have no value.
    `totals`: by path, the number of items of all lists, and of bytes of all strings.
    """

    first: Table
    rows: int = 0
    size: int = 0
    absent: set[ColumnPath] = field(default_factory=set)
    totals: Counter[ColumnPath] = field(default_factory=Counter)

    @classmethod
    def of(cls, tables: Iterable[Table]) -> Self:
        """Return the survey of one or more tables with the same columns."""
        found: Self | None = None
        for table in tables:
            found = cls(table[:0]) if found is None else found
            found.add(table)
        assert found is not None, "a streamer yields at least one table"
        return found

    def add(self, table: Table) -> None:
        """Add the facts about the next chunk of the table."""
        self.rows += table.rows
        for name, column in table.columns.items():
            self._add((name,), column)

    def _add(self, path: ColumnPath, column: TableColumn) -> None:
        if not column.present.all():
            self.absent.add(path)
        if isinstance(column, Numbers):
            self.size += column.values.nbytes
        elif isinstance(column, Strings):
            self.totals[path] += column.data.size
            self.size += column.data.size + _OFFSET * len(column)
        elif isinstance(column, Lists):
            self.totals[path] += len(column.items)
            self.size += _OFFSET * len(column)
            self._add((*path, ITEM), column.items)
        elif isinstance(column, Records):
            for name, inner in column.fields.items():
                self._add((*path, name), inner)

    def rows_of(self, size: int) -> int:
        """Return how many rows of the table have about `size` bytes: at least 1.

        The result is the same however the table was divided into chunks.
        """
        return max(1, size * max(1, self.rows) // max(1, self.size))


def in_batches(tables: Iterable[Table], rows: int) -> Iterator[Table]:
    """Divide the rows of tables with the same columns into tables of `rows` rows each; only
    the last may have fewer.

    The lengths of the given tables do not matter. If there are no rows, yield no table.
    """
    kept: list[Table] = []
    missing = rows
    for table in tables:
        at = 0
        while table.rows - at >= missing:
            yield Table.concat([*kept, table[at : at + missing]])
            at += missing
            kept, missing = [], rows
        if at < table.rows:
            kept.append(table[at:] if at else table)
            missing -= table.rows - at
    if kept:
        yield Table.concat(kept)


def small(tables: Iterable[Table]) -> Iterator[Table]:
    """Divide tables into tables of consecutive rows that have few bytes each."""
    for table in tables:
        rows = Survey.of([table]).rows_of(_SMALL)
        for begin in range(0, max(table.rows, 1), rows):
            yield table if table.rows <= rows else table[begin : begin + rows]
