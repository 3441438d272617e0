"""NumPy or CuPy: the namespace `xp` that array code is written over, and moves between devices.

The only module that imports CuPy. Code over `xp` is tested where no GPU is, too: see
`exset.runtime.portable`.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs, is_constant
from exset.runtime.portable import PORTABLE, Guarded

Device = Literal["cpu", "cuda", "portable"]

Item = TypeVar("Item", bound=np.generic)


def namespace(device: str = "cpu") -> ModuleType:
    """The module whose functions make arrays on a device.

    Raises ValueError for a device that there is none of, ImportError where CuPy is wanted and not
    installed.
    """
    if device == "cpu":
        return np
    if device == "portable":
        return PORTABLE
    if device != "cuda":
        known = ", ".join(get_args(Device)[:2])
        raise ValueError(f"no device is called {device!r}; there are {known}")
    try:
        return import_module("cupy")
    except ImportError:
        hint = "pip install 'exset[cuda12]', or 'exset[cuda13]' for CUDA 13"
        raise ImportError(f"device='cuda' needs CuPy: {hint}") from None


def namespace_of(array: object) -> ModuleType:
    """The module whose functions take an array; NumPy for what is no array."""
    if isinstance(array, Guarded):
        return PORTABLE
    home = type(array).__module__.partition(".")[0]
    return sys.modules[home] if home == "cupy" else np


def to_device(xp: ModuleType, array: NDArray[Item]) -> NDArray[Item]:
    """A column of the host on the device of a namespace; as it is on that of NumPy.

    What repeats goes as one element.
    """
    if xp is np:
        return array
    if array.size > 1 and is_constant(array):
        repeated: NDArray[Item] = xp.broadcast_to(xp.asarray(array[:1]), array.shape)
        return repeated
    moved: NDArray[Item] = xp.asarray(array)
    return moved


def to_host(array: NDArray[Item]) -> NDArray[Item]:
    """An array as one of NumPy, copied only from another device."""
    get = getattr(array, "get", None)
    return np.asarray(array if get is None else get())


def repeat(xp: ModuleType, array: NDArray[Item], counts: Longs) -> NDArray[Item]:
    """Each element so many times; CuPy itself repeats only by counts that the host knows."""
    if xp is np:
        return np.repeat(array, counts)
    ends = xp.cumsum(counts)
    total = int(ends[-1]) if ends.size else 0
    repeated: NDArray[Item] = array[xp.searchsorted(ends, xp.arange(total), side="right")]
    return repeated


def spread(xp: ModuleType, starts: Longs, lengths: Longs) -> Longs:
    """The numbers start, start + 1, ... of each run, run after run: int64."""
    ends = xp.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    numbers = repeat(xp, starts - (ends - lengths), lengths)
    numbers += xp.arange(total)
    return numbers


def padded(
    xp: ModuleType, values: NDArray[Item], offsets: Longs
) -> tuple[NDArray[Item], NDArray[np.bool_]]:
    """Rows of different lengths as rows of the longest, padded with 0, and what is not padding.

    values: row after row; offsets: int64 [rows + 1]. Both results have the shape [rows, longest].
    """
    lengths = offsets[1:] - offsets[:-1]
    wide = int(lengths.max()) if lengths.size else 0
    mask: NDArray[np.bool_] = xp.arange(wide) < lengths[:, None]
    rows: NDArray[Item] = xp.zeros(mask.shape, values.dtype)
    rows[mask] = values
    return rows, mask


def windows(xp: ModuleType, array: NDArray[Item], wide: int) -> NDArray[Item]:
    """Every run of so many elements (at least one, at most all) as the row of a view.

    The array is one-dimensional; the runs share its memory, and may be written.
    """
    step = array.strides[0]
    rows: NDArray[Item] = xp.lib.stride_tricks.as_strided(
        array, (array.size - wide + 1, wide), (step, step)
    )
    return rows


def evenly(numbers: Longs) -> Longs | slice:
    """Indices as a slice, if they rise in equal steps; what a slice selects is a view."""
    if numbers.size == 0:
        return slice(0, 0)
    first = int(numbers[0])
    if numbers.size == 1:
        return slice(first, first + 1)
    step = int(numbers[1]) - first
    if step <= 0 or not bool((numbers[1:] - numbers[:-1] == step).all()):
        return numbers
    return slice(first, int(numbers[-1]) + 1, step)
