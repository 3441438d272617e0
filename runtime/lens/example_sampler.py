"""Sample examples in the orders of Lens: ordered, permuted, randomized, probabilistic.

The random choices of Lens itself cannot be reproduced. Lens and its networks all draw from the
generators of the C library (example.c: permutedLoadNextExample and others). Here only the examples,
the mode, the seed and the epoch decide the order, and any part of an epoch can be computed alone.
"""

from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from operator import index
from typing import Literal, TypeAlias, TypedDict, get_args

import numpy as np
from numpy.typing import NDArray

from exset.core.text import counted
from exset.grammars.columns.arrays import Floats, Longs, row_indices
from exset.grammars.lens.examples import ExampleSet
from exset.runtime.training.generator import below, number, numbers, places, words

Mode: TypeAlias = Literal["ordered", "permuted", "randomized", "probabilistic"]

_MOST_AT_ONCE = 1 << 14
"""The most examples that an iteration chooses at once."""
_UNIT = 2.0**-53


class State(TypedDict):
    """The position of a sampler: its seed, its epoch, and the number of examples yielded so far.

    choice: a digest of everything else that decides the order.
    """

    seed: int
    epoch: int
    given: int
    choice: str


class ExampleBatchSampler:
    """Yields batches of `size` examples, as lists of the indices of the examples or of their
    events.
    """

    def __init__(self, sampler: "ExampleSampler", size: int, drop_last: bool, events: bool) -> None:
        if index(size) < 1:
            raise ValueError(f"batch_size must be at least 1, not {size}")
        self.sampler, self.size, self.events = sampler, index(size), events
        self._drops_last = drop_last

    @property
    def batch_size(self) -> int | None:
        """The number of indices in a batch. None for events, because examples differ in their
        number of events.
        """
        return None if self.events else self.size

    def __len__(self) -> int:
        """Return the number of batches of a whole epoch, even after a resume in the middle."""
        whole, rest = divmod(len(self.sampler), self.size)
        return whole + (rest > 0 and not self._drops_last)

    def __iter__(self) -> Iterator[list[int]]:
        for chosen in self.sampler._chunks(self.size, self._drops_last):
            rows = self.sampler.rows(chosen) if self.events else chosen
            numbers: list[int] = rows.tolist()
            yield numbers

    @property
    def among(self) -> int:
        """The number of examples, or of events, from which the sampler chooses."""
        return int(self.sampler._offsets[-1]) if self.events else self.sampler.among

    @property
    def epoch(self) -> int:
        """The sampler's epoch."""
        return self.sampler.epoch

    def set_epoch(self, epoch: int) -> None:
        """Set the sampler's epoch."""
        self.sampler.set_epoch(epoch)

    def state_dict(self, yielded: int | None = None) -> State:
        """Return the state of the sampler of examples.

        yielded: the number of batches that a loader has yielded. By default, all batches that the
        loader has read count.
        """
        return self.sampler.state_dict(None if yielded is None else yielded * self.size)

    def load_state_dict(self, state: State) -> None:
        """Resume at a position, as the sampler's `load_state_dict` does."""
        self.sampler.load_state_dict(state)


