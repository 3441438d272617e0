"""Small kernels with every kind of argument and result."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import entry_kernel, inline_kernel, kernel

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
