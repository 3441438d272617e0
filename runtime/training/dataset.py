"""Datasets: what a network learns from, by the index of a sample; every family has its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.runtime.arrays import Device, namespace, to_device

if TYPE_CHECKING:
    from exset.runtime.training.torch_dataset import TorchDataset

Values: TypeAlias = NDArray[Any]
"""An array of one field, of NumPy or of CuPy."""


class Dataset(ABC):
    """Samples that are read by their indices, as many at a time as are wanted.

    It is small when pickled, so that workers get it cheaply, and opens its files in the process
    that reads them. All arrays that it gives are new, and may be written.
    """

    name = "dataset"
    """What errors call it if no other file is to blame: its file, where `exset.dataset` read it."""

    @property
    @abstractmethod
    def fields(self) -> tuple[str, ...]:
        """The names of the arrays of a batch, in their order."""

    @abstractmethod
    def __len__(self) -> int:
        """Return how many samples there are."""

    @abstractmethod
    def batch(self, indices: ArrayLike) -> dict[str, Values]:
        """Return the arrays of some samples, in the order of the indices: one row a sample.

        The indices may repeat and be negative; a mask of all samples does, too. A field that is
        `ragged` has two arrays instead, NAME.values, the samples one after the other, and
        NAME.offsets, int64 [samples + 1]. What is text is an array of objects, on the host.

        Raises IndexError for an index that is out of range, ValueError for what is no index, and
        FormatError, LimitError and OSError for samples that cannot be read.
        """

    def check_sampler(self, sampler: object) -> None:  # noqa: B027
        """Raise ValueError for a sampler that chooses from something other than these samples."""

    @property
    def ragged(self) -> tuple[str, ...]:
        """The names of the fields that samples have more or less of."""
        return ()

    def to_arrays(self, device: Device = "cpu") -> dict[str, Values]:
        """Return the arrays of all samples, on a device; as `batch`, and ImportError."""
        xp, arrays = namespace(device), self.batch(np.arange(len(self)))
        return {
            name: array if array.dtype.hasobject else to_device(xp, array)
            for name, array in arrays.items()
        }

    def to_torch(self) -> TorchDataset:
        """Return it as a `torch.utils.data.Dataset`; ImportError without torch."""
        try:
            import_module("torch")
        except ImportError:
            raise ImportError("to_torch() needs torch: pip install 'exset[torch]'") from None
        from exset.runtime.training.torch_dataset import TorchDataset

        return TorchDataset(self)
