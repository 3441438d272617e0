"""The base class of datasets, which read samples by index. Each family has a subclass."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.grammars.columns.inputs import shown
from exset.runtime.arrays import Device, on_device, to_device

if TYPE_CHECKING:
    from exset.runtime.training.torch_dataset import TorchDataset

Values: TypeAlias = NDArray[Any]
"""An array of one field, of NumPy or of CuPy."""


class Dataset(ABC):
    """Samples that are read by index, one batch at a time.

    A dataset is small when pickled, so it is cheap to send to worker processes. The process that
    reads the samples opens the files. All arrays that a dataset returns are new and writable.
    """

    name = "dataset"
    """The name in errors that name no other file; `exset.dataset` sets the path of the source."""

    @property
    @abstractmethod
    def fields(self) -> tuple[str, ...]:
        """The names of the arrays of a batch, in order."""

    @property
    def dtypes(self) -> dict[str, np.dtype[Any]]:
        """The dtypes of the arrays of a batch, {name: dtype}. Text has the dtype `object`."""
        return {name: array.dtype for name, array in self.batch([]).items()}

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of samples."""

    @abstractmethod
    def batch(self, indices: ArrayLike) -> dict[str, Values]:
        """Return the arrays of the samples with these indices, with one row for each index, in
        order.

        `indices`: integers, which may repeat and be negative; or a mask, bool [len(self)]. A field
        in `ragged` has two arrays: NAME.values, the concatenated samples, and NAME.offsets, int64
        [samples + 1]. Text is an array of objects, on the host.

        Raises IndexError for an index that is out of range, and ValueError for values that are not
        indices. Raises FormatError, LimitError and OSError for samples that cannot be read.
        """

    def __getitem__(self, index: ArrayLike | slice) -> dict[str, Any]:
        """Return the sample with this index. For a slice, a mask or a list of indices, return a
        batch.

        A sample has one row of each array of a batch: a number, text, or an array. A field in
        `ragged` is one array, NAME. Raises TypeError for another type of index, and the errors of
        `batch`.
        """
        if isinstance(index, slice):
            return self.batch(np.arange(*index.indices(len(self))))
        if np.ndim(index):
            return self.batch(index)
        try:
            row = operator.index(cast(SupportsIndex, index))
        except TypeError:
            what = "an index, a slice, a mask, or a list of indices"
            raise TypeError(f"{type(self).__name__}: expected {what}, not {shown(index)}") from None
        batch = self.batch([row])
        for name in self.ragged:
            del batch[f"{name}.offsets"]
        ragged = {f"{name}.values": name for name in self.ragged}
        return {
            ragged.get(name, name): array if name in ragged else array[0]
            for name, array in batch.items()
        }

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield each sample, read one by one; `Batches` is much faster."""
        return (self[index] for index in range(len(self)))

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NoReturn:
        """Raise TypeError, because a batch has several arrays."""
        raise TypeError(f"{type(self).__name__} has several arrays: use to_arrays() or batch()")

    def set_epoch(self, epoch: int) -> None:  # noqa: B027
        """Set the epoch, for samples that change from epoch to epoch. `Batches` calls this."""

    def check_sampler(self, sampler: object) -> None:  # noqa: B027
        """Raise ValueError for a sampler that chooses from other samples. The base class accepts
        all samplers.
        """

    @property
    def ragged(self) -> tuple[str, ...]:
        """The names of the fields whose size differs between samples."""
        return ()

    def to_arrays(self, device: Device = "cpu") -> dict[str, Values]:
        """Return the arrays of all samples, on a device.

        Raises the errors of `batch`, and ImportError for "cuda" without CuPy.
        """
        with on_device(device) as xp:
            arrays = self.batch(np.arange(len(self)))
            return {
                name: array if array.dtype.hasobject else to_device(xp, array)
                for name, array in arrays.items()
            }

    def to_torch(self) -> "TorchDataset":
        """Return a `torch.utils.data.Dataset` of the samples. Raises ImportError without torch."""
        try:
            import_module("torch")
        except ImportError:
            raise ImportError("to_torch() needs torch: pip install 'exset[torch]'") from None
        from exset.runtime.training.torch_dataset import TorchDataset

        return TorchDataset(self)


def checked_names(
    what: str, names: Iterable[str], known: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return names as a tuple. what: the name of the argument with these names, for messages.

    Raises ValueError for repeated names, and for names that are not in `known`.
    """
    found = () if isinstance(names, str) else tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in found):
        raise ValueError(f"{what} must be a list of names, not {shown(names)}")
    if len(set(found)) < len(found):
        raise ValueError(f"{what}: two of the names are the same")
    for name in found:
        if known is not None and name not in known:
            raise ValueError(f"{what}: there is no {name!r}: choose one of {', '.join(known)}")
    return found
