"""The event lists of Lens binary files, which name the events of each range list.

A negative number in an event list ends a span of events. Range lists are numbered from 0, in file
order. Lens, example.c: readBinaryExample, parseBinaryEventList, writeBinaryEventList.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from exset.codecs.engine import Fields
from exset.core.errors import FormatError, LimitError
from exset.core.limits import Limits, limit_hint
from exset.core.source import Source
from exset.core.text import counted
from exset.grammars.columns.arrays import Flags, Ints, Longs, offsets_of, row_indices

INPUTS, SHARED, TARGETS = (
    "examples.inputs.events",
    "examples.inputs.target_events",
    "examples.targets.events",
)
_BLOCK = 1 << 20


def owners(offsets: Longs) -> Longs:
    """Return for each element the index of the row that contains it: int64 [elements].

    offsets: int64 [rows + 1], where the elements of each row begin, and the end.
    """
    n = offsets.size - 1
    number = np.arange(n)
    if offsets[-1] == n and np.array_equal(offsets[:-1], number):
        return number
    return np.repeat(number, np.diff(offsets))


def read_spans(entries: Ints, offsets: Longs) -> tuple[Longs, Longs]:
    """Return the first event that each entry names, and the event after its last: int64 [entries].

    entries: the entries of all lists. offsets: int64 [lists + 1], where each list begins. Lens
    reads a list with a counter that begins at 0:

    - An entry n names event n, and sets the counter to n.
    - An entry -n names the events after the counter, up to n, and sets the counter to n + 1.

    So if a list begins with -n, this entry names the events 1 to n. And the second of two
    consecutive negative entries skips an event.
    """
    number = entries.astype(np.int64)
    ends = np.flatnonzero(number < 0)
    if ends.size == 0:
        return number, number + 1
    stop = np.abs(number) + 1
    before = _before(number, offsets, ends, 0)
    first = number.copy()
    first[ends] = before + 1
    for i in ends[before < 0].tolist():
        first[i] = max(first[i - 1], stop[i - 1]) + 1
    return first, np.maximum(first, stop)


def is_invalid(entries: Ints, offsets: Longs, units: bool = False) -> Flags:
    """Return which entries should end a span, but do not: bool [entries].

    An entry -n ends a span that begins with the entry before it. The entry before must be from 0 to
    n - 1. offsets: int64 [lists + 1], where each list begins. units: whether the lists are lists of
    units. In such a list, the entry before -n may also be n, and -n may be the only entry, which
    means `*`.
    """
    invalid = np.zeros(entries.size, np.bool_)
    ends = np.flatnonzero(entries < 0)
    if ends.size == 0:
        return invalid
    before = _before(entries.astype(np.int64), offsets, ends, -1)
    invalid[ends] = (before < 0) | (-entries[ends].astype(np.int64) < before + (not units))
    if units:
        invalid[offsets[:-1][offsets[1:] - offsets[:-1] == 1]] = False
    return invalid


def _before(number: Longs, offsets: Longs, ends: Longs, begin: int) -> Longs:
    """Return, for each entry at the indices `ends`, the previous entry of its list.

    begin: the result for the first entry of a list. number: all entries. offsets: where each list
    begins.
    """
    is_first = np.zeros(number.size + 1, np.bool_)
    is_first[offsets[:-1]] = True
    return np.where(is_first[ends], begin, number[ends - 1])


def write_spans(events: Longs, lists: Longs, num_lists: int) -> tuple[Ints, Ints]:
    """Return the entries of all event lists, and the number of entries of each: int32, int32
    [num_lists].

    events, lists: int64 [k], an event and the list that names it; sorted by list, then by event.
    Two or more consecutive events are written as the first event, then minus the last event.
    """
    breaks = np.ones(events.size + 1, np.bool_)
    breaks[1:-1] = (events[1:] != events[:-1] + 1) | (lists[1:] != lists[:-1])
    first, last = np.flatnonzero(breaks[:-1]), np.flatnonzero(breaks[1:])
    sizes = 1 + (last > first)
    entries = np.repeat(events[first], sizes)
    entries[offsets_of(sizes)[1:][last > first] - 1] = -events[last[last > first]]
    counts = np.zeros(num_lists, np.int32)
    np.add.at(counts, lists[first], sizes.astype(np.int32))
    return entries.astype(np.int32), counts


def blocks(first: Longs, stop: Longs) -> Iterator[tuple[Longs, Longs]]:
    """Yield the events of all spans, and for each event the index of its span, in blocks.

    first, stop: the first event of each span, and the event after its last. A block has a bounded
    size.
    """
    lengths = stop - first
    ends = np.cumsum(lengths)
    begin = 0
    while begin < lengths.size:
        reach = (ends[begin - 1] if begin else 0) + _BLOCK
        end = max(int(np.searchsorted(ends, reach, "right")), begin + 1)
        here = lengths[begin:end]
        yield row_indices(first[begin:end], here), np.repeat(np.arange(begin, end), here)
        begin = end


@dataclass(frozen=True, eq=False)
class EventLists:
    """The event lists at one path of the layout, in file order.

    path: the path. lists, example: int64 [k], the range list and the example of each event list.
    offsets: int64 [k + 1], where the entries of each event list begin. first, stop: int64
    [entries], the first event of each entry and the event after its last; events are numbered
    through the whole set.
    """

    path: str
    lists: Longs
    example: Longs
    offsets: Longs
    first: Longs
    stop: Longs

    @cached_property
    def row(self) -> Longs:
        """The index of the event list that contains each entry: int64 [entries]."""
        return owners(self.offsets)

    @property
    def first_events(self) -> Longs:
        """The lowest event of each event list: int64 [k]. No list may be empty."""
        if self.lists.size == 0:
            return self.first
        return np.minimum.reduceat(self.first, self.offsets[:-1])

    def first_event(self, row: int) -> int:
        """Return the lowest event of the event list with index `row`."""
        return int(self.first[self.offsets[row] : self.offsets[row + 1]].min())


def read_event_lists(
    fields: Fields, source: Source, path: str, lists: Longs, example: Longs, event_offsets: Longs
) -> EventLists:
    """Read the event lists at a path of the layout, and check their events.

    lists, example: the range list and the example of each event list. event_offsets: the first
    event of each example in the whole set. Raises FormatError for an event out of range, for which
    Lens would write to memory out of bounds.
    """
    column = f"{path}.event_num"
    entries, offsets = fields.ints(column), fields.bounds[column]
    kind = EventLists(path, lists, example, offsets, *read_spans(entries, offsets))
    empty = offsets[1:] == offsets[:-1]
    if path != SHARED and empty.any():
        at = f"{path}.set_numEventsInList"
        place = fields.place(source, at, int(empty.argmax()))
        raise FormatError("the event list is empty", place=place)
    owner = example[kind.row]
    begin = event_offsets[owner]
    num_events = event_offsets[owner + 1] - begin
    invalid = (kind.stop > num_events) & (kind.stop > kind.first)
    if invalid.any():
        k = int(invalid.argmax())
        has = counted(int(num_events[k]), "event")
        message = f"event {kind.stop[k] - 1} is out of range: the example has {has}"
        raise FormatError(message, place=fields.place(source, column, k))
    return EventLists(path, lists, example, offsets, kind.first + begin, kind.stop + begin)


def check_expansion(
    fields: Fields, source: Source, limits: Limits, before: int, *kinds: EventLists
) -> int:
    """Return the number of events that the event lists `kinds` name, plus `before`.

    before: the number for the earlier chunks. Raises LimitError if the sum exceeds
    `limits.max_expand`.
    """
    lengths = [kind.stop - kind.first for kind in kinds]
    total = before + sum(int(each.sum()) for each in lengths)
    if total <= limits.max_expand:
        return total
    examples = np.concatenate([kind.example[kind.row] for kind in kinds])
    order = np.argsort(examples, kind="stable")
    sums = before + np.cumsum(np.concatenate(lengths)[order])
    entry = int(order[np.searchsorted(sums, limits.max_expand, "right")])
    number = 0
    while entry >= lengths[number].size:
        entry -= lengths[number].size
        number += 1
    place = fields.place(source, f"{kinds[number].path}.event_num", entry)
    message = f"the event lists name more than {counted(limits.max_expand, 'event')} in all"
    raise LimitError(message, place=place, hint=limit_hint("max_expand"))
