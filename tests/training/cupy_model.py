"""A model of CuPy's streams: nothing that a stream is told is done before somebody waits for it.

So a copy that begins too early, or whose memory is gone when it is done, is seen.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import RLock, local
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

DEVICES = 2


class _Current(local):
    """The numbers of the devices that are current in a thread, one inside the other."""

    def __init__(self) -> None:
        self.devices = [0]


_current = _Current()


def current() -> int:
    """The number of the current device of this thread."""
    return _current.devices[-1]


_one = RLock()
free: list[np.ndarray[Any, Any]] = []
"""Memory of the device that nobody holds, which the next array takes."""


class ndarray:
    """An array of the device, whose memory is used again once it is gone."""

    __module__ = "cupy"

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        fits = [each for each in free if each.nbytes == nbytes]
        self.memory = fits[-1] if fits else np.zeros(nbytes, np.uint8)
        free[:] = [each for each in free if each is not self.memory]
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.device = current()
        weakref.finalize(self, free.append, self.memory)

    def get(self) -> np.ndarray[Any, Any]:
        """The host waits for its stream, which waits for what it was told to wait for."""
        USERS[self.device].wait()
        found: np.ndarray[Any, Any] = self.memory.view(self.dtype).reshape(self.shape)
        return found.copy()

    def set(self, host: np.ndarray[Any, Any], stream: Stream) -> None:
        source, target = weakref.ref(host), weakref.ref(self)
        memory = self.memory

        def copy() -> None:
            pinned = source()
            assert pinned is not None and target() is not None, "freed before it was copied"
            memory[...] = np.ascontiguousarray(pinned).reshape(-1).view(np.uint8)

        stream.work.append(copy)


@dataclass(eq=False)
class Stream:
    non_blocking: bool = False
    work: list[Callable[[], None]] = field(default_factory=list)
    finished: int = 0

    def wait(self, until: int | None = None) -> None:
        with _one:
            while self.finished < (len(self.work) if until is None else until):
                self.finished += 1
                self.work[self.finished - 1]()

    synchronize = wait

    def record(self) -> Event:
        return Event(self, len(self.work))

    def wait_event(self, event: Event) -> None:
        self.work.append(lambda: event.stream.wait(event.until))

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


@dataclass
class Event:
    stream: Stream
    until: int

    @property
    def done(self) -> bool:
        return self.stream.finished >= self.until

    def synchronize(self) -> None:
        self.stream.wait(self.until)


class Device:
    """A device, which is current inside of a `with` statement."""

    def __init__(self, number: int | None = None) -> None:
        self.number = current() if number is None else number
        assert 0 <= self.number < DEVICES

    def __enter__(self) -> None:
        _current.devices.append(self.number)

    def __exit__(self, *error: object) -> None:
        _current.devices.pop()


USERS = [Stream() for _ in range(DEVICES)]
"""The default stream of each device, which is current for the user."""


class DefaultStream:
    """CUDA's default stream has no device of its own: it is that of the current device."""

    def record(self) -> Event:
        return USERS[current()].record()

    def wait_event(self, event: Event) -> None:
        USERS[current()].wait_event(event)

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


def module() -> ModuleType:
    """A module to stand for cupy."""
    made: Any = ModuleType("cupy")
    made.ndarray, made.empty = ndarray, ndarray
    made.cuda = SimpleNamespace(
        Device=Device,
        Stream=Stream,
        get_current_stream=DefaultStream,
        alloc_pinned_memory=bytearray,
        runtime=SimpleNamespace(getDeviceCount=lambda: DEVICES),
    )
    return made  # type: ignore[no-any-return]
