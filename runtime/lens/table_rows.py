"""Order the rows of a table as examples and their events.

A row of a table is an event, or an example with lists over its events.
"""

from dataclasses import dataclass
from typing import Final, TypeGuard

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import Findings, Place
from exset.core.text import counted, safe
from exset.grammars.columns.arrays import Flags, Longs, bits, constant, is_constant, offsets_of
from exset.grammars.columns.strings import Strings
from exset.grammars.lens.findings import finding_at
from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn, type_of
from exset.runtime.lens.table_names import EVENT_FIELDS, NamedColumns, SideColumn
from exset.runtime.lens.table_values import table_error

_MOST: Final = 1 << 53
"""Integers from this on are not exact in float64."""


@dataclass
class EventTable:
    """A table with a row for each event, sorted by example.

    columns: the columns of the original table. If a column has a list with an item for each event
    of an example, each item becomes a row. offsets: int64 [examples + 1], the first row of each
    example, and the number of rows.
    """

    columns: NamedColumns
    offsets: Longs

    @property
    def example(self) -> Longs:
        """The example of each event: int64 [events]."""
        lengths = np.diff(self.offsets)
        return np.repeat(np.arange(lengths.size), lengths)

    def of_examples(self, name: str) -> TableColumn | None:
        """Return the column `name` with a row for each example. It must be a column about examples.

        Raises FormatError if the events of an example have different values.
        """
        column = self.columns.fields.get(name)
        if column is None or self.offsets.size - 1 == self.columns.rows:
            return column
        first = self.offsets[:-1][self.example]
        differs = _differs(column, column.take(first))
        if differs.any():
            row = int(differs.argmax())
            hint = "events of one example have the same value in the column example"
            table_error(f"row {row}: {safe(name)} differs within an example", name, row, hint)
        return column.take(self.offsets[:-1])


def event_table(columns: NamedColumns, is_by_example: bool, findings: Findings) -> EventTable:
    """Return a table with a row for each event, sorted by example.

    is_by_example: whether each row is an example, with lists over its events. Raises FormatError
    for rows that contradict each other.
    """
    columns = _unpacked(columns)
    if not is_by_example:
        columns = _with_units(columns, findings)
    lengths = {
        each.name: counts
        for each in _event_columns(columns)
        if (counts := _event_counts(each, is_by_example)) is not None
    }
    return _flattened(columns, lengths) if lengths else _grouped(columns)


def _unpacked(columns: NamedColumns) -> NamedColumns:
    """Return columns with a row for each event, if a single row of the table contains all events.

    The table of an NPZ file may have such a row: its arrays have an element for each event or for
    each example. Other tables' columns are returned unchanged.
    """
    example = columns.fields.get("example")
    is_array = isinstance(example, Numbers) and len(example.shape) == 1
    if columns.rows != 1 or not (is_array or isinstance(example, Lists)):
        return columns
    assert isinstance(example, Numbers | Lists)
    code = _codes(_elements(example))

    def rows(name: str, column: TableColumn) -> TableColumn:
        elements = _elements(column)
        if len(elements) == code.size:
            return elements
        if len(elements) == int(code.max(initial=-1)) + 1:
            return elements.take(code)
        found = f"{counted(len(elements), 'row')}, but example has {code.size}"
        table_error(f"{safe(name)} has {found}", name)

    return columns.changed(code.size, rows)


def _elements(column: TableColumn) -> TableColumn:
    """Return the elements of the array or list in the only row of a column, as a column."""
    if isinstance(column, Lists):
        return column.items
    return Numbers.of(column.values[0]) if isinstance(column, Numbers) and column.shape else column


def _with_units(columns: NamedColumns, findings: Findings) -> NamedColumns:
    """Flatten arrays of two dimensions, such as pictures, to units, unless an array is a whole
    example.

    It is an example, whose first dimension is the events, if another column has lists over events.
    It also is an example if all columns of inputs and targets have such arrays and there is no
    column `event`.
    """
    sides = [each for side in columns.sides.values() for each in side]
    arrays = {each.name for each in sides if _is_grid(each.column)}
    every = {each.name for each in sides if each.column.present.any()}
    has_lists = any(
        each.name not in arrays and _event_counts(each, False) is not None
        for each in _event_columns(columns)
    )
    if not arrays or has_lists or (every <= arrays and "event" not in columns.fields):
        return columns

    def flat(name: str, column: TableColumn) -> TableColumn:
        if name not in arrays or not _is_grid(column):
            return column
        values = column.values.reshape(len(column), -1)
        shape = " x ".join(map(str, column.shape))
        place = Place("table", field=f"columns[{name!r}]")
        findings.add(
            finding_at("lens-table-flat", place, name=safe(name), shape=shape, size=values.shape[1])
        )
        return Numbers.of(values, column.present)

    return columns.changed(columns.rows, flat)


def _is_grid(column: TableColumn) -> TypeGuard[Numbers]:
    return isinstance(column, Numbers) and len(column.shape) == 2


def _event_columns(columns: NamedColumns) -> list[SideColumn]:
    """Return all columns that have a value for each event."""
    fields = [
        SideColumn(name, None, column)
        for name, column in columns.fields.items()
        if name in EVENT_FIELDS
    ]
    return [*fields, *(each for side in columns.sides.values() for each in side)]


