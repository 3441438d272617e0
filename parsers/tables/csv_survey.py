"""Collect what the writer of CSV must know about all rows of a table before it writes the first
row.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exset.core.errors import Place
from exset.core.text import safe
from exset.grammars.columns.arrays import bits
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Numbers, TableColumn, Text, first_wrong_text
from exset.grammars.tables.csv_findings import ChangedCells
from exset.grammars.tables.table import Table
from exset.parsers.tables.csv_kernels import KERNELS
from exset.parsers.tables.csv_numbers import Shown, cells_of


@dataclass
class ColumnSurvey:
    """What is known about all rows of a column, collected chunk by chunk.

    `has_rows`, `has_absent`: whether a row has a value, and whether a row has none. `least`: the
    smallest number in a column of uint64. `has_odd_nan`: whether a NaN has other bits than the
    usual NaN. `wrong_text`: the first row that is not UTF-8. `shown`: what cells of text look like
    to a reader. `changed`: the cells of text that other programs would change.
    """

    rows: int = 0
    has_rows: bool = False
    has_absent: bool = False
    least: int | None = None
    has_odd_nan: bool = False
    wrong_text: int | None = None
    shown: Shown = field(default_factory=Shown)
    changed: ChangedCells = field(default_factory=ChangedCells)

    def add(self, name: str, column: TableColumn) -> None:
        """Add the next rows of the column with this name."""
        if not len(column):
            return
        self.has_rows = self.has_rows or bool(column.present.any())
        self.has_absent = self.has_absent or not column.present.all()
        if isinstance(column, Numbers):
            self._add_numbers(column.values)
        elif isinstance(column, Strings):
            self._add_text(name, column)
        self.rows += len(column)

    def _add_numbers(self, values: Any) -> None:
        if values.dtype == np.uint64 and values.size:
            least = int(values.min())
            self.least = least if self.least is None else min(least, self.least)
        self.has_odd_nan = self.has_odd_nan or _has_odd_nan(values)

    def _add_text(self, name: str, column: Strings) -> None:
        if not isinstance(column, Text):
            wrong = first_wrong_text(column)
            if self.wrong_text is None and wrong is not None:
                self.wrong_text = self.rows + wrong
            if self.wrong_text is not None:
                return
        text = Text.unchecked(**vars(column))
        compiled = KERNELS.use_compiled(text.data.size)
        starts, ends = text.offsets[:-1], text.offsets[1:]
        is_text = np.full(1, self.shown.is_text)
        [cells] = cells_of(text.data, starts, ends, is_text, compiled=compiled)
        self.shown = self.shown | cells.shown()
        self.changed.add(text, lambda row: place_of(name, self.rows + row))


def survey(tables: Iterable[Table]) -> tuple[Table, dict[str, ColumnSurvey]]:
    """Return the first table without its rows, and what is known about all rows of each column."""
    found: dict[str, ColumnSurvey] = {}
    first: Table | None = None
    for table in tables:
        first = table[:0] if first is None else first
        for name, column in table.columns.items():
            found.setdefault(name, ColumnSurvey()).add(name, column)
    assert first is not None, "a streamer yields at least one table"
    return first, found


def place_of(name: str, row: int | None = None) -> Place:
    """Return the place of a column, or of its value in one row, for messages."""
    return Place("table", field=f"columns[{safe(name)!r}]" + ("" if row is None else f"[{row}]"))


def _has_odd_nan(values: Any) -> bool:
    if values.dtype.kind != "f" or not np.isnan(values.min(initial=0)):
        return False
    return bool((bits(values[np.isnan(values)]) != bits(np.full(1, np.nan, values.dtype))).any())
