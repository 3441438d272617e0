"""The objects in an archive of Kaldi, all matrices or all vectors, each with a key."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings


@dataclass(frozen=True)
class Archive:
    """The objects of an archive, n matrices or n vectors, as columns.

    keys: the key of each object. rows, cols: int64 [n], the sizes of each matrix; for a vector,
    rows is -1 and cols is the number of its values. values: the numbers of all objects, matrices
    row by row: float32, float64 or int32.
    """

    keys: Strings
    rows: Longs
    cols: Longs
    values: NDArray[Any]

    @classmethod
    def of(cls, keys: Strings, objects: Sequence[NDArray[Any]]) -> Self:
        """Return an archive of matrices [rows, cols] and vectors [cols]."""
        rows = np.array([len(each) if each.ndim > 1 else -1 for each in objects], np.int64)
        cols = np.array([each.shape[-1] for each in objects], np.int64)
        values = [each.reshape(-1) for each in objects] or [np.zeros(0, np.float32)]
        return cls(keys, rows, cols, np.concatenate(values))

    @property
    def sizes(self) -> Longs:
        """How many numbers each object has: int64 [n]."""
        return np.abs(self.rows) * self.cols

    @property
    def is_of_vectors(self) -> bool:
        """Whether the objects are vectors; an archive has only vectors or only matrices."""
        return bool((self.rows < 0).any())

    @property
    def objects(self) -> list[NDArray[Any]]:
        """The matrices [rows, cols] and the vectors [cols]."""
        ends = np.cumsum(self.sizes).tolist()
        parts = [self.values[begin:end] for begin, end in pairwise([0, *ends])]
        sizes = zip(parts, self.rows.tolist(), self.cols.tolist(), strict=True)
        return [part if rows < 0 else part.reshape(rows, cols) for part, rows, cols in sizes]
