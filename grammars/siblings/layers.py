"""Rename emergent's columns to the names that tables of patterns have in exset, and back."""

from math import prod
from typing import Final, TypeGuard

import numpy as np

from exset.grammars.siblings.events import EVENTS, event_columns
from exset.grammars.siblings.patterns import is_vector
from exset.grammars.siblings.rows import is_single
from exset.grammars.tables.columns import Numbers, TableColumn, Text
from exset.grammars.tables.table import Table

NAME, GROUP, FREQUENCY = "Name", "Group", "Freq"
KEY, SHAPES = "emergent", "shapes"
_LAYERS: Final = (("Input", "inputs."), ("Output", "targets."), ("Target", "targets."))


def as_patterns(table: Table) -> Table:
    """Return a table of emergent with the names of columns that other formats use.

    Arrays whose names begin with `Input`, or with `Output` or `Target`, become `inputs.Input`,
    `targets.Output` and so on. `Name` becomes `name`, `Freq` becomes `frequency`. Consecutive rows
    of the same `Group` become the events of one `example`, whose `name` is the name of the group.
    Inputs and targets of several dimensions become vectors; the metadata keeps their `shapes`.
    """
    columns, shapes = dict[str, TableColumn](), dict[str, list[int]]()
    groups = table.columns.get(GROUP)
    is_new = np.array(_differ([*groups] if isinstance(groups, Text) else []), np.bool_)
    names = {NAME: "name", FREQUENCY: "frequency"}
    if not is_new.all() and not {*EVENTS, "name"} & table.columns.keys():
        names = {GROUP: "name", FREQUENCY: "frequency"}
        columns = event_columns(np.diff(np.flatnonzero(is_new), append=table.rows))
    for name, column in table.columns.items():
        new = names.get(name, name)
        if new == "name" and not isinstance(column, Text):
            new = name
        if is_vector(column) and column.shape:
            new = next((side + name for layer, side in _LAYERS if name.startswith(layer)), name)
            if new != name and len(column.shape) > 1 and new not in table.columns:
                shapes[new] = list(column.shape)
                column = reshaped(column, (prod(column.shape),))
        columns[name if new in table.columns else new] = column
    return Table(columns, table.rows, {KEY: {SHAPES: shapes}} if shapes else {})


def reshaped(column: Numbers, shape: tuple[int, ...]) -> Numbers:
    """Return a column with its rows, each an array, in another shape; each row keeps its
    number of values.
    """
    return Numbers.of(column.values.reshape(len(column), *shape), column.present)


def from_patterns(table: Table) -> dict[str, TableColumn]:
    """Return the columns of a table with emergent's names: the inverse of `as_patterns`.

    Inputs and targets without a group become the layers `Input` and `Output`. If an example has
    several events, all examples become groups: rows with the same `Group`. If each row has a name,
    and the name changes exactly where a new example begins, the groups have these names. Otherwise
    each group has the number of its example.
    """
    words: dict[str, str | None] = {"name": NAME, "frequency": FREQUENCY}
    groups = _groups(table)
    columns: dict[str, TableColumn] = {}
    if groups is not None and not all(_differ([*groups])):
        columns[GROUP] = groups
    is_grouped = bool(columns)
    if is_grouped and groups == table.columns.get("name"):
        words["name"] = None
    for name, column in table.columns.items():
        new = words.get(name, name)
        if new is None or (is_grouped and name in EVENTS):
            continue
        side, _, group = name.partition(".")
        for layer, begin in _LAYERS[:2]:
            if f"{side}." == begin and is_vector(column) and column.shape:
                is_layer = any(group.startswith(each) for each, of in _LAYERS if of == begin)
                new = layer if not group else group if is_layer else name
                shape = _shape(table, name)
                if prod(shape) == prod(column.shape):
                    column = reshaped(column, shape)
        columns[name if new in columns or new in table.columns else new] = column
    return columns


def _shape(table: Table, name: str) -> tuple[int, ...]:
    """Return the shape of rows that the table's metadata has for the column `name`; (0,) if
    there is none.
    """
    known = table.metadata.get(KEY)
    shapes = known.get(SHAPES) if isinstance(known, dict) else None
    shape = shapes.get(name) if isinstance(shapes, dict) else None
    if not isinstance(shape, list) or not all(isinstance(each, int) and each > 0 for each in shape):
        return (0,)
    return tuple(shape)


def _groups(table: Table) -> Text | None:
    """Return the name of each row's group in emergent: the name of its example, or the
    example's number.

    Return None unless the columns `example` and `event` are counted from 0.
    """
    example, event = (table.columns.get(name) for name in EVENTS)
    if not (is_numbered(example) and is_numbered(event)):
        return None
    is_new = np.ones(table.rows, np.bool_)
    is_new[1:] = example.values[1:] != example.values[:-1]
    firsts = np.maximum.accumulate(np.where(is_new, np.arange(table.rows), 0))
    is_counted = (example.values == np.cumsum(is_new) - 1).all()
    if not is_counted or (event.values != np.arange(table.rows) - firsts).any():
        return None
    names = table.columns.get("name")
    listed = [*names] if isinstance(names, Text) and names.present.all() else []
    if _differ(listed) == is_new.tolist():
        return Text.of(listed)
    return Text.of(str(number) for number in example.values.tolist())


def _differ(texts: list[str | None]) -> list[bool]:
    """Return for each text whether it differs from the text before it."""
    return [each != other for each, other in zip(texts, [None, *texts], strict=False)]


def is_numbered(column: TableColumn | None) -> TypeGuard[Numbers]:
    """Return whether a column has one integer in each row."""
    return is_single(column, "iu") and bool(column.present.all())
