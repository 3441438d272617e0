"""The orders in which Lens chooses examples: ordered, permuted, randomized, probabilistic.

What Lens itself would choose cannot be followed: it takes its random numbers from the C library's
generators (example.c: permutedLoadNextExample and its neighbours), which all else in it that is
random takes from, too, networks foremost. Here an epoch follows from examples, mode, seed and
epoch alone, and any part of it can be had without the rest.
"""

from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from operator import index
from typing import Literal, TypeAlias, TypedDict, get_args

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Floats, Longs, row_indices
from exset.grammars.lens.examples import ExampleSet
from exset.runtime.training.generator import below, number, numbers, places, words

Mode: TypeAlias = Literal["ordered", "permuted", "randomized", "probabilistic"]

_AHEAD = 1 << 14
"""Examples that are chosen at once, when they are asked for one after another."""
_UNIT = 2.0**-53


class State(TypedDict):
    """Where a sampler is: seed, epoch, how many examples of it were given, and of what choice."""

    seed: int
    epoch: int
    given: int
    choice: str


class ExampleBatchSampler:
    """Batches of so many examples, as lists of their indices or of those of their events."""

    def __init__(self, sampler: "ExampleSampler", size: int, drop_last: bool, events: bool) -> None:
        """Take what `ExampleSampler.batches` is given."""
        if index(size) < 1:
            raise ValueError(f"batch_size must be at least 1, not {size}")
        self.sampler, self.size, self.drop_last, self.events = sampler, size, drop_last, events

    def __len__(self) -> int:
        whole, rest = divmod(len(self.sampler), self.size)
        return whole + (rest > 0 and not self.drop_last)

    def __iter__(self) -> Iterator[list[int]]:
        for chosen in self.sampler._parts(self.size, self.drop_last):
            rows = self.sampler.rows(chosen) if self.events else chosen
            numbers: list[int] = rows.tolist()
            yield numbers

    @property
    def among(self) -> int:
        """How many examples, or events, are chosen from."""
        return int(self.sampler._offsets[-1]) if self.events else self.sampler.among

    @property
    def epoch(self) -> int:
        """The sampler's epoch."""
        return self.sampler.epoch

    def set_epoch(self, epoch: int) -> None:
        """Set the sampler's epoch."""
        self.sampler.set_epoch(epoch)

    def state_dict(self, yielded: int | None = None) -> State:
        """Return where the sampler is; yielded: how many batches a loader has given."""
        return self.sampler.state_dict(None if yielded is None else yielded * self.size)

    def load_state_dict(self, state: State) -> None:
        """Go on there; as the sampler's own `load_state_dict`."""
        self.sampler.load_state_dict(state)


