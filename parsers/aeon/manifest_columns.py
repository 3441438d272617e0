"""Kernels for manifests: find and copy fields, read integers, check and decode base64."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import Kernels, entry_kernel
from exset.grammars.columns.arrays import Bytes, Flags, Ints, Longs

KERNELS: Final = Kernels("exset.parsers.engine.conversion", "exset.parsers.aeon.manifest_columns")

# The state of `find_fields`: the number of records, the line of the last line break, the number of
# records that end with a carriage return, the place of the first of these, and the line break
# before the first record of another width.
(RECORDS, LINE, RETURNS, RETURN, WRONG, STATE_SIZE) = range(6)

# The issue of a number: none, ignored bytes after the number, a dropped fraction, more than 32
# bits, not a number, outside the range that aeon reads.
(FINE, TAIL, FRACTION, OVERFLOW, NO_NUMBER, RANGE) = range(6)

_DIGITS: Final = 18  # fit in 63 bits
_LEAST: Final = -(1 << 31)
_LIMIT: Final = 1 << 31
_PADDING: Final = 61
_INVALID: Final = 0x80


@entry_kernel
def find_fields(
    buffer: Bytes,
    kinds: NDArray[np.int16],
    token_starts: Longs,
    token_ends: Longs,
    begin: int,
    line_break: int,
    cell: int,
    width: int,
    starts: Longs,
    ends: Longs,
    lines: Ints,
    state: Longs,
) -> None:
    """Find the fields of all records, and the line of each record.

    Fills `starts` and `ends` with the bounds of the fields, and fills `lines`. Stops at a record
    that does not have `width` fields. kinds, token_starts, token_ends: the tokens. begin: the first
    token of a record. line_break, cell: the kinds of the tokens that are line breaks and cells; a
    cell starts with the separator. state: the position, kept for the next call.
    """
    count, filled = len(kinds), 0
    token = begin
    while token < count:
        for place in range(token_starts[token], token_ends[token]):
            state[LINE] += buffer[place] == 10
        last = token
        token += 1
        if token == count:
            return
        first = filled
        if kinds[token] == cell:
            starts[filled] = ends[filled] = token_starts[token]
            filled += 1
        while token < count and kinds[token] != line_break:
            starts[filled] = token_starts[token] + (kinds[token] == cell)
            ends[filled] = token_ends[token]
            filled += 1
            token += 1
        if filled - first != width:
            state[WRONG] = last
            return
        record = state[RECORDS]
        end = token_ends[token - 1]
        if end > token_starts[token - 1] and buffer[end - 1] == 13:
            if state[RETURNS] == 0:
                state[RETURN] = end - 1
            state[RETURNS] += 1
        lines[record] = state[LINE]
        state[RECORDS] += 1


@entry_kernel
def copy_fields(
    buffer: Bytes, starts: Longs, ends: Longs, data: Bytes, offsets: Longs, at: int
) -> None:
    """Copy the fields buffer[starts[i]:ends[i]] to data[at:], one after another.

    Fill `offsets` with the end of each field in `data`.
    """
    for field in range(len(starts)):
        start = starts[field]
        size = ends[field] - start
        for i in range(size):
            data[at + i] = buffer[start + i]
        at += size
        offsets[field] = at


@entry_kernel
def partition(buffer: Bytes, starts: Longs, ends: Longs, fields: Longs) -> int:
    """Find the fields that start like numbers, and return how many there are.

    A number starts with a digit, or with a sign and a digit. Fills `fields` with the indices of all
    fields: first the fields that start like numbers, then the other fields.
    """
    count, rest = 0, len(fields)
    for field in range(len(starts)):
        at, end = starts[field], ends[field]
        if at < end and (buffer[at] == 43 or buffer[at] == 45):
            at += 1
        if at < end and 48 <= buffer[at] <= 57:
            fields[count] = field
            count += 1
        else:
            rest -= 1
            fields[rest] = field
    return count


@entry_kernel
def read_ints(
    buffer: Bytes, starts: Longs, ends: Longs, values: Ints, issues: Bytes, hard: Longs
) -> int:
    """Read the field buffer[start:end] of each integer as aeon does.

    Fills `values`. Fills `issues` with a verdict on each field. Fills `hard` with the indices of
    the fields that this kernel cannot read, and returns the number of these fields.
    """
    left = 0
    for field in range(len(starts)):
        at, end = starts[field], ends[field]
        while at < end and (buffer[at] == 32 or 9 <= buffer[at] <= 13):
            at += 1
        negative = at < end and buffer[at] == 45
        if negative or (at < end and buffer[at] == 43):
            at += 1
        value, first = 0, at
        while at < end and 48 <= buffer[at] <= 57 and at - first < _DIGITS:
            value = value * 10 + int(buffer[at]) - 48
            at += 1
        issue = FINE
        if at < end:
            # A point, `e` or `x` may continue the number; anything else ends it.
            byte = buffer[at] | 32
            issue = RANGE if buffer[at] == 46 or byte == 101 or byte == 120 else TAIL
        if at == first or at - first == _DIGITS or issue == RANGE:
            hard[left] = field
            left += 1
            continue
        if negative:
            value = -value
        if value < _LEAST or value >= _LIMIT:
            value, issue = _LEAST, OVERFLOW
        values[field], issues[field] = value, issue
    return left


@entry_kernel
def find_invalid(buffer: Bytes, starts: Longs, ends: Longs, values: Bytes, invalid: Flags) -> None:
    """Set `invalid` to True for each field that is not valid base64 with padding, else to False.

    The fields are buffer[starts[i]:ends[i]]. values: the value of each byte, 0 to 63, or 128 for a
    byte outside the alphabet.
    """
    for field in range(len(starts)):
        start, end = starts[field], ends[field]
        seen = 0
        if (end - start) % 4:
            seen = _INVALID
        elif end > start and buffer[end - 1] == _PADDING:
            end -= 2 if buffer[end - 2] == _PADDING else 1
        for place in range(start, end):
            seen |= int(values[buffer[place]])
        invalid[field] = seen & _INVALID


@entry_kernel
def decode_plain(buffer: Bytes, starts: Longs, values: Bytes, out: Bytes, offsets: Longs) -> None:
    """Decode fields of valid base64 into `out`.

    values: the value of each byte of the alphabet. offsets: where each decoded field begins in
    `out`, and the end of the last field.
    """
    for field in range(len(starts)):
        place, at, stop = starts[field], offsets[field], offsets[field + 1]
        while at + 3 <= stop:
            bits = (
                int(values[buffer[place]]) << 18
                | int(values[buffer[place + 1]]) << 12
                | int(values[buffer[place + 2]]) << 6
                | int(values[buffer[place + 3]])
            )
            out[at] = bits >> 16
            out[at + 1] = (bits >> 8) & 255
            out[at + 2] = bits & 255
            at += 3
            place += 4
        if at < stop:
            second = int(values[buffer[place + 1]])
            out[at] = (int(values[buffer[place]]) << 2 | second >> 4) & 255
            if at + 1 < stop:
                third = int(values[buffer[place + 2]])
                out[at + 1] = (second << 4 | third >> 2) & 255
