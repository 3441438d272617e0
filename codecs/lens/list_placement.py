"""Assign range lists to the events of a Lens binary file, and record which lists are replaced.

Lens, example.c: readBinaryExample. Range lists are numbered from 0, in file order.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from exset.codecs.engine import Fields
from exset.codecs.lens.event_lists import INPUTS, SHARED, TARGETS, EventLists, blocks
from exset.grammars.columns.arrays import Flags, Longs


class ListPlacement:
    """The range lists of each event.

    inputs, targets: int64 [m], the number of a range list, or -1. replaced: for each event list
    that replaced a range list by its own: the event list's path, its number, and the first event at
    which this happened.
    """

    def __init__(self, num_events: int) -> None:
        self.inputs: Longs = np.full(num_events, -1, np.int64)
        self.targets: Longs = np.full(num_events, -1, np.int64)
        self.replaced: list[tuple[str, int, int]] = []

    def assign_all(self, column: Longs, kinds: Sequence[EventLists], used: Sequence[Flags]) -> None:
        """Assign the range lists of the event lists in `kinds` to the events, in this order.

        column: `inputs` or `targets`, to change. used: for each of `kinds`, which entries of its
        event lists to use.
        """
        first = np.concatenate([k.first[t] for k, t in zip(kinds, used, strict=True)])
        stop = np.concatenate([k.stop[t] for k, t in zip(kinds, used, strict=True)])
        row = [k.row[t] for k, t in zip(kinds, used, strict=True)]
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
        for entry, event in _replaced(first, stop, value, column.size):
            self.replaced.append((kinds[kind[entry]].path, int(at[entry]), event))

    def assign(self, column: Longs, kind: EventLists, row: int, number: int) -> None:
        """Assign the range list `number` (-1: none) to the events that one event list names.

        column: `inputs` or `targets`, to change. row: the index of the event list in `kind`.
        """
        for k in range(kind.offsets[row], kind.offsets[row + 1]):
            events = column[kind.first[k] : kind.stop[k]]
            replaced = (events >= 0) & (events != number)
            if replaced.any():
                self.replaced.append((kind.path, row, int(kind.first[k] + replaced.argmax())))
            events[:] = number


def place_plain(fields: Fields) -> ListPlacement | None:
    """Assign the lists of a plain file to its events, faster than `place_lists`.

    In a plain file, each example has one event, one input set and one target set, in this order. No
    set is shared, and all sets have ranges. So event i has the lists 2 i and 2 i + 1. Returns None
    for any other file.
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
    placed = ListPlacement(0)
    placed.inputs = np.arange(0, 2 * n, 2)
    placed.targets = placed.inputs + 1
    return placed


def place_lists(
    inputs: EventLists, shared: EventLists, targets: EventLists, is_empty: Flags, num_events: int
) -> ListPlacement:
    """Assign the range lists to the events that they name. Later lists replace earlier lists.

    inputs, shared, targets: the event lists of input sets, of their shared targets, and of target
    sets. is_empty: bool [lists], whether a list has no ranges. A list without ranges replaces
    nothing: all its events get the list that its first event has. Examples in which this changes an
    event are processed list by list.
    """
    placed = ListPlacement(num_events)
    kinds = (inputs, shared, targets)
    if not is_empty.any():
        used = [np.ones(kind.first.size, np.bool_) for kind in kinds]
        unusual = np.empty(0, np.int64)
    else:
        examples = [_unusual_examples(kind, is_empty) for kind in kinds]
        unusual = np.unique(np.concatenate(examples))
        used = [
            ~is_empty[kind.lists[kind.row]] & ~np.isin(kind.example[kind.row], unusual)
            for kind in kinds
        ]
    placed.assign_all(placed.inputs, [inputs], used[:1])
    placed.assign_all(placed.targets, [shared, targets], used[1:])
    for example in unusual.tolist():
        for column, kind in ((placed.inputs, inputs), (placed.targets, targets)):
            begin, end = np.searchsorted(kind.example, [example, example + 1]).tolist()
            for row in range(begin, end):
                number = int(kind.lists[row])
                if is_empty[number]:
                    number = int(column[kind.first_event(row)])
                placed.assign(column, kind, row, number)
                # A list of a target set is never in `shared`.
                k = int(np.searchsorted(shared.lists, kind.lists[row]))
                if k < shared.lists.size and shared.lists[k] == kind.lists[row]:
                    placed.assign(placed.targets, shared, k, number)
    return placed


def _unusual_examples(kind: EventLists, is_empty: Flags) -> Longs:
    """Return the indices of the examples in which a list without ranges changes the list of an
    event.

    kind: one of the kinds of lists in a file. is_empty: whether each list has no ranges.
    """
    counts = np.zeros(kind.lists.size, np.int64)
    np.add.at(counts, kind.row, kind.stop - kind.first)
    return kind.example[is_empty[kind.lists] & (counts > (0 if kind.path == SHARED else 1))]


def _replaced(
    first: Longs, stop: Longs, value: Longs, num_events: int
) -> Iterator[tuple[int, int]]:
    """Yield (entry, event) for each event list that replaces another one.

    entry: the first entry of the event list that replaces one. event: the event at which it does.
    first, stop: the events of each entry. value: the range list of each entry. num_events: the
    number of events in the file.
    """
    holder = np.full(num_events, -1, np.int64)
    seen = -1
    for events, number in blocks(first, stop):
        free = holder[events] < 0
        # In a block, the first entry of an event counts, so it must be written last.
        holder[events[free][::-1]] = value[number[free]][::-1]
        others = np.flatnonzero(holder[events] != value[number])
        lists = value[number[others]]
        for at in others[np.diff(lists, prepend=seen) != 0].tolist():
            seen = int(value[number[at]])
            yield int(number[at]), int(events[at])
