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

_MOST_VARINT: Final = 10  # bytes
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
            tag, at = varint(data, at, stop)
            wire = tag & 7
            if at < 0 or tag < 8 or tag >= 1 << 32:
                return count, message
            start = at
            if wire == 0:
                _, at = varint(data, at, stop)
            elif wire == 1:
                at += 8
            elif wire == 5:
                at += 4
            elif wire == 2:
                size, start = varint(data, at, stop)
                at = -1
                if start >= 0 and 0 <= size <= stop - start:
                    at = start + size
            else:
                at = -1
            if at < 0 or at > stop:
                return count, message
            if only >= 8 and tag != only:
                continue
            if count < room:
                owners[count] = message
                numbers[count] = tag >> 3
                wires[count] = wire
                starts[count] = start
                ends[count] = at
            count += 1
    return count, -1


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
