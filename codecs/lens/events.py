"""Which range list each event of a Lens binary file ends up with, and where an earlier one is lost.

Lens, example.c: readBinaryExample. The lists are the input sets of the file and then its target
sets, numbered from 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from exset.codecs.engine import Fields
from exset.codecs.lens.event_lists import blocks, owners, read_spans
from exset.core.errors import FormatError, LimitError
from exset.core.limits import Limits, remedy
from exset.core.source import Source
from exset.grammars.columns.arrays import Flags, Longs

INPUTS, SHARED, TARGETS = (
    "examples.inputs.events",
    "examples.inputs.target_events",
    "examples.targets.events",
)


@dataclass(frozen=True, eq=False)
class EventLists:
    """The event lists of one kind, in file order.

    path: of the kind. lists: int64 [k], the range list that each is for. example: int64 [k].
    offsets: int64 [k + 1], of its entries. first, stop: int64 [entries], the events that each entry
    names, counted through the whole set.
    """

    path: str
    lists: Longs
    example: Longs
    offsets: Longs
    first: Longs
    stop: Longs

    @cached_property
    def row(self) -> Longs:
        """The event list that each entry is in: int64 [entries]."""
        return owners(self.offsets)

    @property
    def first_events(self) -> Longs:
        """The lowest event of each event list, none of which may be empty: int64 [k]."""
        if self.lists.size == 0:
            return self.first
        return np.minimum.reduceat(self.first, self.offsets[:-1])

    def first_event(self, row: int) -> int:
        """The lowest event of an event list."""
        return int(self.first[self.offsets[row] : self.offsets[row + 1]].min())


def read_event_lists(
    fields: Fields,
    source: Source,
    path: str,
    lists: Longs,
    example: Longs,
    event_offsets: Longs,
) -> EventLists:
    """The event lists of one kind, their events checked.

    Lens writes outside its memory where an event is out of range. Raises FormatError.
    """
    column = f"{path}.event_num"
    entries, offsets = fields.ints(column), fields.bounds[column]
    made = EventLists(path, lists, example, offsets, *read_spans(entries, offsets))
    empty = offsets[1:] == offsets[:-1]
    if path != SHARED and empty.any():
        at = f"{path}.set_numEventsInList"
        place = fields.place(source, at, int(empty.argmax()))
        raise FormatError("the list names no events", place=place)
    of = example[made.row]
    begin = event_offsets[of]
    num_events = event_offsets[of + 1] - begin
    wrong = (made.stop > num_events) & (made.stop > made.first)
    if wrong.any():
        k = int(wrong.argmax())
        message = f"event {made.stop[k] - 1} is out of range: the example has {num_events[k]}"
        raise FormatError(message, place=fields.place(source, column, k))
    return EventLists(path, lists, example, offsets, made.first + begin, made.stop + begin)


def check_expansion(
    fields: Fields, source: Source, limits: Limits, before: int, *kinds: EventLists
) -> int:
    """How many events the event lists name in all, so many in the parts before.

    LimitError if they are more than the limits allow.
    """
    lengths = [kind.stop - kind.first for kind in kinds]
    total = before + sum(int(each.sum()) for each in lengths)
    if total <= limits.max_expand:
        return total
    owners = [kind.example[kind.row] for kind in kinds]
    named = np.zeros(1 + max(int(each.max(initial=0)) for each in owners), np.int64)
    for each, size in zip(owners, lengths, strict=True):
        np.add.at(named, each, size)
    sums = before + np.cumsum(named)
    example = int(np.searchsorted(sums, limits.max_expand, "right"))
    left = limits.max_expand - int(sums[example] - named[example])
    for kind, each, size in zip(kinds, owners, lengths, strict=True):
        entries = np.flatnonzero(each == example)
        ends = np.cumsum(size[entries])
        k = int(np.searchsorted(ends, left, "right"))
        if k < ends.size:
            place = fields.place(source, f"{kind.path}.event_num", int(entries[k]))
            message = f"the event lists name more than {limits.max_expand} events in all"
            raise LimitError(message, place=place, hint=remedy("max_expand"))
        left -= int(ends[-1]) if ends.size else 0
    raise AssertionError("the events are not too many")


class Placed:
    """Which list each event has, or -1, and what was lost on the way.

    inputs, targets: int64 [m]. lost: the event lists, by path and number, that took away a list
    that an event had, and the first such event of each.
    """

    def __init__(self, num_events: int) -> None:
        """Begin with events that have no lists."""
        self.inputs: Longs = np.full(num_events, -1, np.int64)
        self.targets: Longs = np.full(num_events, -1, np.int64)
        self.lost: list[tuple[str, int, int]] = []

    def put_all(self, column: Longs, kinds: Sequence[EventLists], taken: Sequence[Flags]) -> None:
        """Give events the lists of some kinds, one kind after the other; taken: which entries."""
        first = np.concatenate([k.first[t] for k, t in zip(kinds, taken, strict=True)])
        stop = np.concatenate([k.stop[t] for k, t in zip(kinds, taken, strict=True)])
        row = [k.row[t] for k, t in zip(kinds, taken, strict=True)]
        value = np.concatenate([k.lists[r] for k, r in zip(kinds, row, strict=True)])
        if (stop - first == 1).all():
            column[first] = value
        else:
            for events, number in blocks(first, stop):
                column[events] = value[number]
        if int((stop - first).sum()) == np.count_nonzero(column >= 0):
            return
        at = np.concatenate(row)
        kind = np.repeat(np.arange(len(kinds)), [r.size for r in row])
        for entry, event in _lost(first, stop, value, column.size):
            self.lost.append((kinds[kind[entry]].path, int(at[entry]), event))

    def put(self, column: Longs, kind: EventLists, row: int, number: int) -> None:
        """Give the events of one event list a range list, or none."""
        for k in range(kind.offsets[row], kind.offsets[row + 1]):
            events = column[kind.first[k] : kind.stop[k]]
            taken = (events >= 0) & (events != number)
            if taken.any():
                self.lost.append((kind.path, row, int(kind.first[k] + taken.argmax())))
            events[:] = number


def place_plain(fields: Fields) -> Placed | None:
    """What `place_lists` gives for the plainest of files, at once; None for any other.

    There each example has one event, one input set for it and then one target set, none shared and
    none without ranges, so that the lists are numbered as the events take them.
    """
    n = fields.ints("examples.example_numEvents").size
    if (fields.ints("examples.example_numEvents") != 1).any():
        return None
    if fields.flags("examples.inputs.shared_targets").any():
        return None
    for path in (INPUTS, TARGETS):
        column, sets = f"{path}.event_num", path.removesuffix(".events")
        if not (
            (fields.counts(sets) == 1).all()
            and (fields.counts(column) == 1).all()
            and not fields.ints(column).any()
            and (fields.counts(f"{sets}.ranges") > 0).all()
        ):
            return None
    placed = Placed(0)
    placed.inputs = np.arange(0, 2 * n, 2)
    placed.targets = placed.inputs + 1
    return placed


def place_lists(
    inputs: EventLists, shared: EventLists, targets: EventLists, is_empty: Flags, num_events: int
) -> Placed:
    """Give the events their lists: later ones replace earlier ones.

    is_empty: bool [lists], for those without ranges. Such a list replaces nothing: its events take
    what the first of them has. Examples where that matters are gone through list by list.
    """
    placed = Placed(num_events)
    kinds = (inputs, shared, targets)
    if not is_empty.any():
        ways = [np.ones(kind.first.size, np.bool_) for kind in kinds]
        odd = np.empty(0, np.int64)
    else:
        odd = np.unique(np.concatenate([_odd_examples(kind, is_empty) for kind in kinds]))
        ways = [
            ~is_empty[kind.lists[kind.row]] & ~np.isin(kind.example[kind.row], odd)
            for kind in kinds
        ]
    placed.put_all(placed.inputs, [inputs], ways[:1])
    placed.put_all(placed.targets, [shared, targets], ways[1:])
    for example in odd.tolist():
        for row in _rows_of(inputs, example):
            number = int(inputs.lists[row])
            if is_empty[number]:
                number = int(placed.inputs[inputs.first_event(row)])
            placed.put(placed.inputs, inputs, row, number)
            k = int(np.searchsorted(shared.lists, inputs.lists[row]))
            if k < shared.lists.size and shared.lists[k] == inputs.lists[row]:
                placed.put(placed.targets, shared, k, number)
        for row in _rows_of(targets, example):
            number = int(targets.lists[row])
            if is_empty[number]:
                number = int(placed.targets[targets.first_event(row)])
            placed.put(placed.targets, targets, row, number)
    return placed


def _odd_examples(kind: EventLists, is_empty: Flags) -> Longs:
    """The examples in which a list without ranges says something: it has several events."""
    names = np.zeros(kind.lists.size, np.int64)
    np.add.at(names, kind.row, kind.stop - kind.first)
    return kind.example[is_empty[kind.lists] & (names > (0 if kind.path == SHARED else 1))]


def _rows_of(kind: EventLists, example: int) -> range:
    begin, end = np.searchsorted(kind.example, [example, example + 1]).tolist()
    return range(begin, end)


def _lost(first: Longs, stop: Longs, value: Longs, num_events: int) -> Iterator[tuple[int, int]]:
    """The first entry of each list that names an event with a list from before, and that event."""
    holder = np.full(num_events, -1, np.int64)
    seen = -1
    for events, number in blocks(first, stop):
        free = holder[events] < 0
        # Of an event named twice in a block the first to name it counts, so that is written last.
        holder[events[free][::-1]] = value[number[free]][::-1]
        wrong = np.flatnonzero(holder[events] != value[number])
        lists = value[number[wrong]]
        for at in wrong[np.diff(lists, prepend=seen) != 0].tolist():
            seen = int(value[number[at]])
            yield int(number[at]), int(events[at])
