"""Put small pictures side by side, as one array of pixels."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

GAP: Final = 2
"""The pixels between two tiles."""
BACKGROUND: Final = 40


def sheet(
    tiles: Sequence[NDArray[Any]], columns: int = 0, background: int = BACKGROUND
) -> NDArray[np.uint8]:
    """Return tiles in rows, as one picture. Each cell has the size of the largest tile.

    tiles: uint8 [height, width, 3] each. columns: the number of tiles in a row; 0 makes the picture
    about a square. background: the grey of pixels without a tile.
    """
    columns = columns or max(1, round(len(tiles) ** 0.5))
    height, width = (max((each.shape[axis] for each in tiles), default=1) for axis in (0, 1))
    rows = -(-len(tiles) // columns)
    step = height + GAP, width + GAP
    found = np.full((rows * step[0], columns * step[1], 3), background, np.uint8)
    for number, tile in enumerate(tiles):
        y, x = (number // columns) * step[0], (number % columns) * step[1]
        found[y : y + tile.shape[0], x : x + tile.shape[1]] = tile
    return found
