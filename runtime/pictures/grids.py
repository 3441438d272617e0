"""Draw many small pictures in rows.

A small picture is a pattern as a grid of units, or an image.
"""

from math import ceil

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap

from exset.runtime.pictures.canvas import LETTER, LINE, NONE, Canvas, Drawn, room
from exset.runtime.pictures.heat import key, scale_of
from exset.runtime.pictures.kinds import ContactSheet, Grid, shortened
from exset.runtime.pictures.tiles import GAP, sheet

_CAPTION = 0.16
"""The height of the line of text below a tile, in inches."""


def grid(shown: Grid, title: str, pixels: int) -> Drawn:
    """Draw each pattern as a small picture. Equal numbers have the same colour in all pictures."""
    count, height, width = shown.tiles.shape
    cell = min(0.1, 1.6 / max(height, width))
    size = max(height * cell, 0.3), max(width * cell, 0.45)
    columns = _columns(count, size, room(pixels))
    # One image of all tiles, with gaps that are as wide as a unit, is much faster to draw.
    high, wide = height + ceil(1 + _CAPTION * height / size[0]), width + 1
    rows = -(-count // columns)
    values = np.full((rows * high, columns * wide), np.nan)
    missing = np.zeros(values.shape, np.bool_)
    corners = [(number // columns * high, number % columns * wide) for number in range(count)]
    for (y, x), tile, valid in zip(corners, shown.tiles, shown.valid, strict=True):
        part = slice(y, y + height), slice(x, x + width)
        values[part], missing[part] = np.where(valid, tile, np.nan), ~valid | np.isnan(tile)
    canvas = Canvas(columns * wide * size[1] / width, rows * high * size[0] / height)
    axes = canvas.axes(0, 0, canvas.width, canvas.height)
    axes.set_axis_off()
    name, low, high_value = scale_of(shown.tiles, shown.valid)
    axes.imshow(
        np.where(missing, 1.0, np.nan), cmap=ListedColormap([NONE]), aspect="auto", vmin=0, vmax=1
    )
    image = axes.imshow(
        np.clip(values, low, high_value),
        cmap=name,
        vmin=low,
        vmax=high_value,
        aspect="auto",
        interpolation="nearest",
    )
    corner = np.array([[0, 0], [width, 0], [width, height], [0, height], [0, 0]]) - 0.5
    frames = [corner + np.array([x, y]) for y, x in corners]
    axes.add_collection(LineCollection(frames, colors=[LINE], linewidths=0.6))
    fits = max(int(size[1] / LETTER), 3)
    for (y, x), label in zip(corners, shown.names, strict=True):
        axes.text(x - 0.5, y + height, shortened(label, fits), fontsize=7, va="top")
    key(canvas, {"": image}, "no value (NaN)" if missing.any() else "", canvas.width + 0.15)
    canvas.title(0.1, title, ", ".join(filter(None, (shown.of, shown.note))))
    return canvas.figure


def contact_sheet(shown: ContactSheet, title: str, pixels: int) -> Drawn:
    """Draw images in rows, with their captions."""
    count = len(shown.tiles)
    height, width = (max(tile.shape[axis] for tile in shown.tiles) for axis in (0, 1))
    inch = 1 / 100
    size = height * inch, width * inch
    columns = _columns(count, size, room(pixels))
    below = ceil(_CAPTION / inch)
    edges = (0, below), (0, 0), (0, 0)
    tiles = [np.pad(tile, edges, constant_values=255) for tile in shown.tiles]
    pixels_of_all = sheet(tiles, columns, background=255)
    canvas = Canvas(pixels_of_all.shape[1] * inch, pixels_of_all.shape[0] * inch)
    axes = canvas.axes(0, 0, canvas.width, canvas.height)
    axes.imshow(pixels_of_all, aspect="auto", interpolation="nearest")
    axes.set_axis_off()
    step = height + below + GAP, width + GAP
    fits = max(int(size[1] / LETTER), 3)
    for number, caption in enumerate(shown.captions):
        y = number // columns * step[0] + shown.tiles[number].shape[0]
        axes.text(number % columns * step[1], y + 2, shortened(caption, fits), fontsize=7, va="top")
    canvas.title(0.1, title, shown.note)
    return canvas.figure


def _columns(count: int, size: tuple[float, float], room: float) -> int:
    """Return how many tiles to put in a row.

    All `count` (a number) tiles together are about a square, and no row is wider than `room`
    inches. size: the height and the width of a tile.
    """
    height, width = size[0] + _CAPTION, size[1] + 0.1
    wide = round((count * height / width) ** 0.5) or 1
    return max(1, min(count, wide, int(room / width) or 1))
