"""Draw charts: counts, similarity, clusters, principal components, and classes in batches."""

from collections.abc import Iterator, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from exset.runtime.pictures.canvas import (
    INK,
    LINE,
    LINE_HEIGHT,
    SMALL,
    Canvas,
    Drawn,
    apart,
    room,
)
from exset.runtime.pictures.heat import key
from exset.runtime.pictures.kinds import Bars, Composition, Dendrogram, Reals, Scatter, Similarity

_BAR = "#4c78a8"
_NAMED = 60
"""The most points of a plane that have names."""
_LEGEND = 20
"""The most classes that have a line in the legend."""


def bars(shown: Bars, title: str, pixels: int) -> Drawn:
    """Draw a horizontal bar for each count. If there are many bars, only some have a name."""
    count = len(shown.names)
    height = min(max(0.18 * count, 0.5), room(pixels))
    canvas = Canvas(5.0, height)
    axes = canvas.axes(0, 0, canvas.width, height)
    axes.barh(np.arange(count), shown.counts, height=0.8, color=_BAR)
    axes.set_ylim(count - 0.4, -0.6)
    axes.set_xlim(0, max(max(shown.counts, default=0), 1) * 1.12)
    axes.spines[["top", "right"]].set_visible(False)
    _names(axes, shown.names, height / max(count, 1))
    for row, text in apart(
        ((row, f"{number:,}") for row, number in enumerate(shown.counts)),
        LINE_HEIGHT * count / height,
    ):
        axes.text(shown.counts[int(row)], row, f" {text}", va="center", **SMALL)
    axes.set_xlabel(f"number of {shown.axis}", **SMALL)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    canvas.title(0.1, title, ", ".join(filter(None, (shown.of, shown.note))))
    return canvas.figure


def similarity(shown: Similarity, title: str, pixels: int) -> Drawn:
    """Draw the cosine of each pair of patterns as a colour."""
    count = len(shown.names)
    size = min(max(0.17 * count, 1.2), room(pixels))
    canvas = Canvas(size, size)
    axes = canvas.axes(0, 0, size, size)
    negative = shown.values.min(initial=0) < 0
    image = axes.imshow(
        shown.values,
        cmap="RdBu_r" if negative else "Greys",
        vmin=-1 if negative else 0,
        vmax=1,
        aspect="auto",
        interpolation="nearest",
    )
    _names(axes, shown.names, size / count)
    below = apart(enumerate(shown.names), LINE_HEIGHT * count / size)
    axes.set_xticks([at for at, _ in below], labels=[name for _, name in below], **SMALL)
    axes.tick_params(axis="x", labelrotation=90, length=0)
    key(canvas, {"cosine": image}, "", size + 0.25)
    canvas.text(size + 0.25, 1.02, "cosine", fontsize=7)
    canvas.title(0.1, title, ", ".join(filter(None, (shown.heading, shown.note))))
    return canvas.figure


def dendrogram(shown: Dendrogram, title: str, pixels: int) -> Drawn:
    """Draw the tree of patterns, with the leaves on the left."""
    count = len(shown.names)
    height = min(max(0.17 * count, 0.5), room(pixels))
    canvas = Canvas(5.0, height)
    axes = canvas.axes(0, 0, canvas.width, height)
    places = {int(leaf): (0.0, float(row)) for row, leaf in enumerate(shown.order)}
    lines = []
    for step, (one, other, far) in enumerate(shown.merges.tolist()):
        (x, y), (z, w) = places[int(one)], places[int(other)]
        lines.append([(x, y), (far, y), (far, w), (z, w)])
        places[count + step] = far, (y + w) / 2
    axes.add_collection(LineCollection(lines, colors=[INK], linewidths=0.9))
    most = float(shown.merges[:, 2].max(initial=0)) or 1.0
    axes.set_xlim(-0.01 * most, 1.05 * most)
    axes.set_ylim(count - 0.5, -0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)
    _names(axes, [shown.names[at] for at in shown.order.tolist()], height / max(count, 1))
    axes.set_xlabel("mean distance (1 - cosine)", **SMALL)
    canvas.title(0.1, title, ", ".join(filter(None, (shown.heading, shown.note))))
    return canvas.figure


