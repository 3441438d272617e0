"""Batches: the arrays of a dataset in a sampler's order, read ahead and brought to a device."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from itertools import islice
from operator import index
from typing import Protocol, TypeAlias, TypedDict, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from exset.runtime.arrays import Device, namespace, to_host
from exset.runtime.training.batch_indices import batches_of, checksum_after
from exset.runtime.training.dataset import Dataset, Values
from exset.runtime.training.prefetch import Ahead
from exset.runtime.training.transfer import Sent, Transfer, transfer


class CountedState(TypedDict):
    """How many batches of an epoch were yielded, and a checksum (CRC-32) of their indices."""

    epoch: int
    batch: int
    checksum: int


class SamplerState(TypedDict):
    """What a sampler said of itself when it had given the batch that was yielded last."""

    epoch: int
    sampler: Mapping[str, object]


State: TypeAlias = CountedState | SamplerState


@runtime_checkable
class Stateful(Protocol):
    """A sampler that says what it has given, and can go on after that."""

    def state_dict(self) -> Mapping[str, object]:
        """Return what it has given."""
        ...

    def load_state_dict(self, state: Mapping[str, object]) -> None:
        """Go on after that."""
        ...


@runtime_checkable
class FixedSize(Protocol):
    """A sampler of indices that knows the size of its batches, such as an `NxMSampler`."""

    @property
    def batch_size(self) -> int:
        """The number of indices in a batch."""
        ...

    def batches(self) -> Iterable[object]:
        """Return an iterable of batches."""
        ...


@runtime_checkable
class Epochs(Protocol):
    """A sampler whose order follows from the epoch."""

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch."""
        ...


