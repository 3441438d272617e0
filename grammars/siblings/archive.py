"""The objects in an archive of Kaldi, all matrices or all vectors, each with a key."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings


@dataclass(frozen=True)
class Archive:
    """n matrices or vectors of an archive, one row in each column.

    keys: the name of each. rows, cols: int64 [n], the sizes of each matrix; for a vector, rows is
    -1 and cols the number of its values. values: the numbers of all objects, matrices row by row:
    float32, float64 or int32.
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
        """Whether the objects are vectors; an archive has only vectors or only matrices."""
        return bool((self.rows < 0).any())
