"""Datasets: what a network learns from, by the index of a sample; every family has its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

from numpy.typing import ArrayLike, NDArray

Values: TypeAlias = NDArray[Any]
"""An array of one field, of NumPy or of CuPy."""


class Dataset(ABC):
    """Samples that are read by their indices, as many at a time as are wanted.

    It is small when pickled, so that workers get it cheaply, and opens its files in the process
    that reads them.
    """

    @property
    @abstractmethod
    def fields(self) -> tuple[str, ...]:
        """The names of the arrays of a batch, in their order."""

    @abstractmethod
    def __len__(self) -> int:
        """Return how many samples there are."""

    @abstractmethod
    def batch(self, indices: ArrayLike) -> dict[str, Values]:
        """Return the arrays of some samples, in the order of the indices: one row a sample.

        Raises IndexError for an index that is out of range, and FormatError, LimitError and OSError
        for samples that cannot be read.
        """
