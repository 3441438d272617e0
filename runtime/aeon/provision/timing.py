"""Measure how fast a loader provides records, and where the time goes."""

import cProfile
import os
import pstats
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, islice, repeat
from time import perf_counter
from typing import Final, TypeAlias

from exset.runtime.aeon.provision.loader import DataLoader

_Stats: TypeAlias = Mapping[tuple[str, int, str], tuple[int, int, float, float, object]]

_READ: Final = {"elements.py": ("element", "column")}
_PROVIDE: Final = ("provide", "provide_many")
"""The methods of etl objects that write arrays."""
_DECODE: Final = {
    "decode.py": ("picture", "luma", "mask"),
    "avi.py": ("decode",),
    "wave.py": ("decode",),
}
_COPY: Final = {"layout.py": ("write",)}


@dataclass(frozen=True)
class Timing:
    """The speed of a loader.

    records: how many records were provided. seconds: how long this took. shares: what part of a
    single thread's time is spent on reading, decoding, transforming, copying and other work, each
    from 0 to 1.
    """

    records: int
    seconds: float
    shares: Mapping[str, float]

    @property
    def rate(self) -> float:
        """The number of records per second."""
        return self.records / self.seconds


def measured(make: Callable[[bool], DataLoader], batches: int) -> Timing:
    """Measure the time of `batches` batches. The first batch of the loader is not counted.

    Then measure again in one thread, to find what part of its time each kind of work needs. make: a
    function that returns a new loader. `make(True)` returns a loader that does all work in the
    calling thread.
    """
    with make(False) as loader:
        records, seconds = _timed(loader, batches)
    profile = cProfile.Profile()
    with make(True) as loader:
        profile.enable()
        _timed(loader, batches)
        profile.disable()
    return Timing(records, seconds, _shares(profile))


def _timed(loader: DataLoader, batches: int) -> tuple[int, float]:
    """Load `batches` batches, from several epochs if needed.

    Return how many records the batches have, and how many seconds it took.
    """
    stream = chain.from_iterable(repeat(loader))
    next(stream)
    begin = perf_counter()
    for _ in islice(stream, batches):
        pass
    return batches * loader.batch_size, perf_counter() - begin


def _shares(profile: cProfile.Profile) -> dict[str, float]:
    stats: _Stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in stats.values())
    read, decode, copy = (_within(stats, each) for each in (_READ, _DECODE, _COPY))
    provide = sum(
        spent
        for (path, _, name), (_, _, _, spent, _) in stats.items()
        if name in _PROVIDE and os.path.basename(path) != "provider.py"
    )
    transform = provide - decode - copy
    parts = {"read": read, "decode": decode, "transform": transform, "copy": copy}
    parts["other"] = total - sum(parts.values())
    return {name: max(spent, 0.0) / (total or 1) for name, spent in parts.items()}


def _within(stats: _Stats, functions: Mapping[str, Iterable[str]]) -> float:
    """Return the time that a profile shows for some functions.

    functions: {file name: names of functions in this file}.
    """
    return sum(
        spent
        for (path, _, name), (_, _, _, spent, _) in stats.items()
        if name in functions.get(os.path.basename(path), ())
    )
