"""What holds of every dataset: a sample is the same in each batch that it is in."""

import pickle
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from exset import Dataset

Row: TypeAlias = dict[str, tuple[str, tuple[int, ...], bytes]]
"""A sample: of each field type, shape and bytes, without padding."""


def rows(dataset: Dataset, indices: ArrayLike, count: int) -> list[Row]:
    """A batch of so many samples, sample by sample."""
    batch = dataset.batch(indices)
    assert tuple(batch) == dataset.fields
    for name, array in batch.items():
        assert array.flags.writeable, name
        assert name.endswith((".values", ".offsets")) or len(array) == count, name
    return [{name: _frozen(each) for name, each in _sample(batch, i)} for i in range(count)]


def _sample(batch: dict[str, NDArray[Any]], row: int) -> list[tuple[str, NDArray[Any]]]:
    found = []
    for name, array in batch.items():
        base, _, part = name.rpartition(".")
        if part == "values" and f"{base}.offsets" in batch:
            begin, end = batch[f"{base}.offsets"][row : row + 2]
            found.append((base, array[begin:end]))
        elif f"{name}.mask" in batch:
            mask = batch[f"{name}.mask"][row]
            assert not array[row][~mask].any()
            found.append((name, array[row][mask]))
        elif "present" in batch:
            present = batch["present"][row]
            assert not array[row][~present].any()
            found.append((name, array[row][present]))
        elif part not in ("offsets", "mask"):
            found.append((name, array[row]))
    return found


def _frozen(value: NDArray[Any] | str) -> tuple[str, tuple[int, ...], bytes]:
    array = np.asarray(value, object) if isinstance(value, str) else value
    raw = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
    return str(array.dtype), array.shape, raw


def check(dataset: Dataset, chosen: list[int] | None = None) -> list[Row]:
    """Indices in any order, repeated and negative, masks, errors, pickles; return all samples.

    chosen: some indices.
    """
    n = len(dataset)
    every = rows(dataset, np.arange(n), n)
    assert rows(dataset, [], 0) == []
    orders = [
        list(range(n - 1, -1, -1)),
        [*range(-n, 0)],
        [n - 1, 0, n - 1] * (n > 0),
        chosen or [],
    ]
    for order in orders:
        assert rows(dataset, order, len(order)) == [every[i] for i in order]
        assert rows(dataset, np.array(order, np.int32), len(order)) == [every[i] for i in order]
    mask = np.arange(n) % 2 == 0
    assert rows(dataset, mask, int(mask.sum())) == every[::2]
    for wrong in ([n], [0, -n - 1]):
        with pytest.raises(IndexError):
            dataset.batch(wrong)
    for odd in (0, [0.5], [[0]], np.ones(n + 1, np.bool_), ["0"]):
        with pytest.raises(ValueError):
            dataset.batch(odd)
    again = pickle.loads(pickle.dumps(dataset))
    assert rows(again, np.arange(n), n) == every and again.fields == dataset.fields
    assert repr(again) == repr(dataset)
    return every