class ExampleSampler:
    """The examples of a set in the order that Lens's example modes say, as a stream of indices.

    "ordered": as they are in the file. "permuted": each once in an epoch, at random. "randomized":
    any, as many as there are. "probabilistic": likewise, each as often as its frequency says.
    Lens's pseudo-frequencies are the first two, with the weights of `pseudo_frequencies`.

    Examples are chosen, not events, which belong together: where the rows of a dataset are events,
    `batches(size, events=True)` gives theirs, `rows` those of any examples. Raises ValueError for
    an unknown mode, and in "probabilistic" for frequencies below 0, not finite, or all 0.
    """

    def __init__(self, examples: ExampleSet, mode: Mode = "ordered", seed: int = 1234) -> None:
        """Take of the set what the order needs."""
        if mode not in get_args(Mode):
            raise ValueError(f"no mode is called {mode!r}; there are {', '.join(get_args(Mode))}")
        self.mode, self.seed, self.epoch = mode, index(seed), 0
        self._frequency, self._offsets = examples.frequency, examples.event_offsets
        self._sums = _sums(examples.frequency) if mode == "probabilistic" else None
        self._start = self._begun = self._given = 0

    @property
    def among(self) -> int:
        """How many examples are chosen from."""
        return len(self._frequency)

    def chosen(self, which: slice = slice(None)) -> Longs:
        """Return examples of the current epoch by their places in it: int64."""
        places_ = np.arange(len(self._frequency))[which]
        if self.mode == "ordered" or not places_.size:
            return places_
        key = words(np, number(number(number(self.seed, 0), self.epoch), 0))
        counters, count = places_.astype(np.uint64), words(np, len(self._frequency))
        if self.mode == "permuted":
            return places(key, count, counters).astype(np.int64)
        drawn = numbers(key, counters)
        if self._sums is None:
            return below(drawn, count).astype(np.int64)
        at = (drawn >> np.uint64(11)).astype(np.float64) * _UNIT * self._sums[-1]
        # A product may be rounded up to the sum of all, where no example is.
        last = np.searchsorted(self._sums, self._sums[-1])
        found: Longs = np.minimum(np.searchsorted(self._sums, at, side="right"), last)
        return found

    def rows(self, examples: Longs) -> Longs:
        """Return the indices of the events of examples, one example's after the other's: int64."""
        starts = self._offsets[:-1][examples]
        return row_indices(starts, self._offsets[1:][examples] - starts)

    def pseudo_frequencies(self, *, events: bool = False) -> Floats:
        """Return by what Lens scales the error of each example, or of each event: float32.

        It does where a network's pseudoExampleFreq is set: by the frequency, as it is.
        """
        if not events:
            return self._frequency
        return np.repeat(self._frequency, np.diff(self._offsets))

    def batches(
        self, batch_size: int, *, drop_last: bool = False, events: bool = False
    ) -> ExampleBatchSampler:
        """Return batches of so many examples, the last of fewer or, with drop_last, left out.

        events: as the indices of all events of these. ValueError for a size below 1.
        """
        return ExampleBatchSampler(self, batch_size, drop_last, events)

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch that the next iteration is of, from its begin on unless it is the same."""
        if epoch != self.epoch:
            self._start = self._begun = self._given = 0
        self.epoch = index(epoch)

    def state_dict(self, yielded: int | None = None) -> State:
        """Return where the sampler is.

        yielded: how many examples a loader has given since the iteration began. One that fetches
        ahead has taken more from the sampler; without the number, what was taken counts.
        """
        given = self._given
        if yielded is not None:
            given = min(self._begun + yielded, len(self._frequency))
        return {"seed": self.seed, "epoch": self.epoch, "given": given, "choice": self._choice}

    def load_state_dict(self, state: State) -> None:
        """Go on where a sampler of the same examples and mode was; ValueError if it was another."""
        if state["choice"] != self._choice:
            raise ValueError("the state is of another mode, or of other examples")
        if not 0 <= state["given"] <= len(self._frequency):
            raise ValueError(f"the state is at {state['given']} of {len(self._frequency)} examples")
        self.seed, self.epoch = state["seed"], state["epoch"]
        self._start = self._begun = self._given = state["given"]

    def __len__(self) -> int:
        return len(self._frequency) - self._start

    def __iter__(self) -> Iterator[int]:
        for chosen in self._parts(1, False):
            yield int(chosen[0])

    def __repr__(self) -> str:
        return f"ExampleSampler({len(self._frequency)} examples, {self.mode}, seed={self.seed})"

    @cached_property
    def _choice(self) -> str:
        """What tells it from other choices."""
        weights = self._frequency.tobytes() if self.mode == "probabilistic" else b""
        digest = blake2b(f"{self.mode} {len(self._frequency)} ".encode() + weights, digest_size=8)
        return digest.hexdigest()

    def _parts(self, size: int, drop_last: bool) -> Iterator[Longs]:
        """Yield so many examples after so many."""
        begun = self._begun = self._given = self._start
        end = len(self._frequency)
        if drop_last:
            end -= (end - begun) % size
        block = max(_AHEAD // size, 1) * size
        for at in range(begun, end, block):
            chosen = self.chosen(slice(at, min(at + block, end)))
            for first in range(0, len(chosen), size):
                part = chosen[first : first + size]
                self._given = at + first + len(part)
                yield part
        self._given, self._start = len(self._frequency), 0


def _sums(frequency: Floats) -> NDArray[np.float64]:
    """The cumulative sums of frequencies. Raises ValueError for what cannot be drawn by."""
    wrong = np.flatnonzero(~(np.isfinite(frequency) & (frequency >= 0)))
    if wrong.size:
        which = int(wrong[0])
        raise ValueError(
            f"examples[{which}]: a frequency must be finite and from 0, not {frequency[which]}"
        )
    sums: NDArray[np.float64] = np.cumsum(frequency, dtype=np.float64)
    if sums.size and not sums[-1]:
        raise ValueError("frequency: it must be above 0 in one example at least")
    return sums
