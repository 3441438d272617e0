"""Compute count, extremes, mean and deviation of numbers, at once or chunk by chunk."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import as_doubles
from exset.runtime.reports.report import finite

_BLOCK: Final = 1 << 16
_LEAST: Final = 148
"""The exponent of the smallest float32, as `frexp` gives it, is -148."""
_SCALE: Final = _LEAST + 24


@dataclass
class Spread:
    """Statistics of numbers; NaN and infinities are only counted, in `not_finite`."""

    count: int = 0
    low: float = math.inf
    high: float = -math.inf
    mean: float = 0.0
    squares: float = 0.0
    """The sum of the squared distances from the mean."""
    not_finite: int = 0

    @classmethod
    def of(cls, values: NDArray[Any]) -> "Spread":
        """Compute the statistics of an array of numbers."""
        wide = as_doubles(values).reshape(-1)
        finite = wide[np.isfinite(wide)]
        not_finite = wide.size - finite.size
        if not finite.size:
            return cls(not_finite=not_finite)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(finite.mean()) + 0.0  # 0.0 rather than -0.0
            squares = float(np.square(finite - mean).sum())
        low, high = float(finite.min()) + 0.0, float(finite.max()) + 0.0
        return cls(finite.size, low, high, mean, squares, not_finite)

    def add(self, other: "Spread") -> None:
        """Add the statistics of other numbers (Chan, Golub and LeVeque 1979)."""
        total = self.count + other.count
        self.not_finite += other.not_finite
        if not other.count:
            return
        if not self.count:
            self.count, self.low, self.high = other.count, other.low, other.high
            self.mean, self.squares = other.mean, other.squares
            return
        apart = other.mean - self.mean
        self.squares += other.squares + apart * apart * self.count * other.count / total
        self.mean += apart * other.count / total
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.count = total

    @property
    def deviation(self) -> float:
        """The standard deviation of the population."""
        return math.sqrt(self.squares / self.count) if self.count else 0.0

    def to_dict(self) -> dict[str, float | None]:
        """Return the numbers for JSON. A number that is not finite becomes null."""
        return {name: finite(value) for name, value in asdict(self).items()}

    def text(self, of: str = "") -> str:
        """Return the statistics as text. Return "" if there are no numbers.

        of: what to write after the mean.
        """
        if not self.count:
            return ""
        between = f"{self.low:g} to {self.high:g}, mean {self.mean:g}{of}"
        return between + f", {self.not_finite:,} NaN or infinite" * bool(self.not_finite)

    def to_range(self) -> tuple[float, float] | None:
        """Return the scale and the bias for which x * scale + bias is from 0 to 1.

        Return None if all numbers are equal.
        """
        return _line(self.high - self.low, self.low)

    def to_unit(self) -> tuple[float, float] | None:
        """Return the scale and the bias for which x * scale + bias has mean 0 and deviation 1.

        Return None if all numbers are equal.
        """
        return _line(self.deviation, self.mean)


@dataclass
class RunningSpread:
    """Collects the exact sums of numbers that come in chunks, and computes their spread.

    The sums of the numbers and of their squares have no rounding errors. So the result depends
    neither on the chunks nor on their order. The sums are stored as integers: multiples of 2**-172
    and 2**-344.
    """

    count: int = 0
    low: float = math.inf
    high: float = -math.inf
    total: int = 0
    squares: int = 0
    not_finite: int = 0
    special: float = 0.0
    """The sum of the numbers that are not finite."""

    def add(self, values: NDArray[Any]) -> None:
        """Add the next numbers: float32, or integers."""
        for at in range(0, values.size, _BLOCK):
            block = values[at : at + _BLOCK]
            if block.dtype.kind == "f":
                is_finite = np.isfinite(block)
                if not is_finite.all():
                    self.not_finite += int(block.size - np.count_nonzero(is_finite))
                    with np.errstate(invalid="ignore"):  # infinity and minus infinity make NaN
                        self.special += float(block[~is_finite].sum(dtype=np.float64))
                    block = block[is_finite]
            if not block.size:
                continue
            total, squares = (_sums_of_reals if block.dtype.kind == "f" else _sums)(block)
            self.merge(
                RunningSpread(block.size, float(block.min()), float(block.max()), total, squares)
            )

    def merge(self, other: "RunningSpread") -> None:
        """Add the numbers that were added to `other`."""
        self.count += other.count
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.total += other.total
        self.squares += other.squares
        self.not_finite += other.not_finite
        self.special += other.special

    def result(self) -> tuple[Spread, float]:
        """Return the spread of all numbers, and their sum. Each result is rounded once."""
        total = self.total / (1 << _SCALE) + self.special
        if not self.count:
            return Spread(not_finite=self.not_finite), total
        mean = self.total / (self.count << _SCALE)
        apart = self.squares * self.count - self.total**2
        squares = apart / (self.count << 2 * _SCALE)
        ends = self.low + 0.0, self.high + 0.0  # 0.0 rather than -0.0
        return Spread(self.count, *ends, mean, squares, self.not_finite), total


def _sums_of_reals(values: NDArray[Any]) -> tuple[int, int]:
    """Return the exact sum of finite float32 numbers, and of their squares, as scaled integers.

    Numbers with the same exponent are added as float64, which has enough bits for the exact sum.
    """
    fractions, exponents = np.frexp(np.asarray(values, np.float32))
    rank, wide = exponents + _LEAST, fractions.astype(np.float64)
    squares = wide * wide
    high = squares.astype(np.float32).astype(np.float64)
    sums, highs, lows = (np.bincount(rank, each) for each in (wide, high, squares - high))
    total = sum(int(each * 2**24) << r for r, each in enumerate(sums.tolist()) if each)
    both = enumerate(zip(highs.tolist(), lows.tolist(), strict=True))
    scaled = ((int(one * 2**48) + int(other * 2**48)) << 2 * r for r, (one, other) in both)
    return total, sum(scaled)


def _sums(values: NDArray[Any]) -> tuple[int, int]:
    """Return the exact sum of integers, and the sum of their squares, as scaled integers."""
    wide = values.astype(np.int64)
    if max(-int(wide.min()), int(wide.max())) >> 31:
        numbers = wide.tolist()
        total, squares = sum(numbers), sum(each * each for each in numbers)
    else:
        total, upper, lower = int(wide.sum()), wide >> 16, wide & 0xFFFF
        squares = int((upper * upper).sum()) << 32
        squares += (int((upper * lower).sum()) << 17) + int((lower * lower).sum())
    return total << _SCALE, squares << 2 * _SCALE


def _line(width: float, zero: float) -> tuple[float, float] | None:
    if not 0 < width < math.inf or not math.isfinite(scale := 1 / width):
        return None
    bias = 0.0 - zero * scale
    return (scale, bias) if math.isfinite(bias) else None
