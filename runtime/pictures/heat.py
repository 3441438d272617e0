"""Draw numbers as colours, and label the units of groups."""

from collections.abc import Mapping
from itertools import accumulate, count
from typing import Literal

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from exset.grammars.columns.arrays import Flags
from exset.runtime.pictures.canvas import DPI, LETTER, LINE, NONE, SMALL, Canvas, apart
from exset.runtime.pictures.kinds import Reals, shortened

WIDE = 7.0
"""The largest width of a side, in inches; with more units, cells get narrower."""


def scale_of(values: Reals, valid: Flags) -> tuple[str, float, float]:
    """Return the colour map for some numbers, and the lowest and highest number on the map's scale.

    valid: which values are known. The scale always contains 0.
    """
    finite = values[valid & np.isfinite(values)]
    low, high = min(finite.min(initial=0), 0), max(finite.max(initial=0), 0)
    if low < 0 < high:
        high = max(-low, high)
        return "RdBu_r", -high, high
    return ("Greys_r", low, high) if low < 0 else ("Greys", low, 1.0 if low == high else high)


def heat(axes: Axes, values: Reals, valid: Flags, *, sideways: bool = False) -> AxesImage:
    """Draw numbers as colours, on the scale that `scale_of` returns.

    values, valid: [rows, units]. sideways: draw rows as columns.
    """
    name, low, high = scale_of(values, valid)
    rows, units = values.shape
    together = -(-units // int(WIDE * DPI))
    # Clipped, because matplotlib draws infinity like a missing value.
    cells = strongest(np.where(valid, np.clip(values, low, high), np.nan), together)
    edges = (-0.5, cells.shape[1] * together - 0.5, rows - 0.5, -0.5)
    image = axes.imshow(
        cells.T if sideways else cells,
        cmap=matplotlib.colormaps[name].with_extremes(bad=NONE),
        vmin=low,
        vmax=high,
        extent=(-0.5, rows - 0.5, edges[1], -0.5) if sideways else edges,
        aspect="auto",
        interpolation="nearest",
    )
    if sideways:
        axes.set_ylim(units - 0.5, -0.5)
    else:
        axes.set_xlim(-0.5, units - 0.5)
    return image


def strongest(values: Reals, together: int) -> Reals:
    """Replace each group of `together` (a number) neighbouring columns by one column, so that peaks
    stay visible.

    In each row, it has the group's value that is furthest from 0.
    """
    rows, units = values.shape
    padded = np.full((rows, -(-units // together) * together), np.nan)
    padded[:, :units] = values
    padded = padded.reshape(rows, -1, together)
    best = np.nan_to_num(np.abs(padded), nan=-1).argmax(axis=2)[..., None]
    found: Reals = np.take_along_axis(padded, best, axis=2)[..., 0]
    return found


def label_units(
    axes: Axes, units: int, groups: Mapping[str, int], inch: float, side: Literal["x", "y"]
) -> float:
    """Draw the numbers of units, and the borders and names of groups. Return the space for the
    names, in inches.

    inch: the size of a unit. side: the axis along which the units are.
    """
    groups = {name: size for name, size in groups.items() if size}
    sizes = list(groups.values()) or [units]
    begins = list(accumulate(sizes, initial=0))
    steps = (digit * 10**power for power in count() for digit in (1, 2, 5))
    least = 0.12 + len(str(units)) * LETTER if side == "x" else 0.14
    every = next(step for step in steps if step * inch > least)
    numbers = [
        (begin + unit, str(unit))
        for begin, size in zip(begins, sizes, strict=False)
        for unit in range(0, max(size - every // 2, 1), every)
    ]
    ticks = dict(apart(numbers, 0.14 / inch))
    along = axes.set_xticks if side == "x" else axes.set_yticks
    along(list(ticks), labels=list(ticks.values()), **SMALL)
    if not groups:
        return 0.05
    lines = axes.vlines if side == "x" else axes.hlines
    ends = axes.get_ylim() if side == "x" else axes.get_xlim()
    for colour, wide in (("white", 2.4), (LINE, 0.8)):  # visible between black cells, too
        lines(np.array(begins[1:-1]) - 0.5, *ends, color=colour, linewidth=wide)
    centres = (begin + (size - 1) / 2 for begin, size in zip(begins, sizes, strict=False))
    names = apart(zip(centres, groups, strict=True), 0.12 / inch)
    return max(_name(axes, at, group, groups[group] * inch, side) for at, group in names)


def _name(axes: Axes, at: float, group: str, space: float, side: Literal["x", "y"]) -> float:
    """Write the name of a group outside the axes. Return the space that the name needs, in inches.

    at: the position of the name along the axis `side`, "x" or "y". space: the space along this
    axis.
    """
    name = shortened(group)
    length = len(name) * LETTER
    fits = side == "y" or length <= space
    axes.annotate(
        name,
        (at, 1) if side == "x" else (1, at),
        xycoords=("data", "axes fraction") if side == "x" else ("axes fraction", "data"),
        xytext=(0, 3) if side == "x" else (4, 0),
        textcoords="offset points",
        ha="center" if side == "x" else "left",
        va="bottom" if side == "x" else "center",
        rotation=0 if fits else 90,
        fontsize=7,
    )
    if side == "y":
        return length + 0.1
    return 0.2 if fits else length + 0.1


def key(
    canvas: Canvas, images: Mapping[str, AxesImage], missing: str, left: float, top: float = 0.0
) -> None:
    """Draw a colour bar for each image. If all images have the same scale, draw only one bar.

    missing: what the colour NONE means in a cell. left, top: where to draw, in inches.
    """
    scales = {(image.norm.vmin, image.norm.vmax) for image in images.values()}
    if len(scales) == 1:
        images = dict(list(images.items())[:1])
    for side, image in images.items():
        axes = canvas.axes(left, top, 0.12, 0.8)
        bar = canvas.figure.colorbar(image, cax=axes)
        bar.outline.set_linewidth(0.4)
        axes.tick_params(labelsize=7, length=2)
        axes.yaxis.get_offset_text().set_fontsize(7)
        if len(images) > 1:
            axes.set_title(side, fontsize=7, loc="left", pad=6)
        top += 1.2
    if missing:
        axes = canvas.axes(left, top - (0.15 if len(images) == 1 else 0.2), 0.12, 0.12)
        axes.patch.set_alpha(1)
        axes.set(facecolor=NONE, xticks=[], yticks=[])
        axes.text(1.4, 0.5, missing, transform=axes.transAxes, va="center", fontsize=7)
