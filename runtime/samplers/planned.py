"""The planned sampler. The seed, the epoch and the number of a batch decide the batch."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from operator import index
from typing import TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs
from exset.runtime.arrays import namespace_of, to_host
from exset.runtime.samplers.base import BatchSampler, EpochItems, NxMSampler
from exset.runtime.samplers.epoch import Epoch
from exset.runtime.samplers.grouping import MOST, Grouping, Labels, group
from exset.runtime.samplers.layout import Layout, lay_out

Weights: TypeAlias = Mapping[Hashable, float] | Sequence[float]
"""How often to draw each class: by label, default 1; or a number for each of `unique_labels`."""


class State(TypedDict):
    """The position of a sampler: its seed, its epoch, and the number of the next batch.

    Batch numbers count the batches of all replicas. plan: a digest of everything else that decides
    the batches.
    """

    seed: int
    epoch: int
    batch: int
    plan: str


class PlannedBatchSampler(BatchSampler):
    """The batches of a planned sampler, with methods that save the position and resume from it."""

    sampler: "PlannedNxMSampler"

    def state_dict(self, yielded: int | None = None) -> State:
        """Return the state of the sampler. yielded: as for the sampler's `state_dict`."""
        return self.sampler.state_dict(yielded)

    def load_state_dict(self, state: State) -> None:
        """Resume at a position, as the sampler's `load_state_dict` does."""
        self.sampler.load_state_dict(state)


