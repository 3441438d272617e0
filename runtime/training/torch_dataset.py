"""Datasets for torch. They return tensors of a sample or of a batch. Importing this module needs
torch.
"""

import operator
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.grammars.columns.arrays import chosen_rows

_torch = import_module("torch")
_Base: Any = import_module("torch.utils.data").Dataset
_collate: Any = import_module("torch.utils.data._utils.collate")

Columns: TypeAlias = dict[str, Any]
"""Tensors by field; lists of strings for text, as torch has no such tensors."""


class Sample(dict[str, Any]):
    """The tensors of a sample, {field: tensor}. By this class, torch knows how to stack samples."""


class Batched(Protocol):
    """What `TorchDataset` needs of a `Dataset`."""

    @property
    def ragged(self) -> tuple[str, ...]:
        """The names of fields whose samples differ in size, as in `Dataset.ragged`."""

    def __len__(self) -> int:
        """Return the number of samples."""

    def batch(self, indices: ArrayLike) -> dict[str, NDArray[Any]]:
        """Return the arrays of the samples with these indices, as `Dataset.batch` does."""


class Samples(Sequence[Sample]):
    """The samples of a batch. torch's loader uses the whole batch, and never splits it."""

    def __init__(self, columns: Columns, ragged: Sequence[str], count: int) -> None:
        """Make the samples of a batch of `count` (a number) samples. columns: the arrays of the
        batch.

        ragged: the names of fields whose samples differ in size.
        """
        self.columns, self.ragged, self._count = columns, ragged, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sample]: ...
    def __getitem__(self, index: int | slice) -> Sample | list[Sample]:
        """Return a sample, or a list of samples for a slice."""
        if isinstance(index, slice) or self.ragged:
            return self._samples[index]
        row = range(self._count)[index]  # torch looks at the first one only
        return Sample((name, column[row]) for name, column in self.columns.items())

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    @cached_property
    def _samples(self) -> list[Sample]:
        """The samples. A sample has one row of each column; a ragged field is split into the
        samples' values.
        """
        rows = dict(self.columns)
        for name in self.ragged:
            lengths = rows.pop(f"{name}.offsets").diff().tolist()
            rows[f"{name}.values"] = rows[f"{name}.values"].split(lengths)
        values = {f"{name}.values": name for name in self.ragged}
        samples = [Sample() for _ in range(self._count)]
        for field, column in rows.items():
            name = values.get(field, field)
            for sample, row in zip(samples, column, strict=True):
                sample[name] = row
        return samples


class TorchDataset(_Base):  # type: ignore[misc]
    """The result of `Dataset.to_torch`. Its tensors share the memory of the arrays.

    `DataLoader(data, batch_size=64)` reads the samples of a batch at once, already stacked.
    `DataLoader(data, batch_size=None, sampler=batches_of_indices)` gets whole batches, in which
    ragged fields are values and offsets.
    """

    def __init__(self, dataset: Batched) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __repr__(self) -> str:
        return f"TorchDataset({self.dataset!r})"

    def __getitem__(self, index: ArrayLike) -> Columns:
        """Return a sample. For a list of indices, return a batch. Raises the errors of
        `Dataset.batch`.
        """
        if np.ndim(index) == 0:
            return self.__getitems__([operator.index(index)])[0]  # type: ignore[arg-type]
        return {name: _tensor(array) for name, array in self.dataset.batch(index).items()}

    def __getitems__(self, indices: Sequence[int]) -> Samples:
        """Return the samples with these indices. They are read at once, as a batch."""
        chosen = chosen_rows(indices, len(self))
        return Samples(self[chosen], self.dataset.ragged, chosen.size)


def _tensor(array: NDArray[Any]) -> Any:
    return array.tolist() if array.dtype.hasobject else _torch.from_numpy(array)


def _stacked(samples: Sequence[Sample], *, collate_fn_map: Mapping[Any, Any]) -> Columns:
    """Return the columns of samples, as torch's `default_collate` does for a list of dicts."""
    if not isinstance(samples, Samples) or samples.ragged:
        plain = [dict(sample) for sample in samples]
        stacked: Columns = _collate.collate(plain, collate_fn_map=collate_fn_map)
        return stacked
    return {
        name: _collate.collate(column, collate_fn_map=collate_fn_map)
        if isinstance(column, list)
        else column
        for name, column in samples.columns.items()
    }


# torch's documented way to tell `default_collate` about another class.
_collate.default_collate_fn_map[Sample] = _stacked
