"""Event lists of Lens binary files: numbers of events, in which a negative number ends a span.

Lens, example.c: parseBinaryEventList reads them, writeBinaryEventList writes them.
"""

from collections.abc import Iterator

import numpy as np

from exset.grammars.columns.arrays import Flags, Ints, Longs, offsets_of, row_indices

_BLOCK = 1 << 20


def owners(offsets: Longs) -> Longs:
    """Return the row of each element: int64 [elements]. offsets: int64 [rows + 1]."""
    n = offsets.size - 1
    number = np.arange(n)
    if offsets[-1] == n and np.array_equal(offsets[:-1], number):
        return number
    return np.repeat(number, np.diff(offsets))


def read_spans(entries: Ints, offsets: Longs) -> tuple[Longs, Longs]:
    """Return the first event of each entry, and one past its last: int64 [entries] each.

    offsets: int64 [lists + 1]. Lens reads a list with one counter that begins at 0. Entry n sets it
    to n. Entry -n names the events after the counter, up to n, and sets the counter to n + 1. So a
    list that begins with -n names 1 to n, and the second of two negative entries skips an event.
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
    """Whether an entry ends a span that does not begin below it: bool [entries].

    units: a span of units may end where it begins, and a single negative number means `*`.
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
    """Return the entry before each of `ends`, or `begin` for the first entry of a list."""
    is_first = np.zeros(number.size + 1, np.bool_)
    is_first[offsets[:-1]] = True
    return np.where(is_first[ends], begin, number[ends - 1])


def write_spans(events: Longs, lists: Longs, num_lists: int) -> tuple[Ints, Ints]:
    """Return the entries of event lists, and the count of each list: int32, int32 [num_lists].

    events, lists: int64 [k], pairs of an event and its list, sorted by list and then by event. A
    run of two events or more is written as its first and minus its last.
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
    """Yield the events of spans, and the span of each event, in blocks of bounded size."""
    lengths = stop - first
    ends = np.cumsum(lengths)
    begin = 0
    while begin < lengths.size:
        reach = (ends[begin - 1] if begin else 0) + _BLOCK
        end = max(int(np.searchsorted(ends, reach, "right")), begin + 1)
        here = lengths[begin:end]
        yield row_indices(first[begin:end], here), np.repeat(np.arange(begin, end), here)
        begin = end
