"""Batches of a dataset in the order of a sampler, read ahead and copied to a device."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from itertools import islice
from operator import index
from typing import cast

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.inputs import shown
from exset.runtime.arrays import Device, namespace, on_device, to_host
from exset.runtime.training.dataset import Dataset, Values
from exset.runtime.training.indices import (
    CountedState,
    Epochs,
    FixedSize,
    SamplerState,
    State,
    Stateful,
    batches_of,
    checksum_after,
)
from exset.runtime.training.prefetch import Prefetcher
from exset.runtime.training.streamed_transfer import transfer
from exset.runtime.training.transfer import Sent, Transfer


class Batches:
    """The batches of a dataset as dicts of arrays. Each iteration yields the batches of one epoch.

    `sampler`: any iterable of indices: a range, a list, an array, a sampler of torch or exset. A
    batch has `batch_size` indices. The last batch may have fewer; `drop_last` drops it. With
    batch_size=None the sampler yields batches of indices; this is the default for an `NxMSampler`.

    `device`: "cpu", which copies nothing; or "cuda", "cuda:1" or a `torch.device`, for arrays of
    CuPy. Use the arrays in the CUDA stream that is current when you get the batch. Strings and
    objects stay on the host. `prefetch`: how many batches a background thread may read ahead from
    sampler and dataset. 0 means no thread. An error of sampler or dataset is raised when you get to
    the batch with the error.

    `state_dict` returns the position after the batch that you got last, even if further batches
    were read ahead. After `load_state_dict`, each iteration begins at the loaded state, until an
    iteration reaches the end of the epoch. Only one iteration can run. A new iteration, a new epoch
    and `load_state_dict` end it; if you then continue it, it raises RuntimeError.

    Raises ValueError for invalid sizes, for a sampler of examples if the samples are events, and
    for a sampler of events if they are examples. Raises TypeError if the arguments are not a
    dataset and a sampler, and the errors of `to_arrays` for devices.
    """

    def __init__(
        self,
        dataset: Dataset,
        sampler: Iterable[object],
        batch_size: int | None = None,
        device: Device = "cpu",
        prefetch: int = 2,
        *,
        drop_last: bool = False,
    ) -> None:
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"Batches needs a dataset, not {shown(dataset)}: exset.dataset(...) makes one"
            )
        if not isinstance(sampler, Iterable):
            raise TypeError(
                f"Batches needs a sampler or lists of indices, not {shown(sampler)};"
                " batch_size comes after the sampler"
            )
        if isinstance(sampler, FixedSize):
            if batch_size not in (None, sampler.batch_size):
                raise ValueError(
                    f"batch_size must be {sampler.batch_size}, as in the sampler, not {batch_size}"
                )
            sampler, batch_size = sampler.batches(), None
        elif hasattr(sampler, "__array__"):
            sampler = to_host(cast("NDArray[np.generic]", sampler))
        dataset.check_sampler(sampler)
        if batch_size is not None and index(batch_size) < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        if batch_size is None and drop_last:
            message = "drop_last needs batch_size: without it, the sampler makes the batches"
            raise ValueError(message)
        if index(prefetch) < 0:
            raise ValueError(f"prefetch must be at least 0, not {prefetch}")
        self.dataset, self.sampler = dataset, sampler
        self._stateful = sampler if isinstance(sampler, Stateful) else None
        self.batch_size, self.drop_last = batch_size, drop_last
        self.device, self.prefetch = device, prefetch
        namespace(device)
        self._epoch = 0
        self._loaded: State | None = None
        """The loaded state, at which iterations begin; None: iterations begin with the epoch."""
        self._last: State | None = None
        """The state after the batch yielded last; None: the state at which iterations begin."""
        self._running: Prefetcher[tuple[Sent, State]] | None = None
        self._iteration = 0

    def __repr__(self) -> str:
        size = "" if self.batch_size is None else f", batch_size={self.batch_size}"
        return f"Batches({self.dataset!r}, {type(self.sampler).__name__}{size}, {self.device})"

    @property
    def epoch(self) -> int:
        """The epoch of the next iteration.

        If the sampler has an epoch, it is that of the sampler.
        """
        return cast(int, getattr(self.sampler, "epoch", self._epoch))

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next iteration. If the epoch changes, the iteration begins with its
        first batch.
        """
        if epoch != self.epoch:
            self._end()
            self._loaded = self._last = None
        self._epoch = index(epoch)
        if isinstance(self.sampler, Epochs):
            self.sampler.set_epoch(self._epoch)

    def state_dict(self) -> State:
        """Return the position after the batch that was yielded last.

        Raises TypeError if the sampler cannot repeat its order. Such a sampler, for example torch's
        RandomSampler, is not a sequence, and has neither `state_dict` nor `set_epoch`.
        """
        self._check_sampler()
        return deepcopy(self._last or self._first())

    def load_state_dict(self, state: State) -> None:
        """Resume at a position that another `Batches` with an equal sampler returned.

        Raises ValueError for an invalid state, and TypeError as `state_dict` does. If the sampler
        has no `state_dict`, iterations skip the indices of the batches that were already yielded,
        and do not read these batches. If these indices have changed, the first batch raises
        ValueError.
        """
        self._check_sampler()
        own = {"batch", "checksum"} if self._stateful is None else {"sampler"}
        keys = {"epoch"} | own
        if not isinstance(state, Mapping) or state.keys() != keys:
            message = f"a state of this sampler must have the keys {', '.join(sorted(keys))}"
            raise ValueError(message)
        self._end()
        self.set_epoch(state["epoch"])
        self._loaded, self._last = deepcopy(state), None
        self._rewind()

    def __len__(self) -> int:
        """Return the number of batches of a whole epoch.

        Raises TypeError if the sampler has no length.
        """
        count = len(self.sampler)  # type: ignore[arg-type]
        if self.batch_size is not None:
            count = count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return count

    def __iter__(self) -> Generator[dict[str, Values], None, None]:
        self._end()
        mine = self._iteration
        self._last = self._first()
        self.dataset.set_epoch(self.epoch)
        with on_device(self.device) as xp:
            carrier = transfer(xp)
        direct = self._read(carrier)
        prefetcher = self._running = Prefetcher(direct, self.prefetch) if self.prefetch else None
        source = prefetcher or direct
        try:
            for sent, self._last in source:
                yield carrier.receive(sent)
                del sent  # free the memory while waiting for the next batch
                if self._iteration != mine:
                    break
            if self._iteration != mine:
                raise RuntimeError("the iteration has ended: a new iteration or state replaced it")
            self._loaded = None
        finally:
            source.close()
            if self._iteration == mine:
                self._end()

    def _end(self) -> None:
        """End the running iteration. After that, no thread uses the sampler."""
        self._iteration += 1
        if self._running is not None:
            self._running.close()
            self._running = None
        self._rewind()

    def _rewind(self) -> None:
        """Move the sampler back to the state at which iterations begin."""
        if self._stateful is not None and self._loaded is not None:
            self._stateful.load_state_dict(deepcopy(cast(SamplerState, self._loaded)["sampler"]))
            if isinstance(self.sampler, Epochs):  # stay at the end of this epoch
                self.sampler.set_epoch(self._loaded["epoch"])

    def _first(self) -> State:
        """Return the state at which iterations begin."""
        return self._loaded or self._state(0, 0)

    @property
    def _skipped(self) -> tuple[int, int]:
        """The number of batches that iterations skip, and the checksum of the indices of these
        batches.
        """
        if self._loaded is None or self._stateful is not None:
            return 0, 0
        counted = cast(CountedState, self._loaded)
        return counted["batch"], counted["checksum"]

    def _check_sampler(self) -> None:
        if not isinstance(self.sampler, Stateful | Epochs | Sequence | np.ndarray):
            raise TypeError(
                f"{type(self.sampler).__name__} cannot repeat its order: it has neither state_dict"
                " nor set_epoch, and is not a sequence"
            )

    def _state(self, batch: int, checksum: int) -> State:
        """Return the state after the batch number `batch`.

        checksum: of the indices of this batch and all batches before it.
        """
        if self._stateful is not None:
            # Some samplers return an object that they change later.
            return {"epoch": self.epoch, "sampler": deepcopy(self._stateful.state_dict())}
        return {"epoch": self.epoch, "batch": batch, "checksum": checksum}

    def _read(self, carrier: Transfer) -> Generator[tuple[Sent, State], None, None]:
        """Yield (batch, state) for each batch. The state is the state after the batch.

        carrier: copies batches to the device.
        """
        skipped, expected = self._skipped
        batches = batches_of(self.sampler, self.batch_size, self.drop_last)
        checksum = 0
        try:
            for indices in islice(batches, skipped):
                checksum = checksum_after(indices, checksum)
            if checksum != expected:
                raise ValueError(
                    "the sampler gives other indices than before the state was saved:"
                    " use the same sampler, seed and batch_size"
                )
            for batch, indices in enumerate(batches, skipped + 1):
                checksum = checksum_after(indices, checksum)
                state = self._state(batch, checksum)
                yield carrier.send(partial(self.dataset.batch, indices)), state
        finally:
            carrier.close()