class ExampleSampler:
    """The indices of the examples of a set, in the order of one of Lens's example modes.

    - "ordered": the order of the file.
    - "permuted": each example once in an epoch, in random order.
    - "randomized": random examples with replacement; an epoch has the length of the set.
    - "probabilistic": as "randomized", but with probabilities in proportion to frequencies.

    For Lens's pseudo-frequencies, use "ordered" or "permuted", and `pseudo_frequencies`. The
    sampler chooses examples, because the events of an example belong together. For a dataset of
    events, use `batches(size, events=True)`, or call `rows` to get the events of any examples.
    Raises ValueError for an unknown mode, and in the mode "probabilistic" for frequencies that are
    below 0, not finite, or all 0.
    """

    def __init__(self, examples: ExampleSet, mode: Mode = "ordered", seed: int = 1234) -> None:
        if mode not in get_args(Mode):
            raise ValueError(f"unknown mode {mode!r}: choose one of {', '.join(get_args(Mode))}")
        self.mode, self.seed, self.epoch = mode, index(seed), 0
        self._frequency, self._offsets = examples.frequency, examples.event_offsets
        self._sums = _sums(examples.frequency) if mode == "probabilistic" else None
        self._start = self._first = self._given = 0
        self._has_ended = False

    @property
    def among(self) -> int:
        """The number of examples from which the sampler chooses."""
        return len(self._frequency)

    def chosen(self, which: slice = slice(None)) -> Longs:
        """Return the examples at some positions of the current epoch, int64. which: by default all
        positions.
        """
        rows = np.arange(self.among)[which]
        if self.mode == "ordered" or not rows.size:
            return rows
        key = words(np, number(number(number(self.seed, 0), self.epoch), 0))
        counters, count = rows.astype(np.uint64), words(np, self.among)
        if self.mode == "permuted":
            return places(key, count, counters).astype(np.int64)
        drawn = numbers(key, counters)
        if self._sums is None:
            return below(drawn, count).astype(np.int64)
        at = (drawn >> np.uint64(11)).astype(np.float64) * _UNIT * self._sums[-1]
        # A product can be rounded up to the total, which is beyond the last example.
        last = np.searchsorted(self._sums, self._sums[-1])
        found: Longs = np.minimum(np.searchsorted(self._sums, at, side="right"), last)
        return found

    def rows(self, examples: Longs) -> Longs:
        """Return the indices of all events of the given examples, example by example: int64."""
        starts = self._offsets[:-1][examples]
        return row_indices(starts, self._offsets[1:][examples] - starts)

    def pseudo_frequencies(self, *, events: bool = False) -> Floats:
        """Return the frequency of each example, float32. With `events`, return the frequency for
        each event.

        If pseudoExampleFreq of the network is set, Lens scales errors by this frequency.
        """
        if not events:
            return self._frequency
        return np.repeat(self._frequency, np.diff(self._offsets))

    def batches(
        self, batch_size: int, *, drop_last: bool = False, events: bool = False
    ) -> ExampleBatchSampler:
        """Return batches of `batch_size` examples. The last batch may be smaller; `drop_last` drops
        it.

        events: yield the indices of all events of the examples. Raises ValueError for a
        `batch_size` < 1.
        """
        return ExampleBatchSampler(self, batch_size, drop_last, events)

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next iteration. If the epoch changes, the iteration begins with its
        first example.
        """
        if epoch != self.epoch:
            self._start = self._first = self._given = 0
        self._has_ended = False
        self.epoch = index(epoch)

    def state_dict(self, yielded: int | None = None) -> State:
        """Return the position of the sampler.

        yielded: how many examples a loader has yielded in this iteration. A loader that reads ahead
        has read more examples than that. By default, all examples that were read count.
        """
        given = self._given
        if yielded is not None:
            given = min(self._first + yielded, self.among)
        return {"seed": self.seed, "epoch": self.epoch, "given": given, "choice": self._choice}

    def load_state_dict(self, state: State) -> None:
        """Resume at the position of another sampler. Raises ValueError for other examples or
        another mode.

        If the state is at the end of an epoch, the next iteration yields the next epoch. But if you
        set the same epoch again, the next iteration is empty.
        """
        if state["choice"] != self._choice:
            raise ValueError("the state was saved with a different mode or different examples")
        if not 0 <= (given := state["given"]) <= self.among:
            raise ValueError(f"state['given'] must be from 0 to {self.among}, not {given}")
        self.seed, self.epoch = state["seed"], state["epoch"]
        self._start = self._first = self._given = given
        self._has_ended = given == self.among

    def __len__(self) -> int:
        """Return the number of examples of a whole epoch, even after a resume in the middle."""
        return self.among

    def __iter__(self) -> Iterator[int]:
        for at, chosen in self._blocks(_MOST_AT_ONCE, 1):
            for self._given, example in enumerate(chosen.tolist(), at + 1):
                yield example
        self._given, self._start = self.among, 0

    def __repr__(self) -> str:
        return f"ExampleSampler({counted(self.among, 'example')}, {self.mode}, seed={self.seed})"

    @cached_property
    def _choice(self) -> str:
        """A digest of everything that decides the order, except seed and epoch."""
        weights = self._frequency.tobytes() if self.mode == "probabilistic" else b""
        digest = blake2b(f"{self.mode} {self.among} ".encode() + weights, digest_size=8)
        return digest.hexdigest()

    def _chunks(self, size: int, drop_last: bool) -> Iterator[Longs]:
        """Yield the examples that are left in the epoch, `size` at a time.

        drop_last: if fewer than `size` remain at the end, leave them out.
        """
        block = max(_MOST_AT_ONCE // size, 1) * size
        for at, chosen in self._blocks(block, size if drop_last else 1):
            for first in range(0, len(chosen), size):
                part = chosen[first : first + size]
                self._given = at + first + len(part)
                yield part
        self._given, self._start = self.among, 0

    def _blocks(self, size: int, multiple: int) -> Iterator[tuple[int, Longs]]:
        """Yield (position, block): a block of up to `size` examples, and its position in the epoch.

        The total number of examples is a multiple of `multiple`. Examples at the end that exceed
        this number are left out.
        """
        if self._has_ended:  # Lightning starts the workers of a loader before it sets the epoch
            self.set_epoch(self.epoch + 1)
        start = self._first = self._given = self._start
        end = self.among - (self.among - start) % multiple
        for at in range(start, end, size):
            yield at, self.chosen(slice(at, min(at + size, end)))


def _sums(frequency: Floats) -> NDArray[np.float64]:
    """Return the cumulative sums of frequencies. Raises ValueError for invalid frequencies."""
    wrong = np.flatnonzero(~(np.isfinite(frequency) & (frequency >= 0)))
    if wrong.size:
        what = f"examples[{wrong[0]}]: the frequency must be finite and at least 0"
        raise ValueError(f"{what}, not {frequency[wrong[0]]}")
    sums: NDArray[np.float64] = np.cumsum(frequency, dtype=np.float64)
    if sums.size and not sums[-1]:
        raise ValueError("at least one example must have a frequency above 0")
    return sums
