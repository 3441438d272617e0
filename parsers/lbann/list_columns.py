"""Kernels that read the words of a sample list: text ids and ranges of integers."""

from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import entry_kernel, kernel

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]


class Verdict(IntEnum):
    """What `read_ranges` returns: the ranges are valid, or what is wrong with them."""

    VALID = 0
    NOT_A_NUMBER = 1
    BEYOND_64_BITS = 2
    TWO_MARKS = 3
    NO_END = 4
    TOO_MANY = 5


class Note(IntEnum):
    """An unexpected way in which LBANN reads an id. A byte has a bit for each note on an id."""

    NO_BEGIN = 1
    DOWN = 2
    SAME_END = 4
    CHAINED = 8
    TAIL = 16


_MAX: Final = 2**63 - 1
_MOST: Final = 2**61
_HASH: Final = (1 << 49) - 1
_PRIME: Final = 8191


@entry_kernel
def copy_words(
    buffer: Bytes, starts: Ints, ends: Ints, data: Bytes, offsets: Ints, hashes: Ints
) -> None:
    """Copy the words buffer[start:end] to `data`, one after another.

    Fills `offsets` with the offset of each word in `data`, and `hashes` with a hash of each word.
    """
    at = 0
    offsets[0] = 0
    for word in range(len(starts)):
        value = 0
        for place in range(starts[word], ends[word]):
            byte = buffer[place]
            data[at] = byte
            value = (value * _PRIME + int(byte)) & _HASH
            at += 1
        offsets[word + 1] = at
        hashes[word] = value


@kernel
def whole_number(buffer: Bytes, start: int, end: int, out: Ints) -> int:
    """Read the integer that begins at buffer[start], and store it in `out`; return the index after
    it.

    The integer ends before `end`, and may have a sign. If there are no digits, return -1 and set
    `out` to 0. For a number of more than 63 bits, return -1 and set `out` to 1.
    """
    at = start
    negative = at < end and buffer[at] == 45
    if negative or (at < end and buffer[at] == 43):
        at += 1
    first, value = at, 0
    while at < end and 48 <= buffer[at] <= 57:
        digit = int(buffer[at]) - 48
        if value > (_MAX - digit) // 10:
            out[0] = 1
            return -1
        value = value * 10 + digit
        at += 1
    out[0] = -value if negative else value
    if at == first:
        out[0] = 0
        return -1
    return at


@kernel
def add_span(first: Ints, last: Ints, spans: int, begin: int, low: int, high: int) -> int:
    """Add the range `low` to `high` to a record, as a span; return the new number of spans.

    first, last: the spans of all records, of which the first `spans` are filled. begin: the index
    of the record's first span. A range that continues the last span is joined to this span.
    """
    if high < low:
        return spans
    if spans > begin and last[spans - 1] < low and last[spans - 1] + 1 == low:
        last[spans - 1] = high
        return spans
    first[spans] = low
    last[spans] = high
    return spans + 1


@entry_kernel
def read_ranges(
    buffer: Bytes,
    starts: Ints,
    ends: Ints,
    offsets: Ints,
    first: Ints,
    last: Ints,
    span_offsets: Ints,
    counts: Ints,
    notes: Bytes,
    state: Ints,
) -> Verdict:
    """Read the ids of records as LBANN does (get_samples_per_file).

    starts, ends: the words that are ids. offsets: the index of each record's first word among these
    words. state: the current word, and room for a number. Fills these arrays:

    - `first`, `last`: the spans of ids.
    - `span_offsets`: where each record's spans begin.
    - `counts`: the number of ids of each record.
    - `notes`: the notes on each word.
    """
    spans = 0
    span_offsets[0] = 0
    out = state[1:]
    for record in range(len(offsets) - 1):
        begin = spans
        low, high, is_open, is_begun = 0, 0, False, False
        for word in range(offsets[record], offsets[record + 1]):
            state[0] = word
            at, end = starts[word], ends[word]
            is_mark = end - at == 3 and buffer[at] == 46 and buffer[at + 1] == 46
            if is_mark and buffer[at + 2] == 46:
                if is_open:
                    return Verdict.TWO_MARKS
                if not is_begun:
                    notes[word] |= Note.NO_BEGIN
                elif high != low:
                    notes[word] |= Note.CHAINED
                is_open, is_begun = True, True
            else:
                stop = whole_number(buffer, at, end, out)
                if stop < 0:
                    return Verdict.BEYOND_64_BITS if out[0] else Verdict.NOT_A_NUMBER
                if stop < end:
                    notes[word] |= Note.TAIL
                high = out[0]
                is_begun = True
                if not is_open:
                    low = high
                    spans = add_span(first, last, spans, begin, low, low)
                    continue
                if high == low:
                    notes[word] |= Note.SAME_END
                elif high < low:
                    notes[word] |= Note.DOWN
            if high != low:
                if high > low:
                    spans = add_span(first, last, spans, begin, low + 1, high)
                is_open = False
        if is_open:
            return Verdict.NO_END
        count = 0
        for span in range(begin, spans):
            if last[span] // 2 - first[span] // 2 > _MOST:
                return Verdict.TOO_MANY
            count += last[span] - first[span] + 1
            if count > _MOST:
                return Verdict.TOO_MANY
        counts[record] = count
        span_offsets[record + 1] = spans
    return Verdict.VALID
