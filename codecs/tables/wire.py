"""Kernels that find the fields of many messages of Protocol Buffers at once.

A field is a tag (its number and wire type), then a varint, 4 or 8 bytes, or a length with bytes.
Source: Protocol Buffers, "Encoding".
"""

from typing import Final, NamedTuple

import numpy as np

from exset.core.kernels import Kernels, entry_kernel, inline_kernel
from exset.grammars.columns.arrays import Bytes, Longs

KERNELS: Final = Kernels("exset.codecs.tables.wire", use_from=1 << 8)

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""The wire types of fields; groups, 3 and 4, are not supported."""
KEY, VALUE = 1, 2
"""The field numbers of the members of a map's entry."""

_KEY, _VALUE = KEY << 3 | BYTES, VALUE << 3 | BYTES
_LAST_SHIFT: Final = 63
_HALF: Final = 1 << 62


class Parts(NamedTuple):
    """The fields of messages, in order; each array has an element for each field.

    owners: the index of the message that contains the field. numbers: the field number. wires: the
    wire type. starts, ends: where the bytes of the field's value begin and end.
    """

    owners: Longs
    numbers: Longs
    wires: Longs
    starts: Longs
    ends: Longs

    def take(self, indices: Longs) -> "Parts":
        """Return the fields at the indices."""
        return Parts(*(each[indices] for each in self))


class Pairs(NamedTuple):
    """The entries of the maps in messages, in order: each should have a key and a value.

    owners: the index of the message that contains the entry. key_starts, key_ends: where the bytes
    of its last key are; without a key, both are equal. entries: for each value, the index of its
    entry, which may have several values or none. starts, ends: where the bytes of the value are.
    """

    owners: Longs
    key_starts: Longs
    key_ends: Longs
    entries: Longs
    starts: Longs
    ends: Longs


class WireError(ValueError):
    """Raised for a message that is truncated or invalid.

    message: the index of the message.
    """

    def __init__(self, message: int) -> None:
        super().__init__(f"message {message} is damaged")
        self.message = message


def fields_of(data: Bytes, starts: Longs, ends: Longs, number: int = 0, wire: int = 0) -> Parts:
    """Split messages into their fields. Raises WireError for a truncated or invalid message.

    starts, ends: where each message is in `data`. number: return only the fields that have this
    field number and the wire type `wire`; 0 for all fields.
    """
    run = KERNELS.choose(scan, KERNELS.use_compiled(int((ends - starts).sum())))
    starts, ends = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
    room = starts.size  # enough for most messages; the bytes bound the number of fields
    while True:
        parts = Parts(*(np.empty(room, np.int64) for _ in range(5)))
        count, wrong = run(data, starts, ends, number << 3 | wire, *parts)
        if wrong >= 0:
            raise WireError(wrong)
        if count <= room:
            return Parts(*(each[:count] for each in parts))
        room = count


def pairs_of(data: Bytes, starts: Longs, ends: Longs, maps: int, entry: int) -> Pairs:
    """Return the entries of the maps in messages. Raises WireError for a truncated or invalid
    message.

    starts, ends: where each message is in `data`. maps: the field number of the messages that have
    the maps. entry: the field number of an entry in them.
    """
    run = KERNELS.choose(scan_maps, KERNELS.use_compiled(int((ends - starts).sum())))
    starts, ends = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
    room = starts.size
    while True:
        pairs = Pairs(*(np.empty(room, np.int64) for _ in range(6)))
        tags = maps << 3 | BYTES, entry << 3 | BYTES
        count, values, wrong = run(data, starts, ends, tags, *pairs)
        if wrong >= 0:
            raise WireError(wrong)
        if max(count, values) <= room:
            sizes = (count, count, count, values, values, values)
            return Pairs(*(each[:size] for each, size in zip(pairs, sizes, strict=True)))
        room = max(count, values)


def varints(data: Bytes, starts: Longs, ends: Longs) -> tuple[Longs, Longs]:
    """Decode the varints (integers of variable length) in spans of `data`; return all numbers,
    and how many each span has: int64.

    starts, ends: the spans. Raises WireError for a damaged span; its `message` is the index of
    the span.
    """
    run = KERNELS.choose(unpack, KERNELS.use_compiled(int((ends - starts).sum())))
    starts, ends = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
    counts = np.empty(starts.size, np.int64)
    none = np.empty(0, np.int64)
    total, wrong = run(data, starts, ends, counts, none)
    if wrong >= 0:
        raise WireError(wrong)
    numbers = np.empty(total, np.int64)
    run(data, starts, ends, counts, numbers)
    return numbers, counts


