"""Random draws of a record, as aeon makes them: with minstd_rand0 and distributions of libstdc++.

All reals are binary32.
"""

import math
from dataclasses import dataclass
from typing import Final, SupportsFloat, cast

import numpy as np

from exset.grammars.columns.arrays import Longs
from exset.runtime.aeon.libstdcxx import MINSTD, draw, generator, shuffle, uniform

_HIGHEST: Final = 2147483646
"""The highest draw; draws are from 1 to this number."""
_RANGE: Final = np.float32(2147483648)  # the number above, as a binary32
_BELOW_ONE: Final = np.nextafter(np.float32(1), np.float32(0))
_ONE: Final = np.float32(1)
_TWO: Final = np.float32(2)


@dataclass
class Kept:
    """A number that is kept for the next call of a normal distribution, which makes two at once."""

    value: np.float32 | None = None

    @classmethod
    def of(cls, value: float | None) -> "Kept":
        """Restore the object from a number that `to_float` returned."""
        return cls(None if value is None else np.float32(value))

    def to_float(self) -> float | None:
        """Return the number as a float, which JSON stores exactly; None if no number is kept."""
        return None if self.value is None else float(self.value)


class Draws:
    """A random generator, and the distributions that use it.

    A distribution uses a number of the generator even if its result is certain.
    """

    def __init__(self, seed: int, kept: Kept | None = None) -> None:
        """Start a generator with a seed of 32 bits. kept: the number that `normal` has kept."""
        # A list, as plain Python indexes it faster than an array.
        self._generator = cast(Longs, generator(MINSTD, seed).tolist())
        self.kept = Kept() if kept is None else kept

    @property
    def state(self) -> int:
        """The state of the generator, which is its last number. As a seed, it continues the
        sequence.
        """
        return int(self._generator[1])

    def next(self) -> int:
        """Return the generator's next number, from 1 to 2147483646."""
        return draw(self._generator)

    def real(self, low: SupportsFloat = 0, high: SupportsFloat = 1) -> np.float32:
        """Draw a real number from `low` up to `high`, in binary32."""
        drawn, least = self.next() - 1, np.float32(low)
        if not (width := np.float32(high) - least):
            return least + width
        fraction = np.float32(drawn) / _RANGE
        if fraction >= _ONE:
            fraction = _BELOW_ONE
        return fraction * width + least

    def coin(self, probability: float) -> bool:
        """Draw True with this probability, else False."""
        low, high = float(self.next() - 1), float(self.next() - 1)
        real = (low + high * float(_HIGHEST)) / (float(_HIGHEST) * float(_HIGHEST))
        return min(real, 1 - 2.0**-53) < probability

    def integer(self, low: int, high: int) -> int:
        """Draw an integer from `low` to `high`, both included."""
        return low + uniform(self._generator, high - low)

    def normal(self, mean: float, deviation: float) -> np.float32:
        """Draw from a normal distribution, by the polar method."""
        value, self.kept.value = self.kept.value, None
        while value is None:
            x = _TWO * self.real() - _ONE
            y = _TWO * self.real() - _ONE
            square = x * x + y * y
            if 0 < square <= 1:
                # The binary32 of a binary64 logarithm is that of C's logf; numpy.log's can differ.
                log = np.float32(math.log(square))
                factor = np.sqrt(np.float32(-2) * log / square)
                self.kept.value, value = x * factor, y * factor
        return value * np.float32(deviation) + np.float32(mean)

    def shuffle(self, order: Longs) -> None:
        """Shuffle an array in place."""
        shuffle(self._generator, order)
