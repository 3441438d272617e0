"""Collect what the writer of JSON Lines must know about all rows of a table before it writes the
first row.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from exset.core.text import has_surrogates
from exset.grammars.columns.arrays import Flags
from exset.grammars.tables.columns import (
    ITEM,
    Lists,
    Numbers,
    Records,
    TableColumn,
    Text,
    type_of,
)
from exset.grammars.tables.table import Table

_READ: Final = {"b": "bool", "i": "int64", "u": "int64", "f": "float64"}
_BEYOND: Final = 1 << 63
"""The first number that int64 cannot hold."""


@dataclass
class ColumnSurvey:
    """What is known about all rows of a column, collected chunk by chunk.

    `has_values`: whether a row has a value that JSON has. `is_large`: whether a number needs
    uint64. `first_odd`, `odd`: the first row with NaN or infinity, and the number of such rows.
    `inner`: the same about the items of lists, or the fields of records, by name.
    """

    rows: int = 0
    has_values: bool = False
    is_large: bool = False
    first_odd: int | None = None
    odd: int = 0
    inner: "dict[str, ColumnSurvey]" = field(default_factory=dict)

    def add(self, column: TableColumn) -> None:
        """Add the next rows of the column."""
        present = column.present
        if isinstance(column, Numbers):
            present = self._add_numbers(column)
        elif isinstance(column, Lists):
            self._of(ITEM).add(column.items)
        elif isinstance(column, Records):
            for name, each in column.fields.items():
                self._of(name).add(each)
        self.has_values = self.has_values or bool(present.any())
        self.rows += len(column)

    def _of(self, name: str) -> "ColumnSurvey":
        return self.inner.setdefault(name, ColumnSurvey())

    def _add_numbers(self, column: Numbers) -> Flags:
        """Add numbers; return the rows that have a value that JSON has."""
        values = column.values
        if values.dtype == np.uint64:
            self.is_large = self.is_large or int(values.max(initial=0)) >= _BEYOND
        if values.dtype.kind != "f" or (finite := np.isfinite(values)).all():
            return column.present
        finite = finite.reshape(len(values), -1).all(axis=1)
        odd = np.flatnonzero(~finite)
        if self.first_odd is None:
            self.first_odd = self.rows + int(odd[0])
        self.odd += odd.size
        present: Flags = column.present & finite
        return present

    def is_stored(self, column: TableColumn) -> bool:
        """Return whether JSON can store the column: text, numbers, lists and plain records of
        these.

        column: one of the chunks. Arrays, lists and records must have no NaN and no infinity.
        """
        if isinstance(column, Numbers):
            return column.values.dtype.kind in _READ and not (column.shape and self.odd)
        if isinstance(column, Lists):
            return self._holds(ITEM, column.items)
        if isinstance(column, Records):
            fields = column.fields.items()
            is_stored = all(self._holds(name, each) for name, each in fields)
            return is_stored and self.read_type(column) == type_of(column)
        return isinstance(column, Text)

    def _holds(self, name: str, column: TableColumn) -> bool:
        found = self.inner[name]
        return not has_surrogates(name) and not found.odd and found.is_stored(column)

    def read_type(self, column: TableColumn) -> str:
        """Return the type that a reader without a sidecar gives to the column.

        column: one of the chunks, which JSON can store.
        """
        if not self.rows:
            return "float64"
        if not self.has_values:
            return "bool"
        if isinstance(column, Numbers):
            if column.shape:
                return "list"  # of lists, if the arrays have more dimensions
            return "uint64" if self.is_large else _READ[column.values.dtype.kind]
        if isinstance(column, Lists):
            return f"list<{self.inner[ITEM].read_type(column.items)}>"
        if isinstance(column, Records):
            types = (
                f"{name}: {self.inner[name].read_type(each)}"
                for name, each in column.fields.items()
            )
            return f"record<{', '.join(types)}>"
        return "text"


def survey(tables: Iterable[Table]) -> tuple[Table, dict[str, ColumnSurvey]]:
    """Return the first table without its rows, and what is known about all rows of each column."""
    found: dict[str, ColumnSurvey] = {}
    first: Table | None = None
    for table in tables:
        first = table[:0] if first is None else first
        for name, column in table.columns.items():
            found.setdefault(name, ColumnSurvey()).add(column)
    assert first is not None, "a streamer yields at least one table"
    return first, found
