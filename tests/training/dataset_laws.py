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


def _check_samples(dataset: Dataset) -> None:
    """An index gives a row of each array of a batch; slices, masks and lists give a batch."""
    n = len(dataset)
    for i, sample in enumerate(dataset):
        batch = dataset.batch([i])
        for name in dataset.ragged:
            del batch[f"{name}.offsets"]
            batch[name] = batch.pop(f"{name}.values")[np.newaxis]
        assert sample.keys() == batch.keys()
        for name, row in sample.items():
            np.testing.assert_array_equal(row, batch[name][0])
    if n:
        assert repr(dataset[-1]) == repr(dataset[n - 1]) == repr(dataset[np.int64(-1)])
    for several, indices in (
        (slice(1, None, 2), np.arange(n)[1::2]),
        (np.arange(n) % 2 == 1, np.arange(n)[1::2]),
        ([-1, 0] * (n > 0), [-1, 0] * (n > 0)),
    ):
        found, wanted = dataset[several], dataset.batch(indices)
        assert found.keys() == wanted.keys()
        for name, array in wanted.items():
            np.testing.assert_array_equal(found[name], array)
    for wrong in (n, -n - 1):
        with pytest.raises(IndexError):
            dataset[wrong]
    for odd in ("inputs", 1.5, None):
        with pytest.raises(TypeError, match="expected an index, a slice"):
            dataset[odd]  # type: ignore[index]


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
    dtypes = {name: array.dtype for name, array in dataset.batch(np.arange(n)).items()}
    assert dataset.dtypes == dtypes and tuple(dtypes) == dataset.fields
    _check_samples(dataset)
    again = pickle.loads(pickle.dumps(dataset))
    assert rows(again, np.arange(n), n) == every and again.fields == dataset.fields
    assert repr(again) == repr(dataset)
    return every
