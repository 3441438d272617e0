"""Limit the memory that the columns of a table take beyond the bytes of its file."""

from math import prod
from typing import Final

import numpy as np

from exset.core.errors import LimitError, Place
from exset.core.limits import Limits, limit_hint

CELL: Final = 9
"""The bytes of a cell without a value: of a number, and of whether it is there."""
_COLUMN: Final = 2048  # bytes of a column besides its cells: of its name, its type and its arrays
_RATIO: Final = 32


def absent_size(dtype: np.dtype[np.generic], shape: tuple[int, ...] = ()) -> int:
    """Return the bytes of a cell without a value, in a column of arrays: of its array, and of
    whether it is there.
    """
    return prod(shape) * dtype.itemsize + 1


class Room:
    """The memory that is left for the columns of a table.

    A row without a value takes no bytes in a file, and a column takes few. So a small file of n
    rows, each with a name of its own, has n * n cells.
    """

    def __init__(self, name: str, stored: int, limits: Limits) -> None:
        """Begin with the room for a file. name, stored: its name, and how many bytes it has."""
        self._name, self._stored = name, stored
        self._most = self._left = max(limits.max_array, _RATIO * stored)

    def take(self, columns: int, rows: int, cell: int = CELL) -> None:
        """Take the room of more columns; raise LimitError if there is less.

        cell: the bytes of each of their cells that has no value.
        """
        self._left -= columns * (_COLUMN + rows * cell)
        if self._left < 0:
            message = (
                f"the columns need more than {self._most:,} bytes of memory, "
                f"but the file has {self._stored:,} bytes"
            )
            raise LimitError(message, place=Place(self._name), hint=limit_hint("max_array"))
