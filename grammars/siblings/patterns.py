"""The patterns in a table: inputs, targets and other columns, for writers of pattern files."""

import math
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeGuard

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import Findings, FormatError, Place
from exset.core.text import safe
from exset.grammars.columns.arrays import Flags, Longs, as_doubles
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.events import EVENTS
from exset.grammars.siblings.findings import SHARED
from exset.grammars.siblings.rows import Rows, is_single
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, type_of
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.grammars.tables.unit_columns import join_units

INPUTS: Final = ("inputs", "input", "x", "samples")
TARGETS: Final = ("targets", "target", "y", "responses", "labels", "label")
"""The names of columns of inputs and targets; a group follows after a dot: `inputs.onset`."""


@dataclass(frozen=True)
class Group:
    """One column of inputs or targets: values [rows, units], present bool [rows].

    name: the name of the group, "" if there is none. column: the name of the column in the table.
    """

    name: str
    column: str
    values: NDArray[Any]
    present: Flags


@dataclass(frozen=True)
class Patterns:
    """The columns of a table to write, sorted into inputs, targets and `others` by name.

    stored: the names of the columns in `others` that the writer stores. title: the format, for
    messages.
    """

    rows: int
    inputs: tuple[Group, ...]
    targets: tuple[Group, ...]
    others: dict[str, TableColumn]
    losses: Losses
    title: str
    stored: set[str]

    @classmethod
    def of(cls, table: Table, title: str, findings: Findings | None, is_lossy: bool) -> "Patterns":
        """Sort the columns of a table by what they contain: inputs, targets and others.

        title: the format to write, for messages. findings: collects losses. is_lossy: whether
        losses are allowed.
        """
        columns = join_units(table.columns)
        sides: dict[str, list[Group]] = {INPUTS[0]: [], TARGETS[0]: []}
        others: dict[str, TableColumn] = {}
        for name, column in columns.items():
            stem, _, group = name.partition(".")
            side = next((each for each in (INPUTS, TARGETS) if stem in each), None)
            if side is None or not is_vector(column):
                others[name] = column
                continue
            values = column.values.reshape(len(column), math.prod(column.shape))
            sides[side[0]].append(Group(group, name, values, column.present))
        inputs, targets = (tuple(sides[side]) for side in (INPUTS[0], TARGETS[0]))
        losses = Losses(is_lossy, Findings() if findings is None else findings)
        return cls(table.rows, inputs, targets, others, losses, title, set())

    def numbers(self, name: str, kinds: str) -> Numbers | None:
        """Return one of the `others`, a column of single numbers, and count it as stored; None
        if there is no such column.

        kinds: the letters of NumPy's dtype kinds that it may have, such as "iu".
        """
        column = self.others.get(name)
        if not is_single(column, kinds):
            return None
        self.stored.add(name)
        return column

    def first_rows(self) -> Flags:
        """Return for each row whether it is the first of its example; all are, if no column is
        named `example`.

        A row whose `event` is not larger than that of the row before it also begins an example.
        """
        is_new = np.ones(self.rows, np.bool_)
        example, event = (self.numbers(name, "biuf") for name in EVENTS)
        if example is not None and example.present.all():
            is_new[1:] = example.values[1:] != example.values[:-1]
        if event is not None and event.present.all():
            is_new[1:] |= event.values[1:] <= event.values[:-1]
        return is_new

    def texts(self, name: str) -> list[bytes | None]:
        """Return the values of one of the `others`, a column of text or bytes, and count it as
        stored; [] if there is no such column.
        """
        column = self.others.get(name)
        if not isinstance(column, Strings):
            return []
        self.stored.add(name)
        return [*Strings.unchecked(**vars(column))]

    def rows_of(self, side: str) -> Rows:
        """Return the rows of inputs or of targets: of a column of lists named `side`, or of
        all groups joined.

        side: "inputs" or "targets".
        """
        column = self.others.get(side)
        if isinstance(column, Lists) and (rows := Rows.of(column)) is not None:
            self.stored.add(side)
            return rows
        groups = self.targets if side == TARGETS[0] else self.inputs
        return Rows.of_array(self.joined(groups, side))

    def drop_others(self) -> None:
        """Report as losses the columns in `others` that are neither stored nor left out by
        `says_nothing`.
        """
        for name, column in self.others.items():
            if name not in self.stored and not self.says_nothing(name):
                problem = f"{self.title} cannot store the column {safe(name)!r} ({type_of(column)})"
                self.losses.report(name, problem)

    def says_nothing(self, name: str) -> bool:
        """Return whether a column can be left out, because it has its default in each row.

        The default of `example` is the number of the row, that of `event` is 0, and that of
        `frequency` is 1. By default, other columns have no values.
        """
        column = self.others[name]
        if not column.present.any():
            return True
        defaults = {"example": np.arange(self.rows), "event": 0, "frequency": 1}
        if name not in defaults or not is_vector(column) or not column.present.all():
            return False
        return bool((as_doubles(column.values) == defaults[name]).all())

    def joined(self, groups: tuple[Group, ...], side: str) -> NDArray[Any]:
        """Return the given groups, of inputs or of targets, as one array [rows, units].

        side: "inputs" or "targets", for the note that reports several groups. Raises FormatError
        for a row without a value.
        """
        for group in groups:
            problem = f"{self.title} cannot store an absent value"
            self.refuse_rows(group.column, problem, np.flatnonzero(~group.present))
        if len(groups) > 1:
            names = ", ".join(safe(group.column) for group in groups)
            place = Place("table", field=f"columns[{groups[0].column!r}]")
            self.losses.findings.add(
                SHARED.finding("patterns-groups", place, side=side, groups=names)
            )
        if not groups:
            return np.zeros((self.rows, 0), np.float32)
        return np.concatenate([group.values for group in groups], axis=1)

    def lose(self, column: str, problem: str, rows: Longs) -> None:
        """Report, for each of the given rows, that the value in a column cannot be stored.
        problem: why, as a sentence.
        """
        for row in rows.tolist():
            self.losses.report(column, problem, row)

    def refuse(self, column: str, problem: str, row: int | None = None) -> NoReturn:
        """Raise FormatError for a column, or its value in one row, that cannot be written,
        even with `lossy`.

        problem: why, as a sentence.
        """
        field = f"columns[{column!r}]" + ("" if row is None else f"[{row}]")
        raise FormatError(problem, place=Place("table", field=field), code="table-holds")

    def refuse_rows(self, column: str, problem: str, rows: Longs) -> None:
        """Raise FormatError for the value of a column in the first of the given rows; do
        nothing if there are no rows.

        problem: why it cannot be written, as a sentence.
        """
        for row in rows[:1].tolist():
            self.refuse(column, problem, row)


def is_vector(column: TableColumn) -> TypeGuard[Numbers]:
    """Return whether a column has numbers, or arrays of numbers."""
    return isinstance(column, Numbers) and column.values.dtype.kind in "biuf"
