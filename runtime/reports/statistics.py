"""Counts, extremes, mean and spread of numbers that come a few at a time, in any order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class Spread:
    """What some numbers are like; NaN and infinities are counted apart and are not among them."""

    count: int = 0
    low: float = math.inf
    high: float = -math.inf
    mean: float = 0.0
    squares: float = 0.0
    """The sum of the squared distances from the mean."""
    odd: int = 0
    """How many were not finite."""

    @classmethod
    def of(cls, values: NDArray[Any]) -> Spread:
        """Return the spread of an array of numbers."""
        wide = np.asarray(values, np.float64).reshape(-1)
        finite = wide[np.isfinite(wide)]
        odd = wide.size - finite.size
        if not finite.size:
            return cls(odd=odd)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(finite.mean())
            squares = float(np.square(finite - mean).sum())
        return cls(finite.size, float(finite.min()), float(finite.max()), mean, squares, odd)

    def add(self, other: Spread) -> None:
        """Take in what other numbers are like (Chan, Golub and LeVeque 1979)."""
        total = self.count + other.count
        self.odd += other.odd
        if not other.count:
            return
        apart = other.mean - self.mean
        self.squares += other.squares + apart * apart * self.count * other.count / total
        self.mean += apart * other.count / total
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.count = total

    @property
    def deviation(self) -> float:
        """The standard deviation, of all numbers and not of a sample of them."""
        return math.sqrt(self.squares / self.count) if self.count else 0.0

    def to_range(self) -> tuple[float, float] | None:
        """Return scale and bias that bring the numbers into 0 to 1; None if they do not differ."""
        return _line(self.high - self.low, self.low)

    def to_unit(self) -> tuple[float, float] | None:
        """Return scale and bias for mean 0 and deviation 1; None if they do not differ."""
        return _line(self.deviation, self.mean)


def _line(width: float, zero: float) -> tuple[float, float] | None:
    if not 0 < width < math.inf or not math.isfinite(scale := 1 / width):
        return None
    bias = 0.0 - zero * scale
    return (scale, bias) if math.isfinite(bias) else None
