"""Access the buffers of Arrow arrays as NumPy arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Bytes


class View:
    """A view of an Arrow array; its buffers are NumPy arrays that keep the Arrow array in memory.

    The buffers of nanoarrow's own views become invalid when the array is released.
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
        """Return the view of a child array, by its number."""
        return View(self._view.child(number), self._array)

    @property
    def dictionary(self) -> "View":
        """The view of the values, if the array is encoded by a dictionary."""
        return View(self._view.dictionary, self._array)

    def bytes(self, number: int) -> Bytes:
        """Return a buffer, by its number, as bytes: uint8."""
        buffer = self._view.buffer(number)
        if not buffer.size_bytes:
            return np.empty(0, np.uint8)
        return np.asarray(_Kept(np.frombuffer(buffer, np.uint8), self._array))

    def numbers(self, number: int) -> NDArray[Any]:
        """Return a buffer, by its number, as numbers of the buffer's type."""
        return self.bytes(number).view(np.asarray(self._view.buffer(number)).dtype)


class _Kept:
    """An array that keeps another object in memory as long as it is used."""

    def __init__(self, array: NDArray[Any], owner: object) -> None:
        self.__array_interface__ = array.__array_interface__
        self.owner = owner
