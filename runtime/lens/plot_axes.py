"""The axes of a picture: a side of the network as a heat map, with its groups and their units."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import accumulate, count
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Flags
from exset.runtime.lens.network_layout import Layout
from exset.runtime.lens.plot_rows import shortened

WIDE = 7.0
"""Inches of the widest side; cells get narrower then."""
LETTER = 0.065
"""Inches of a letter, more or less."""
SMALL = {"fontsize": 7}
NONE = "#f9cf95"
"""The colour of what has no value: unlike all greys, reds and blues."""
LINE = "0.35"
DPI = 110

Axes: TypeAlias = Any
"""A matplotlib.axes.Axes: the types of what is optional are not at hand."""

Image: TypeAlias = Any
"""A matplotlib.image.AxesImage."""


class _Label(NamedTuple):
    """What stands at a column: there are so many units that it is for."""

    at: float
    units: int
    text: str


def heat(axes: Axes, values: NDArray[np.float64], given: Flags) -> Image:
    """Draw the numbers; the scale is that of all that are finite, and always has 0."""
    colours = import_module("matplotlib").colormaps
    finite = values[given & np.isfinite(values)]
    low, high = min(finite.min(initial=0), 0), max(finite.max(initial=0), 0)
    if low < 0 < high:
        name, high = "RdBu_r", max(-low, high)
        low = -high
    else:
        name = "Greys_r" if low < 0 else "Greys"
        high = 1.0 if low == high else high
    axes.set_facecolor(NONE)
    colour = colours[name].with_extremes(bad=NONE)
    rows, units = values.shape
    together = -(-units // int(WIDE * DPI))
    # Infinity is drawn as the end of the scale; matplotlib would take it for no value.
    cells = _strongest(np.where(given, np.clip(values, low, high), np.nan), together)
    edges = -0.5, cells.shape[1] * together - 0.5, rows - 0.5, -0.5
    image = axes.imshow(
        cells,
        cmap=colour,
        vmin=low,
        vmax=high,
        extent=edges,
        aspect="auto",
        interpolation="nearest",
    )
    axes.set_xlim(-0.5, units - 0.5)
    return image


def _strongest(values: NDArray[np.float64], together: int) -> NDArray[np.float64]:
    """Of so many columns together the one that is furthest from 0, so that none gets lost."""
    rows, units = values.shape
    padded = np.full((rows, -(-units // together) * together), np.nan)
    padded[:, :units] = values
    padded = padded.reshape(rows, -1, together)
    best = np.nan_to_num(np.abs(padded), nan=-1).argmax(axis=2)[..., None]
    strongest: NDArray[np.float64] = np.take_along_axis(padded, best, axis=2)[..., 0]
    return strongest


def columns(axes: Axes, layout: Layout, width: float) -> float:
    """Draw where groups begin, their names and numbers of units; return how high the names are."""
    for spine in axes.spines.values():
        spine.set(linewidth=0.8, color=LINE)
    groups = {name: size for name, size in layout.groups.items() if size}
    sizes = list(groups.values()) or [layout.units]
    begins = list(accumulate(sizes, initial=0))
    inch = width / layout.units
    every = next(n for n in _steps() if n * inch > 0.12 + len(str(layout.units)) * LETTER)
    numbers = [
        _Label(begin + k, every, str(k))
        for begin, size in zip(begins, sizes, strict=False)
        for k in range(0, max(size - every // 2, 1), every)
    ]
    numbers = _apart(numbers, 0.14 / inch)
    axes.set_xticks([each.at for each in numbers], labels=[each.text for each in numbers], **SMALL)
    if not layout.groups:
        return 0.05
    for colour, wide in (("white", 2.4), (LINE, 0.8)):  # to be seen between black cells, too
        axes.vlines(np.array(begins[1:-1]) - 0.5, *axes.get_ylim(), color=colour, linewidth=wide)
    raised = 0.2
    names = [
        _Label(begin + (size - 1) / 2, size, shortened(name))
        for begin, (name, size) in zip(begins, groups.items(), strict=False)
    ]
    for at, size, name in _apart(names, 0.12 / inch):
        length = len(name) * LETTER
        fits = length <= size * inch
        raised = max(raised, 0.2 if fits else length + 0.1)
        axes.annotate(
            name,
            (at, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            rotation=0 if fits else 90,
            **SMALL,
        )
    return raised


def _steps() -> Iterator[int]:
    """1, 2, 5, 10, 20 ..."""
    return (digit * 10**power for power in count() for digit in (1, 2, 5))


def _apart(labels: Iterable[_Label], least: float) -> list[_Label]:
    """Labels, from left to right, without those too near to the one before."""
    kept: list[_Label] = []
    for label in labels:
        if not kept or label.at - kept[-1].at >= least:
            kept.append(label)
    return kept
