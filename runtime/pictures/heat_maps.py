"""Draw heat maps, with a row for each event, tick or row of a table; and draw timelines."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from exset.runtime.pictures.canvas import (
    FAINT,
    LETTER,
    LINE,
    LINE_HEIGHT,
    SMALL,
    Canvas,
    Drawn,
    apart,
    room,
)
from exset.runtime.pictures.heat import WIDE, heat, key, label_units
from exset.runtime.pictures.kinds import HeatMap, Timeline

_CELL, _LEAST = 0.17, 0.6
"""The size of a cell, and the least width of a side of the network, in inches."""
_GAP = 0.3
_FEW = 60
"""The most cells of a row or column that have lines between them."""


def heat_map(shown: HeatMap, title: str, pixels: int) -> Drawn:
    """Draw the panels of a heat map side by side, group by group.

    The highest value is black. If some values are negative, values above 0 are red and values below
    0 are blue. A cell is orange if it has no value, or a target that does not count.
    """
    cell = _CELL / 2 if shown.is_small else _CELL
    height = min(max(shown.rows * cell, 2 * _CELL), room(pixels))
    panels = [panel for panel in shown.panels if panel.units]
    widths = [min(max(panel.units * _CELL, _LEAST), WIDE) for panel in panels]
    canvas = Canvas(sum(widths) + _GAP * (len(widths) - 1), height)
    images: dict[str, AxesImage] = {}
    places: list[tuple[float, str]] = []
    left = above = 0.0
    for panel, width in zip(panels, widths, strict=True):
        axes = canvas.axes(left, 0, width, height)
        images[panel.name] = heat(axes, panel.values, panel.valid)
        inch = width / panel.units
        above = max(above, label_units(axes, panel.units, panel.groups, inch, "x"))
        axes.set_xlabel("unit", **SMALL)
        _rows(axes, shown, height / shown.rows, inch, is_first=not places)
        places.append((left, panel.name))
        left += width + _GAP
    for begin, name in places:
        canvas.text(begin, -above - 0.07, name, fontsize=9, fontweight="bold")
    missing = "" if all(panel.valid.all() for panel in panels) else shown.missing
    key(canvas, images, missing, canvas.width + 0.25)
    canvas.title(above + 0.3, title, shown.note)
    return canvas.figure


def _rows(axes: Axes, shown: HeatMap, high: float, wide: float, is_first: bool) -> None:
    """Draw lines between units and between rows if the cells are large. If `is_first`, also draw
    the labels of the rows.

    high, wide: the size of a cell in inches.
    """
    across, along = axes.get_xlim(), axes.get_ylim()
    # Lines of a grid would need ticks, which are slow to draw.
    if high > _CELL / 2 - 0.001:
        axes.hlines(np.arange(0.5, shown.rows - 1), *across, color=FAINT, linewidth=0.4)
    if wide > _CELL / 2:
        axes.vlines(np.arange(0.5, across[1] - 1), *along, color=FAINT, linewidth=0.4, zorder=1.5)
    if shown.heads.size < shown.rows:
        axes.hlines(shown.heads[1:] - 0.5, *across, color=LINE, linewidth=0.6)
    axes.tick_params(which="both", length=0)
    axes.set_yticks([])
    if is_first:
        named = ((row, label) for row, label in enumerate(shown.labels) if label)
        labels = dict(apart(named, LINE_HEIGHT / high))
        axes.set_yticks(list(labels), labels=list(labels.values()), **SMALL)
        axes.set_ylabel(shown.axis, **SMALL)


def timeline(shown: Timeline, title: str, pixels: int) -> Drawn:
    """Draw the panels of a timeline one above the other, with time from left to right."""
    width = min(max(shown.rows * _CELL / 2, 3.0), room(pixels))
    panels = [panel for panel in shown.panels if panel.units]
    most = room(pixels) / len(panels) - 0.6
    heights = [min(max(panel.units * _CELL, _LEAST), most) for panel in panels]
    gap = 0.6
    canvas = Canvas(width, sum(heights) + gap * (len(heights) - 1))
    images: dict[str, AxesImage] = {}
    top, beside = 0.0, 0.0
    for panel, height in zip(panels, heights, strict=True):
        axes = canvas.axes(0, top, width, height)
        images[panel.name] = heat(axes, panel.values, panel.valid, sideways=True)
        inch = height / panel.units
        beside = max(beside, label_units(axes, panel.units, panel.groups, inch, "y"))
        _times(axes, shown, width / shown.rows, is_first=top == 0, is_last=panel is panels[-1])
        axes.set_ylabel(f"{panel.name}: unit", **SMALL)
        top += height + gap
    missing = "" if all(panel.valid.all() for panel in panels) else shown.missing
    key(canvas, images, missing, width + beside + 0.25)
    longest = max(map(len, shown.labels), default=0)
    canvas.title(0.3 + 0.65 * LETTER * longest, title, shown.note)
    return canvas.figure


def _times(axes: Axes, shown: Timeline, inch: float, is_first: bool, is_last: bool) -> None:
    """Draw a line where an event begins. In the first panel, also name the events; in the last
    panel, also write the times.

    inch: the width of a row of the data. is_first, is_last: whether `axes` are the first or the
    last panel.
    """
    starts = [row for row, label in enumerate(shown.labels) if label]
    axes.vlines(np.array(starts[1:]) - 0.5, *axes.get_ylim(), color=LINE, linewidth=0.6)
    axes.tick_params(which="both", length=0)
    if is_first:
        named = ((float(row), shown.labels[row]) for row in starts)
        for row, label in apart(named, LINE_HEIGHT / inch):
            axes.annotate(
                label,
                (row, 1),
                xycoords=("data", "axes fraction"),
                xytext=(-3, 4),
                textcoords="offset points",
                rotation=40,
                va="bottom",
                **SMALL,
            )
    step = max(1, -(-round(0.35 / inch) // shown.ticks)) * shown.ticks
    ticks = np.arange(0, shown.rows, step)
    axes.set_xticks(ticks - 0.5, labels=[f"{at / shown.ticks:g}" for at in ticks], **SMALL)
    axes.tick_params(labelbottom=is_last)
    if is_last:
        axes.set_xlabel("time, in intervals", **SMALL)
