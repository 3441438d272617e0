"""Inputs and targets in a table of the level "said": for each event, a record for each range.

A record has these fields:

- `group`: the name of the group; no value means the whole network.
- `first` and `values`: only for a dense range.
- `value` and `units`: only for a sparse range. A span of units is its first unit and the
  negative of its last. If `units` has no value, the range has all units (`*`).

A range has no units if its `units` are an empty list, or if it has neither `values` nor `value`.
"""

from typing import Final

import numpy as np

from exset.grammars.columns.arrays import Flags, Ints, Longs, compact, lengths_of, row_indices
from exset.grammars.columns.strings import Strings
from exset.grammars.lens.columns import Ranges
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn, Text
from exset.runtime.lens.network_layout import SIDES
from exset.runtime.lens.table_layout import TableLayout

ALL: Final = -1
"""The unit that means all units of a group, `*`, in the normal form."""


def nested_columns(examples: ExampleSet, layout: TableLayout) -> dict[str, TableColumn]:
    """Return the columns `inputs` and `targets`. In them, each event has a record for each range.

    If events share lists, also return the columns `inputs_list` and `targets_list`: int32, the
    number of the event's list. The lists of each example are numbered from 0. If a number occurs
    again in an example, the list is shared. Only the first use of the list has the records; in this
    order, all inputs of an example come before its targets. For later uses, `inputs` or `targets`
    has no value.
    """
    events = examples.events
    numbers = {"inputs": events.inputs, "targets": events.targets}
    content = _first_uses(examples) if layout.shares else None
    found: dict[str, TableColumn] = {}
    for side in SIDES:
        present = compact(numbers[side] >= 0 if content is None else content[side])
        found[side] = _records(examples, numbers[side], present, "group" in layout.in_bytes)
    if layout.shares:
        base = _first_lists(examples)
        for side in SIDES:
            has = numbers[side] >= 0
            number = np.where(has, numbers[side] - base, 0).astype(np.int32)
            found[f"{side}_list"] = Numbers.of(number, has)
    return found


def _first_uses(examples: ExampleSet) -> dict[str, Flags]:
    """Return for each event whether it is the first that uses its list: bool [events].

    The result has an array for "inputs" and an array for "targets".
    """
    events, m = examples.events, examples.num_events
    used = np.concatenate([events.inputs, events.targets])
    _, at = np.unique(used, return_index=True)
    is_first = np.zeros(2 * m, np.bool_)
    is_first[at] = True
    is_first &= used >= 0
    return {"inputs": is_first[:m], "targets": is_first[m:]}


def _first_lists(examples: ExampleSet) -> Longs:
    """Return the first list of each event's example: int64 [events].

    In the normal form, the lists of an example follow the lists of the previous example.
    """
    events = examples.events
    last = np.maximum(events.inputs, events.targets)
    before = np.maximum.accumulate(np.append(-1, last))[examples.event_offsets[:-1]] + 1
    return np.repeat(before, lengths_of(examples.event_offsets))


def _records(examples: ExampleSet, numbers: Longs, present: Flags, in_bytes: bool) -> Lists:
    """Return the ranges of some lists as a column of lists of records.

    numbers: the list of each row. present: which rows have a list. in_bytes: whether names of
    groups are bytes, not text.
    """
    used = numbers[present]
    lengths = lengths_of(examples.lists)
    counts = np.zeros(numbers.size, np.int64)
    counts[present] = lengths[used]
    picked = row_indices(examples.lists[:-1][used], lengths[used])
    ranges = examples.ranges.take(picked)
    dense = compact(ranges.values.lengths > 0)
    every = compact(_is_every(ranges))
    group = _names(examples.groups, ranges.group)
    units, unit_counts = ranges.units.values, ranges.units.lengths
    if every.any():
        units = units[np.repeat(~every, unit_counts)]
        unit_counts = np.where(every, 0, unit_counts)
    fields: dict[str, TableColumn] = {
        "group": group if in_bytes else Text.unchecked(**vars(group)),
        "first": Numbers.of(ranges.first, dense),
        "value": Numbers.of(ranges.value, ~dense),
        "values": Lists.of(Numbers.of(ranges.values.values), ranges.values.lengths, dense),
        "units": Lists.of(Numbers.of(units), unit_counts, ~dense & ~every),
    }
    every_record = np.broadcast_to(np.True_, picked.shape)
    return Lists.of(Records(fields, every_record), counts, present)


def _is_every(ranges: Ranges) -> Flags:
    """Return for each range whether its units are `*`, which means all units: bool [ranges]."""
    single = ranges.units.lengths == 1
    is_every: Flags = np.zeros(len(ranges), np.bool_)
    is_every[single] = ranges.units.values[ranges.units.offsets[:-1][single]] == ALL
    return is_every


def _names(groups: Strings, group: Ints) -> Strings:
    """Return the name of each range's group. A range of the whole network has no value.

    group: the index of each range's group in `groups`, or -1.
    """
    if not len(groups):
        return Strings.empty(group.size)
    numbers = group.astype(np.int64)
    ends = groups.offsets
    return Strings.from_spans(groups.data, ends[numbers], ends[numbers + 1], numbers >= 0)
