"""The columns of a file that a layout describes: a table for each array of records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from exset.codecs.custom.shape import ROOT, Shape
from exset.codecs.engine.fields import Values
from exset.core.errors import FormatError
from exset.grammars.columns.arrays import Flags, Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.coalesce import coalesced
from exset.grammars.tables.column_types import absent
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, spread
from exset.grammars.tables.table import Table

PARENT = "parent"
"""The column with the row of the table above."""


class Found(Protocol):
    """What a driver of the engine read from a file: flat columns, each by the path of its field."""

    @property
    def starts(self) -> Mapping[str, Longs]:
        """The offsets in the file of the records of each array, by the path of the array."""

    @property
    def stopped(self) -> FormatError | None:
        """The error of the record before which an array without a count ends."""

    def __getitem__(self, path: str) -> Values:
        """Return all values of the field at `path`, in file order."""

    def counts(self, path: str) -> np.ndarray[tuple[int], np.dtype[np.integer]]:
        """Return the number of elements of the array at `path`, for each time that it occurs in the
        file.
        """

    def owners(self, path: str) -> Longs | None:
        """Return for each value of a field the index of the record that contains the value.

        Returns None for a field that every record has.
        """


@dataclass(frozen=True, eq=False)
class Columns(Mapping[str, Table]):
    """The tables of a file: `columns["root"]`, and a table for each array of records by its path.

    A field becomes a column of single values; a row has no value if its record lacks the field. An
    array of numbers, texts or bytes becomes a column of lists. The column `parent` has for each row
    the index of the row that contains it, in the table above. `end` is the offset after the last
    byte that was read.
    """

    shape: Shape
    end: int
    found: Found
    texts: Mapping[str, Strings]

    def __getitem__(self, name: str) -> Table:
        """Return a table by its name. Raises KeyError for an unknown name."""
        if name not in self._tables:
            self._tables[name] = self._table(name)
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.shape.tables)

    def __len__(self) -> int:
        return len(self.shape.tables)

    def __repr__(self) -> str:
        rows = ", ".join(f"{name}: {self.rows(name)}" for name in self)
        return f"Columns({rows} rows)"

    def rows(self, name: str) -> int:
        """Return the number of rows of a table."""
        return 1 if name == ROOT else int(self.found.counts(name).sum())

    def starts(self, name: str) -> Longs:
        """Return the offset in the file of each row of a table: int64 [rows].

        Raises KeyError for an unknown name.
        """
        return np.zeros(1, np.int64) if name == ROOT else self.found.starts[name][: self.rows(name)]

    def joined(self, name: str, field: str) -> Any:
        """Return, as one column of a table, a field that several cases of a Switch have.

        `field`: the end of the names of its columns, such as `size` for `body.1.size` and
        `body.2.size`. The columns must have one type, except that numbers may differ in dtype.
        Raises KeyError if there is no such column.
        """
        columns = self[name].columns
        found = [column for path, column in columns.items() if f".{path}".endswith(f".{field}")]
        if not found:
            raise KeyError(field)
        return coalesced(found)

    @property
    def stopped(self) -> FormatError | None:
        """The error of the record before which an array without a count ends.

        None if the array ends with the data, or if the layout has no such array.
        """
        return self.found.stopped

    @cached_property
    def _tables(self) -> dict[str, Table]:
        return {}

    def _table(self, name: str) -> Table:
        rows = self.rows(name)
        columns = {
            column: self._column(path, rows) for column, path in self.shape.tables[name].items()
        }
        if name != ROOT:
            columns[PARENT] = Numbers.of(self._parents(name))
        return Table(columns, rows, {})

    def _parents(self, name: str) -> Longs:
        counts, owners = self.found.counts(name), self.found.owners(name)
        if owners is None:
            owners = np.arange(len(counts))
        return np.repeat(owners, counts)

    def _column(self, path: str, rows: int) -> TableColumn:
        values = self.texts[path] if path in self.texts else self.found[path]
        column: TableColumn = values if isinstance(values, Strings) else Numbers.of(values)
        owners = self.found.owners(path)
        if self.shape.is_list(path):
            counts = self.found.counts(path).astype(np.int64)
            if owners is None:
                return Lists.of(column, counts)
            lengths, present = np.zeros(rows, np.int64), np.zeros(rows, np.bool_)
            lengths[owners], present[owners] = counts, True
            return Lists.of(column, lengths, present)
        return column if owners is None or len(owners) == rows else spread(column, owners, rows)


def flattened(shape: Shape, tables: Mapping[str, Table]) -> "Flat":
    """Return the flat columns of tables: the inverse of `Columns`.

    Raises ValueError for tables that do not fit the layout.
    """
    flat, optional = Flat({}, {}, {}), shape.program.owners
    tables = dict(tables)
    for name, columns in shape.tables.items():
        if name not in tables and name in optional:
            tables[name] = Table({PARENT: Numbers.of(np.zeros(0, np.int64))}, 0, {})
        elif name == ROOT and not columns:
            tables[name] = Table({}, 1, {})
        if name not in tables:
            raise ValueError(f"write: there is no table {name!r}")
        table = tables[name]
        if name == ROOT and table.rows != 1:
            raise ValueError(f"{ROOT}: expected 1 row, not {table.rows}")
        for column, path in columns.items():
            values = table.columns.get(column)
            if values is None and (path in optional or not table.rows):
                values = _absent(shape, path, table.rows)
            if values is None:
                raise ValueError(f"write: the table {name!r} has no column {column!r}")
            flat.present[path] = values.present
            if shape.is_list(path):
                if not isinstance(values, Lists):
                    raise ValueError(f"{path}: expected a column of lists")
                flat.lengths[path] = values.lengths
                values = values.items
            flat.values[path] = _dense(values, path)
    for name in shape.records:
        flat.lengths[name] = _counts(name, tables[name], tables[shape.above[name]].rows)
    return flat


@dataclass(frozen=True)
class Flat:
    """The columns of all tables, by the path of each field.

    values: the present values of each field. present: whether a field is present, for each row of
    its table. lengths: for each row, the length of a list, or the number of records in an array.
    """

    values: dict[str, Numbers | Strings]
    present: dict[str, Flags]
    lengths: dict[str, Longs]


def _absent(shape: Shape, path: str, rows: int) -> TableColumn:
    """Return a column without values for the field at `path`."""
    leaf = shape.engine.leaves[path]
    kind = leaf.native.name if leaf.is_number else "bytes"
    return absent(f"list<{kind}>" if shape.is_list(path) else kind, rows)


def _dense(column: TableColumn, path: str) -> Numbers | Strings:
    if not isinstance(column, Numbers | Strings):
        raise ValueError(f"{path}: expected numbers, text or bytes")
    return column if column.present.all() else column.take(np.flatnonzero(column.present))


def _counts(name: str, table: Table, above: int) -> Longs:
    """Return, for each row of the table above `table`, how many rows of `table` belong to it.

    name: the name of `table`, for messages. above: the number of rows of the table above. Raises
    ValueError if the column `parent` is missing or wrong.
    """
    parents = table.columns.get(PARENT)
    if parents is None and above == 1:
        return np.array([table.rows])
    if not isinstance(parents, Numbers) or parents.values.dtype.kind not in "iu":
        raise ValueError(f"write: the table {name!r} needs the column {PARENT!r}, of integers")
    rows = parents.values.astype(np.int64)
    if len(rows) and (rows[0] < 0 or rows[-1] >= above or (rows[1:] < rows[:-1]).any()):
        raise ValueError(f"{name}: {PARENT} must be in ascending order, and below {above}")
    return np.bincount(rows, minlength=above)
