"""Kernels that move columns out of a file and into it: numbers of four bytes or one, and raw bytes.

All else is moved by NumPy. Of reals every NaN becomes the quiet one. The kernels work on slices,
whose indices are plainly in bounds: only so does a compiler use the machine's wide registers.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import kernel
from exset.grammars.columns.arrays import Bytes, Ints, Longs

Words = NDArray[np.uint32]

_8: Final = np.uint32(8)
_16: Final = np.uint32(16)
_24: Final = np.uint32(24)
_ABSOLUTE: Final = np.uint32(0x7FFFFFFF)
_INFINITY: Final = np.uint32(0x7F800000)
_NAN: Final = np.uint32(0x7FC00000)


@kernel
def gather_words(
    data: Bytes, starts: Ints | Longs, shift: int, big: bool, real: bool, out: Words
) -> None:
    """Numbers of four bytes, each at its start and a shift."""
    for i in range(len(starts)):
        at = np.int64(starts[i]) + shift
        raw = data[at : at + 4]
        first, second, third, last = raw[0], raw[1], raw[2], raw[3]
        if not big:
            first, second, third, last = last, third, second, first
        value = (
            (np.uint32(first) << _24)
            | (np.uint32(second) << _16)
            | (np.uint32(third) << _8)
            | np.uint32(last)
        )
        if real and (value & _ABSOLUTE) > _INFINITY:
            value = _NAN
        out[i] = value


@kernel
def gather_octets(data: Bytes, starts: Ints | Longs, shift: int, out: Bytes) -> None:
    """Single bytes, each at its start and a shift."""
    for i in range(len(starts)):
        out[i] = data[starts[i] + shift]


@kernel
def gather_rows(
    data: Bytes, starts: Ints | Longs, lengths: Ints | Longs, big: bool, real: bool, out: Words
) -> None:
    """Rows of numbers of four bytes, one row after the other."""
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i])
        raw, row = data[at : at + 4 * n], out[k : k + n]
        if big:
            for j in range(n):
                value = (
                    (np.uint32(raw[4 * j]) << _24)
                    | (np.uint32(raw[4 * j + 1]) << _16)
                    | (np.uint32(raw[4 * j + 2]) << _8)
                    | np.uint32(raw[4 * j + 3])
                )
                if real and (value & _ABSOLUTE) > _INFINITY:
                    value = _NAN
                row[j] = value
        else:
            for j in range(n):
                value = (
                    (np.uint32(raw[4 * j + 3]) << _24)
                    | (np.uint32(raw[4 * j + 2]) << _16)
                    | (np.uint32(raw[4 * j + 1]) << _8)
                    | np.uint32(raw[4 * j])
                )
                if real and (value & _ABSOLUTE) > _INFINITY:
                    value = _NAN
                row[j] = value
        k += n


@kernel
def gather_bytes(data: Bytes, starts: Ints | Longs, lengths: Ints | Longs, out: Bytes) -> None:
    """Rows of bytes, one row after the other."""
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i])
        raw, row = data[at : at + n], out[k : k + n]
        for j in range(n):
            row[j] = raw[j]
        k += n


@kernel
def scatter_words(
    values: Words, starts: Ints | Longs, shift: int, big: bool, real: bool, out: Bytes
) -> None:
    """The inverse of `gather_words`."""
    for i in range(len(starts)):
        at = np.int64(starts[i]) + shift
        value, raw = values[i], out[at : at + 4]
        if real and (value & _ABSOLUTE) > _INFINITY:
            value = _NAN
        first, second = np.uint8(value >> _24), np.uint8(value >> _16)
        third, last = np.uint8(value >> _8), np.uint8(value)
        if not big:
            first, second, third, last = last, third, second, first
        raw[0], raw[1], raw[2], raw[3] = first, second, third, last


@kernel
def scatter_octets(values: Bytes, starts: Ints | Longs, shift: int, out: Bytes) -> None:
    """The inverse of `gather_octets`."""
    for i in range(len(starts)):
        out[starts[i] + shift] = values[i]


@kernel
def scatter_rows(
    values: Words, starts: Ints | Longs, lengths: Ints | Longs, big: bool, real: bool, out: Bytes
) -> None:
    """The inverse of `gather_rows`."""
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i])
        row, raw = values[k : k + n], out[at : at + 4 * n]
        for j in range(n):
            value = row[j]
            if real and (value & _ABSOLUTE) > _INFINITY:
                value = _NAN
            if not big:
                value = (
                    (value << _24)
                    | ((value & np.uint32(0xFF00)) << _8)
                    | ((value >> _8) & np.uint32(0xFF00))
                    | (value >> _24)
                )
            raw[4 * j] = np.uint8(value >> _24)
            raw[4 * j + 1] = np.uint8(value >> _16)
            raw[4 * j + 2] = np.uint8(value >> _8)
            raw[4 * j + 3] = np.uint8(value)
        k += n


@kernel
def scatter_bytes(values: Bytes, starts: Ints | Longs, lengths: Longs, out: Bytes) -> None:
    """The inverse of `gather_bytes`."""
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i])
        row, raw = values[k : k + n], out[at : at + n]
        for j in range(n):
            raw[j] = row[j]
        k += n


@kernel
def merge(a: Ints | Longs, b: Ints | Longs, order: Longs) -> None:
    """The order in which a, and b numbered after it, rise: both rise already."""
    i, j, n = 0, 0, len(a)
    for k in range(len(order)):
        if j == len(b) or (i < n and a[i] < b[j]):
            order[k] = i
            i += 1
        else:
            order[k] = n + j
            j += 1


@kernel
def interleave(
    a: Ints | Longs,
    b: Ints | Longs,
    a_lengths: Ints | Longs,
    b_lengths: Ints | Longs,
    starts: Ints | Longs,
    lengths: Ints | Longs,
) -> None:
    """Two rising lists of starts as one that rises, and the lengths that belong to them."""
    i, j = 0, 0
    for k in range(len(starts)):
        if j == len(b) or (i < len(a) and a[i] < b[j]):
            starts[k] = a[i]
            lengths[k] = a_lengths[i]
            i += 1
        else:
            starts[k] = b[j]
            lengths[k] = b_lengths[j]
            j += 1
