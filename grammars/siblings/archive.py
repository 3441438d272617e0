"""The objects in an archive of Kaldi, all matrices or all vectors, each with a key."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings


@dataclass(frozen=True)
class Archive:
    """The objects of an archive, n matrices or n vectors, as columns.

    keys: the key of each object. rows, cols: int64 [n], the sizes of each matrix; for a vector,
    rows is -1 and cols is the number of its values. values: the numbers of all objects, matrices
    row by row: float32, float64 or int32. begins: int64 [n], the offset of each object in the
    file, after its key and a blank.
    """

    keys: Strings
    rows: Longs
    cols: Longs
    values: NDArray[Any]
    begins: Longs = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def sizes(self) -> Longs:
        """How many numbers each object has: int64 [n]."""
        return np.abs(self.rows) * self.cols

    @property
    def is_of_vectors(self) -> bool:
        """Whether the objects are vectors; an archive has only vectors or only matrices."""
        return bool((self.rows < 0).any())

    def objects(self) -> dict[int, NDArray[Any]]:
        """Return the matrices [rows, cols] and the vectors [cols] by their offsets in the file."""
        ends = np.cumsum(self.sizes).tolist()
        parts = [self.values[begin:end] for begin, end in pairwise([0, *ends])]
        sizes = zip(parts, self.rows.tolist(), self.cols.tolist(), strict=True)
        found = [part if rows < 0 else part.reshape(rows, cols) for part, rows, cols in sizes]
        return dict(zip(self.begins.tolist(), found, strict=True))
