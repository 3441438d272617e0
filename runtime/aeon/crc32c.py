"""Compute aeon's checksum of manifests: CRC-32C (Castagnoli), reflected, all bits inverted."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import Kernels, entry_kernel
from exset.grammars.columns.arrays import LongRows

KERNELS: Final = Kernels("exset.runtime.aeon.crc32c")

_POLYNOMIAL: Final = 0x82F63B78
_MASK: Final = 0xFF
_ONES: Final = 0xFFFFFFFF


def crc32c(data: NDArray[np.uint8], before: int = 0) -> int:
    """Return the checksum of bytes; `before`: the checksum of the bytes before them."""
    run = KERNELS.choose(update, KERNELS.use_compiled(data.size))
    return int(run(np.ascontiguousarray(data), _tables(), before ^ _ONES)) ^ _ONES


@entry_kernel
def update(data: NDArray[np.uint8], tables: LongRows, crc: int) -> int:
    """Update a checksum with bytes, eight at a time."""
    at, whole = 0, len(data) - len(data) % 8
    while at < whole:
        crc ^= (
            int(data[at])
            | int(data[at + 1]) << 8
            | int(data[at + 2]) << 16
            | int(data[at + 3]) << 24
        )
        crc = (
            tables[7, crc & _MASK]
            ^ tables[6, (crc >> 8) & _MASK]
            ^ tables[5, (crc >> 16) & _MASK]
            ^ tables[4, crc >> 24]
            ^ tables[3, data[at + 4]]
            ^ tables[2, data[at + 5]]
            ^ tables[1, data[at + 6]]
            ^ tables[0, data[at + 7]]
        )
        at += 8
    while at < len(data):
        crc = tables[0, (crc ^ int(data[at])) & _MASK] ^ (crc >> 8)
        at += 1
    return crc


def _tables() -> NDArray[np.int64]:
    """Return the effect of each byte value by distance from the end of eight: int64 [8, 256]."""
    tables = np.empty((8, 256), np.int64)
    rest = np.arange(256)
    for _ in range(8):
        rest = np.where(rest & 1, rest >> 1 ^ _POLYNOMIAL, rest >> 1)
    tables[0] = rest
    for row in range(1, 8):
        tables[row] = tables[row - 1] >> 8 ^ tables[0][tables[row - 1] & _MASK]
    return tables
