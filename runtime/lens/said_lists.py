"""Make the range lists of events from the records in a table of the level "said".

A record describes a range.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from exset.core.text import safe
from exset.grammars.columns.arrays import Flags, Floats, Longs, concat_offsets, constant, offsets_of
from exset.grammars.columns.ragged import Ragged, Strings
from exset.grammars.lens.columns import Ranges
from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn, type_of
from exset.runtime.lens.event_lists import EventLists
from exset.runtime.lens.network_layout import SIDES, Side
from exset.runtime.lens.table_said import ALL
from exset.runtime.lens.table_values import floats, ints, is_number, strings, table_error

FIELDS = ("group", "first", "value", "values", "units")


@dataclass(frozen=True)
class SaidSide:
    """The inputs, or the targets, of the events in a table. Each event has a list of records.

    name: of the column. numbers: the number of each event's list in its example; None if no lists
    are shared. active: for each event, the value of sparse ranges without a value of their own,
    float32 [m].
    """

    name: str
    lists: Lists
    numbers: Numbers | None
    active: Floats


def is_said(column: TableColumn) -> bool:
    """Return whether a column has lists of records, as ranges are stored at the level "said"."""
    return isinstance(column, Lists) and isinstance(column.items, Records)


def no_lists(m: int) -> Lists:
    """Return a column of lists of records, with `m` rows that have no value."""
    records = Records({}, constant(True, 0, np.bool_))
    return Lists.of(records, constant(0, m, np.int64), constant(False, m, np.bool_))


def said_lists(sides: Mapping[Side, SaidSide], example: Longs) -> EventLists:
    """Return the lists of the events. example: the example of each event, int64 [m].

    Raises FormatError for records that are not ranges. Also raises it for the number of a list
    whose content is in no row.
    """
    own: dict[Side, Longs] = {}
    total = 0
    for side, given in sides.items():
        present = given.lists.present
        own[side] = np.where(present, total + np.cumsum(present) - 1, -1)
        total += int(present.sum())
    shared = _shared(sides, own, example)
    none = constant(-1, example.size, np.int64)
    parts = [_ranges(given) for given in sides.values()]
    groups, number = Strings.concat([group for _, group in parts]).distinct()
    ranges = Ranges.concat([ranges for ranges, _ in parts])
    contents = [given.lists.lengths[given.lists.present] for given in sides.values()]
    return EventLists(
        inputs=shared.get("inputs", none),
        targets=shared.get("targets", none),
        lists=concat_offsets([offsets_of(lengths) for lengths in contents]),
        ranges=ranges.with_unchecked(group=number.astype(np.int32)),
        groups=groups.with_unchecked(present=constant(True, len(groups), np.bool_)),
    )


def _shared(
    sides: Mapping[Side, SaidSide], own: dict[Side, Longs], example: Longs
) -> dict[Side, Longs]:
    """Return for each side the list of each event. If a row has only the number of a list, use the
    shared list.

    own: the list in each row, or -1. The shared list is in another row of the same example, with
    the same number.
    """
    keyed = [side for side in SIDES if side in sides and sides[side].numbers is not None]
    if not keyed:
        return own
    keys, contents, places = [], [], []
    for side in keyed:
        numbers = sides[side].numbers
        assert numbers is not None
        key = example * (1 << 32) + ints(f"{side}_list", numbers)
        keys.append(np.where(numbers.present, key, np.iinfo(np.int64).min))
        contents.append(own[side])
        places.append(np.arange(example.size))
    key, content, place = (np.concatenate(each) for each in (keys, contents, places))
    has_key = key != np.iinfo(np.int64).min
    at = np.flatnonzero(has_key & (content >= 0))
    at = at[np.argsort(key[at], kind="stable")]
    known = key[at]
    if (again := known[1:] == known[:-1]).any():
        twice = int(at[1:][again][0])
        side = keyed[twice // example.size]
        row = int(place[twice])
        hint = "keep the content of a shared list in one row, and no value in the others"
        message = f"row {row}: an earlier row already has the content of this shared list"
        table_error(message, f"{side}_list", row, hint)
    missing = np.flatnonzero(has_key & (content < 0))
    found = np.searchsorted(known, key[missing])
    lost = np.append(known, -1)[found] != key[missing]
    if lost.any():
        wrong = int(missing[lost][0])
        side, row = keyed[wrong // example.size], int(place[wrong])
        table_error(
            f"row {row}: no row of this example has the content of the list", f"{side}_list", row
        )
    content = content.copy()
    content[missing] = content[at][found]
    parts = np.split(content, len(keyed))
    return {**own, **dict(zip(keyed, parts, strict=True))}


def _ranges(given: SaidSide) -> tuple[Ranges, Strings]:
    """Return the ranges of one side, and the name of each range's group.

    The ranges do not refer to these names yet.
    """
    assert isinstance(given.lists.items, Records)
    records, name = given.lists.items.fields, given.name
    if not given.lists.items.present.all():
        table_error(f"{safe(name)}: range {given.lists.items.present.argmin()} is absent", name)
    for field in records:
        if field not in FIELDS:
            hint = f"the fields of a range are {', '.join(FIELDS)}"
            table_error(
                f"{safe(name)}: {field!r} is not a field of a range", f"{name}.{field}", hint=hint
            )
    r = len(given.lists.items)
    values, said_values = _numbers(records, name, "values", r)
    units, said_units = _numbers(records, name, "units", r)
    first, value = _single(records, name, "first", r), _single(records, name, "value", r)
    dense = values.lengths > 0
    if (both := dense & (units.lengths > 0)).any():
        table_error(f"{safe(name)}: range {both.argmax()} has both values and units", name)
    active = np.repeat(given.active, given.lists.lengths)
    every = ~said_values & ~said_units & (value.present if "value" in records else True)
    stored = units.lengths + every
    numbers = np.full(int(stored.sum()), ALL, np.int32)
    numbers[~np.repeat(every, stored)] = ints(f"{name}.units", Numbers.of(units.values))
    group = strings(f"{name}.group", records["group"]) if "group" in records else Strings.empty(r)
    ranges = Ranges(
        group=constant(-1, r, np.int32),
        first=ints(f"{name}.first", first),
        value=np.where(value.present, floats(f"{name}.value", value.values), active),
        values=Ragged(floats(f"{name}.values", values.values), values.offsets),
        units=Ragged(numbers, offsets_of(stored)),
    )
    return ranges, group


def _numbers(
    records: Mapping[str, TableColumn], name: str, field: str, r: int
) -> tuple[Ragged[np.generic], Flags]:
    """Return a field of the records that contains lists of numbers, and for each range whether it
    has the field.

    records: the fields. name: of the column, for errors. r: the number of ranges.
    """
    column = records.get(field)
    if column is None or (isinstance(column, Strings | Numbers) and not column.present.any()):
        return Ragged.empty(r, np.int32), constant(False, r, np.bool_)
    if isinstance(column, Numbers) and len(column.shape) == 1:  # all of one length
        lengths = np.where(column.present, column.shape[0], 0)
        values = column.values[column.present].reshape(-1)
        return Ragged(values, offsets_of(lengths)), column.present
    if not isinstance(column, Lists) or not (is_number(column.items) or not len(column.items)):
        wrong = f"{safe(name)}.{field}: expected lists of numbers, not {type_of(column)}"
        table_error(wrong, f"{name}.{field}")
    items = column.items
    if not isinstance(items, Numbers):
        return Ragged.empty(r, np.int32), column.present
    if not items.present.all():
        row = int(np.searchsorted(column.offsets, items.present.argmin(), "right")) - 1
        table_error(f"{safe(name)}.{field}: a number of range {row} is absent", f"{name}.{field}")
    return Ragged(items.values, column.offsets), column.present


def _single(records: Mapping[str, TableColumn], name: str, field: str, r: int) -> Numbers:
    """Return the field `field`, with one number for each of the r ranges; if it is absent, r rows
    without a value.

    records: the fields as {name: values}. name: the name of the column, for errors.
    """
    column = records.get(field)
    if column is None or (isinstance(column, Strings) and not column.present.any()):
        return Numbers.of(np.zeros(r, np.int32), constant(False, r, np.bool_))
    if not isinstance(column, Numbers) or not is_number(column):
        wrong = f"{safe(name)}.{field}: expected numbers, not {type_of(column)}"
        table_error(wrong, f"{name}.{field}")
    return column
