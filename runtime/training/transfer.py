"""Batches on their way to a device: copied beside what that computes, from pinned memory."""

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
    """CuPy's: a point in what a stream has to do."""

    @property
    def done(self) -> bool:
        """Whether the stream is past it."""
        ...

    def synchronize(self) -> None:
        """Wait until it is."""
        ...


_UNDER_WAY = 4
"""Batches that may be under way: a host far ahead of its device would hold memory for all."""


@dataclass(frozen=True)
class Sent:
    """The arrays of a batch, and when they have arrived; None: they have."""

    arrays: dict[str, Values]
    arrived: Event | None = None


class Transfer:
    """Takes batches to the device of a namespace, all at once; those of NumPy stay as they are.

    What no device can hold, strings and objects, stays on the host.
    """

    def __init__(self, xp: ModuleType) -> None:
        """Take the namespace."""
        self.xp = xp

    def send(self, make: Callable[[], Mapping[str, Values]]) -> Sent:
        """Make the arrays of a batch, and begin to take them there; in any one thread."""
        return Sent({name: self._moved(array) for name, array in make().items()})

    def receive(self, sent: Sent) -> dict[str, Values]:
        """Return arrays that were sent, for use by the thread that asks for them."""
        return sent.arrays

    def close(self) -> None:
        """Wait until nothing is under way."""

    def _goes(self, array: Values) -> bool:
        """Whether it is to be moved from the host."""
        return namespace_of(array) is np and array.dtype.kind in "biufc"

    def _moved(self, array: Values) -> Values:
        if self.xp is np:
            return array if namespace_of(array) is np else to_host(array)
        moved: Values = self.xp.asarray(array) if self._goes(array) else array
        return moved


class StreamedTransfer(Transfer):
    """Copies from pinned memory in a stream of its own, for the stream that is current here.

    A batch is for the stream that is current when it is received. The arrays are of the memory of
    that stream, so that those that it uses on are safe from being written.
    """

    def __init__(self, xp: ModuleType) -> None:
        """Take CuPy; the device is the current one."""
        super().__init__(xp)
        self._device = xp.cuda.Device()
        self._user = xp.cuda.get_current_stream()
        self._stream = xp.cuda.Stream(non_blocking=True)
        self._under_way: deque[tuple[Event, list[Values]]] = deque()

    def send(self, make: Callable[[], Mapping[str, Values]]) -> Sent:
        """Make the arrays of a batch, and have them copied."""
        user = self._user
        with self._device, user:
            arrays = dict(make())
            if len(self._under_way) >= _UNDER_WAY:
                self._under_way[0][0].synchronize()
            while self._under_way and self._under_way[0][0].done:
                self._under_way.popleft()
            pinned = {name: self._pinned(each) for name, each in arrays.items() if self._goes(each)}
            for name, each in pinned.items():
                arrays[name] = self.xp.empty(each.shape, each.dtype)
            # The memory may have been a batch's that the user's stream is not done with yet.
            self._stream.wait_event(user.record())
            for name, each in pinned.items():
                if each.size:
                    self.xp.ndarray.set(arrays[name], each, stream=self._stream)
            arrived: Event = self._stream.record()
        # Neither end of a copy is free before it is done.
        self._under_way.append((arrived, [*pinned.values(), *arrays.values()]))
        return Sent(arrays, arrived)

    def receive(self, sent: Sent) -> dict[str, Values]:
        """Return the arrays, for which the current stream waits, and the host does not."""
        self._user = self.xp.cuda.get_current_stream()
        self._user.wait_event(sent.arrived)
        return sent.arrays

    def close(self) -> None:
        """Wait until all is copied, and let go of it."""
        self._stream.synchronize()
        self._under_way.clear()

    def _pinned(self, array: Values) -> NDArray[np.generic]:
        """A copy in memory that the device reads by itself."""
        kind = array.dtype.newbyteorder("=")
        memory = self.xp.cuda.alloc_pinned_memory(max(array.size, 1) * kind.itemsize)
        pinned = np.frombuffer(memory, kind, array.size).reshape(array.shape)
        pinned[...] = array
        return pinned


def transfer(xp: ModuleType) -> Transfer:
    """What takes batches to the device of a namespace."""
    return StreamedTransfer(xp) if hasattr(xp, "cuda") else Transfer(xp)
