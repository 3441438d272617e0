"""Datasets as torch has them: tensors, a sample or many at a time. Only imported where torch is."""

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
"""Tensors by field; what is text is lists of strings, as torch has none."""


class Batched(Protocol):
    """What is read by indices: a `Dataset`, which makes what is here."""

    @property
    def ragged(self) -> tuple[str, ...]:
        """As `Dataset.ragged`."""
        ...

    def __len__(self) -> int:
        """As `Dataset`."""
        ...

    def batch(self, indices: ArrayLike) -> dict[str, NDArray[Any]]:
        """As `Dataset.batch`."""
        ...


class TorchDataset(_Base):  # type: ignore[misc]
    """What `Dataset.to_torch` gives; tensors share the memory of the arrays that are read.

    A loader that makes batches itself reads the samples of each at once, and stacks them:
    `DataLoader(data, batch_size=64)`. Whole batches, which need no stacking, and in which ragged
    fields are values and offsets, it gets of lists of indices:
    `DataLoader(data, batch_size=None, sampler=batches_of_indices)`.
    """

    def __init__(self, dataset: Batched) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __repr__(self) -> str:
        return f"TorchDataset({self.dataset!r})"

    def __getitem__(self, index: ArrayLike) -> Sample:
        """Return a sample, or for a list of indices their batch. Raises as `Dataset.batch`."""
        if np.ndim(index) == 0:
            return self.__getitems__([operator.index(index)])[0]  # type: ignore[arg-type]
        return {name: _tensor(array) for name, array in self.dataset.batch(index).items()}

    def __getitems__(self, indices: Sequence[int]) -> list[Sample]:
        """Return some samples, read at once: rows of a batch, ragged fields by themselves."""
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
