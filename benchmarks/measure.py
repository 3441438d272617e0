"""Times: of one thing, and of two that take turns."""

import gc
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The median of some figures, the least and the most."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> "Spread":
        """Return that of figures, of which there is one at least."""
        return cls(statistics.median(figures), min(figures), max(figures))

    def __str__(self) -> str:
        return f"{short(self.median)} ({short(self.low)}-{short(self.high)})"


@dataclass(frozen=True)
class Race:
    """How long subject and peer took, in seconds, turn by turn."""

    subjects: list[float]
    peers: list[float]

    @property
    def subject(self) -> Spread:
        """The seconds of the subject."""
        return Spread.of(self.subjects)

    @property
    def peer(self) -> Spread:
        """The seconds of the peer."""
        return Spread.of(self.peers)

    @property
    def ratio(self) -> Spread:
        """How many times as fast as the peer the subject was."""
        pairs = zip(self.subjects, self.peers, strict=True)
        return Spread.of([theirs / ours for ours, theirs in pairs])

    @property
    def slowness(self) -> Spread:
        """How many times as long as the peer the subject took."""
        pairs = zip(self.subjects, self.peers, strict=True)
        return Spread.of([ours / theirs for ours, theirs in pairs])


def short(number: float) -> str:
    """Return a number in three digits, or in as many as stand before its point."""
    if number == 0 or not math.isfinite(number):
        return str(number)
    return f"{number:.{max(2 - math.floor(math.log10(abs(number))), 0)}f}"


def seconds(act: Callable[[], object]) -> float:
    """How long it takes, once; what it returns is not kept."""
    gc.collect()
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def race(
    subject: Callable[[], object],
    peer: Callable[[], object],
    runs: int,
    *,
    peer_part: float = 1,
) -> Race:
    """Let peer and subject take turns, after one turn that does not count.

    peer_part: how much of the subject's work the peer is given; its times are scaled.
    """
    subject(), peer()
    turns = [(seconds(peer) / peer_part, seconds(subject)) for _ in range(runs)]
    return Race(subjects=[ours for _, ours in turns], peers=[theirs for theirs, _ in turns])
