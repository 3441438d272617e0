"""Small kernels with every kind of argument and result."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import entry_kernel, inline_kernel, instruction_kernel, kernel

Rows = np.ndarray[tuple[int, int], np.dtype[np.int64]]
Cube = np.ndarray[tuple[int, int, int], np.dtype[np.int32]]
Either = NDArray[np.int32] | NDArray[np.int64]


class Pair(NamedTuple):
    """Two arrays."""

    a: NDArray[np.int64]
    b: NDArray[np.float32]


@kernel
def inner(n: int) -> int:
    """Return twice the number."""
    return 2 * n


@inline_kernel
def inlined(pair: Pair, at: int) -> int:
    """Return a number."""
    return int(pair.a[at])


@entry_kernel
def numbers(whole: int, real: float, flag: bool, key: np.uint64) -> float:
    """Return a number that depends on each argument."""
    return inner(whole) + real + (1000.0 if flag else 0.0) + float(key >> np.uint64(60))


@entry_kernel
def shapes(rows: Rows, cube: Cube, pair: Pair, ends: tuple[int, int]) -> tuple[int, int]:
    """Return two sums over arrays of each shape; write to two of the arrays."""
    total = 0
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            total += rows[i, j] * (10 * i + j)
    weighed = 0
    for i in range(cube.shape[0]):
        for j in range(cube.shape[1]):
            for k in range(cube.shape[2]):
                weighed += cube[i, j, k] * (100 * i + 10 * j + k)
    pair.b[ends[0]] = inlined(pair, ends[1])
    rows[0, 0] = -1
    return total, weighed


@entry_kernel
def either(values: Either, other: Either) -> bool:
    """Return whether the first numbers are equal, for two types of arrays."""
    return bool(values[0] == other[0])


@entry_kernel
def nothing(maybe: list[int] | None, out: NDArray[np.bool_]) -> None:
    """Fill an array."""
    if maybe is None:
        for i in range(len(out)):
            out[i] = True


@instruction_kernel("llvm.x86.sse42.crc32.64.64")
def checked(crc: int, word: int, steps: NDArray[np.int64]) -> int:
    """Return a CRC-32C updated with a word, bit by bit; the array has the polynomial."""
    crc ^= word & 0xFFFFFFFF
    for half in range(2):
        if half:
            crc ^= (word >> 32) & 0xFFFFFFFF
        for _ in range(32):
            crc = (crc >> 1) ^ (int(steps[0]) if crc & 1 else 0)
    return crc


@instruction_kernel("llvm.unknown.instruction")
def added(one: int, other: int) -> int:
    """Return a sum; no processor has an instruction of this name."""
    return one + other


@entry_kernel
def checksum(words: NDArray[np.int64], steps: NDArray[np.int64]) -> tuple[int, int]:
    """Return the CRC-32C and the sum of words."""
    crc, total = 0xFFFFFFFF, 0
    for i in range(len(words)):
        crc = checked(crc, int(words[i]), steps)
        total = added(total, int(words[i]))
    return crc, total