class Batches:
    """The batches of an epoch as dicts of arrays, each time that it is iterated over.

    sampler: indices, of which `batch_size` make a batch (the last may have fewer, unless
    `drop_last`), or with batch_size=None batches of indices, such as `sampler.batches()`. Any
    iterable will do: a range, a list, an array, a sampler of torch's, one of exset's. The samplers
    of N classes by M samples know the size of their batches.

    device: "cpu", where nothing is copied, or "cuda" for arrays of CuPy, for use on the stream that
    is current when a batch is asked for; strings and objects stay on the host. prefetch: how many
    batches, at most, a thread reads beyond the one yielded last; 0 for no thread. It takes from the
    sampler, too, and ends with the iteration, however that ends. An error of the dataset or of the
    sampler is raised when its batch is asked for, as it is.

    `state_dict` tells where to go on after the batch yielded last, whatever was read beyond it. A
    state that was loaded is where iterations begin until one of them comes to its end.
    There is one iteration at a time: the next one, another epoch and `load_state_dict` end it, and
    to go on with it is a RuntimeError. Raises ValueError for sizes that cannot be, for an order of
    examples where samples are events or the other way, and as `to_arrays` for devices.
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
        """Take dataset and sampler; nothing is read yet."""
        if isinstance(sampler, FixedSize):
            if batch_size not in (None, sampler.batch_size):
                raise ValueError(
                    f"batch_size must be {sampler.batch_size}, the sampler's, not {batch_size}"
                )
            sampler, batch_size = sampler.batches(), None
        elif hasattr(sampler, "__array__"):
            sampler = to_host(cast("NDArray[np.generic]", sampler))
        dataset.check_sampler(sampler)
        if batch_size is not None and index(batch_size) < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        if batch_size is None and drop_last:
            raise ValueError("drop_last goes with batch_size: here the sampler makes the batches")
        if index(prefetch) < 0:
            raise ValueError(f"prefetch must be at least 0, not {prefetch}")
        self.dataset, self.sampler = dataset, sampler
        self.batch_size, self.drop_last = batch_size, drop_last
        self.device, self.prefetch = device, prefetch
        namespace(device)
        self._epoch = 0
        self._begin: State | None = None
        """The state in which iterations begin, as it was loaded; None: with the epoch."""
        self._last: State | None = None
        """The state after the batch yielded last; None: the one in which iterations begin."""
        self._running: Ahead[tuple[Sent, State]] | None = None
        self._iteration = 0

    def __repr__(self) -> str:
        size = "" if self.batch_size is None else f", batch_size={self.batch_size}"
        return f"Batches({self.dataset!r}, {type(self.sampler).__name__}{size}, {self.device})"

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration is of: the sampler's, if it has one."""
        return cast(int, getattr(self.sampler, "epoch", self._epoch))

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch that the next iteration is of, from its begin on unless it is the same."""
        if epoch != self.epoch:
            self._end()
            self._begin = self._last = None
        self._epoch = index(epoch)
        if isinstance(self.sampler, Epochs):
            self.sampler.set_epoch(self._epoch)

    def state_dict(self) -> State:
        """Return where to go on: after the batch yielded last.

        Raises TypeError if the sampler could not give its order again: if it is no sequence and has
        neither `state_dict` nor `set_epoch`, as torch's RandomSampler.
        """
        self._check_sampler()
        return deepcopy(self._last or self._first())

    def load_state_dict(self, state: State) -> None:
        """Go on where others with a like sampler were.

        Raises ValueError for a state that is none of these, TypeError as `state_dict`. A sampler
        without a state is taken past what was yielded, of which nothing is read; ValueError, at the
        first batch, if it does not give the same indices.
        """
        self._check_sampler()
        keys = {"epoch", "sampler"} if self._has_state else {"epoch", "batch", "checksum"}
        if not isinstance(state, Mapping) or state.keys() != keys:
            raise ValueError(f"a state of this sampler has {', '.join(sorted(keys))}")
        self._end()
        self.set_epoch(state["epoch"])
        self._begin, self._last = deepcopy(state), None
        self._rewind()

    def __len__(self) -> int:
        """Return how many batches the next iteration has; TypeError if the sampler has no len."""
        count = len(self.sampler)  # type: ignore[arg-type]
        if self.batch_size is not None:
            count = count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return max(count - self._passed[0], 0)  # a sampler with a state takes them off itself

    def __iter__(self) -> Generator[dict[str, Values], None, None]:
        self._end()
        mine = self._iteration
        self._last = self._first()
        carrier = transfer(namespace(self.device))
        made = self._made(carrier)
        ahead = self._running = Ahead(made, self.prefetch) if self.prefetch else None
        source = ahead or made
        try:
            for sent, self._last in source:
                yield carrier.receive(sent)
                del sent  # the next is waited for without it
                if self._iteration != mine:
                    break
            if self._iteration != mine:
                raise RuntimeError("this iteration was ended by what came after it")
            self._begin = None
        finally:
            source.close()
            if self._iteration == mine:
                self._end()

    def _end(self) -> None:
        """End the iteration that is going on: then nobody else takes from the sampler."""
        self._iteration += 1
        if self._running is not None:
            self._running.close()
            self._running = None
        self._rewind()

    def _rewind(self) -> None:
        """Take the sampler back to where iterations begin, however much was read ahead of it."""
        if isinstance(self.sampler, Stateful) and self._begin is not None:
            self.sampler.load_state_dict(deepcopy(cast(SamplerState, self._begin)["sampler"]))

    def _first(self) -> State:
        """The state in which iterations begin."""
        return self._begin or self._state(0, 0)

    @property
    def _passed(self) -> tuple[int, int]:
        """How many batches iterations pass over, and the checksum of their indices."""
        if self._begin is None or self._has_state:
            return 0, 0
        counted = cast(CountedState, self._begin)
        return counted["batch"], counted["checksum"]

    @property
    def _has_state(self) -> bool:
        return isinstance(self.sampler, Stateful)

    def _check_sampler(self) -> None:
        if not isinstance(self.sampler, Stateful | Epochs | Sequence | np.ndarray):
            raise TypeError(
                f"{type(self.sampler).__name__} cannot give its order again: it has neither"
                " state_dict nor set_epoch, and is no sequence"
            )

    def _state(self, batch: int, checksum: int) -> State:
        """The state after the batch that was taken from the sampler last."""
        if isinstance(self.sampler, Stateful):
            # A copy: some samplers give what they will change.
            return {"epoch": self.epoch, "sampler": deepcopy(self.sampler.state_dict())}
        return {"epoch": self.epoch, "batch": batch, "checksum": checksum}

    def _made(self, carrier: Transfer) -> Generator[tuple[Sent, State], None, None]:
        """Read batch after batch, each with the state after it."""
        passed, wanted = self._passed
        batches = batches_of(self.sampler, self.batch_size, self.drop_last)
        checksum = 0
        try:
            for indices in islice(batches, passed):
                checksum = checksum_after(indices, checksum)
            if checksum != wanted:
                raise ValueError("the sampler does not give what it gave when the state was taken")
            for batch, indices in enumerate(batches, passed + 1):
                checksum = checksum_after(indices, checksum)
                state = self._state(batch, checksum)
                yield carrier.send(partial(self.dataset.batch, indices)), state
        finally:
            carrier.close()
