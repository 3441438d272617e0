"""Draw pictures with matplotlib, and write them as PNG, SVG or PDF.

matplotlib is imported only when a picture is drawn. Names are never read as mathematical formulas.
"""

import io
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from exset.core.errors import FormatError, Place
from exset.io import files
from exset.io.files import FilePath
from exset.runtime.pictures import kinds
from exset.runtime.pictures.kinds import Picture

if TYPE_CHECKING:
    from exset.runtime.pictures.canvas import Drawn

SUFFIXES = (".png", ".svg", ".pdf")
"""The suffixes of pictures."""

PIXELS = 2_000
"""The most pixels of a side of a picture, unless the user asks for more."""

_MODULES = {
    kinds.Timeline: "heat_maps:timeline",
    kinds.HeatMap: "heat_maps:heat_map",
    kinds.Grid: "grids:grid",
    kinds.ContactSheet: "grids:contact_sheet",
    kinds.Similarity: "charts:similarity",
    kinds.Dendrogram: "charts:dendrogram",
    kinds.Scatter: "charts:scatter",
    kinds.Bars: "charts:bars",
    kinds.Composition: "charts:composition",
}
"""The functions that draw, by the kind of picture."""


def figure(picture: Picture, title: str = "", pixels: int = PIXELS) -> "Drawn":
    """Return a picture as a figure of matplotlib. Raises ImportError without matplotlib.

    pixels: how many pixels a side may have. A larger picture has more space for names.
    """
    _check_library()
    from exset.runtime.pictures.canvas import plain_text

    module, _, name = _MODULES[type(picture)].partition(":")
    draw = getattr(import_module(f"exset.runtime.pictures.{module}"), name)
    with plain_text():
        drawn: Drawn = draw(picture, title, pixels)
    return drawn


def write(picture: Picture, path: FilePath, title: str = "", pixels: int = PIXELS) -> None:
    """Write a picture atomically. The suffix of `path` decides the format: `.png`, `.svg` or
    `.pdf`.

    The user's matplotlib styles are ignored, so that equal data give equal files. Raises
    FormatError for another suffix, OSError, and ImportError without matplotlib.
    """
    form = suffix(path)[1:]
    files.write(path, encoded(picture, form, title, pixels))


def encoded(
    picture: Picture,
    form: str,
    title: str = "",
    pixels: int = PIXELS,
    settings: Mapping[str, object] | None = None,
) -> bytes:
    """Return the bytes of a picture in the format `form`.

    settings: rcParams of matplotlib. Raises ImportError without matplotlib.
    """
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
    out = io.BytesIO()
    with _plain_style(settings or {}):
        drawn = figure(picture, title, pixels)
        drawn.savefig(out, format=form, dpi=drawn.dpi_within(pixels), metadata=metadata)
    return out.getvalue()


def suffix(path: FilePath) -> str:
    """Return the suffix of a picture's path, in lower case.

    Raises FormatError for a suffix that exset does not write.
    """
    name = os.fsdecode(path)
    found = os.path.splitext(name)[1].lower()
    if found not in SUFFIXES:
        message = "unknown type of picture"
        hint = f"use one of the suffixes {', '.join(SUFFIXES)}"
        raise FormatError(message, place=Place(name), hint=hint, code="file-name")
    return found


@contextmanager
def _plain_style(settings: Mapping[str, object]) -> Iterator[None]:
    _check_library()
    from matplotlib import style

    settings = {"svg.hashsalt": "exset", **settings}
    with style.context(["default", settings]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # matplotlib draws a box
        yield


def _check_library() -> None:
    try:
        import_module("matplotlib")
    except ImportError:
        hint = "pip install 'exset[plot]'"
        raise ImportError(f"pictures need matplotlib: {hint}") from None
