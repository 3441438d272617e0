"""The anchors of a picture: boxes of several shapes and sizes at each point of a grid."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision.crop import Size
from exset.runtime.aeon.provision.objects import Boxes

_MOST_SIZES: Final = 100
"""The most sizes of pictures for which `Anchors.inside` keeps its result."""


@dataclass(frozen=True)
class Inside:
    """The anchors that are inside a picture, and the indices of these anchors among all anchors.

    The anchors are float32 [count, 4].
    """

    boxes: Boxes
    indices: NDArray[np.int64]


class Anchors:
    """The anchors of an etl object, float32 [count, 4]."""

    def __init__(self, settings: Settings) -> None:
        height, width = settings.number("height"), settings.number("width")
        factor = np.float32(settings.real("scaling_factor"))
        columns, rows = (
            np.arange(int(np.float32(side) * factor), dtype=np.float32) / factor
            for side in (width, height)
        )
        y, x = np.meshgrid(rows, columns, indexing="ij")
        corners = np.stack([x, y, x, y], -1).reshape(-1, 4)
        self.boxes: Boxes = (_shapes(settings)[:, None] + corners).reshape(-1, 4)
        self._inside: dict[Size, Inside] = {}

    def inside(self, size: Size) -> Inside:
        """Return the anchors that are inside a picture of this size."""
        if size not in self._inside:
            is_after = (self.boxes[:, :2] >= 0).all(axis=1)
            indices = np.flatnonzero(is_after & (self.boxes[:, 2:] < np.array(size)).all(axis=1))
            if len(self._inside) >= _MOST_SIZES:
                self._inside.clear()
            self._inside[size] = Inside(self.boxes[indices], indices)
        return self._inside[size]


def _shapes(settings: Settings) -> Boxes:
    """Return the anchors at the first point of the grid, of shape [ratios x scales, 4]."""
    ratios, scales = (np.array(settings[name], np.float32) for name in ("ratios", "scales"))
    base, one, half = settings.number("base_size"), np.float32(1), np.float32(0.5)
    centre = half * np.float32(base - 1)
    widths = _rounded(np.sqrt(np.float32(base * base) / ratios))
    heights = _rounded(widths * ratios)
    sides = np.stack([widths, heights], -1)[:, None] * scales[:, None]
    reach = half * (sides.reshape(-1, 2) - one)
    return np.concatenate([centre - reach, centre + reach], axis=1)


def _rounded(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Round to the nearest integer; a half goes away from zero."""
    return np.copysign(np.floor(np.abs(values) + np.float32(0.5)), values)