@inline_kernel
def varint(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Decode the varint at index `at`, which must end before `end`.

    Return the number, and the index after it, or -1 if it is damaged.
    """
    value, shift = 0, 0
    while at < end and shift <= _LAST_SHIFT:
        byte = int(data[at])
        at += 1
        if shift == _LAST_SHIFT:
            if byte & 1:
                value = value - _HALF - _HALF
        else:
            value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    return 0, -1


@inline_kernel
def field(data: Bytes, at: int, stop: int) -> tuple[int, int, int]:
    """Find the field at index `at`, which must end at `stop` at the latest.

    Return its tag, and where the bytes of its value begin and end; the end is -1 if it is damaged.
    """
    tag, start = varint(data, at, stop)
    if start < 0 or tag < 8 or tag >= 1 << 32:
        return tag, start, -1
    wire, end = tag & 7, -1
    if wire == BYTES:
        size, start = varint(data, start, stop)
        if start >= 0 and 0 <= size <= stop - start:
            end = start + size
    elif wire == VARINT:
        _, end = varint(data, start, stop)
    elif wire == FIXED64:
        end = start + 8
    elif wire == FIXED32:
        end = start + 4
    return tag, start, end if end <= stop else -1


@entry_kernel
def scan(
    data: Bytes,
    begins: Longs,
    stops: Longs,
    only: int,
    owners: Longs,
    numbers: Longs,
    wires: Longs,
    starts: Longs,
    ends: Longs,
) -> tuple[int, int]:
    """Split messages into their fields, which fill the last five arrays (see `Parts`).

    begins, stops: where each message is in `data`. only: the tag of the fields to store; less than
    8 for all fields. Return how many fields there are, and the index of the first damaged message
    or -1. Fields for which the arrays have no room are counted, but not stored.
    """
    count, room = 0, len(owners)
    for message in range(len(begins)):
        at, stop = begins[message], stops[message]
        while at < stop:
            tag, start, at = field(data, at, stop)
            if at < 0:
                return count, message
            if only >= 8 and tag != only:
                continue
            if count < room:
                owners[count] = message
                numbers[count] = tag >> 3
                wires[count] = tag & 7
                starts[count] = start
                ends[count] = at
            count += 1
    return count, -1


@entry_kernel
def scan_maps(
    data: Bytes,
    begins: Longs,
    stops: Longs,
    tags: tuple[int, int],
    owners: Longs,
    key_starts: Longs,
    key_ends: Longs,
    entries: Longs,
    starts: Longs,
    ends: Longs,
) -> tuple[int, int, int]:
    """Find the entries of the maps in messages, which fill the last six arrays (see `Pairs`).

    begins, stops: where each message is in `data`. tags: of the messages with maps, and of the
    entries in them. Return how many entries and how many values there are, and the index of the
    first damaged message or -1. Entries and values for which the arrays have no room are counted,
    but not stored.
    """
    count, total = 0, 0
    for message in range(len(begins)):
        at, stop = begins[message], stops[message]
        while at < stop:
            tag, entry, at = field(data, at, stop)
            if at < 0:
                return count, total, message
            if tag != tags[0]:
                continue
            while entry < at:
                tag, member, entry = field(data, entry, at)
                if entry < 0:
                    return count, total, message
                if tag != tags[1]:
                    continue
                key_start, key_end = member, member
                while member < entry:
                    tag, start, member = field(data, member, entry)
                    if member < 0:
                        return count, total, message
                    if tag == _KEY:
                        key_start, key_end = start, member
                    elif tag == _VALUE:
                        if total < len(entries):
                            entries[total] = count
                            starts[total] = start
                            ends[total] = member
                        total += 1
                if count < len(owners):
                    owners[count] = message
                    key_starts[count] = key_start
                    key_ends[count] = key_end
                count += 1
    return count, total, -1


@entry_kernel
def unpack(
    data: Bytes, begins: Longs, stops: Longs, counts: Longs, numbers: Longs
) -> tuple[int, int]:
    """Decode spans of varints to `numbers`; return how many there are, and the first damaged span.

    begins, stops: where each span is in `data`. counts: filled with the number of varints of each
    span. The second result is -1 if no span is damaged.
    """
    count, room = 0, len(numbers)
    for span in range(len(begins)):
        at, stop, before = begins[span], stops[span], count
        while at < stop:
            number, at = varint(data, at, stop)
            if at < 0:
                return count, span
            if count < room:
                numbers[count] = number
            count += 1
        counts[span] = count - before
    return count, -1
