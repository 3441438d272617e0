"""What a sampler gives: the indices of batch after batch, checked."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeAlias, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from exset.runtime.arrays import to_host

Indices: TypeAlias = NDArray[np.integer]


def batches_of(
    sampler: Iterable[object], batch_size: int | None, drop_last: bool
) -> Iterator[Indices]:
    """Yield the indices of batch after batch, as they are wanted: as `Batches` takes a sampler.

    Raises TypeError for what is none.
    """
    if batch_size is None:
        yield from map(_checked, sampler)
        return
    for part in _parts(sampler, batch_size):
        indices = _checked(part)
        if drop_last and len(indices) < batch_size:
            return
        yield indices


def _parts(sampler: Iterable[object], size: int) -> Iterator[object]:
    """Yield so many indices after so many."""
    if isinstance(sampler, np.ndarray):
        yield from (sampler[at : at + size] for at in range(0, len(sampler), size))
    else:
        stream = iter(sampler)
        while part := list(islice(stream, size)):
            yield part


def _checked(batch: object) -> Indices:
    """A batch of indices as an array. Raises TypeError for what is none."""
    array = to_host(cast("Indices", batch))
    if array.ndim != 1:
        hint = "for batches of indices, leave" if array.ndim else "for single indices, give"
        raise TypeError(f"the sampler gives {batch!r:.60}: {hint} batch_size")
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"indices are whole numbers, not {array.dtype}")
    return array if array.size else array.astype(np.int64)


def checksum_after(indices: Indices, before: int) -> int:
    """The checksum (CRC-32) of batches of which that of all before this one is known."""
    return crc32(indices.astype("<i8", copy=False).tobytes(), before)
