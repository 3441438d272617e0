"""Make example sets from tables of `to_table`, and from tables of other programs."""

import numpy as np

from exset.core.errors import Findings
from exset.core.limits import DEFAULT, Limits
from exset.core.text import safe
from exset.grammars.columns.arrays import Floats, constant
from exset.grammars.columns.ragged import Reals, Strings
from exset.grammars.lens.examples import REAL_FIELDS, Events, ExampleSet, SetHeader
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, type_of
from exset.grammars.tables.table import Table
from exset.runtime.lens.event_lists import Block, EventLists
from exset.runtime.lens.network_layout import SIDES, Layout, LayoutLike, Side
from exset.runtime.lens.said_lists import SaidSide, is_said, no_lists, said_lists
from exset.runtime.lens.table_metadata import from_json, groups_of
from exset.runtime.lens.table_names import SideColumn, named_columns
from exset.runtime.lens.table_rows import EventTable, event_table
from exset.runtime.lens.table_values import floats, is_number, reals, strings, table_error


def from_table(
    table: Table,
    /,
    *,
    inputs: LayoutLike | None = None,
    targets: LayoutLike | None = None,
    findings: Findings,
    limits: Limits = DEFAULT,
    lossy: bool = False,
) -> ExampleSet:
    """Return the example set of a table.

    The names of the columns decide their meaning. Inputs: `inputs`, `input` or `x`. Targets:
    `targets`, `target` or `y`. A name may add a group, `inputs.onset`, or a single unit, `inputs:0`
    or `inputs.onset:0`. The name of a group alone, `onset` or `onset:0`, is enough if the metadata,
    or the arguments `inputs` and `targets`, name this group. A group is a column of arrays, of
    lists or of single numbers. In a list, an item without a value becomes NaN. Further columns are
    `name`, `frequency`, the times and other fields of events.

    Rows with the same `example` are the events of one example, in the order of `event`. Without the
    column `example`, each row is an example, whose columns may be lists over its events. Arrays of
    two dimensions become units, with a finding. But if all inputs and targets are such arrays, and
    there is no `event`, their dimensions are events x units.

    Raises FormatError for other columns, or drops them with `lossy`. Raises FormatError for rows
    that contradict each other.
    """
    metadata = from_json(table.metadata)
    groups = dict(metadata.groups)
    for side, layout in zip(SIDES, (inputs, targets), strict=True):
        if layout is not None:
            groups[side] = groups_of(Layout.of(side, layout))
    columns = named_columns(table, groups, lossy=lossy, findings=findings)
    rows = event_table(columns, metadata.is_by_example, findings)
    n, m = rows.offsets.size - 1, rows.columns.rows
    events = Events.empty(m).with_unchecked(
        proc=_strings("event_proc", rows.columns.fields.get("event_proc"), m),
        **{
            field: _reals(field, rows.columns.fields[field])
            for field in REAL_FIELDS
            if field in rows.columns.fields
        },
    )
    lists = _lists(rows, events, metadata.header)
    frequency = rows.of_examples("frequency")
    return ExampleSet(
        header=metadata.header,
        name=_strings("name", rows.of_examples("name"), n),
        proc=_strings("proc", rows.of_examples("proc"), n),
        frequency=constant(1, n, np.float32) if frequency is None else _frequency(frequency),
        event_offsets=rows.offsets,
        events=events.with_unchecked(inputs=lists.inputs, targets=lists.targets),
        lists=lists.lists,
        ranges=lists.ranges,
        groups=lists.groups,
    ).normalized()


def _lists(rows: EventTable, events: Events, header: SetHeader) -> EventLists:
    """Return the lists of all events.

    They are made from the columns of ranges in `rows` (level "said"), or from its columns of dense
    values. header: gives the values that events inherit.
    """
    said: dict[Side, SaidSide] = {}
    blocks: dict[Side, list[Block]] = {side: [] for side in SIDES}
    for side, columns in rows.columns.sides.items():
        present = [each for each in columns if each.column.present.any()]
        numbers = _list_numbers(rows, side)
        ranges = next((each for each in present if is_said(each.column)), None)
        if ranges is None and (present or numbers is None):
            if numbers is not None:
                message = (
                    f"{side}_list has numbers of lists of ranges, but {side} has no such lists"
                )
                table_error(message, f"{side}_list")
            blocks[side] = [_block(each) for each in present]
            continue
        if len(present) > 1:
            name = present[0].name
            hint = f"keep only one column of {side}"
            table_error(f"a column with ranges must be the only column of {side}", name, hint=hint)
        lists = no_lists(rows.columns.rows) if ranges is None else ranges.column
        assert isinstance(lists, Lists)
        name = side if ranges is None else ranges.name
        said[side] = SaidSide(name, lists, numbers, _active(events, header, side))
    dense = EventLists.of_blocks(rows.columns.rows, blocks["inputs"], blocks["targets"])
    if not said:
        return dense
    others = [side for side in SIDES if side not in said]
    return said_lists(said, rows.example).joined(dense, others)


def _block(given: SideColumn) -> Block:
    """Return the block of values in a column of inputs or targets.

    The rows of the column are arrays, lists of numbers, or single numbers.
    """
    name, column = given.name, given.column
    if isinstance(column, Lists):
        return _ragged_block(name, given.group, column)
    if not isinstance(column, Numbers) or len(column.shape) > 1:
        table_error(f"{safe(name)}: expected rows of numbers, not {type_of(column)}", name)
    values = column.values if column.shape else column.values[:, np.newaxis]
    return Block.of(given.group, floats(name, values), column.present)


def _ragged_block(name: str, group: bytes | None, column: Lists) -> Block:
    """Return the block of values in a column of lists of numbers. An item without a value becomes
    NaN.

    name: of the column, for errors. group: the group of the values.
    """
    items = column.items
    if not len(items):
        return Block(group, np.empty(0, np.float32), constant(0, len(column), np.int64))
    if not isinstance(items, Numbers) or not is_number(items):
        table_error(f"{safe(name)}: expected lists of numbers, not {type_of(column)}", name)
    values = floats(name, items.values)
    if not items.present.all():
        values = np.where(items.present, values, np.float32(np.nan))
    return Block(group, values, column.lengths)


def _list_numbers(rows: EventTable, side: Side) -> Numbers | None:
    column = rows.columns.fields.get(f"{side}_list")
    if column is None or not column.present.any():
        return None
    if not isinstance(column, Numbers) or column.shape:
        table_error(f"{side}_list: expected integers, not {type_of(column)}", f"{side}_list")
    return column


def _active(events: Events, header: SetHeader, side: Side) -> Floats:
    """Return the active value of each event. Sparse ranges without a value of their own get this
    value.

    side: "inputs" or "targets".
    """
    field = f"active_{side[:-1]}"
    own = events.real(field)
    return np.where(own.present, own.values, header.real(field))


def _strings(name: str, column: TableColumn | None, n: int) -> Strings:
    return Strings.empty(n) if column is None else strings(name, column)


def _reals(name: str, column: TableColumn) -> Reals:
    if not isinstance(column, Numbers) or not is_number(column):
        if not column.present.any():
            return Reals.empty(len(column))
        table_error(f"{safe(name)}: expected numbers, not {type_of(column)}", name)
    return reals(name, column)


def _frequency(column: TableColumn) -> Floats:
    """Return the frequencies of examples. A row without a value has the frequency 1."""
    found = _reals("frequency", column)
    if found.present.all():
        return found.values
    return np.where(found.present, found.values, np.float32(1))
