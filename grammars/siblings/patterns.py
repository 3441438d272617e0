"""The patterns in a table: inputs, targets and other columns, for writers of pattern files."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import FormatError, Place
from exset.core.text import safe
from exset.grammars.columns.arrays import Flags, as_doubles
from exset.grammars.siblings.findings import SHARED
from exset.grammars.tables.columns import Numbers, TableColumn, type_of
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
    """The columns of a table, sorted into inputs, targets and `others`, all other columns by
    name.
    """

    rows: int
    inputs: tuple[Group, ...]
    targets: tuple[Group, ...]
    others: dict[str, TableColumn]
    losses: Losses
    title: str

    @classmethod
    def of(cls, table: Table, losses: Losses, title: str) -> "Patterns":
        """Sort the columns of a table into inputs, targets and others. title: the format, for
        messages.
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
        return cls(table.rows, inputs, targets, others, losses, title)

    def drop_others(self, kept: Collection[str] = ()) -> None:
        """Report the columns in `others` as losses, except those in `kept` and those that say
        nothing.
        """
        for name, column in self.others.items():
            if name not in kept and not self.says_nothing(name):
                problem = f"{self.title} cannot store the column {safe(name)!r}, {type_of(column)}"
                self.losses.report(name, problem)

    def says_nothing(self, name: str) -> bool:
        """Return whether a column can be left out, because it has its default in each row.

        By default `example` is the number of the row, `event` is 0, `frequency` is 1, and other
        columns have only absent rows.
        """
        column = self.others[name]
        if not column.present.any():
            return True
        defaults = {"example": np.arange(self.rows), "event": 0, "frequency": 1}
        if name not in defaults or not is_vector(column) or not column.present.all():
            return False
        return bool((as_doubles(column.values) == defaults[name]).all())

    def joined(self, groups: tuple[Group, ...], side: str) -> NDArray[Any]:
        """Return the groups of the inputs, or of the targets, as one array [rows, units].

        side: the word for them in the note that reports several groups. Raises FormatError for an
        absent row.
        """
        for group in groups:
            for row in np.flatnonzero(~group.present).tolist():
                self.refuse(group.column, f"{self.title} cannot store an absent value", row)
        if len(groups) > 1:
            names = ", ".join(safe(group.column) for group in groups)
            place = Place("table", field=f"columns[{groups[0].column!r}]")
            self.losses.findings.add(
                SHARED.finding("patterns-groups", place, side=side, groups=names)
            )
        if not groups:
            return np.zeros((self.rows, 0), np.float32)
        return np.concatenate([group.values for group in groups], axis=1)

    def refuse(self, column: str, problem: str, row: int | None = None) -> None:
        """Raise FormatError for a column that cannot be written, even with `lossy`."""
        field = f"columns[{column!r}]" + ("" if row is None else f"[{row}]")
        raise FormatError(problem, place=Place("table", field=field), code="table-holds")


def is_vector(column: TableColumn) -> TypeGuard[Numbers]:
    """Return whether a column has numbers, or arrays of numbers."""
    return isinstance(column, Numbers) and column.values.dtype.kind in "biuf"
