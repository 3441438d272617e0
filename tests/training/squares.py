"""A dataset for tests of batches, and what there is to be seen of them."""

import threading
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

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


def numbers_of(batches: Iterable[dict[str, Values]]) -> list[list[int]]:
    return [batch["number"].tolist() for batch in batches]


def threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "exset prefetch"]
