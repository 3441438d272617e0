"""Copy batches to a device from pinned memory, while the device computes."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from exset.runtime.arrays import namespace_of, to_host
from exset.runtime.training.dataset import Values


class Event(Protocol):
    """An event of CuPy: a point in the work of a stream."""

    @property
    def done(self) -> bool:
        """Whether the stream has passed the event."""

    def synchronize(self) -> None:
        """Wait until the stream has passed the event."""


_MOST_IN_FLIGHT = 4
"""The most batches that are copied at a time: a fast host would need memory for all batches."""


@dataclass(frozen=True)
class Sent:
    """The arrays of a batch, and the event of their arrival; None if they have arrived."""

    arrays: dict[str, Values]
    arrived: Event | None = None


class Transfer:
    """Copies batches to the device of a namespace, and waits for it; NumPy needs no copy.

    Strings and objects stay on the host, as no device can hold them.
    """

    def __init__(self, xp: ModuleType) -> None:
        """Take the namespace of the device."""
        self.xp = xp

    def send(self, make: Callable[[], Mapping[str, Values]]) -> Sent:
        """Make the arrays of a batch and start to copy them; always call it in the same thread."""
        return Sent({name: self._moved(array) for name, array in make().items()})

    def receive(self, sent: Sent) -> dict[str, Values]:
        """Return arrays that were sent, for use in the calling thread."""
        return sent.arrays

    def close(self) -> None:
        """Wait until all copies are done."""

    def _is_movable(self, array: Values) -> bool:
        """Return whether an array is on the host and can be copied to a device."""
        return namespace_of(array) is np and array.dtype.kind in "biufc"

    def _moved(self, array: Values) -> Values:
        if self.xp is np:
            return array if namespace_of(array) is np else to_host(array)
        moved: Values = self.xp.asarray(array) if self._is_movable(array) else array
        return moved


class StreamedTransfer(Transfer):
    """Copies from pinned memory in a stream of its own.

    A batch is for the stream that is current when the batch is received. The arrays are allocated
    in the memory pool of that stream, so that memory in use is never overwritten.
    """

    def __init__(self, xp: ModuleType) -> None:
        """Take CuPy; the device is the current one."""
        super().__init__(xp)
        self._device = xp.cuda.Device()
        self._user = xp.cuda.get_current_stream()
        self._stream = xp.cuda.Stream(non_blocking=True)
        self._in_flight: deque[tuple[Event, list[Values]]] = deque()

    def send(self, make: Callable[[], Mapping[str, Values]]) -> Sent:
        """Make the arrays of a batch and start to copy them."""
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
        """Return the arrays. The current stream waits for their arrival, the host does not."""
        self._user = self.xp.cuda.get_current_stream()
        self._user.wait_event(sent.arrived)
        return sent.arrays

    def close(self) -> None:
        """Wait until all copies are done, and free their memory."""
        self._stream.synchronize()
        self._in_flight.clear()

    def _pinned(self, array: Values) -> NDArray[np.generic]:
        """Return a copy in memory that the device reads directly."""
        kind = array.dtype.newbyteorder("=")
        memory = self.xp.cuda.alloc_pinned_memory(max(array.size, 1) * kind.itemsize)
        pinned = np.frombuffer(memory, kind, array.size).reshape(array.shape)
        pinned[...] = array
        return pinned


def transfer(xp: ModuleType) -> Transfer:
    """Return the transfer to the device of a namespace."""
    return StreamedTransfer(xp) if hasattr(xp, "cuda") else Transfer(xp)
