"""The normal form of an example set. In normal form, sets with the same meaning have the same
columns.

1. Every NaN is the quiet NaN 7FC00000. 2. An empty proc is absent; an empty name is not. 3. An
event's time that is NaN is absent, because NaN means "absent" in Lens. An event's default or active
   value that equals the set's value, bit for bit, is absent, because Lens copies the
   set's value (example.c: initEvent).
4. A list without ranges is absent. Each list belongs to one example. Lists are numbered as in the
   binary file: within an example, first the lists that inputs use, by the first event that uses
   them, then the lists that only targets use, in the same way. Ranges, values and units follow this
   order.
5. A dense range has value 0; a range that is not dense has first unit 0. 6. Each group is used, has
a name that is not empty, and occurs once. Groups are in the order of
   first use.
7. A column that repeats one value is a constant.

This module has no loops over examples, events or ranges. Columns in normal form are not copied.
"""

from typing import TypeVar

import numpy as np

from exset.grammars.columns.arrays import (
    Flags,
    Ints,
    Longs,
    T,
    bits,
    canonical_nan,
    compact,
    frozen,
    is_constant,
    offsets_of,
    row_indices,
)
from exset.grammars.columns.ragged import Ragged, Reals, Strings
from exset.grammars.lens.columns import (
    REAL_FIELDS,
    TIME_FIELDS,
    Events,
    ExampleColumns,
    Ranges,
    SetHeader,
)

C = TypeVar("C", bound=ExampleColumns)


def normal_form(raw: C) -> C:
    """Return the set in normal form. Arrays that are already in normal form are not copied."""
    raw = _in_list_order(raw)
    group, groups = _groups(raw.ranges.group, raw.groups)
    events = own_fields(raw.header, raw.events)
    return raw.with_unchecked(
        name=_strings(raw.name),
        proc=without_empty(raw.proc),
        frequency=compact(canonical_nan(raw.frequency)),
        events=events.with_unchecked(
            proc=without_empty(events.proc),
            inputs=compact(events.inputs),
            targets=compact(events.targets),
        ),
        lists=frozen(raw.lists),
        ranges=_ranges(raw.ranges, group),
        groups=groups,
    )


def _in_list_order(raw: C) -> C:
    """Return the set with its lists in the order of the normal form."""
    inputs, targets, order = _number_lists(raw)
    events = raw.events.with_unchecked(inputs=inputs, targets=targets)
    if order is None:
        return raw.with_unchecked(events=events)
    lengths = np.diff(raw.lists)[order]
    picked = row_indices(raw.lists[:-1][order], lengths)
    return raw.with_unchecked(
        events=events, lists=offsets_of(lengths), ranges=raw.ranges.take(picked)
    )


def _number_lists(raw: ExampleColumns) -> tuple[Longs, Longs, Longs | None]:
    """Return the list numbers that the normal form requires.

    The result has three arrays: the new list number of each event's inputs, the new list number of
    each event's targets, and for each new number the list's old number. The third is None if no
    list moves.

    A *use* is a reference from an event's inputs or targets to a list. Uses are ordered by example,
    then inputs before targets. Lists are ordered by their first use.
    """
    num_lists = raw.lists.size - 1
    inputs, targets = raw.events.inputs, raw.events.targets
    if _is_plain(raw):
        return inputs, targets, None
    has_ranges = np.append(raw.lists[1:] > raw.lists[:-1], False)
    is_input, is_target = has_ranges[inputs], has_ranges[targets]
    inputs_before, targets_before = offsets_of(is_input), offsets_of(is_target)
    example = raw.example_of_event
    at_input = (inputs_before[:-1] + targets_before[raw.event_offsets[:-1]][example])[is_input]
    at_target = (targets_before[:-1] + inputs_before[raw.event_offsets[1:]][example])[is_target]

    num_uses = at_input.size + at_target.size
    used, owner = np.empty(num_uses, np.int64), np.empty(num_uses, np.int64)
    used[at_input], used[at_target] = inputs[is_input], targets[is_target]
    if num_uses == num_lists and np.array_equal(used, np.arange(num_lists)):
        return _where_listed(inputs, is_input), _where_listed(targets, is_target), None

    owner[at_input], owner[at_target] = example[is_input], example[is_target]
    head = _first_uses(used, num_lists)[used]
    if (owner[head] != owner).any():  # one list in two examples: each gets its own
        _, first, codes = np.unique(
            owner * num_lists + used, return_index=True, return_inverse=True
        )
        head = first[codes]
    is_first = head == np.arange(num_uses)
    number = (np.cumsum(is_first) - 1)[head]
    inputs, targets = np.full_like(inputs, -1), np.full_like(targets, -1)
    inputs[is_input], targets[is_target] = number[at_input], number[at_target]
    order = used[is_first]
    same_order = order.size == num_lists and bool((order == np.arange(num_lists)).all())
    return inputs, targets, None if same_order else order


