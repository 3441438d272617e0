"""Compute count, extremes, mean and deviation of numbers, at once or chunk by chunk."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.runtime.reports.report import finite

_BLOCK: Final = 1 << 16


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
        wide = np.asarray(values, np.float64).reshape(-1)
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
        """Return the numbers for JSON; a number that is not finite is null."""
        return {name: finite(value) for name, value in asdict(self).items()}

    def text(self, of: str = "") -> str:
        """Return the statistics as text, empty without numbers; of: text to add after the mean."""
        if not self.count:
            return ""
        between = f"{self.low:g} to {self.high:g}, mean {self.mean:g}{of}"
        return between + f", {self.not_finite:,} not finite" * bool(self.not_finite)

    def to_range(self) -> tuple[float, float] | None:
        """Return the scale and bias that map the numbers to 0..1; None if all are equal."""
        return _line(self.high - self.low, self.low)

    def to_unit(self) -> tuple[float, float] | None:
        """Return the scale and bias that give mean 0 and deviation 1; None if all are equal."""
        return _line(self.deviation, self.mean)


class RunningSpread:
    """The spread and the sum of numbers that come in chunks, whatever the chunks.

    The numbers are added in blocks of one size, so that rounding does not depend on the chunks.
    """

    def __init__(self) -> None:
        self._spread = Spread()
        self._total = 0.0
        self._rest: NDArray[Any] = np.zeros(0)

    def add(self, values: NDArray[Any]) -> None:
        """Add the next numbers."""
        if self._rest.size:
            needed = _BLOCK - self._rest.size
            values, more = values[needed:], values[:needed]
            self._rest = np.concatenate([self._rest, more])
            if self._rest.size < _BLOCK:
                return
            self._add_block(self._rest)
        whole = values.size - values.size % _BLOCK
        for at in range(0, whole, _BLOCK):
            self._add_block(values[at : at + _BLOCK])
        self._rest = values[whole:].copy()

    def result(self) -> tuple[Spread, float]:
        """Return the spread and the sum of all numbers. Add no numbers after this call."""
        self._add_block(self._rest)
        return self._spread, self._total

    def _add_block(self, values: NDArray[Any]) -> None:
        self._spread.add(Spread.of(values))
        with np.errstate(invalid="ignore"):  # infinity and minus infinity make NaN
            self._total += float(values.sum(dtype=np.float64))


def _line(width: float, zero: float) -> tuple[float, float] | None:
    if not 0 < width < math.inf or not math.isfinite(scale := 1 / width):
        return None
    bias = 0.0 - zero * scale
    return (scale, bias) if math.isfinite(bias) else None