def scatter(shown: Scatter, title: str, pixels: int) -> Drawn:
    """Draw patterns as points; a few of them have their names."""
    size = min(5.0, room(pixels))
    canvas = Canvas(size, size)
    axes = canvas.axes(0, 0, size, size)
    axes.axhline(0, color=LINE, linewidth=0.4)
    axes.axvline(0, color=LINE, linewidth=0.4)
    axes.plot(shown.points[:, 0], shown.points[:, 1], "o", color=_BAR, markersize=3.5, alpha=0.7)
    axes.margins(0.08)
    for (x, y), name in _point_names(shown):
        axes.annotate(name, (x, y), xytext=(3, 2), textcoords="offset points", **SMALL)
    first, second = (f"{share:.0%} of the variance" for share in shown.shares)
    axes.set_xlabel(f"first component, {first}", **SMALL)
    axes.set_ylabel(f"second component, {second}", **SMALL)
    notes = [shown.heading, shown.note]
    if len(shown.names) > _NAMED:
        notes.append(f"the first {_NAMED} with names")
    canvas.title(0.1, title, ", ".join(filter(None, notes)))
    return canvas.figure


def _point_names(shown: Scatter) -> Iterator[tuple[tuple[float, float], str]]:
    """Yield ((x, y), name) for points. Points that are very close share one name."""
    spread = np.ptp(shown.points, axis=0).max(initial=0) / 25 or 1.0
    cells: dict[tuple[int, ...], list[int]] = {}
    for number, cell in enumerate(np.rint(shown.points[:_NAMED] / spread).astype(int).tolist()):
        cells.setdefault(tuple(cell), []).append(number)
    for first, *others in cells.values():
        x, y = shown.points[first].tolist()
        yield (x, y), shown.names[first] + (f" and {len(others):,} more" if others else "")


def composition(shown: Composition, title: str, pixels: int) -> Drawn:
    """Draw a row for each batch, and a cell for each item.

    The cell's colour is the item's class.
    """
    batches, width = shown.classes.shape
    high = min(max(0.17 * batches, 0.4), room(pixels))
    wide = min(max(0.17 * width, 1.5), room(pixels))
    canvas = Canvas(wide, high)
    axes = canvas.axes(0, 0, wide, high)
    count = max(len(shown.names), 1)
    colours = _colours(count)
    axes.imshow(colours[shown.classes], aspect="auto", interpolation="nearest")
    axes.vlines(
        np.arange(shown.samples, width, shown.samples) - 0.5,
        *axes.get_ylim(),
        color="white",
        linewidth=1 if wide / width > 0.03 else 0.2,
    )
    _names(axes, [str(number) for number in range(batches)], high / batches)
    axes.set_ylabel("batch", **SMALL)
    axes.set_xlabel("item of the batch", **SMALL)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    used = np.unique(shown.classes)[:_LEGEND].tolist()
    patches = [Patch(color=colours[number], label=shown.names[number]) for number in used]
    more = len(np.unique(shown.classes)) - len(used)
    canvas.figure.legend(
        handles=patches,
        loc="upper left",
        bbox_to_anchor=(1 + 0.1 / wide, 1),
        fontsize=7,
        frameon=False,
        borderaxespad=0,
        title=f"{len(used)} of {len(used) + more:,} classes" if more > 0 else "classes",
        title_fontsize=7,
    )
    canvas.title(0.1, title, ", ".join(filter(None, (shown.heading, shown.note))))
    return canvas.figure


def _colours(count: int) -> Reals:
    """Return a colour for each class, [count, 3]; neighbours differ clearly."""
    if count <= 20:
        table = matplotlib.colormaps["tab20"](np.arange(20))[[*range(0, 20, 2), *range(1, 20, 2)]]
        return np.asarray(table[:count, :3], np.float64)
    # Steps of the golden ratio around the colour circle, in three degrees of lightness.
    steps = np.arange(count)
    hue = steps * 0.61803398875 % 1
    lightness = np.array([0.9, 0.7, 0.5])[steps % 3]
    return np.asarray(matplotlib.colormaps["hsv"](hue)[:, :3] * lightness[:, None], np.float64)


def _names(axes: Axes, names: Sequence[str], inch: float) -> None:
    """Write the name of each row next to the row. inch: the height of a row."""
    kept = apart(enumerate(names), LINE_HEIGHT / inch)
    axes.set_yticks([at for at, _ in kept], labels=[name for _, name in kept], **SMALL)
    axes.tick_params(axis="y", length=0)
