"""The objects of an archive of Kaldi: matrices, or vectors, by key."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings


@dataclass(frozen=True)
class Archive:
    """Objects one after the other: keys; rows int64 [n], -1 for a vector; cols int64 [n].

    values: all numbers, matrices row by row: float32, float64 or int32.
    """

    keys: Strings
    rows: Longs
    cols: Longs
    values: NDArray[Any]

    @property
    def sizes(self) -> Longs:
        """How many numbers each object has: int64 [n]."""
        return np.abs(self.rows) * self.cols

    @property
    def is_of_vectors(self) -> bool:
        """Whether an object is a vector; an archive has objects of one kind."""
        return bool((self.rows < 0).any())
