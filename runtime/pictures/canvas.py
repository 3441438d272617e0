"""A figure of matplotlib. Axes and texts are placed in inches.

pyplot is not used, so that exset needs no display and changes no global state.
"""

import io
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, Final

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure

from exset.runtime.pictures.kinds import shortened

DPI = 110
"""The usual number of pixels in an inch."""
PIXELS = 2_000
"""The most pixels of a side of a picture, unless the user asks for more."""
LETTER = 0.065
"""The approximate width of a small letter, in inches."""
LINE_HEIGHT = 0.12
"""The least distance of two lines of small text, in inches."""
SMALL: Final[dict[str, Any]] = {"fontsize": 7}
INK, LINE, FAINT = "#000000", "#595959", "#d9d9d9"
NONE = "#f9cf95"
"""The colour of a cell without a value: unlike all greys, reds and blues."""

_MARGIN = 0.12
"""The space around a picture, in inches."""


def plain_text() -> AbstractContextManager[None]:
    """Return a context in which matplotlib reads no text as a formula."""
    return matplotlib.rc_context({"text.usetex": False, "text.parse_math": False})


class Drawn(Figure):
    """A figure whose labels `savefig` never cuts off, and that notebooks show."""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure as matplotlib does, but with "tight" as the default of `bbox_inches`."""
        super().savefig(fname, **{"bbox_inches": "tight", "pad_inches": _MARGIN, **options})

    def dpi_within(self, pixels: int) -> float:
        """Return the pixels of an inch with which no side of the figure has more than `pixels`."""
        dots: float = DPI
        for _ in range(2):  # letters are a little wider with fewer pixels
            self.set_dpi(dots)
            box = self.get_tightbbox()
            longest = max(box.width, box.height) + 2 * _MARGIN
            dots = min(dots, (0.99 * pixels - 2) / longest)
        return dots

    def draw(self, renderer: RendererBase) -> None:
        """Draw the figure. Its texts are never read as formulas, even if the user's styles ask for
        it.
        """
        with plain_text():
            super().draw(renderer)

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=self.dpi_within(PIXELS))
        return out.getvalue()


class Canvas:
    """A figure. Positions are in inches from the upper left corner of its first axes."""

    def __init__(self, width: float, height: float) -> None:
        """Make a figure; its width and height are in inches."""
        self.width, self.height = width, height
        self.figure = Drawn((width, height))

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Add axes whose upper left corner is at (left, top). All arguments are in inches."""
        w, h = self.width, self.height
        axes = self.figure.add_axes((left / w, 1 - (top + height) / h, width / w, height / h))
        axes.patch.set_alpha(0)
        for spine in axes.spines.values():
            spine.set(linewidth=0.8, color=LINE)
        axes.tick_params(labelsize=7, length=2, color=LINE)
        return axes

    def text(self, left: float, top: float, text: str, **looks: Any) -> None:
        """Write a text. Its left edge is at `left` and its lower edge at `top`, in inches."""
        where = {"ha": "left", "va": "bottom", **looks}
        self.figure.text(left / self.width, 1 - top / self.height, text, **where)

    def title(self, above: float, title: str, note: str) -> None:
        """Write the title and a note, `above` inches above the axes."""
        words = ", ".join(filter(None, (shortened(title, 100), note)))
        if words:
            self.text(0, -above, words, fontsize=10)


def room(pixels: int) -> float:
    """Return how many inches remain for the axes, next to labels and titles.

    pixels: the largest side of the picture.
    """
    return max((pixels - 360) / DPI, 2.0)


def apart(labels: Iterable[tuple[float, str]], least: float) -> list[tuple[float, str]]:
    """Return labels, without those that are too near to the label before them.

    labels: pairs (position, text), in ascending order. least: the smallest distance of two
    positions.
    """
    kept: list[tuple[float, str]] = []
    for at, text in labels:
        if not kept or at - kept[-1][0] >= least:
            kept.append((at, text))
    return kept
