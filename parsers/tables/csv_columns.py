"""The columns of CSV: their types, for which all rows must be known, and the values in a chunk."""

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.text import safe
from exset.grammars.columns.arrays import Flags
from exset.grammars.tables import csv_findings
from exset.grammars.tables.cells import Room
from exset.grammars.tables.columns import TableColumn
from exset.grammars.tables.csv_findings import ChangedCells
from exset.grammars.tables.unit_columns import unit_groups
from exset.parsers.tables.csv_header import is_number
from exset.parsers.tables.csv_numbers import CellsOfColumns, Shown, cells_of
from exset.parsers.tables.csv_rows import Cells


@dataclass
class Reading:
    """What is known about the columns of a file, whose rows come in chunks.

    `names`: the names of the columns. `shown`: what the cells of each column look like.
    `has_plain`: which columns have a filled cell without quotation marks. `has_marks`,
    `all_marks`: whether some cells, or all cells, of the file are in quotation marks.
    """

    names: list[str]
    shown: list[Shown]
    has_plain: Flags
    has_marks: bool
    all_marks: bool
    rows: int = 0
    _changed: dict[int, ChangedCells] = field(default_factory=dict)

    @classmethod
    def of(cls, first: Cells, findings: Findings, room: Room) -> Self:
        """Begin to read a file, given its first row, which has the names of the columns.

        room: the memory that is left for columns. Raises FormatError for two columns with the same
        name, and LimitError for more columns than there is room for.
        """
        room.take(first.width, 0)
        names = first.names()
        places: dict[str, int] = {}
        twice = next((i for i, name in enumerate(names) if places.setdefault(name, i) < i), None)
        if twice is not None:
            raise FormatError(
                f"two columns have the name {safe(names[twice])!r}",
                source=first.source,
                span=first.span(twice),
                hint="rename one of them",
                code="table-names",
            )
        for i, name in enumerate(names):
            if is_number(name.encode()):
                place = first.place(0, i)
                findings.add(csv_findings.finding_at("csv-no-names", place, name=safe(name)))
                break
        marks = first.is_quoted[: first.width]
        width = len(names)
        plain = np.zeros(width, np.bool_)
        return cls(names, [Shown()] * width, plain, bool(marks.any()), bool(marks.all()))

    def add(self, cells: Cells, compiled: bool) -> CellsOfColumns:
        """Note what the cells of the next rows look like; return these cells as numbers, by
        column.
        """
        self.rows += len(cells)
        known = np.array([shown.is_text for shown in self.shown], np.bool_)
        found = self._cells(cells, known, compiled)
        shown = [each.shown() for each in found]
        self.shown = [a | b for a, b in zip(self.shown, shown, strict=True)]
        if cells.is_quoted.any():
            self.has_marks = True
            self.has_plain |= cells.has_plain()
        else:
            self.has_plain |= np.array([each.is_filled for each in shown], np.bool_)
        self.all_marks = self.all_marks and bool(cells.is_quoted.all())
        return found

    def again(self) -> Self:
        """Return a copy, without the findings that calls of `columns` collected."""
        return replace(self, _changed={})

    def dtypes(self) -> "list[np.dtype[Any] | None]":
        """Return the dtype of each column, according to all rows so far; None for text."""
        is_marked = self.has_marks and not self.all_marks
        return [
            None if is_marked and not plain else shown.dtype
            for plain, shown in zip(self.has_plain.tolist(), self.shown, strict=True)
        ]

    def numbers(self, cells: Cells, compiled: bool) -> CellsOfColumns:
        """Return the cells of rows as numbers, by column; the rows were given to `add` before."""
        is_text = np.array([dtype is None for dtype in self.dtypes()], np.bool_)
        return self._cells(cells, is_text, compiled)

    def _cells(self, cells: Cells, is_text: Flags, compiled: bool) -> CellsOfColumns:
        spans = cells.starts, cells.ends
        return cells_of(cells.buffer, *spans, is_text, self._groups, compiled=compiled)

    @cached_property
    def _groups(self) -> list[slice]:
        """The ranges of consecutive columns that together become one column of arrays."""
        found: list[slice] = []
        places = {name: place for place, name in enumerate(self.names)}
        for name, units in unit_groups(self.names).items():
            first = places[units[0]]
            names = [f"{name}:{unit}" for unit in range(len(units))]
            if self.names[first : first + len(units)] == names:
                found.append(slice(first, first + len(units)))
        return found

    def columns(self, cells: Cells, numbers: CellsOfColumns) -> dict[str, TableColumn]:
        """Return the columns of some rows, by name. All rows of the file must have been added.

        `numbers`: the cells of these rows as numbers. Collects findings for `report`.
        """
        columns: dict[str, TableColumn] = {}
        for i, (name, dtype) in enumerate(zip(self.names, self.dtypes(), strict=True)):
            if dtype is not None:
                columns[name] = numbers[i].column(dtype)
                continue
            columns[name] = text = cells.text(i)
            changed = self._changed.setdefault(i, ChangedCells())
            changed.add(text, partial(_place, cells, i))
        return columns

    def report(self, findings: Findings) -> None:
        """Add the findings about cells of text that `columns` collected."""
        for i in sorted(self._changed):
            self._changed[i].report(findings)


def _place(cells: Cells, column: int, row: int) -> Place:
    return cells.place(row, column)
