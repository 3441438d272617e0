"""Kernels that copy numbers and bytes from a file to arrays (gather), or back (scatter).

These kernels work on slices, because the compiler vectorises a loop only if it knows that indices
are in bounds. With `real`, every NaN becomes the quiet NaN. `big`: whether the file is big-endian.
`starts`: offsets in the file.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import entry_kernel, kernel
from exset.grammars.columns.arrays import Bytes, Ints, Longs

Offsets = Ints | Longs  # all of one file have the same dtype
Words = NDArray[np.uint32]

_8: Final = np.uint32(8)
_16: Final = np.uint32(16)
_24: Final = np.uint32(24)
_ABSOLUTE: Final = np.uint32(0x7FFFFFFF)
_INFINITY: Final = np.uint32(0x7F800000)
_NAN: Final = np.uint32(0x7FC00000)


@kernel
def load_word(raw: Bytes, at: int, big: bool, real: bool) -> np.uint32:
    """Return the number in the four bytes of `raw` from index `at` on, as 32 bits.

    big: whether the number is big-endian. real: whether it is a float32; a NaN then becomes the
    quiet NaN.
    """
    if big:
        value = (
            (np.uint32(raw[at]) << _24)
            | (np.uint32(raw[at + 1]) << _16)
            | (np.uint32(raw[at + 2]) << _8)
            | np.uint32(raw[at + 3])
        )
    else:
        value = (
            (np.uint32(raw[at + 3]) << _24)
            | (np.uint32(raw[at + 2]) << _16)
            | (np.uint32(raw[at + 1]) << _8)
            | np.uint32(raw[at])
        )
    if real and (value & _ABSOLUTE) > _INFINITY:
        value = _NAN
    return value


@kernel
def store_word(value: np.uint32, raw: Bytes, at: int, big: bool, real: bool) -> None:
    """Write the 32 bits of `value` to the four bytes of `raw` from index `at` on.

    big: whether to write big-endian. real: whether the value is a float32; a NaN then becomes the
    quiet NaN.
    """
    if real and (value & _ABSOLUTE) > _INFINITY:
        value = _NAN
    if big:
        middle = ((value & np.uint32(0xFF00)) << _8) | ((value >> _8) & np.uint32(0xFF00))
        value = (value << _24) | middle | (value >> _24)
    raw[at] = np.uint8(value)
    raw[at + 1] = np.uint8(value >> _8)
    raw[at + 2] = np.uint8(value >> _16)
    raw[at + 3] = np.uint8(value >> _24)


@entry_kernel
def gather_words(
    data: Bytes, starts: Offsets, shift: int, big: bool, real: bool, out: Words
) -> None:
    """Copy the 4-byte number at each offset `starts[i]` + `shift` of `data` to `out[i]`.

    big: whether the file stores the highest byte first. real: whether the numbers are floats.
    """
    for i in range(len(starts)):
        at = np.int64(starts[i]) + shift
        out[i] = load_word(data[at : at + 4], 0, big, real)


@entry_kernel
def scatter_words(
    values: Words, starts: Offsets, shift: int, big: bool, real: bool, out: Bytes
) -> None:
    """Write the 4-byte number `values[i]` to `out`, at the offset `starts[i]` + `shift`.

    big: whether the file stores the highest byte first. real: whether the numbers are floats.
    """
    for i in range(len(starts)):
        at = np.int64(starts[i]) + shift
        store_word(values[i], out[at : at + 4], 0, big, real)


@entry_kernel
def gather_rows(
    data: Bytes, starts: Offsets, lengths: Offsets, big: bool, real: bool, out: Words
) -> None:
    """Copy rows of 4-byte numbers from `data` to `out`, one after another.

    Row i has `lengths[i]` numbers from offset `starts[i]` on. big, real: as for `gather_words`.
    """
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i])
        raw, row = data[at : at + 4 * n], out[k : k + n]
        for j in range(n):
            row[j] = load_word(raw, 4 * j, big, real)
        k += n


@entry_kernel
def scatter_rows(
    values: Words, starts: Offsets, lengths: Offsets, big: bool, real: bool, out: Bytes
) -> None:
    """Write rows of 4-byte numbers to `out`; `values` has the rows one after another.

    Row i has `lengths[i]` numbers and begins at offset `starts[i]`. big, real: as for
    `scatter_words`.
    """
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i])
        row, raw = values[k : k + n], out[at : at + 4 * n]
        for j in range(n):
            store_word(row[j], raw, 4 * j, big, real)
        k += n


@kernel
def _move(source: Bytes, target: Bytes, size: int, swap: bool) -> None:
    """Copy a number of `size` bytes (one, two or eight) from `source` to `target`.

    swap: whether to reverse the bytes.
    """
    if size == 1:
        target[0] = source[0]
    elif size == 2:
        first, second = source[0], source[1]
        target[0] = second if swap else first
        target[1] = first if swap else second
    else:
        value = (
            (np.uint64(source[0]) << np.uint64(56))
            | (np.uint64(source[1]) << np.uint64(48))
            | (np.uint64(source[2]) << np.uint64(40))
            | (np.uint64(source[3]) << np.uint64(32))
            | (np.uint64(source[4]) << np.uint64(24))
            | (np.uint64(source[5]) << np.uint64(16))
            | (np.uint64(source[6]) << np.uint64(8))
            | np.uint64(source[7])
        )
        if not swap:
            value = (
                (value << np.uint64(56))
                | ((value & np.uint64(0xFF00)) << np.uint64(40))
                | ((value & np.uint64(0xFF0000)) << np.uint64(24))
                | ((value & np.uint64(0xFF000000)) << np.uint64(8))
                | ((value >> np.uint64(8)) & np.uint64(0xFF000000))
                | ((value >> np.uint64(24)) & np.uint64(0xFF0000))
                | ((value >> np.uint64(40)) & np.uint64(0xFF00))
                | (value >> np.uint64(56))
            )
        target[0] = np.uint8(value)
        target[1] = np.uint8(value >> np.uint64(8))
        target[2] = np.uint8(value >> np.uint64(16))
        target[3] = np.uint8(value >> np.uint64(24))
        target[4] = np.uint8(value >> np.uint64(32))
        target[5] = np.uint8(value >> np.uint64(40))
        target[6] = np.uint8(value >> np.uint64(48))
        target[7] = np.uint8(value >> np.uint64(56))


@entry_kernel
def gather_numbers(
    data: Bytes, starts: Offsets, shift: int, size: int, swap: bool, out: Bytes
) -> None:
    """Copy the bytes of the number at each offset `starts[i]` + `shift` of `data` to `out`.

    size: the bytes of a number: one, two or eight. swap: reverse the bytes of each number.
    """
    if size == 1:
        for i in range(len(starts)):
            out[i] = data[np.int64(starts[i]) + shift]
    elif size == 2:
        for i in range(len(starts)):
            at = np.int64(starts[i]) + shift
            _move(data[at : at + 2], out[2 * i : 2 * i + 2], 2, swap)
    else:
        for i in range(len(starts)):
            at = np.int64(starts[i]) + shift
            _move(data[at : at + 8], out[8 * i : 8 * i + 8], 8, swap)


@entry_kernel
def scatter_numbers(
    values: Bytes, starts: Offsets, shift: int, size: int, swap: bool, out: Bytes
) -> None:
    """Write the bytes of number i of `values` to `out`, at the offset `starts[i]` + `shift`.

    size: the bytes of a number: one, two or eight. swap: reverse the bytes of each number.
    """
    for i in range(len(starts)):
        at = np.int64(starts[i]) + shift
        _move(values[size * i : size * i + size], out[at : at + size], size, swap)


@entry_kernel
def gather_number_rows(
    data: Bytes, starts: Offsets, lengths: Offsets, size: int, swap: bool, out: Bytes
) -> None:
    """Copy the bytes of rows of numbers from `data` to `out`, one row after another.

    Row i has `lengths[i]` numbers from offset `starts[i]` on. size: the bytes of a number: one,
    two or eight. swap: reverse the bytes of each number.
    """
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i]) * size
        raw, row = data[at : at + n], out[k : k + n]
        if swap:
            for j in range(0, n, size):
                _move(raw[j : j + size], row[j : j + size], size, swap)
        else:
            for j in range(n):
                row[j] = raw[j]
        k += n


@entry_kernel
def scatter_number_rows(
    values: Bytes, starts: Offsets, lengths: Offsets, size: int, swap: bool, out: Bytes
) -> None:
    """Write rows of numbers to `out`; `values` has the bytes of all rows, one after another.

    Row i has `lengths[i]` numbers and begins at offset `starts[i]`. size, swap: as for
    `gather_number_rows`.
    """
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i]) * size
        row, raw = values[k : k + n], out[at : at + n]
        for j in range(0, n, size):
            _move(row[j : j + size], raw[j : j + size], size, swap)
        k += n


@entry_kernel
def gather_bytes(data: Bytes, starts: Offsets, lengths: Offsets, out: Bytes) -> None:
    """Copy rows of bytes from `data` to `out`, one after another.

    Row i has `lengths[i]` bytes from offset `starts[i]` on.
    """
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i])
        raw, row = data[at : at + n], out[k : k + n]
        for j in range(n):
            row[j] = raw[j]
        k += n


@entry_kernel
def scatter_bytes(values: Bytes, starts: Offsets, lengths: Longs, out: Bytes) -> None:
    """Write rows of bytes to `out`; `values` has the rows one after another.

    Row i has `lengths[i]` bytes and begins at offset `starts[i]`.
    """
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i])
        row, raw = values[k : k + n], out[at : at + n]
        for j in range(n):
            raw[j] = row[j]
        k += n


@entry_kernel
def interleave(
    a: Offsets, b: Offsets, a_values: Offsets, b_values: Offsets, starts: Offsets, values: Offsets
) -> None:
    """Merge the sorted offsets `a` and `b` into `starts`, and their values into `values`.

    a_values, b_values: a value for each offset in `a` and in `b`.
    """
    i, j = 0, 0
    for k in range(len(starts)):
        if j == len(b) or (i < len(a) and a[i] < b[j]):
            starts[k] = a[i]
            values[k] = a_values[i]
            i += 1
        else:
            starts[k] = b[j]
            values[k] = b_values[j]
            j += 1
