"""A dataset for tests of batches, and what there is to be seen of them."""

import threading
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

import exset
from exset.runtime.training.dataset import Dataset, Values


class Squares(Dataset):
    """Numbers and their squares, and which samples were read; some cannot be."""

    fields = ("number", "square", "name")

    def __init__(self, size: int, broken: Iterable[int] = ()) -> None:
        self.size, self.broken = size, {*broken}
        self.read: list[list[int]] = []

    def __len__(self) -> int:
        return self.size

    def batch(self, indices: ArrayLike) -> dict[str, Values]:
        numbers = np.asarray(indices)
        self.read.append(numbers.tolist())
        if bad := self.broken & {*numbers.tolist()}:
            raise exset.FormatError(f"sample {min(bad)}")
        square = np.outer(numbers, numbers).astype(">f4")
        return {"number": numbers, "square": square, "name": numbers.astype("S")}


class Series:
    """As pandas's: it has the methods of an array, and `get` and brackets by label."""

    def __init__(self, values: ArrayLike) -> None:
        self.values = np.asarray(values)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[np.generic]:
        return self.values

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[object]:
        return iter(self.values.tolist())

    def __getitem__(self, label: str) -> object:
        raise KeyError(label)

    def get(self, label: str) -> object:
        return None


def numbers_of(batches: Iterable[dict[str, Values]]) -> list[list[int]]:
    return [batch["number"].tolist() for batch in batches]


def threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "exset prefetch"]
