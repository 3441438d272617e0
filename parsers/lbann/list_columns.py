"""The words of a sample list as columns: numbers, ids that are text, ids that are ranges."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import bare_kernel

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

# Why a record is impossible.
(FINE, NOT_A_NUMBER, BEYOND_64_BITS, TWO_MARKS, NO_END, TOO_MANY) = range(6)

# What is noted of integer ids on the way.
NOTES: Final = (
    "it begins without a number, so it begins with 1",
    "it goes down, so only its first number counts",
    "it ends where it begins, so the number after it ends it",
    "it goes on from another range, all of which is taken once more",
    "{raw} goes on after its digits, which is ignored",
)
(NO_BEGIN, DOWN, SAME_END, CHAINED, TAIL) = range(5)
KEPT: Final = 100  # notes of each kind that keep their place

_MAX: Final = 2**63 - 1
_MOST: Final = 2**61
_HASH: Final = (1 << 49) - 1
_PRIME: Final = 8191


@bare_kernel
def copy_words(
    buffer: Bytes, base: int, starts: Ints, ends: Ints, data: Bytes, offsets: Ints, hashes: Ints
) -> None:
    """Copy words side by side; offsets: where each begins and ends, hashes: a number for each.

    base: the place of the buffer's first byte. data has room for all.
    """
    at = 0
    offsets[0] = 0
    for word in range(len(starts)):
        value = 0
        for place in range(starts[word] - base, ends[word] - base):
            byte = buffer[place]
            data[at] = byte
            value = (value * _PRIME + int(byte)) & _HASH
            at += 1
        offsets[word + 1] = at
        hashes[word] = value


@bare_kernel
def whole_number(buffer: Bytes, start: int, end: int, out: Ints) -> int:
    """Read a sign and digits; where they end, or -1: there are none, or they are beyond 63 bits.

    out: the number; 0 if there is none, 1 if it is beyond.
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


@bare_kernel
def read_counts(
    buffer: Bytes, base: int, starts: Ints, ends: Ints, values: Ints, hard: Ints, out: Ints
) -> int:
    """Read numbers; how many are left in `hard`, being negative or large."""
    left = 0
    for number in range(len(starts)):
        end = whole_number(buffer, starts[number] - base, ends[number] - base, out)
        values[number] = out[0]
        if end < 0 or out[0] < 0:
            hard[left] = number
            left += 1
    return left


@bare_kernel
def note(notes: Ints, noted: Ints, kind: int, word: int) -> None:
    """Note something of a word."""
    if noted[kind] < KEPT:
        notes[kind, noted[kind]] = word
    noted[kind] += 1


@bare_kernel
def add_span(first: Ints, last: Ints, spans: int, begin: int, low: int, high: int) -> int:
    """Add numbers to the spans, of which this record's begin at `begin`; how many spans there are.

    They make the last span longer if they follow it.
    """
    if high < low:
        return spans
    if spans > begin and last[spans - 1] < low and last[spans - 1] + 1 == low:
        last[spans - 1] = high
        return spans
    first[spans] = low
    last[spans] = high
    return spans + 1


@bare_kernel
def read_ranges(
    buffer: Bytes,
    base: int,
    starts: Ints,
    ends: Ints,
    offsets: Ints,
    first: Ints,
    last: Ints,
    span_offsets: Ints,
    counts: Ints,
    notes: Ints,
    noted: Ints,
    state: Ints,
) -> int:
    """Read the ids of records as LBANN does (get_samples_per_file); why it is impossible.

    offsets: where each record's words begin and end. first, last, span_offsets, counts: filled,
    the last with how many numbers each record has. state: the word and the record where it
    stopped, and room for a number.
    """
    spans = 0
    span_offsets[0] = 0
    out = state[2:]
    for record in range(len(offsets) - 1):
        begin = spans
        low, high, is_open, is_begun = 0, 0, False, False
        for word in range(offsets[record], offsets[record + 1]):
            state[0], state[1] = word, record
            at, end = starts[word] - base, ends[word] - base
            is_mark = end - at == 3 and buffer[at] == 46 and buffer[at + 1] == 46
            if is_mark and buffer[at + 2] == 46:
                if is_open:
                    return TWO_MARKS
                if not is_begun:
                    note(notes, noted, NO_BEGIN, word)
                elif high != low:
                    note(notes, noted, CHAINED, word)
                is_open, is_begun = True, True
            else:
                stop = whole_number(buffer, at, end, out)
                if stop < 0:
                    return BEYOND_64_BITS if out[0] else NOT_A_NUMBER
                if stop < end:
                    note(notes, noted, TAIL, word)
                high = out[0]
                is_begun = True
                if not is_open:
                    low = high
                    spans = add_span(first, last, spans, begin, low, low)
                    continue
                if high == low:
                    note(notes, noted, SAME_END, word)
                elif high < low:
                    note(notes, noted, DOWN, word)
            if high != low:
                if high > low:
                    spans = add_span(first, last, spans, begin, low + 1, high)
                is_open = False
        if is_open:
            return NO_END
        count = 0
        for span in range(begin, spans):
            if last[span] // 2 - first[span] // 2 > _MOST:
                return TOO_MANY
            count += last[span] - first[span] + 1
            if count > _MOST:
                return TOO_MANY
        counts[record] = count
        span_offsets[record + 1] = spans
    return FINE
