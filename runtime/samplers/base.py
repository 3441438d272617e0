"""What all NxM samplers share: their arguments, replicas, the flat form and that in batches."""

import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from operator import index
from typing import Literal, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from exset.runtime.arrays import namespace_of, to_host
from exset.runtime.samplers.grouping import MOST, Grouping, Labels, group, inverse
from exset.runtime.samplers.report import Plan, examine
from exset.runtime.training.generator import number

Compat: TypeAlias = Literal["balr"]

log = logging.getLogger("exset")

_AHEAD = 1 << 16
"""Items that are drawn at once, at most, when batches are asked for one after another."""


class Drawn(Protocol):
    """The batches of one epoch."""

    def items(self, batches: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the items of some batches, by their numbers: a row of N*M for each."""
        ...


class BatchSampler:
    """The batches of a sampler's replica as lists of int, for `DataLoader(batch_sampler=...)`."""

    def __init__(self, sampler: "NxMSampler") -> None:
        """Take the batches of a sampler, in whatever epoch it is when they are iterated over."""
        self.sampler = sampler

    def __len__(self) -> int:
        return len(self.sampler) // self.sampler.batch_size

    def __iter__(self) -> Iterator[list[int]]:
        return self.sampler._batches()

    @property
    def epoch(self) -> int:
        """The sampler's epoch."""
        return self.sampler.epoch

    def set_epoch(self, epoch: int) -> None:
        """Set the sampler's epoch."""
        self.sampler.set_epoch(epoch)


class NxMSampler(ABC):
    """Batches of N classes and M samples of each, as a flat stream of indices into the labels.

    The arguments are BA-LR's. Fewer than N classes, a batch_size that is not N*M, a rank that is no
    replica's, and N or M below 1 are ValueErrors. Without rank there is one replica; with rank, but
    without num_replicas, as many as torch's process group has (RuntimeError if there is none).
    Replica r has every num_replicas-th batch from batch r on; where they are not as many for all,
    the first batches come again, or with drop_last the last ones are left out.

    It is for `DataLoader(sampler=..., batch_size=N*M)`, and `batches()` for `batch_sampler=`; torch
    is not needed. The items of an epoch follow from labels, seed and epoch alone, unless with
    `compat`; `set_epoch` comes before the iteration of each epoch.
    """

    grouping: Grouping
    _start = 0
    """The batch, of all replicas', that the next iteration begins with."""

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
        compat: Compat | None = None,
    ) -> None:
        """Group the labels; compat="balr": draw what BA-LR itself draws, with its defects."""
        if compat not in (None, "balr"):
            raise ValueError(f"compat must be 'balr' or None, not {compat!r}")
        # NumPy's integers overflow, and have not the methods of int.
        wide, samples = index(N_classes_per_batch), index(M_samples_per_class)
        for name, value in (("N_classes_per_batch", wide), ("M_samples_per_class", samples)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, not {value:,}")
            if value > MOST:
                raise ValueError(f"{name} must be at most {MOST:,}, not {value:,}")
        self.grouping = self._grouped(labels)
        if wide > len(self.grouping):
            raise ValueError(
                f"Not enough classes ({len(self.grouping)}) in dataset to sample"
                f" with N_classes_per_batch={wide}"
            )
        if batch_size is not None and batch_size != wide * samples:
            raise ValueError(
                f"Invalid batch_size ({batch_size}) for sampler. batch_size must be equal to"
                f" N_classes_per_batch ({wide}) * M_samples_per_class ({samples})."
            )
        self.N_classes_per_batch, self.M_samples_per_class = wide, samples
        self.batch_size = wide * samples
        self.shuffle, self.drop_last, self.compat = shuffle, drop_last, compat
        self.seed, self.epoch, self.rank = index(seed), 0, index(rank)
        self.distributed = self.rank != -1
        self.num_replicas = 1
        if self.distributed:
            self.num_replicas = _world_size() if num_replicas is None else index(num_replicas)
            if self.num_replicas < 1:
                raise ValueError(f"num_replicas must be at least 1, not {self.num_replicas}")
            if not 0 <= self.rank < self.num_replicas:
                raise ValueError(
                    f"Invalid rank {rank}, rank should be in the interval"
                    f" [0, {self.num_replicas - 1}]"
                )
        self.num_batches = self._count()
        self.total_size = self.num_batches * self.batch_size
        log.debug("%s", self)

    @abstractmethod
    def _count(self) -> int:
        """How many batches all replicas have together, none twice."""

    @abstractmethod
    def _draw(self) -> Drawn:
        """The batches of the current epoch."""

    def batches(self) -> BatchSampler:
        """Return this replica's batches, for `DataLoader(batch_sampler=...)`."""
        return BatchSampler(self)

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch that the next iteration is of."""
        self.epoch = index(epoch)

    def plan(self) -> Plan:
        """Draw the current epoch for all replicas, and return what comes of it in numbers."""
        items = to_host(self._draw().items(np.arange(self.num_batches)))
        replicas = [self._numbers(rank) for rank in range(self.num_replicas)]
        return examine(self.grouping, self.M_samples_per_class, items, replicas)

    @property
    def num_batches_per_replica(self) -> int:
        """How many batches each replica has in a whole epoch."""
        return self._share(self.num_batches)

    @property
    def unique_labels(self) -> NDArray[np.generic]:
        """The classes' labels, as they first appear."""
        return self.grouping.label_array

    @property
    def labels_to_indices(self) -> Mapping[Hashable, NDArray[np.uint32]]:
        """The indices of each label."""
        each = self.unique_labels.tolist()
        return {label: self.grouping.members(number) for number, label in enumerate(each)}

    @property
    def labels(self) -> NDArray[np.generic]:
        """The labels, of all items."""
        labels: NDArray[np.generic] = self.unique_labels[inverse(self.grouping)]
        return labels

    def __len__(self) -> int:
        return self._share(self.num_batches - self._start) * self.batch_size

    def __iter__(self) -> Iterator[int]:
        for batch in self._batches():
            yield from batch

    def __repr__(self) -> str:
        replicas = ""
        if self.distributed:
            each = self.num_batches_per_replica
            replicas = (
                f", rank={self.rank}, num_replicas={self.num_replicas}, batches_per_replica={each}"
            )
        return (
            f"{type(self).__name__}: dataset_len={len(self.grouping.items)},"
            f" num_classes={len(self.grouping)}, N={self.N_classes_per_batch},"
            f" M={self.M_samples_per_class}, batch_size={self.batch_size},"
            f" num_batches={self.num_batches}, total_samples={self.total_size}{replicas}."
        )

    def _grouped(self, labels: Labels) -> Grouping:
        if namespace_of(labels) is not np:
            labels = to_host(cast("NDArray[np.generic]", labels))
        return group(labels)

    @property
    def _key(self) -> int:
        """The key of the current epoch's numbers."""
        return number(number(self.seed, 0), self.epoch)

    def _share(self, batches: int) -> int:
        """How many of so many batches each replica has."""
        whole, rest = divmod(batches, self.num_replicas)
        return whole + (rest > 0 and not self.drop_last)

    def _numbers(self, rank: int, start: int = 0) -> NDArray[np.int64]:
        """The numbers of a replica's batches, when all begin with batch `start`."""
        many = self._share(self.num_batches - start)
        numbers = np.arange(many) * self.num_replicas + (start + rank)
        if self.compat:  # the first batches come again once; then there is nothing
            numbers = numbers[numbers < 2 * self.num_batches]
        return numbers % self.num_batches

    def _batches(self) -> Iterator[list[int]]:
        """Yield this replica's batches."""
        drawn, numbers = self._draw(), self._numbers(max(self.rank, 0), self._start)
        at, ahead = 0, 1
        while at < len(numbers):
            rows = to_host(drawn.items(numbers[at : at + ahead]))
            yield from cast("list[list[int]]", rows.tolist())
            at += ahead
            ahead = min(2 * ahead, max(_AHEAD // self.batch_size, 1))


def _world_size() -> int:
    """How many processes torch's group has; what was never imported can have no group."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        raise RuntimeError(
            "rank goes with num_replicas, or with a process group of torch, and there is none"
        )
    return int(distributed.get_world_size())
