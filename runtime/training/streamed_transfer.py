"""Copy batches to a device from pinned memory, while the device computes."""

from collections import deque
from collections.abc import Callable, Mapping
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from exset.runtime.training.dataset import Values
from exset.runtime.training.transfer import Event, Sent, Transfer

_MOST_IN_FLIGHT = 4
"""The most batches that are copied at a time, because a fast host could fill the memory."""


class StreamedTransfer(Transfer):
    """Copies batches from pinned memory to the device, in a stream of its own.

    Use a batch in the stream of the device that is current when you receive the batch. The arrays
    are allocated in the memory pool of that stream, so that memory in use is never overwritten.
    """

    def __init__(self, xp: ModuleType) -> None:
        """Copy to the current device of `xp`, which is CuPy."""
        super().__init__(xp)
        self._device = xp.cuda.Device()
        self._user = xp.cuda.get_current_stream()
        self._stream = xp.cuda.Stream(non_blocking=True)
        self._in_flight: deque[tuple[Event, list[Values]]] = deque()

    def send(self, make: Callable[[], Mapping[str, Values]]) -> Sent:
        """Make the arrays of a batch by calling `make`, and start to copy the arrays."""
        user = self._user
        with self._device, user:
            arrays = dict(make())
            if len(self._in_flight) >= _MOST_IN_FLIGHT:
                self._in_flight[0][0].synchronize()
            while self._in_flight and self._in_flight[0][0].done:
                self._in_flight.popleft()
            pinned = {
                name: self._pinned(each) for name, each in arrays.items() if self._is_movable(each)
            }
            for name, each in pinned.items():
                arrays[name] = self.xp.empty(each.shape, each.dtype)
            # The user's stream may still use this memory for an earlier batch.
            self._stream.wait_event(user.record())
            for name, each in pinned.items():
                if each.size:
                    self.xp.ndarray.set(arrays[name], each, stream=self._stream)
            arrived: Event = self._stream.record()
        # Keep source and target of each copy until it is done.
        self._in_flight.append((arrived, [*pinned.values(), *arrays.values()]))
        return Sent(arrays, arrived)

    def receive(self, sent: Sent) -> dict[str, Values]:
        """Return the arrays. The current stream waits until they are copied; the host does not
        wait.
        """
        with self._device:  # which CUDA's default stream depends on
            self._user = self.xp.cuda.get_current_stream()
            self._user.wait_event(sent.arrived)
        return sent.arrays

    def close(self) -> None:
        """Wait until all copies are done, and free their memory."""
        self._stream.synchronize()
        self._in_flight.clear()

    def _pinned(self, array: Values) -> NDArray[np.generic]:
        """Return a copy in pinned memory, which the device reads directly."""
        kind = array.dtype.newbyteorder("=")
        memory = self.xp.cuda.alloc_pinned_memory(max(array.size, 1) * kind.itemsize)
        pinned = np.frombuffer(memory, kind, array.size).reshape(array.shape)
        pinned[...] = array
        return pinned


def transfer(xp: ModuleType) -> Transfer:
    """Return an object that copies batches to the device of `xp`, which is NumPy or CuPy."""
    return StreamedTransfer(xp) if hasattr(xp, "cuda") else Transfer(xp)
