"""Measure the times of one function, or of two functions that run alternately."""

import gc
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The median, the minimum and the maximum of some figures."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> "Spread":
        """Return the spread of one or more figures."""
        return cls(statistics.median(figures), min(figures), max(figures))

    def rate(self, amount: float) -> "Spread":
        """Return the amount per second, if these figures are the seconds that it took."""
        return Spread(amount / self.median, amount / self.high, amount / self.low)

    def __str__(self) -> str:
        return f"{short(self.median)} ({short(self.low)}-{short(self.high)})"


@dataclass(frozen=True)
class Race:
    """The seconds of subject and peer in each turn."""

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
        """The speed of the subject, as a multiple of the peer's speed."""
        pairs = zip(self.subjects, self.peers, strict=True)
        return Spread.of([theirs / ours for ours, theirs in pairs])

    def against(self, peer: str, size: float) -> dict[str, str | float | Spread | None]:
        """Return the figures of a race with the library `peer`; size: the MB that both read."""
        return {
            "MB/s": self.subject.rate(size),
            "peer": peer,
            "peer, MB/s": self.peer.rate(size),
            "times as fast": self.ratio,
        }

    @property
    def slowness(self) -> Spread:
        """The time of the subject, as a multiple of the peer's time."""
        pairs = zip(self.subjects, self.peers, strict=True)
        return Spread.of([ours / theirs for ours, theirs in pairs])


def short(number: float) -> str:
    """Return a number with three digits, or with all digits before the point."""
    if number == 0 or not math.isfinite(number):
        return str(number)
    return f"{number:.{max(2 - math.floor(math.log10(abs(number))), 0)}f}"


def seconds(act: Callable[[], object]) -> float:
    """Return the seconds of one call, whose result is dropped."""
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
    """Run peer and subject alternately, after one turn that does not count.

    peer_part: the fraction of the subject's work that the peer does; its times are scaled up.
    """
    subject(), peer()
    turns = [(seconds(peer) / peer_part, seconds(subject)) for _ in range(runs)]
    return Race(subjects=[ours for _, ours in turns], peers=[theirs for theirs, _ in turns])
