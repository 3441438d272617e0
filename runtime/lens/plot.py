"""Draw pictures of examples: inputs and targets as heat maps, one row for each event or tick.

matplotlib draws them. It is imported only when a picture is drawn. pyplot is not used, so that
exset needs no display and changes no global state. Names are never read as mathematical formulas.
"""

import io
import os
import warnings
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from exset.core.errors import FormatError, Place
from exset.io import files
from exset.io.files import FilePath
from exset.runtime.lens.network_layout import SIDES, Side
from exset.runtime.lens.plot_axes import DPI, LINE, NONE, SMALL, WIDE, Axes, Image, columns, heat
from exset.runtime.lens.plot_rows import PictureRows, shortened

SUFFIXES = (".png", ".svg", ".pdf")
"""The suffixes of pictures."""

_CELL, _LEAST = 0.17, 0.6
"""The size of a cell, and the least width of a side of the network, in inches."""
_GAP = 0.3
_FAINT = "0.85"

Figure: TypeAlias = Any
"""A matplotlib.figure.Figure; the types of an optional package are not available."""


def figure(shown: PictureRows, title: str = "") -> Figure:
    """Return a figure of matplotlib: inputs and targets side by side, group by group.

    Black is the highest value; if some values are negative, red is above 0 and blue is below 0. A
    cell without a value, or with a target that does not count, is orange. Raises ImportError
    without matplotlib.
    """
    with _matplotlib().rc_context({"text.usetex": False, "text.parse_math": False}):
        return _Drawing(shown, shortened(title, 100)).figure


def write(shown: PictureRows, path: FilePath, title: str = "") -> None:
    """Write a picture atomically; the suffix decides the format: `.png`, `.svg` or `.pdf`.

    The user's matplotlib styles are ignored, so that equal examples give equal files. Raises
    FormatError for another suffix, OSError, ImportError.
    """
    form = suffix(path)[1:]
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
    out = io.BytesIO()
    _matplotlib()
    style = import_module("matplotlib.style")
    with style.context(["default", {"svg.hashsalt": "exset"}]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # matplotlib draws a box
        drawn = figure(shown, title)
        drawn.savefig(out, format=form, dpi=DPI, bbox_inches="tight", metadata=metadata)
    files.write(path, out.getvalue())


def suffix(path: FilePath) -> str:
    """Return the suffix of a picture, in lower case. Raises FormatError for another suffix."""
    name = os.fsdecode(path)
    found = os.path.splitext(name)[1].lower()
    if found not in SUFFIXES:
        message = "unknown type of picture"
        hint = f"use one of the suffixes {', '.join(SUFFIXES)}"
        raise FormatError(message, place=Place(name), hint=hint, code="file-name")
    return found


def _matplotlib() -> ModuleType:
    try:
        return import_module("matplotlib")
    except ImportError:
        hint = "pip install 'exset[plot]'"
        raise ImportError(f"pictures need matplotlib: {hint}") from None


class _Drawing:
    """A figure; positions and sizes are in inches, from the upper left corner of the first side."""

    def __init__(self, shown: PictureRows, title: str) -> None:
        self.shown, arrays = shown, shown.arrays
        cell = _CELL if shown.ticks is None else _CELL / 2
        self.height = max(len(arrays) * cell, 2 * _CELL)
        layouts = dict(zip(SIDES, (arrays.input_layout, arrays.target_layout), strict=True))
        widths = {
            side: min(max(layout.units * _CELL, _LEAST), WIDE)
            for side, layout in layouts.items()
            if layout.units
        }
        self.width = sum(widths.values()) + _GAP * (len(widths) - 1)
        self.figure = import_module("matplotlib.figure").Figure((self.width, self.height))
        images: dict[Side, Image] = {}
        begins: dict[Side, float] = {}
        left = above = 0.0
        all_valid = True
        for side, width in widths.items():
            axes = self._axes(left, 0, width, self.height)
            valid = arrays.input_mask if side == "inputs" else arrays.target_mask
            # In float64, no difference of two float32 is infinite.
            images[side] = heat(axes, getattr(arrays, side).astype(np.float64), valid)
            above = max(above, columns(axes, layouts[side], width))
            self._rows(axes, first=left == 0, width=width / layouts[side].units)
            all_valid = all_valid and bool(valid.all())
            begins[side] = left
            left += width + _GAP
        for side, begin in begins.items():
            self._text(begin, -above - 0.07, side, fontsize=9, fontweight="bold")
        self._key(images, all_valid)
        words = filter(None, (title, shown.cut))
        self._text(0, -above - 0.3, ", ".join(words), fontsize=10)

    def _axes(self, left: float, top: float, width: float, height: float) -> Axes:
        w, h = self.width, self.height
        return self.figure.add_axes((left / w, 1 - (top + height) / h, width / w, height / h))

    def _text(self, left: float, top: float, text: str, **looks: object) -> None:
        self.figure.text(left / self.width, 1 - top / self.height, text, va="bottom", **looks)

    def _rows(self, axes: Axes, first: bool, width: float) -> None:
        """Draw lines between examples and between wide cells; the first side has labels."""
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

    def _key(self, images: dict[Side, Image], all_valid: bool) -> None:
        """Draw colour bars on the right; one bar if both sides have the same scale."""
        left, top = self.width + 0.25, 0.0
        scales = {(image.norm.vmin, image.norm.vmax) for image in images.values()}
        if len(scales) == 1:
            images = dict(list(images.items())[:1])
        for side, image in images.items():
            bar = self.figure.colorbar(image, cax=self._axes(left, top, 0.12, 0.8))
            bar.outline.set_linewidth(0.4)
            bar.ax.tick_params(labelsize=7, length=2)
            bar.ax.yaxis.get_offset_text().set_fontsize(7)
            if len(images) > 1:
                bar.ax.set_title(side, fontsize=7, loc="left", pad=6)
            top += 1.2
        if not all_valid:
            axes = self._axes(left, top - (0.15 if len(images) == 1 else 0.2), 0.12, 0.12)
            axes.set(facecolor=NONE, xticks=[], yticks=[])
            text = "no value (NaN)" if self.shown.ticks is None else "no value (NaN, or grace)"
            axes.text(1.4, 0.5, text, va="center", **SMALL)
