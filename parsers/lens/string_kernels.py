"""Kernels for the strings of a Lens text: find their bytes and unusual properties, and copy them.

These kernels run compiled or as plain Python, like the actions of `exset.parsers.lens.actions`.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import entry_kernel
from exset.grammars.columns.arrays import Bytes, Ints, LongRows, Longs

# The flags of a string, for unusual properties: bits of a number.
(BROKEN, DEEP, LONG, SWALLOWING, WITH_NUL, EMPTY) = (1, 2, 4, 8, 16, 32)

# The kinds of the token that begins a string.
(DELIMITER, GROUP_WORD, WORD) = range(3)

_OFFSET_BASIS: Final = 2166136261  # of the FNV-1a hash of 32 bits
_PRIME: Final = 16777619
_MASK: Final = 0xFFFFFFFF


@entry_kernel
def measure(
    buffer: Bytes,
    base: int,
    beginnings: Longs,
    kinds: NDArray[np.int16],
    places: tuple[Longs, Longs],
    pairs: LongRows,
    most: tuple[int, int],
    has_nul: bool,
    spans: LongRows,
    flags: Bytes,
) -> int:
    """Find the bytes of each string, without delimiters, and flags for its unusual properties.

    - pairs: the first token of each string, and the token after its last; -1 for an absent string.
    - kinds: the terminal of each token.
    - places: where each token starts and ends.
    - beginnings: for each terminal, the kind of string that begins with it.
    - most: the largest number of tokens and the largest number of bytes of a usual string.
    - has_nul: whether there may be a NUL.

    Fills `flags`, and `spans`, int64 [pairs, 2], with the first byte of each string and the byte
    after its last, as indices of the buffer. Returns all flags that occur.
    """
    starts, ends = places
    found = 0
    for index in range(len(pairs)):
        first, after = pairs[index, 0], pairs[index, 1]
        low = high = 0
        mark = 0
        if after > first:
            beginning = beginnings[kinds[first]]
            if beginning == DELIMITER:
                low, high = ends[first] - base, starts[after - 1] - base
                for token in range(first + 1, after - 1):
                    byte = buffer[starts[token] - base]
                    if byte == 10 or byte == 13:
                        mark |= BROKEN
                if after - first > most[0]:
                    mark |= DEEP
            else:
                low, high = starts[first] - base, ends[first] - base
            if high - low > most[1]:
                mark |= LONG
            if has_nul or beginning == WORD:
                for at in range(low, high):
                    if buffer[at] == 0:
                        mark |= WITH_NUL
                    elif beginning == WORD and (
                        buffer[at] == 59 or (buffer[at] == 58 and at == high - 1)
                    ):
                        mark |= SWALLOWING
        if first >= 0 and low == high:
            mark |= EMPTY
        spans[index, 0], spans[index, 1] = low, high
        flags[index] = mark
        found |= mark
    return found


@entry_kernel
def gather(buffer: Bytes, spans: LongRows, offsets: Longs, data: Bytes) -> None:
    """Copy the bytes of each span to `data`, one after another.

    Fills `offsets` with 0, followed by the end of each span in `data`.
    """
    size = 0
    for index in range(len(spans)):
        low, high = spans[index, 0], spans[index, 1]
        for at in range(low, high):
            data[size] = buffer[at]
            size += 1
        offsets[index + 1] = size


@entry_kernel
def number(
    buffer: Bytes,
    pairs: LongRows,
    spans: LongRows,
    table: Longs,
    heads: Longs,
    numbers: Ints,
) -> int:
    """Number the distinct strings in the order of their first use. Return the number of distinct
    strings.

    pairs, spans: as in `measure`. table: a hash table filled with -1; its size is a power of two,
    at least twice the number of strings. Fills `heads` with the index of the first string that has
    each number. Fills `numbers` with the number of each string, -1 for an absent string.
    """
    count = 0
    for index in range(len(pairs)):
        numbers[index] = -1
        if pairs[index, 0] < 0:
            continue
        low, size = spans[index, 0], spans[index, 1] - spans[index, 0]
        key = _OFFSET_BASIS
        for at in range(low, low + size):
            key = ((key ^ int(buffer[at])) * _PRIME) & _MASK
        slot = key & (len(table) - 1)
        while True:
            if table[slot] < 0:
                heads[count] = index
                table[slot] = count
                count += 1
            head = heads[table[slot]]
            same, other = spans[head, 1] - spans[head, 0] == size, spans[head, 0]
            at = 0
            while same and at < size:
                same = buffer[low + at] == buffer[other + at]
                at += 1
            if same:
                break
            slot = (slot + 1) & (len(table) - 1)
        numbers[index] = table[slot]
    return count
