"""Datasets for torch: tensors, one sample or a batch at a time. Importing it needs torch."""

import operator
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.grammars.columns.arrays import chosen_rows

_torch = import_module("torch")
_Base: Any = import_module("torch.utils.data").Dataset

Sample: TypeAlias = dict[str, Any]
"""Tensors by field; lists of strings for text, as torch has no such tensors."""


class Batched(Protocol):
    """What `TorchDataset` needs of a `Dataset`."""

    @property
    def ragged(self) -> tuple[str, ...]:
        """As `Dataset.ragged`."""

    def __len__(self) -> int:
        """As `Dataset`."""

    def batch(self, indices: ArrayLike) -> dict[str, NDArray[Any]]:
        """As `Dataset.batch`."""


class TorchDataset(_Base):  # type: ignore[misc]
    """The result of `Dataset.to_torch`. Its tensors share the memory of the arrays.

    `DataLoader(data, batch_size=64)` reads the samples of a batch at once, and stacks them.
    `DataLoader(data, batch_size=None, sampler=batches_of_indices)` takes whole batches, which need
    no stacking; in them ragged fields are values and offsets.
    """

    def __init__(self, dataset: Batched) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __repr__(self) -> str:
        return f"TorchDataset({self.dataset!r})"

    def __getitem__(self, index: ArrayLike) -> Sample:
        """Return a sample, or a batch for a list of indices. Raises as `Dataset.batch`."""
        if np.ndim(index) == 0:
            return self.__getitems__([operator.index(index)])[0]  # type: ignore[arg-type]
        return {name: _tensor(array) for name, array in self.dataset.batch(index).items()}

    def __getitems__(self, indices: Sequence[int]) -> list[Sample]:
        """Return some samples, read at once: the rows of a batch, with ragged fields split."""
        chosen = chosen_rows(indices, len(self))
        batch = self[chosen]
        samples: list[Sample] = [{} for _ in range(chosen.size)]
        for name in self.dataset.ragged:
            lengths = batch.pop(f"{name}.offsets").diff().tolist()
            batch[f"{name}.values"] = batch[f"{name}.values"].split(lengths)
        values = {f"{name}.values": name for name in self.dataset.ragged}
        for field, column in batch.items():
            name = values.get(field, field)
            for sample, row in zip(samples, column, strict=True):
                sample[name] = row
        return samples


def _tensor(array: NDArray[Any]) -> Any:
    return array.tolist() if array.dtype.hasobject else _torch.from_numpy(array)
