"""Read the event lists of a Lens binary file: which events a range list is for.

Lens, example.c: readBinaryExample. The lists are numbered from 0, in the order of the sets.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from exset.codecs.engine import Fields
from exset.codecs.lens.event_lists import owners, read_spans
from exset.core.errors import FormatError, LimitError
from exset.core.limits import Limits, limit_hint
from exset.core.source import Source
from exset.grammars.columns.arrays import Longs

INPUTS, SHARED, TARGETS = (
    "examples.inputs.events",
    "examples.inputs.target_events",
    "examples.targets.events",
)


@dataclass(frozen=True, eq=False)
class EventLists:
    """The event lists of one kind, in file order.

    path: of the kind. lists, example: int64 [k], the range list and the example of each event list.
    offsets: int64 [k + 1], of its entries. first, stop: int64 [entries], the events of each entry,
    numbered through the whole set.
    """

    path: str
    lists: Longs
    example: Longs
    offsets: Longs
    first: Longs
    stop: Longs

    @cached_property
    def row(self) -> Longs:
        """The event list of each entry: int64 [entries]."""
        return owners(self.offsets)

    @property
    def first_events(self) -> Longs:
        """The lowest event of each event list; no list may be empty: int64 [k]."""
        if self.lists.size == 0:
            return self.first
        return np.minimum.reduceat(self.first, self.offsets[:-1])

    def first_event(self, row: int) -> int:
        """The lowest event of an event list."""
        return int(self.first[self.offsets[row] : self.offsets[row + 1]].min())


def read_event_lists(
    fields: Fields, source: Source, path: str, lists: Longs, example: Longs, event_offsets: Longs
) -> EventLists:
    """Read the event lists of one kind, and check their events.

    Lens writes outside its memory if an event is out of range. Raises FormatError.
    """
    column = f"{path}.event_num"
    entries, offsets = fields.ints(column), fields.bounds[column]
    kind = EventLists(path, lists, example, offsets, *read_spans(entries, offsets))
    empty = offsets[1:] == offsets[:-1]
    if path != SHARED and empty.any():
        at = f"{path}.set_numEventsInList"
        place = fields.place(source, at, int(empty.argmax()))
        raise FormatError("the list names no events", place=place)
    owner = example[kind.row]
    begin = event_offsets[owner]
    num_events = event_offsets[owner + 1] - begin
    invalid = (kind.stop > num_events) & (kind.stop > kind.first)
    if invalid.any():
        k = int(invalid.argmax())
        message = f"event {kind.stop[k] - 1} is out of range: the example has {num_events[k]}"
        raise FormatError(message, place=fields.place(source, column, k))
    return EventLists(path, lists, example, offsets, kind.first + begin, kind.stop + begin)


def check_expansion(
    fields: Fields, source: Source, limits: Limits, before: int, *kinds: EventLists
) -> int:
    """Count the events in the event lists, and `before`, those in the chunks before.

    Raises LimitError if there are more than `limits.max_expand`.
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
    message = f"the event lists name more than {limits.max_expand} events in all"
    raise LimitError(message, place=place, hint=limit_hint("max_expand"))
