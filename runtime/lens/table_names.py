"""Find the meaning of a table's columns, by the columns' names and the table's metadata."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from exset.core.errors import Findings
from exset.core.text import safe
from exset.grammars.columns.strings import Strings
from exset.grammars.lens.columns import REAL_FIELDS
from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn, type_of
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.grammars.tables.unit_columns import join_units
from exset.runtime.lens.network_layout import SIDES, Side
from exset.runtime.lens.table_metadata import Groups, column_names
from exset.runtime.lens.table_values import table_error

ALIASES: Final[Mapping[str, Side]] = {
    **{"inputs": "inputs", "input": "inputs", "x": "inputs", "samples": "inputs"},
    "features": "inputs",
    **{"targets": "targets", "target": "targets", "y": "targets"},
    **{"responses": "targets", "labels": "targets"},
}
"""The names of columns of inputs and targets, also those of LBANN."""

WORDS: Final[Mapping[str, str]] = {
    **{"freq": "frequency", "max": "max_time", "min": "min_time", "grace": "grace_time"},
    **{"defI": "default_input", "actI": "active_input"},
    **{"defT": "default_target", "actT": "active_target"},
}
"""The words of Lens's text files, which also name the columns of fields."""

EXAMPLE_FIELDS: Final = ("example", "name", "frequency", "proc")
EVENT_FIELDS: Final = ("event", "event_proc", *REAL_FIELDS, "inputs_list", "targets_list")
_NAMES: Final = (
    "rename it, for example to inputs, inputs.GROUP, targets, targets.GROUP, name or frequency"
)
_TYPES: Final = "make inputs and targets numbers, lists of numbers, or lists of ranges"


@dataclass
class SideColumn:
    """A column of inputs or targets. name: in the table. group: its group; None for the whole
    network.
    """

    name: str
    group: bytes | None
    column: TableColumn


@dataclass
class NamedColumns:
    """The columns of a table, sorted by their meaning in an example set.

    fields: {name: column} of the columns that are neither inputs nor targets. sides: the columns of
    inputs and targets, in the order of the network. rows: the number of rows.
    """

    rows: int
    fields: dict[str, TableColumn] = field(default_factory=dict)
    sides: dict[Side, list[SideColumn]] = field(
        default_factory=lambda: {side: [] for side in SIDES}
    )

    def changed(
        self, rows: int, change: Callable[[str, TableColumn], TableColumn]
    ) -> "NamedColumns":
        """Return the columns, each replaced by the result of `change` for its name and its content.

        rows: how many rows the new columns have.
        """
        fields = {name: change(name, column) for name, column in self.fields.items()}
        sides = {
            side: [replace(each, column=change(each.name, each.column)) for each in columns]
            for side, columns in self.sides.items()
        }
        return NamedColumns(rows, fields, sides)


def named_columns(
    table: Table, groups: Mapping[Side, Groups], *, lossy: bool, findings: Findings
) -> NamedColumns:
    """Sort the columns of a table by their meaning in an example set.

    groups: the known groups of each side. Raises FormatError for a column that an example set
    cannot store; with `lossy` the column is dropped instead, with a finding.
    """
    known = {
        column: (side, name)
        for side, each in groups.items()
        for column, (name, _) in zip(column_names(side, each), each, strict=True)
    }
    found, losses = NamedColumns(table.rows), Losses(lossy, findings)
    for name, column in join_units(table.columns).items():
        known_as = WORDS.get(name, name)
        if name == "id" and isinstance(column, Strings) and "name" not in table.columns:
            known_as = "name"
        if known_as in (*EXAMPLE_FIELDS, *EVENT_FIELDS):
            if known_as in found.fields:
                table_error(f"two columns are both {known_as}", name, hint="drop one of them")
            found.fields[known_as] = column
            continue
        place = known.get(name) or _side_of(name) or _bare_group(name, groups)
        if place is None:
            losses.report(name, f"an example set has no column {name!r}", hint=_NAMES)
        elif not _is_side(column):
            losses.report(name, f"{name!r} is {type_of(column)}, not numbers", hint=_TYPES)
        else:
            _add(found, name, *place, column)
    order = {place: number for number, place in enumerate(known.values())}
    for side, each in found.sides.items():
        each.sort(key=lambda one: order.get((side, one.group), len(order)))
    return found


def _side_of(name: str) -> tuple[Side, bytes | None] | None:
    """Return the side ("inputs" or "targets") and the group of a column such as `inputs.onset` or
    `x`.

    Returns None for a column with another name.
    """
    stem, dot, group = name.partition(".")
    side = ALIASES.get(stem)
    if side is None or not dot:
        return None if side is None else (side, None)
    raw = _raw(group)
    return (side, raw) if raw else None


def _bare_group(name: str, groups: Mapping[Side, Groups]) -> tuple[Side, bytes | None] | None:
    """Return the side ("inputs" or "targets") that has a group of the name `name`, and the group.

    Returns None if no side, or both sides, have this group.
    """
    raw = _raw(name)
    found = [side for side, each in groups.items() if any(group == raw for group, _ in each)]
    return (found[0], raw) if raw and len(found) == 1 else None


def _raw(name: str) -> bytes | None:
    """Return a name as bytes. Return None for a name that cannot be encoded."""
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None


def _is_side(column: TableColumn) -> bool:
    """Return whether inputs or targets can have the type of a column."""
    while isinstance(column, Lists):
        column = column.items
    if isinstance(column, Records):
        return True
    # A column without any value may have any type.
    return not column.present.any() or (
        isinstance(column, Numbers)
        and column.values.dtype.kind in "biuf"
        and len(column.shape) <= 2
    )


def _add(
    found: NamedColumns, name: str, side: Side, group: bytes | None, column: TableColumn
) -> None:
    for other in found.sides[side]:
        if other.group == group:
            message = f"columns {safe(other.name)!r} and {safe(name)!r} are both {side}"
            table_error(message, name, hint="drop one of them")
    found.sides[side].append(SideColumn(name, group, column))
