"""Compute the checksum CRC-32C (Castagnoli), which aeon's manifests and TFRecord files use."""

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import Kernels, entry_kernel, instruction_kernel
from exset.grammars.columns.arrays import Bytes, LongRows, Longs

KERNELS: Final = Kernels("exset.codecs.shared.crc32c", use_from=1 << 8)

_POLYNOMIAL: Final = 0x82F63B78
_MASK: Final = 0xFF
_ONES: Final = 0xFFFFFFFF


def crc32c(data: NDArray[np.uint8], before: int = 0) -> int:
    """Return the checksum of `data`, continued from the bytes before them.

    before: the checksum of the bytes before `data`; 0 if there are none.
    """
    run = KERNELS.choose(update, KERNELS.use_compiled(data.size))
    return int(run(np.ascontiguousarray(data), crc_tables(), before ^ _ONES)) ^ _ONES


def crc32c_each(data: Bytes, starts: Longs, lengths: Longs) -> NDArray[np.uint32]:
    """Return the checksum of each span data[starts[i] : starts[i] + lengths[i]]: uint32 [n].

    All spans must be within the data.
    """
    out = np.empty(starts.size, np.int64)
    run = KERNELS.choose(update_each, KERNELS.use_compiled(int(lengths.sum())))
    starts, lengths = np.ascontiguousarray(starts), np.ascontiguousarray(lengths)
    run(np.ascontiguousarray(data), starts, lengths, crc_tables(), out)
    return out.astype(np.uint32) ^ np.uint32(_ONES)


@entry_kernel
def update_each(data: Bytes, starts: Longs, lengths: Longs, tables: LongRows, out: Longs) -> None:
    """Set `out[i]` to the checksum of span i of `data`, without the inversion of the bits at the
    end.

    starts, lengths: where the spans are. tables: the result of `crc_tables`.
    """
    for i in range(len(starts)):
        out[i] = update(data[starts[i] : starts[i] + lengths[i]], tables, _ONES)


@entry_kernel
def update(data: NDArray[np.uint8], tables: LongRows, crc: int) -> int:
    """Return the checksum `crc` continued over the bytes `data`, without the final inversion of the
    bits.

    tables: the result of `crc_tables`. crc: the checksum so far, also without this inversion.
    """
    at, whole = 0, len(data) - len(data) % 8
    while at < whole:
        low = int(data[at]) | int(data[at + 1]) << 8
        low |= int(data[at + 2]) << 16 | int(data[at + 3]) << 24
        high = int(data[at + 4]) | int(data[at + 5]) << 8
        high |= int(data[at + 6]) << 16 | int(data[at + 7]) << 24
        crc = update_by_word(crc, low | high << 32, tables)
        at += 8
    while at < len(data):
        crc = tables[0, (crc ^ int(data[at])) & _MASK] ^ (crc >> 8)
        at += 1
    return crc


@instruction_kernel("llvm.x86.sse42.crc32.64.64")
def update_by_word(crc: int, word: int, tables: LongRows) -> int:
    """Return the checksum `crc` continued over the eight bytes of `word`, the lowest byte first.

    tables: the result of `crc_tables`.
    """
    crc ^= word & _ONES
    word >>= 32
    return int(
        tables[7, crc & _MASK]
        ^ tables[6, (crc >> 8) & _MASK]
        ^ tables[5, (crc >> 16) & _MASK]
        ^ tables[4, crc >> 24]
        ^ tables[3, word & _MASK]
        ^ tables[2, (word >> 8) & _MASK]
        ^ tables[1, (word >> 16) & _MASK]
        ^ tables[0, (word >> 24) & _MASK]
    )


@cache
def crc_tables() -> LongRows:
    """Return tables of what a byte contributes to a checksum: int64 [8, 256].

    The first index is the number of bytes that follow the byte. The second index is the byte's
    value.
    """
    made: LongRows = np.empty((8, 256), np.int64)
    rest = np.arange(256)
    for _ in range(8):
        rest = np.where(rest & 1, rest >> 1 ^ _POLYNOMIAL, rest >> 1)
    made[0] = rest
    for row in range(1, 8):
        made[row] = made[row - 1] >> 8 ^ made[0][made[row - 1] & _MASK]
    return made
