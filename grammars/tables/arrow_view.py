"""Access the buffers of Arrow arrays as NumPy arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Bytes


class View:
    """An Arrow array, with buffers that are NumPy arrays and keep the Arrow array in memory.

    The buffers of nanoarrow's own views become invalid when the Arrow array is released.
    """

    def __init__(self, view: Any, array: object) -> None:
        self._view = view
        self._array = array
        self.offset: int = view.offset
        self.length: int = view.length
        self.type: str = view.storage_type
        self.null_count: int = view.null_count
        self.buffers: int = view.n_buffers

    def child(self, number: int) -> "View":
        """Return a child array, such as a field of a struct, by its number."""
        return View(self._view.child(number), self._array)

    @property
    def dictionary(self) -> "View":
        """The array of the values to which the indices refer, if this is a dictionary array."""
        return View(self._view.dictionary, self._array)

    def bytes(self, number: int) -> Bytes:
        """Return the buffer with this number as uint8."""
        buffer = self._view.buffer(number)
        if not buffer.size_bytes:
            return np.empty(0, np.uint8)
        return np.asarray(_Kept(np.frombuffer(buffer, np.uint8), self._array))

    def numbers(self, number: int) -> NDArray[Any]:
        """Return the buffer with this number as numbers of the buffer's type."""
        return self.bytes(number).view(np.asarray(self._view.buffer(number)).dtype)


class _Kept:
    """An array that keeps another object, the owner of its memory, alive as long as it is used."""

    def __init__(self, array: NDArray[Any], owner: object) -> None:
        self.__array_interface__ = array.__array_interface__
        self.owner = owner
