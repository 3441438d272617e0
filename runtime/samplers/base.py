"""The base class of NxM samplers: arguments, replicas, and iteration over items or batches."""

import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from operator import index
from typing import Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs
from exset.runtime.arrays import namespace_of, to_host
from exset.runtime.samplers.dividers import BATCHES, ITEMS, divided_by, refuse_sampler
from exset.runtime.samplers.grouping import MOST, Grouping, Labels, classes_of_items, group
from exset.runtime.samplers.report import Plan, measure
from exset.runtime.training.generator import number

Compat: TypeAlias = Literal["balr"]

log = logging.getLogger("exset")

_MOST_AT_ONCE = 1 << 16
"""The most items that an iteration draws at once."""


EpochItems: TypeAlias = Callable[[Longs], Longs]
"""A function that returns the items of batches, by their numbers in the epoch: int64 [k, N*M]."""


class BatchSampler:
    """The batches of one replica as lists of int, for `DataLoader(batch_sampler=...)`."""

    def __init__(self, sampler: "NxMSampler", **others: object) -> None:
        """Make the batches of a sampler. An iteration yields the batches of the epoch in which it
        starts.

        others: arguments that Lightning passes if it replaces the sampler. If there are any, raises
        TypeError.
        """
        if others:
            refuse_sampler(type(self))
        self.sampler = sampler

    @property
    def batch_size(self) -> int:
        """The number of items in a batch, N*M."""
        return self.sampler.batch_size

    @property
    def drop_last(self) -> bool:
        """Whether batches are dropped so that all replicas have the same number of batches."""
        return self.sampler.drop_last

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
    """Batches of N classes and M samples of each class, as a flat stream of indices into the
    labels.

    Use a sampler as `DataLoader(sampler=..., batch_size=N*M)`, or its `batches()` as
    `batch_sampler=`. A sampler does not need torch. Call `set_epoch` before each epoch. Without
    `compat`, the labels, the seed and the epoch decide the items.

    The arguments are BA-LR's. Without `rank` there is one replica. With `rank`, but without
    `num_replicas`, the number of replicas is the size of torch's process group. Replica r has the
    batches r, r + num_replicas, r + 2*num_replicas and so on. All replicas have the same number of
    batches: the first batches are repeated or, with `drop_last`, the last batches are dropped.

    Raises ValueError for fewer than N classes, a `batch_size` other than N*M, a `rank` outside [0,
    num_replicas), and N or M below 1. Raises RuntimeError if the process group is needed and
    missing.
    """

    grouping: Grouping
    _start = 0
    """The first batch of the next iteration, counting the batches of all replicas."""

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
        """Group the items by their labels.

        compat: "balr" draws the items that BA-LR draws, including its bugs.
        """
        if compat not in (None, "balr"):
            raise ValueError(f"compat must be 'balr' or None, not {compat!r}")
        # NumPy's integers overflow, and lack methods of int.
        width, samples = index(N_classes_per_batch), index(M_samples_per_class)
        for name, value in (("N_classes_per_batch", width), ("M_samples_per_class", samples)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, not {value:,}")
            if value > MOST:
                raise ValueError(f"{name} must be at most {MOST:,}, not {value:,}")
        self.grouping = self._grouped(labels)
        if width > len(self.grouping):
            raise ValueError(
                f"Not enough classes ({len(self.grouping)}) in dataset to sample"
                f" with N_classes_per_batch={width}"
            )
        if batch_size is not None and batch_size != width * samples:
            raise ValueError(
                f"Invalid batch_size ({batch_size}) for sampler. batch_size must be equal to"
                f" N_classes_per_batch ({width}) * M_samples_per_class ({samples})."
            )
        self.N_classes_per_batch, self.M_samples_per_class = width, samples
        self.batch_size = width * samples
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
        self.num_batches = self._count_batches()
        self.total_size = self.num_batches * self.batch_size
        log.debug("%s", self)

    @abstractmethod
    def _count_batches(self) -> int:
        """Return the number of different batches, of all replicas together. Repeated batches do not
        count.
        """

    @abstractmethod
    def _draw(self) -> EpochItems:
        """Make the random choices of the current epoch.

        Return a function that gets batch numbers and returns the items of these batches.
        """

    def batches(self) -> BatchSampler:
        """Return this replica's batches, for `DataLoader(batch_sampler=...)`."""
        return BatchSampler(self)

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next iteration."""
        self.epoch = index(epoch)

    def plan(self) -> Plan:
        """Draw the current epoch for all replicas, and return its statistics."""
        items = to_host(self._draw()(np.arange(self.num_batches)))
        replicas = [self._batch_numbers(rank) for rank in range(self.num_replicas)]
        return measure(self.grouping, self.M_samples_per_class, items, replicas)

    @property
    def num_batches_per_replica(self) -> int:
        """The number of batches of each replica in a whole epoch."""
        return self._share(self.num_batches)

    @property
    def unique_labels(self) -> NDArray[np.generic]:
        """The labels of the classes, in the order in which they first appear."""
        return self.grouping.label_array

    @property
    def labels_to_indices(self) -> Mapping[Hashable, NDArray[np.uint32]]:
        """The indices of the items that have each label, by label."""
        each = self.unique_labels.tolist()
        return {label: self.grouping.members(number) for number, label in enumerate(each)}

    @property
    def labels(self) -> NDArray[np.generic]:
        """The label of each item."""
        labels: NDArray[np.generic] = self.unique_labels[classes_of_items(self.grouping)]
        return labels

    def __len__(self) -> int:
        """Return the number of items of a whole epoch, even after a resume in the middle.

        Loops that count batches, such as Lightning's, also count the batches before a resume.
        """
        return self.num_batches_per_replica * self.batch_size

    def __iter__(self) -> Iterator[int]:
        if divided_by(ITEMS):
            raise RuntimeError(
                f"a DistributedSampler would break up the batches of {type(self).__name__}: pass"
                " use_distributed_sampler=False to Lightning's Trainer, and rank= to the sampler"
            )
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
        """The key from which all random numbers of the current epoch are made."""
        return number(number(self.seed, 0), self.epoch)

    def _share(self, batches: int) -> int:
        """Return the number of batches of each replica. batches: the number of all batches."""
        whole, rest = divmod(batches, self.num_replicas)
        return whole + (rest > 0 and not self.drop_last)

    def _batch_numbers(self, rank: int, start: int = 0) -> Longs:
        """Return the numbers of the batches of the replica `rank`.

        start: the first batch that the replicas share out.
        """
        count = self._share(self.num_batches - start)
        numbers = np.arange(count) * self.num_replicas + (start + rank)
        if self.compat:  # BA-LR repeats each batch at most once
            numbers = numbers[numbers < 2 * self.num_batches]
        return numbers % self.num_batches

    def _batches(self) -> Iterator[list[int]]:
        if self.num_replicas > 1 and divided_by(ITEMS, BATCHES):
            raise RuntimeError(
                f"the batches of {type(self).__name__} would be divided among processes twice:"
                " omit rank= if Accelerate divides them"
            )
        items_of, numbers = self._draw(), self._batch_numbers(max(self.rank, 0), self._start)
        at, count = 0, 1
        while at < len(numbers):
            rows = to_host(items_of(numbers[at : at + count]))
            yield from cast("list[list[int]]", rows.tolist())
            at += count
            count = min(2 * count, max(_MOST_AT_ONCE // self.batch_size, 1))


def _world_size() -> int:
    """Return the size of torch's process group.

    Raises RuntimeError if there is no process group.
    """
    # Without an import of torch, there is no group.
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        raise RuntimeError("rank needs num_replicas: torch has no process group that gives it")
    return int(distributed.get_world_size())
