"""Draw the axes of a picture: one side of the network as a heat map, with groups and units."""

from collections.abc import Iterable
from importlib import import_module
from itertools import accumulate, count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Flags
from exset.runtime.lens.network_layout import Layout
from exset.runtime.lens.plot_rows import shortened

WIDE = 7.0
"""The largest width of a side, in inches; with more units, cells get narrower."""
LETTER = 0.065
"""The approximate width of a letter, in inches."""
SMALL = {"fontsize": 7}
NONE = "#f9cf95"
"""The colour of a cell without a value: unlike all greys, reds and blues."""
LINE = "0.35"
DPI = 110

Axes: TypeAlias = Any
"""A matplotlib.axes.Axes; the types of an optional package are not available."""

Image: TypeAlias = Any
"""A matplotlib.image.AxesImage."""


def heat(axes: Axes, values: NDArray[np.float64], valid: Flags) -> Image:
    """Draw numbers as colours; the scale includes 0 and all finite numbers.

    `values`, `valid`: [rows, units].
    """
    finite = values[valid & np.isfinite(values)]
    low, high = min(finite.min(initial=0), 0), max(finite.max(initial=0), 0)
    if low < 0 < high:
        name, high = "RdBu_r", max(-low, high)
        low = -high
    else:
        name = "Greys_r" if low < 0 else "Greys"
        high = 1.0 if low == high else high
    axes.set_facecolor(NONE)
    rows, units = values.shape
    together = -(-units // int(WIDE * DPI))
    # Clipped, because matplotlib draws infinity like a missing value.
    cells = _strongest(np.where(valid, np.clip(values, low, high), np.nan), together)
    image = axes.imshow(
        cells,
        cmap=import_module("matplotlib").colormaps[name].with_extremes(bad=NONE),
        vmin=low,
        vmax=high,
        extent=(-0.5, cells.shape[1] * together - 0.5, rows - 0.5, -0.5),
        aspect="auto",
        interpolation="nearest",
    )
    axes.set_xlim(-0.5, units - 0.5)
    return image


def _strongest(values: NDArray[np.float64], together: int) -> NDArray[np.float64]:
    """Return the value furthest from 0 of each `together` columns, so that no peak gets lost."""
    rows, units = values.shape
    padded = np.full((rows, -(-units // together) * together), np.nan)
    padded[:, :units] = values
    padded = padded.reshape(rows, -1, together)
    best = np.nan_to_num(np.abs(padded), nan=-1).argmax(axis=2)[..., None]
    strongest: NDArray[np.float64] = np.take_along_axis(padded, best, axis=2)[..., 0]
    return strongest


def columns(axes: Axes, layout: Layout, width: float) -> float:
    """Draw unit numbers, and the borders and names of groups; return the height of the names.

    `width` and the result are in inches.
    """
    for spine in axes.spines.values():
        spine.set(linewidth=0.8, color=LINE)
    groups = {name: size for name, size in layout.groups.items() if size}
    sizes = list(groups.values()) or [layout.units]
    begins = list(accumulate(sizes, initial=0))
    inch = width / layout.units
    steps = (digit * 10**power for power in count() for digit in (1, 2, 5))
    every = next(step for step in steps if step * inch > 0.12 + len(str(layout.units)) * LETTER)
    numbers = [
        (begin + unit, str(unit))
        for begin, size in zip(begins, sizes, strict=False)
        for unit in range(0, max(size - every // 2, 1), every)
    ]
    ticks = dict(_apart(numbers, 0.14 / inch))
    axes.set_xticks(list(ticks), labels=list(ticks.values()), **SMALL)
    if not groups:
        return 0.05
    for colour, wide in (("white", 2.4), (LINE, 0.8)):  # visible between black cells, too
        axes.vlines(np.array(begins[1:-1]) - 0.5, *axes.get_ylim(), color=colour, linewidth=wide)
    height = 0.2
    centres = (begin + (size - 1) / 2 for begin, size in zip(begins, sizes, strict=False))
    for centre, group in _apart(zip(centres, groups, strict=True), 0.12 / inch):
        name = shortened(group)
        length = len(name) * LETTER
        fits = length <= groups[group] * inch
        height = max(height, 0.2 if fits else length + 0.1)
        axes.annotate(
            name,
            (centre, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            rotation=0 if fits else 90,
            **SMALL,
        )
    return height


def _apart(labels: Iterable[tuple[float, str]], least: float) -> list[tuple[float, str]]:
    """Return labels, from left to right, without labels that are too near to the one before."""
    kept: list[tuple[float, str]] = []
    for at, text in labels:
        if not kept or at - kept[-1][0] >= least:
            kept.append((at, text))
    return kept
