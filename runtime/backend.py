"""NumPy or CuPy: the namespace that an array belongs to."""

import sys
from types import ModuleType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item", bound=np.generic)


def namespace(array: object) -> ModuleType:
    """Return the module whose functions take an array: CuPy for CuPy's, NumPy for all others."""
    home = type(array).__module__.partition(".")[0]
    return sys.modules[home] if home == "cupy" else np


def to_host(array: NDArray[Item]) -> NDArray[Item]:
    """Return an array as one of NumPy, copied only from another device."""
    get = getattr(array, "get", None)
    return np.asarray(array if get is None else get())
