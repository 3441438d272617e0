"""The indices that a sampler yields, batch by batch, and the states of samplers."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Protocol, TypeAlias, TypedDict, cast, runtime_checkable
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from exset.runtime.arrays import to_host

Indices: TypeAlias = NDArray[np.integer]


class CountedState(TypedDict):
    """A position in an epoch: the number of batches yielded so far, and a checksum of their
    indices.
    """

    epoch: int
    batch: int
    checksum: int


class SamplerState(TypedDict):
    """A position in an epoch: the sampler's state just after it gave the last yielded batch."""

    epoch: int
    sampler: Mapping[str, object]


State: TypeAlias = CountedState | SamplerState


@runtime_checkable
class Stateful(Protocol):
    """A sampler that can save its position, and continue at a saved position."""

    def state_dict(self) -> Mapping[str, object]:
        """Return the position."""

    def load_state_dict(self, state: Mapping[str, object]) -> None:
        """Continue at the position that `state` describes."""


@runtime_checkable
class FixedSize(Protocol):
    """A sampler of indices that has a batch size, such as an `NxMSampler`."""

    @property
    def batch_size(self) -> int:
        """The number of indices in a batch."""

    def batches(self) -> Iterable[object]:
        """Return an iterable of batches."""


@runtime_checkable
class Epochs(Protocol):
    """A sampler whose order depends on the epoch."""

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch."""


def batches_of(
    sampler: Iterable[object], batch_size: int | None, drop_last: bool
) -> Iterator[Indices]:
    """Yield the indices of each batch. The arguments are the same as for `Batches`.

    Raises TypeError if a batch is not a one-dimensional array or list of integers.
    """
    if batch_size is None:
        chunks = iter(sampler)
    elif isinstance(sampler, np.ndarray):
        chunks = (sampler[at : at + batch_size] for at in range(0, len(sampler), batch_size))
    else:
        stream = iter(sampler)
        chunks = iter(lambda: list(islice(stream, batch_size)), [])
    for chunk in chunks:
        indices = _checked(chunk)
        if drop_last and batch_size is not None and len(indices) < batch_size:
            return
        yield indices


def _checked(batch: object) -> Indices:
    """Return the indices of a batch as an array. Raises TypeError as `batches_of` does."""
    array = to_host(cast("Indices", batch))
    if array.ndim != 1:
        what, hint = ("batches", "omit") if array.ndim else ("single indices", "pass")
        raise TypeError(f"the sampler gives {what}, such as {batch!r:.60}: {hint} batch_size")
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"indices must be integers, not {array.dtype}")
    return array if array.size else array.astype(np.int64)


def checksum_after(indices: Indices, before: int) -> int:
    """Return the checksum (CRC-32) of the indices of all batches so far.

    indices: the indices of the last batch. before: the checksum of the batches before it.
    """
    return crc32(indices.astype("<i8", copy=False).tobytes(), before)