class PlannedNxMSampler(NxMSampler):
    """Draws every item in every epoch, with as many batches of N distinct classes as possible.

    G slots of M samples give ceil(G/N) batches. The last batch is filled up with other classes. No
    such plan has more batches of N distinct classes (proof: docs/samplers.md). The labels, N, M,
    seed and epoch decide the batches of an epoch; the number of replicas does not. So you can
    resume a training with more or fewer replicas, in the same order. Labels in a CuPy array are
    processed on their device, with the same result. The sampler needs memory for the grouped
    labels, and O(classes) in addition.

    `weights`: for each class, how many times to draw its items in an epoch. With a weight below 1,
    an epoch has only some items of the class.
    """

    def __init__(
        self,
        labels: Labels,
        N_classes_per_batch: int,
        M_samples_per_class: int,
        batch_size: int | None = None,
        shuffle: bool = True,
        drop_last: bool = False,
        num_replicas: int | None = None,
        rank: int = -1,
        seed: int = 1234,
        *,
        weights: Weights | None = None,
    ) -> None:
        """Group the labels, and plan the batches.

        Raises the errors of `NxMSampler`, and ValueError for invalid weights.
        """
        self._weights = weights
        self._epoch: tuple[tuple[int, int], Epoch] | None = None
        self._first = self._next = 0
        self._has_ended = False
        sizes = (N_classes_per_batch, M_samples_per_class, batch_size)
        super().__init__(labels, *sizes, shuffle, drop_last, num_replicas, rank, seed)

    def batches(self) -> PlannedBatchSampler:
        """Return this replica's batches, for `DataLoader(batch_sampler=...)`."""
        return PlannedBatchSampler(self)

    def batch(self, which: int | slice) -> Longs:
        """Return the batch number `which` of the current epoch, int64 [N*M]. Numbers count all
        replicas' batches.

        For a slice, return several batches, int64 [count, N*M]; `slice(None)` returns the whole
        epoch. The array is on the device of the labels. Raises IndexError for a number that is out
        of range.
        """
        numbers = np.arange(self.num_batches)
        if isinstance(which, slice):
            return self._draw()(numbers[which])
        only: Longs = self._draw()(np.array([numbers[index(which)]]))[0]
        return only

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next iteration. If the epoch changes, the iteration begins with its
        first batch.
        """
        if epoch != self.epoch:
            self._start = self._first = self._next = 0
        self._has_ended = False
        super().set_epoch(epoch)

    def state_dict(self, yielded: int | None = None) -> State:
        """Return the position of the sampler, which is valid for any number of replicas.

        yielded: how many batches a loader has yielded in this iteration. A loader that reads ahead
        has read more batches than that. By default, all batches that were read count.
        """
        batch = self._next
        if yielded is not None:
            batch = min(self._first + yielded * self.num_replicas, self.num_batches)
        return {"seed": self.seed, "epoch": self.epoch, "batch": batch, "plan": self._digest}

    def load_state_dict(self, state: State) -> None:
        """Resume at the position of another sampler. Raises ValueError for the state of another
        plan.

        If the state is at the end of an epoch, the next iteration yields the next epoch. But if you
        set the same epoch again, the next iteration is empty.
        """
        if state["plan"] != self._digest:
            raise ValueError("the state was saved with different labels, weights, N, M or shuffle")
        if not 0 <= state["batch"] <= self.num_batches:
            what = f"state['batch'] must be from 0 to {self.num_batches}"
            raise ValueError(f"{what}, not {state['batch']}")
        self.seed, self.epoch = state["seed"], state["epoch"]
        self._start = self._first = self._next = state["batch"]
        self._has_ended = state["batch"] == self.num_batches

    def _grouped(self, labels: Labels) -> Grouping:
        return group(labels)

    @cached_property
    def _slots(self) -> Longs:
        """The number of slots of each class, int64 [classes], on the device of the labels."""
        sizes = to_host(self.grouping.sizes).astype(np.int64)
        slots = -(-sizes // self.M_samples_per_class)
        if self._weights is not None:
            with np.errstate(over="ignore"):  # checked below
                exact = sizes * self._factors(self._weights) / self.M_samples_per_class
                # Without rounding, 30 * 0.1, slightly above 3, would give one more slot.
                whole = np.maximum(np.ceil(np.round(exact, 9)), 1)
            if whole.sum() > MOST:
                message = f"weights are too large: they give more than {MOST:,} groups of M samples"
                raise ValueError(message)
            slots = whole.astype(np.int64)
        array: Longs = namespace_of(self.grouping.sizes).asarray(slots)
        return array

    @cached_property
    def _layout(self) -> Layout:
        return lay_out(to_host(self._slots), self.N_classes_per_batch, fill=True)

    @cached_property
    def _digest(self) -> str:
        """Return a digest of everything that decides the plan, except seed and epoch."""
        groups = self.grouping
        digest = blake2b(digest_size=8)
        width, samples = self.N_classes_per_batch, self.M_samples_per_class
        digest.update(f"{width} {samples} {self.shuffle} {len(groups)}".encode())
        for array in (self._slots, groups.sizes, groups.starts, groups.items):
            host = to_host(array)
            digest.update(host.astype(host.dtype.newbyteorder("<"), copy=False).data)
        return digest.hexdigest()

    def _factors(self, weights: Weights) -> NDArray[np.float64]:
        if isinstance(weights, Mapping):
            labels = self.unique_labels.tolist()
            if unknown := set(weights) - set(labels):
                raise ValueError(f"weights: {unknown.pop()!r} is not a label")
            weights = [weights.get(label, 1.0) for label in labels]
        factors = np.asarray(weights, np.float64)
        if factors.shape != (len(self.grouping),):
            shape = f"{len(self.grouping)} numbers, one for each class"
            raise ValueError(f"weights must be {shape}, not an array of shape {factors.shape}")
        if not (np.isfinite(factors) & (factors > 0)).all():
            raise ValueError("weights must be above 0 and finite")
        return factors

    def _count_batches(self) -> int:
        return self._layout.batches

    def _draw(self) -> EpochItems:
        return self._current_epoch().items

    def _current_epoch(self) -> Epoch:
        of = self.seed, self.epoch
        if self._epoch is None or self._epoch[0] != of:
            plan = (self.grouping, self._slots, self._layout, self.M_samples_per_class)
            self._epoch = of, Epoch(*plan, self._key, self.shuffle)
        return self._epoch[1]

    def _batches(self) -> Iterator[list[int]]:
        if self._has_ended:  # Lightning starts the workers of a loader before it sets the epoch
            self.set_epoch(self.epoch + 1)
        first = self._first = self._next = self._start
        for step, batch in enumerate(super()._batches(), 1):
            self._next = min(first + step * self.num_replicas, self.num_batches)
            yield batch
        self._next = self.num_batches
        self._start = 0
