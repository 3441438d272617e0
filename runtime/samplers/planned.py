"""The planned sampler: any batch of any epoch from the seed, the epoch and the batch's number."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from operator import index
from typing import TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from exset.runtime.arrays import namespace_of, to_host
from exset.runtime.samplers.base import BatchSampler, NxMSampler
from exset.runtime.samplers.epoch import Epoch
from exset.runtime.samplers.grouping import MOST, Grouping, Labels, group
from exset.runtime.samplers.layout import Layout, lay_out

Weights: TypeAlias = Mapping[Hashable, float] | Sequence[float]
"""How often to draw classes: by label, those not named once; or in the order of `unique_labels`."""


class State(TypedDict):
    """Where a sampler is: seed, epoch, the next batch of all replicas', and of what plan."""

    seed: int
    epoch: int
    batch: int
    plan: str


class PlannedBatchSampler(BatchSampler):
    """The batches of a planned sampler, and where it is."""

    sampler: "PlannedNxMSampler"

    def state_dict(self, yielded: int | None = None) -> State:
        """Return where the sampler is; as its own `state_dict`."""
        return self.sampler.state_dict(yielded)

    def load_state_dict(self, state: State) -> None:
        """Go on there; as the sampler's own `load_state_dict`."""
        self.sampler.load_state_dict(state)


class PlannedNxMSampler(NxMSampler):
    """Every item in every epoch, in batches of N distinct classes as far as there can be any.

    With G slots of M samples there are ceil(G/N) batches; the last is filled up from classes that
    are not in it. Among all such plans it has the most batches of N distinct classes
    (`exset.runtime.samplers.layout` shows why). What an epoch's batches are depends on the labels,
    N, M, the seed and the epoch, and on no replica: with another number of them, after a resumption
    too, all go on in the same order. Labels that are a CuPy array are drawn from on their device,
    with the same result. Memory is taken for the grouped labels, and for what is O(classes).

    weights: how many times as often a class is drawn; below 1, some of its items in each epoch.
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
        """Group the labels and plan; ValueError as for the others, and for weights not above 0."""
        self._weights = weights
        self._epoch: tuple[tuple[int, int], Epoch] | None = None
        self._begun = self._handed = 0
        super().__init__(
            labels,
            N_classes_per_batch,
            M_samples_per_class,
            batch_size,
            shuffle,
            drop_last,
            num_replicas,
            rank,
            seed,
        )

    def batches(self) -> PlannedBatchSampler:
        """Return this replica's batches, for `DataLoader(batch_sampler=...)`."""
        return PlannedBatchSampler(self)

    def batch(self, which: int | slice) -> NDArray[np.int64]:
        """Return a batch of the current epoch by its number among those of all replicas, (N*M,).

        A slice gives several, (count, N*M); `slice(None)` the whole epoch. IndexError for a number
        that no batch has. The array is on the device of the labels.
        """
        numbers = np.arange(self.num_batches)
        if isinstance(which, slice):
            return self._draw().items(numbers[which])
        only: NDArray[np.int64] = self._draw().items(np.array([numbers[index(which)]]))[0]
        return only

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch that the next iteration is of, from its begin on unless it is the same."""
        if epoch != self.epoch:
            self._start = self._begun = self._handed = 0
        super().set_epoch(epoch)

    def state_dict(self, yielded: int | None = None) -> State:
        """Return where the sampler is, for all replicas and for any number of them.

        yielded: how many batches a loader has given since the iteration began. One that fetches
        ahead has taken more from the sampler; without the number, what was taken counts.
        """
        batch = self._handed
        if yielded is not None:
            batch = min(self._begun + yielded * self.num_replicas, self.num_batches)
        return {"seed": self.seed, "epoch": self.epoch, "batch": batch, "plan": self._name}

    def load_state_dict(self, state: State) -> None:
        """Go on where a sampler of the same plan was; ValueError if it was another plan."""
        if state["plan"] != self._name:
            raise ValueError("the state is of other labels, weights, N, M or shuffle")
        if not 0 <= state["batch"] <= self.num_batches:
            raise ValueError(f"the state is at batch {state['batch']} of {self.num_batches}")
        self.seed, self.epoch = state["seed"], state["epoch"]
        self._start = self._begun = self._handed = state["batch"]

    def _grouped(self, labels: Labels) -> Grouping:
        return group(labels)

    @cached_property
    def _slots(self) -> NDArray[np.int64]:
        """How many slots each class has, on the device of the labels."""
        sizes = to_host(self.grouping.sizes).astype(np.int64)
        slots = -(-sizes // self.M_samples_per_class)
        if self._weights is not None:
            with np.errstate(over="ignore"):  # too many is refused below
                exact = sizes * self._factors(self._weights) / self.M_samples_per_class
                # A product such as 30 * 0.1 is not to be one more for a last digit.
                whole = np.maximum(np.ceil(np.round(exact, 9)), 1)
            if whole.sum() > MOST:
                raise ValueError(f"weights must make at most {MOST:,} slots of M samples")
            slots = whole.astype(np.int64)
        array: NDArray[np.int64] = namespace_of(self.grouping.sizes).asarray(slots)
        return array

    @cached_property
    def _layout(self) -> Layout:
        return lay_out(to_host(self._slots), self.N_classes_per_batch, fill=True)

    @cached_property
    def _name(self) -> str:
        """What tells the plan from others."""
        known = self.grouping
        digest = blake2b(digest_size=8)
        wide, samples = self.N_classes_per_batch, self.M_samples_per_class
        digest.update(f"{wide} {samples} {self.shuffle} {len(known)}".encode())
        for array in (self._slots, known.sizes, known.starts, known.items):
            host = to_host(array)
            digest.update(host.astype(host.dtype.newbyteorder("<"), copy=False).data)
        return digest.hexdigest()

    def _factors(self, weights: Weights) -> NDArray[np.float64]:
        if isinstance(weights, Mapping):
            labels = self.unique_labels.tolist()
            if unknown := set(weights) - set(labels):
                raise ValueError(f"weights: {unknown.pop()!r} is no label")
            weights = [weights.get(label, 1.0) for label in labels]
        factors = np.asarray(weights, np.float64)
        if factors.shape != (len(self.grouping),):
            wanted = f"{len(self.grouping)}, one for each class"
            raise ValueError(f"weights must be {wanted}, not of the shape {factors.shape}")
        if not (np.isfinite(factors) & (factors > 0)).all():
            raise ValueError("weights must be above 0 and finite")
        return factors

    def _count(self) -> int:
        return self._layout.batches

    def _draw(self) -> Epoch:
        of = self.seed, self.epoch
        if self._epoch is None or self._epoch[0] != of:
            plan = (self.grouping, self._slots, self._layout, self.M_samples_per_class)
            self._epoch = of, Epoch(*plan, self._key, self.shuffle)
        return self._epoch[1]

    def _batches(self) -> Iterator[list[int]]:
        begun = self._begun = self._handed = self._start
        for step, batch in enumerate(super()._batches(), 1):
            self._handed = min(begun + step * self.num_replicas, self.num_batches)
            yield batch
        self._handed = self.num_batches
        self._start = 0
