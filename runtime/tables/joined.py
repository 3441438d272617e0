"""Join the tables of shards, whose columns may differ."""

from collections.abc import Sequence

from exset.core.errors import FormatError, Place
from exset.core.text import safe
from exset.grammars.tables.cells import CELL, Room, absent_size
from exset.grammars.tables.column_types import absent
from exset.grammars.tables.columns import Numbers, TableColumn, type_of
from exset.grammars.tables.sidecar import with_type
from exset.grammars.tables.table import Table


def joined(tables: Sequence[Table], name: str, room: Room) -> Table:
    """Return the rows of one or more tables. In the rows of a table that lacks a column, this
    column has no values.

    If a column has different types, it gets a type that holds them all, such as lists for arrays
    of different lengths. Raises FormatError if no type holds them all. name: the name of the
    source. room: the memory that is left for columns.
    """
    if len(tables) == 1:
        return tables[0]
    names = dict.fromkeys(each for table in tables for each in table.columns)
    columns = {
        each: _joined(each, [table for table in tables if len(table)], name, room) for each in names
    }
    return Table(columns, sum(map(len, tables)), tables[0].metadata)


def _joined(column: str, tables: Sequence[Table], name: str, room: Room) -> TableColumn:
    given = [table.columns.get(column) for table in tables]
    kinds = dict.fromkeys(
        type_of(each) for each in given if each is not None and each.present.any()
    )
    candidates = [*kinds, *(_lists(kind) for kind in kinds)] or ["text"]
    for kind in candidates:
        try:
            parts = [
                absent(kind, len(table)) if each is None else with_type(each, kind)
                for each, table in zip(given, tables, strict=True)
            ]
        except ValueError:
            continue
        lacking = sum(len(part) for part, one in zip(parts, given, strict=True) if one is None)
        first = parts[0]
        cell = CELL
        if isinstance(first, Numbers):
            cell = absent_size(first.values.dtype, first.shape)
        room.take(1, lacking, cell)
        made: TableColumn = first.concat(parts)  # type: ignore[arg-type]
        return made
    message = f"the column {safe(column)!r} has several types in the shards: {', '.join(kinds)}"
    raise FormatError(message, place=Place(name), code="shards-differ")


def _lists(kind: str) -> str:
    return kind if kind.startswith("list<") else f"list<{kind.partition('[')[0]}>"
