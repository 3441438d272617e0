"""Copy batches to a device, and wait for each copy. `streamed_transfer` is based on this."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol

import numpy as np

from exset.runtime.arrays import namespace_of, to_host
from exset.runtime.training.dataset import Values


class Event(Protocol):
    """An event of CuPy, which marks a point in the work of a stream."""

    @property
    def done(self) -> bool:
        """Whether the stream has passed the event."""

    def synchronize(self) -> None:
        """Wait until the stream has passed the event."""


@dataclass(frozen=True)
class Sent:
    """The arrays of a batch that is being copied to a device.

    arrived: an event that happens when the copy is complete. None if it is complete already.
    """

    arrays: dict[str, Values]
    arrived: Event | None = None


class Transfer:
    """Copies batches to a device, and waits for each copy. With NumPy, nothing needs to be copied.

    Strings and objects stay on the host, because no device can store them.
    """

    def __init__(self, xp: ModuleType) -> None:
        self.xp = xp

    def send(self, make: Callable[[], Mapping[str, Values]]) -> Sent:
        """Make the arrays of a batch by calling `make`, and copy the arrays to the device.

        All calls must be in the same thread.
        """
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
            return array if type(array) is np.ndarray else to_host(array)
        moved: Values = self.xp.asarray(array) if self._is_movable(array) else array
        return moved
