"""How much memory a model takes."""

from dataclasses import fields, is_dataclass

import numpy as np


def memory_of(part: object) -> int:
    """Return the memory of all arrays in a dataclass; a column of one repeated value has one."""
    if isinstance(part, np.ndarray):
        return part.itemsize if 0 in part.strides else part.nbytes
    if is_dataclass(part):
        return sum(memory_of(getattr(part, field.name)) for field in fields(part))
    return 0
