"""Pictures of examples: their inputs and targets as heat maps, one row an event or a tick.

Drawn by matplotlib, which is imported when the first is, without its pyplot: no display, no state
that others see. Names are never read as mathematical formulas.
"""

import io
import os
import warnings
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import FormatError, Place
from exset.grammars.columns.arrays import Flags
from exset.io import files
from exset.io.files import FilePath
from exset.runtime.lens.network_layout import SIDES, Side
from exset.runtime.lens.plot_axes import DPI, LINE, NONE, SMALL, WIDE, Axes, Image, columns, heat
from exset.runtime.lens.plot_rows import PictureRows, shortened

SUFFIXES = (".png", ".svg", ".pdf")
"""What a picture may be, by the end of its name."""

_CELL, _LEAST = 0.17, 0.6
"""Inches: the side of a cell, and the least width of a side of the network."""
_GAP = 0.3
_FAINT = "0.85"
_WORDS = ("no value (NaN)", "no value (NaN, or grace)")


Figure: TypeAlias = Any
"""A matplotlib.figure.Figure: the types of what is optional are not at hand."""


def figure(shown: PictureRows, title: str = "") -> Figure:
    """A figure of matplotlib: inputs and targets side by side, group by group.

    Black is the highest value; where there are negative ones, too, red is above 0 and blue below.
    What has no value, or no target that counts, is orange. Raises ImportError without matplotlib.
    """
    with _matplotlib().rc_context({"text.usetex": False, "text.parse_math": False}):
        return _Drawing(shown, shortened(title, 100)).figure


def write(shown: PictureRows, path: FilePath, title: str = "") -> None:
    """Write a picture as its name says: `.png`, `.svg` or `.pdf`; whole, or not at all.

    The same in every place: styles that a user has set are not asked. Raises FormatError for
    another name, OSError, ImportError.
    """
    form = suffix(path)[1:]
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
    out = io.BytesIO()
    _matplotlib()
    style = import_module("matplotlib.style")
    with style.context(["default", {"svg.hashsalt": "exset"}]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a box stands for it
        drawn = figure(shown, title)
        drawn.savefig(out, format=form, dpi=DPI, bbox_inches="tight", metadata=metadata)
    files.write(path, out.getvalue())


def suffix(path: FilePath) -> str:
    """Which picture a name asks for. Raises FormatError for none."""
    name = os.fsdecode(path)
    found = os.path.splitext(name)[1].lower()
    if found not in SUFFIXES:
        message = "nothing says what picture this is to be"
        hint = f"use a name in {', '.join(SUFFIXES)}"
        raise FormatError(message, place=Place.of(name), hint=hint, code="file-name")
    return found


def _matplotlib() -> ModuleType:
    try:
        return import_module("matplotlib")
    except ImportError:
        hint = "pip install 'exset[plot]'"
        raise ImportError(f"pictures need matplotlib: {hint}") from None


class _Drawing:
    """Places everything by inches, from the upper left corner of the first side."""

    def __init__(self, shown: PictureRows, title: str) -> None:
        self.shown = shown
        high = _CELL if shown.ticks is None else _CELL / 2
        self.height = max(len(shown.arrays) * high, 2 * _CELL)
        layouts = shown.arrays.input_layout, shown.arrays.target_layout
        sides = [each for each in zip(SIDES, layouts, strict=True) if each[1].units]
        widths = [min(max(layout.units * _CELL, _LEAST), WIDE) for _, layout in sides]
        self.width = sum(widths) + _GAP * (len(sides) - 1)
        self.figure = import_module("matplotlib.figure").Figure((self.width, self.height))
        begins: list[float] = []
        left = above = 0.0
        images: dict[Side, Image] = {}
        blank = False
        for (side, layout), width in zip(sides, widths, strict=True):
            axes = self._axes(left, 0, width, self.height)
            values, given = self._values(side)
            images[side] = heat(axes, values, given)
            above = max(above, columns(axes, layout, width))
            self._rows(axes, first=left == 0, width=width / layout.units)
            blank = blank or not given.all()
            begins.append(left)
            left += width + _GAP
        for begin, (side, _) in zip(begins, sides, strict=True):
            self._text(begin, -above - 0.07, side, fontsize=9, fontweight="bold")
        self._key(images, blank)
        words = [title, "" if shown.cut is None else shown.cut]
        self._text(0, -above - 0.3, ", ".join(filter(None, words)), fontsize=10)

    def _values(self, side: Side) -> tuple[NDArray[np.float64], Flags]:
        """The numbers and those that count; float64, in which all of float32 has a range."""
        arrays = self.shown.arrays
        if side == "inputs":
            return arrays.inputs.astype(np.float64), arrays.input_mask
        return arrays.targets.astype(np.float64), arrays.target_mask

    def _axes(self, left: float, top: float, width: float, height: float) -> Axes:
        w, h = self.width, self.height
        return self.figure.add_axes((left / w, 1 - (top + height) / h, width / w, height / h))

    def _text(self, left: float, top: float, text: str, **looks: object) -> None:
        self.figure.text(left / self.width, 1 - top / self.height, text, va="bottom", **looks)

    def _rows(self, axes: Axes, first: bool, width: float) -> None:
        """Draw what parts rows, and cells that are wide enough; the first side has labels."""
        count = len(self.shown.arrays)
        heads = self.shown.heads
        if heads.size < count:
            axes.hlines(heads[1:] - 0.5, *axes.get_xlim(), color=LINE, linewidth=0.6)
        axes.set_yticks(np.arange(-0.5, count), minor=True)
        if width > _CELL / 2:
            axes.set_xticks(np.arange(-0.5, axes.get_xlim()[1]), minor=True)
        axes.grid(which="minor", color=_FAINT, linewidth=0.4)
        axes.tick_params(which="both", length=0)
        labels = self.shown.labels if first else [""] * count
        axes.set_yticks(np.arange(count), labels=labels, **SMALL)

    def _key(self, images: dict[Side, Image], blank: bool) -> None:
        """Draw what colours mean, right of all: one bar if both sides have the same scale."""
        left, top = self.width + 0.25, 0.0
        scales = {side: (image.norm.vmin, image.norm.vmax) for side, image in images.items()}
        if len(set(scales.values())) == 1:
            images = dict(list(images.items())[:1])
        for side, image in images.items():
            bar = self.figure.colorbar(image, cax=self._axes(left, top, 0.12, 0.8))
            bar.outline.set_linewidth(0.4)
            bar.ax.tick_params(labelsize=7, length=2)
            bar.ax.yaxis.get_offset_text().set_fontsize(7)
            if len(images) > 1:
                bar.ax.set_title(side, fontsize=7, loc="left", pad=6)
            top += 1.2
        if blank:
            axes = self._axes(left, top - (0.15 if len(images) == 1 else 0.2), 0.12, 0.12)
            axes.set(facecolor=NONE, xticks=[], yticks=[])
            axes.text(1.4, 0.5, _WORDS[self.shown.ticks is not None], va="center", **SMALL)
