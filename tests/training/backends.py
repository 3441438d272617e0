"""NumPy, and CuPy where there is one with a device: what the same bits are expected of."""

import importlib
from types import ModuleType

import numpy as np


def _found() -> list[ModuleType]:
    try:
        cupy = importlib.import_module("cupy")
        cupy.arange(1)
    except Exception:  # not installed, no device, or no driver: each has its own
        return [np]
    return [np, cupy]


BACKENDS = _found()