def _is_plain(raw: ExampleColumns) -> bool:
    """Return whether each example has a single event with inputs and targets, and the example i has
    the lists 2 i and 2 i + 1.
    """
    n = len(raw)
    if raw.num_events != n or raw.lists.size != 2 * n + 1:
        return False
    even = np.arange(0, 2 * n, 2)
    inputs, targets = raw.events.inputs, raw.events.targets
    return (
        np.array_equal(inputs, even)
        and np.array_equal(targets, even + 1)
        and bool((raw.lists[1:] > raw.lists[:-1]).all())
    )


def _where_listed(numbers: Longs, listed: Flags) -> Longs:
    return numbers if (listed == (numbers >= 0)).all() else np.where(listed, numbers, -1)


def _first_uses(used: Longs | Ints, n: int) -> Longs:
    """Return the first index in `used` of each number from 0 to n - 1: int64 [n].

    For a number that is not in `used`, the index is `used.size`.
    """
    first = np.full(n, used.size, np.int64)
    np.minimum.at(first, used, np.arange(used.size))
    return first


def own_fields(header: SetHeader, events: Events) -> Events:
    """Return events without the numbers that change nothing (rule 3 of the normal form).

    These are numbers equal to the header's, which events inherit, and times that are NaN.
    """
    reals = {}
    for field in REAL_FIELDS:
        column = events.real(field)
        if is_constant(column.present) and not column.present[:1].any():
            reals[field] = Reals.empty(len(column))
            continue
        values = canonical_nan(column.values)
        if field in TIME_FIELDS:
            present = column.present & ~np.isnan(values)
        else:
            inherited = np.array([header.real(field)])
            present = column.present & (bits(values) != bits(canonical_nan(inherited)))
        values = values if present.all() else np.where(present, values, np.float32(0))
        reals[field] = Reals.unchecked(values=compact(values), present=compact(present))
    return events.with_unchecked(**reals)


def _groups(group: Ints, groups: Strings) -> tuple[Ints, Strings]:
    """Return each range's new group number, and the names of the groups, as the normal form
    requires.

    group: the old number of each range, -1 for no group. groups: the old names, which may be
    unused, repeated or empty.
    """
    if len(groups) == 0:
        return compact(group), Strings.empty(0)
    distinct, number = groups.distinct()
    number[groups.lengths == 0] = -1
    group = np.append(number, -1)[group]
    used = group[group >= 0]
    first = _first_uses(used, len(distinct))
    by_use = np.argsort(first, kind="stable")[: np.count_nonzero(first < used.size)]
    renumber = np.full(len(distinct) + 1, -1, np.int32)
    renumber[by_use] = np.arange(by_use.size)
    return compact(renumber[group]), _strings(distinct.take(by_use))


def _ranges(ranges: Ranges, group: Ints) -> Ranges:
    dense = ranges.values.lengths > 0
    first, value = ranges.first, canonical_nan(ranges.value)
    if (first[~dense] != 0).any():
        first = np.where(dense, first, np.int32(0))
    if (bits(value[dense]) != 0).any():
        value = np.where(dense, np.float32(0), value)
    values = ranges.values.with_unchecked(values=canonical_nan(ranges.values.values))
    return Ranges.unchecked(
        group=group,
        first=compact(first),
        value=compact(value),
        values=_ragged(values),
        units=_ragged(ranges.units),
    )


def without_empty(strings: Strings) -> Strings:
    """Return the strings, with no value in place of each empty string.

    An array of the strings that repeats one number is stored as a constant column.
    """
    present = strings.present & (strings.offsets[1:] > strings.offsets[:-1])
    return _strings(Strings.unchecked(data=strings.data, offsets=strings.offsets, present=present))


def _strings(strings: Strings) -> Strings:
    """Return the same strings.

    Arrays of the column that repeat one value become constant columns.
    """
    if strings.data.size == 0 and not strings.present.any():
        return Strings.empty(len(strings))
    return strings.with_unchecked(
        offsets=compact(strings.offsets), present=compact(strings.present)
    )


def _ragged(rows: Ragged[T]) -> Ragged[T]:
    return rows.with_unchecked(values=compact(rows.values), offsets=compact(rows.offsets))