def _event_counts(given: SideColumn, is_by_example: bool) -> Longs | None:
    """Return how many events each row of a column has. Return None if each row is a single event.

    given: a column with values for events. is_by_example: whether each row of the table is an
    example, with lists over its events.
    """
    column = given.column
    if _is_grid(column):
        return constant(column.shape[0], len(column), np.int64)
    if not isinstance(column, Lists) or isinstance(column.items, Records):
        return None
    items = column.items
    if given.name in EVENT_FIELDS or is_by_example:
        return column.lengths
    is_event = isinstance(items, Strings) or (isinstance(items, Numbers) and not items.shape)
    return None if is_event else column.lengths


def _flattened(columns: NamedColumns, lengths: dict[str, Longs]) -> EventTable:
    """Return the events of a table in which each row is a whole example.

    lengths: {column of lists over events: the length of each list}.
    """
    name, counts = next(iter(lengths.items()))
    for other, each in lengths.items():
        if (wrong := each != counts).any():
            row = int(wrong.argmax())
            found = f"{counted(int(each[row]), 'event')}, but {safe(name)} has {counts[row]}"
            table_error(f"row {row}: {safe(other)} has {found}", other, row)
    if (empty := counts == 0).any():
        row = int(empty.argmax())
        table_error(f"row {row}: an example has at least one event", name, row)
    offsets = offsets_of(counts)
    example = np.repeat(np.arange(counts.size), counts)

    def flat(name: str, column: TableColumn) -> TableColumn:
        if name not in lengths:
            return column.take(example)
        if isinstance(column, Lists):
            return column.items
        assert isinstance(column, Numbers)
        values = column.values.reshape(-1, column.shape[1])
        return Numbers.of(values, np.repeat(column.present, counts))

    return EventTable(columns.changed(int(offsets[-1]), flat), offsets)


def _grouped(columns: NamedColumns) -> EventTable:
    """Sort the rows of a table by example, then by the number of the event in the example.

    Each row is an event.
    """
    m = columns.rows
    example, event = columns.fields.get("example"), columns.fields.get("event")
    numbers = None if event is None else _event_numbers(event)
    if example is None:
        if numbers is not None and numbers.any():
            row = int(numbers.astype(np.bool_).argmax())
            hint = "add the column example, with the same number for all events of an example"
            table_error(
                f"row {row}: no column says which example has event {numbers[row]}",
                "event",
                row,
                hint,
            )
        return EventTable(columns, np.arange(m + 1))
    code = _codes(example)
    order = np.arange(m) if numbers is None else np.lexsort((numbers, code))
    if numbers is None and (code[1:] < code[:-1]).any():
        order = np.argsort(code, kind="stable")
    sorted_code = code[order]
    if numbers is not None:
        same = (sorted_code[1:] == sorted_code[:-1]) & (np.diff(numbers[order]) == 0)
        if same.any():
            row = int(order[1:][same].min())
            hint = "give each example a number of its own in the column example"
            message = f"row {row}: an earlier row has event {numbers[row]} of the same example"
            table_error(message, "event", row, hint)
    offsets = offsets_of(np.bincount(code) if m else np.empty(0, np.int64))
    if (order[1:] < order[:-1]).any():
        columns = columns.changed(m, lambda _, column: column.take(order))
    return EventTable(columns, offsets)


def _event_numbers(column: TableColumn) -> Longs:
    """Return the number of each event in its example."""
    if not column.present.all():
        table_error("event: a number is absent", "event", int(column.present.argmin()))
    return _integers("event", column, "integers").astype(np.int64)


def _integers(name: str, column: TableColumn, expected: str) -> NDArray[np.integer]:
    """Return a column as integers. Floats that are whole numbers are accepted, because pandas makes
    such floats.

    expected: the words for integers in the error that is raised for other values.
    """
    if isinstance(column, Numbers) and not column.shape:
        values = column.values
        if values.dtype.kind in "iu":
            return values
        if values.dtype.kind == "f" and _are_whole(values):
            return values.astype(np.int64)
    table_error(f"{name}: expected {expected}, not {type_of(column)}", name)


def _are_whole(values: NDArray[np.floating]) -> bool:
    return bool(((np.abs(values) < _MOST) & (values == np.floor(values))).all())


def _codes(column: TableColumn) -> Longs:
    """Return the index of the example to which each row belongs: int64 [rows].

    Examples are numbered in the order of their first rows.
    """
    if not column.present.all():
        row = int(column.present.argmin())
        table_error(f"row {row}: the row has no number of an example", "example", row)
    if isinstance(column, Strings):
        return column.distinct()[1]
    values = _integers("example", column, "integers or text")
    if (values[1:] >= values[:-1]).all():
        changes: Longs = np.cumsum(np.append(False, values[1:] != values[:-1]))[: values.size]
        return changes
    _, first, codes = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[codes]


def _differs(one: TableColumn, other: TableColumn) -> Flags:
    """Return for each row whether two columns of the same type differ there: bool [rows]."""
    if isinstance(one, Numbers) and isinstance(other, Numbers):
        same = (bits(one.values) == bits(other.values)).reshape(len(one), -1).all(axis=1)
        found: Flags = (one.present != other.present) | ~same
        return found
    if isinstance(one, Strings) and isinstance(other, Strings):
        if len(one) and is_constant(one.present) and not one.present[0]:
            return np.zeros(len(one), np.bool_)
        codes = Strings.concat([_plain(one), _plain(other)]).distinct()[1]
        differs: Flags = codes[: len(one)] != codes[len(one) :]
        differs |= one.present != other.present
        return differs
    return np.array([one[row] != other[row] for row in range(len(one))], np.bool_)


def _plain(strings: Strings) -> Strings:
    return Strings.unchecked(**vars(strings))
