"""Arrays of NumPy or CuPy. Array code calls either module by the name `xp`. Also copies arrays
between devices.

This is the only module that imports CuPy.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from types import ModuleType
from typing import Any, Final, Protocol, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from exset.core.text import counted
from exset.grammars.columns.arrays import Flags, Longs, is_constant


class TorchDevice(Protocol):
    """A `torch.device`."""

    @property
    def type(self) -> str:
        """The kind of device."""

    @property
    def index(self) -> int | None:
        """The number among the devices of this kind."""


Device: TypeAlias = str | TorchDevice
"""A device: "cpu" for NumPy; "cuda" for CuPy on its current device, "cuda:1" on its second device;
or a `torch.device`."""

MODULES: Final = {"cpu": "numpy", "cuda": "cupy"}
"""The module whose arrays are on each device."""

Item = TypeVar("Item", bound=np.generic)


class _OnDevice(Protocol):
    """An array of CuPy."""

    def get(self) -> NDArray[Any]:
        """Return a copy on the host."""


def namespace(device: Device = "cpu") -> ModuleType:
    """Return the module whose functions make arrays on a device: NumPy or CuPy.

    Raises ValueError for an unknown device, and ImportError for "cuda" without CuPy.
    """
    return _module_and_number(device)[0]


@contextmanager
def on_device(device: Device) -> Iterator[ModuleType]:
    """Make a device CuPy's current device in this context. The context yields NumPy or CuPy.

    Raises the errors of `namespace`.
    """
    xp, number = _module_and_number(device)
    with nullcontext() if number is None else xp.cuda.Device(number):
        yield xp


def _module_and_number(device: Device) -> tuple[ModuleType, int | None]:
    """Return NumPy or CuPy for a device, and the number of the device. None means the current
    device.
    """
    name = str(device)  # of a torch.device, too
    kind, has_number, digits = name.partition(":")
    if kind not in MODULES or (has_number and not (digits.isascii() and digits.isdecimal())):
        raise ValueError(f"unknown device {name!r}: use 'cpu', 'cuda', or 'cuda:1'")
    try:
        xp = import_module(MODULES[kind])
    except ImportError:
        hint = "pip install 'exset[cuda12]', or 'exset[cuda13]' for CUDA 13"
        raise ImportError(f"device={name!r} needs CuPy: {hint}") from None
    if not has_number or not hasattr(xp, "cuda"):
        return xp, None
    number, count = int(digits), int(xp.cuda.runtime.getDeviceCount())
    if number >= count:
        raise ValueError(f"unknown device {name!r}: CuPy has {counted(count, 'device')}")
    return xp, number


def namespace_of(array: object) -> ModuleType:
    """Return the module that made an array, NumPy or CuPy. Return NumPy for any other object."""
    if type(array) is np.ndarray:
        return np
    module = type(array).__module__.partition(".")[0]
    return sys.modules[module] if module in MODULES.values() else np


def to_device(xp: ModuleType, array: NDArray[Item]) -> NDArray[Item]:
    """Copy an array from the host to the device of `xp`. If `xp` is NumPy, return the array itself.

    If the array stores a single value for all its elements, only this value is copied.
    """
    if xp is np:
        return array
    if array.size > 1 and is_constant(array):
        repeated: NDArray[Item] = xp.broadcast_to(xp.asarray(array[:1]), array.shape)
        return repeated
    moved: NDArray[Item] = xp.asarray(array)
    return moved


def to_host(array: NDArray[Item]) -> NDArray[Item]:
    """Return an array as a NumPy array. Only an array on another device is copied.

    Only CuPy arrays are copied by `get`: other objects, such as pandas's Series, have a different
    `get`.
    """
    return np.asarray(array if namespace_of(array) is np else cast(_OnDevice, array).get())


def repeat(xp: ModuleType, array: NDArray[Item], counts: Longs) -> NDArray[Item]:
    """Return an array in which element i of `array` occurs `counts[i]` times. xp: NumPy or CuPy.

    CuPy's own `repeat` needs the counts on the host.
    """
    if xp is np:
        return np.repeat(array, counts)
    ends = xp.cumsum(counts)
    total = int(ends[-1]) if ends.size else 0
    repeated: NDArray[Item] = array[xp.searchsorted(ends, xp.arange(total), side="right")]
    return repeated


def spread(xp: ModuleType, starts: Longs, lengths: Longs) -> Longs:
    """Return the numbers of all runs, one run after another, as int64. A run is start, start + 1,
    ...

    starts: the first number of each run. lengths: how many numbers each run has.
    """
    ends = xp.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    numbers = repeat(xp, starts - (ends - lengths), lengths)
    numbers += xp.arange(total)
    return numbers


def padded(xp: ModuleType, values: NDArray[Item], offsets: Longs) -> tuple[NDArray[Item], Flags]:
    """Return rows of different lengths, padded with 0, and a mask that is False for padding.

    values: the rows, concatenated. offsets: int64 [rows + 1]. Both results have the shape [rows,
    longest row].
    """
    lengths = offsets[1:] - offsets[:-1]
    width = int(lengths.max()) if lengths.size else 0
    mask: Flags = xp.arange(width) < lengths[:, None]
    rows: NDArray[Item] = xp.zeros(mask.shape, values.dtype)
    rows[mask] = values
    return rows, mask


def windows(xp: ModuleType, array: NDArray[Item], width: int) -> NDArray[Item]:
    """Return a view of an array [n] in which each row is a window of `width` (a number) adjacent
    elements.

    The rows share the memory of the array and are writable. `width` is from 1 to the array's size.
    """
    step = array.strides[0]
    rows: NDArray[Item] = xp.lib.stride_tricks.as_strided(
        array, (array.size - width + 1, width), (step, step)
    )
    return rows


def evenly(numbers: Longs) -> Longs | slice:
    """Return the indices `numbers` as a slice, because a slice selects a view.

    If they do not rise in equal steps, such as 1, 3, 5, return them unchanged.
    """
    if numbers.size == 0:
        return slice(0, 0)
    first = int(numbers[0])
    if numbers.size == 1:
        return slice(first, first + 1)
    step = int(numbers[1]) - first
    if step <= 0 or not bool((numbers[1:] - numbers[:-1] == step).all()):
        return numbers
    return slice(first, int(numbers[-1]) + 1, step)
