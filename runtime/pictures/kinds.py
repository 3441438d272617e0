"""The kinds of pictures. An object says what a picture shows, before the picture is drawn.

Making these objects needs no matplotlib. Their attribute `alternative` describes the picture in
words, for people who do not see it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.core.text import counted, safe
from exset.grammars.columns.arrays import Flags, Longs

Reals = NDArray[np.float64]
Bytes = NDArray[np.uint8]

NAME = 32
"""The most characters of a name in a picture."""


def shortened(text: str, most: int = NAME) -> str:
    """Return a text that is safe to show. A long text becomes its beginning and its end.

    most: how many characters the result may have.
    """
    if len(text) <= most and len(text := safe(text)) <= most:
        return text
    begin, end = safe(text[:most]), safe(text[-most:])
    kept = most // 3
    return f"{begin[: most - kept - 1]}…{end[len(end) - kept :]}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Picture(ABC):
    """What a picture shows. note: which part of the data; empty if it shows all data."""

    note: str = ""

    @property
    @abstractmethod
    def heading(self) -> str:
        """What the picture shows, in a few words."""

    @property
    @abstractmethod
    def details(self) -> str:
        """The contents of the picture in a sentence."""

    @property
    def alternative(self) -> str:
        """The picture in words."""
        note = f" ({self.note})" if self.note else ""
        return f"{self.heading}{note}: {self.details}"


@dataclass(frozen=True, eq=False)
class Panel:
    """One side of a heat map: the inputs or the targets.

    values: [rows, units]. valid: which values are known. groups: {name: number of units}.
    """

    name: str
    values: Reals
    valid: Flags
    groups: Mapping[str, int] = field(default_factory=dict)

    @property
    def units(self) -> int:
        """The number of units."""
        return int(self.values.shape[1])

    def __str__(self) -> str:
        known = self.values[self.valid & np.isfinite(self.values)]
        between = f" with values from {known.min():g} to {known.max():g}" if known.size else ""
        names = ", ".join(f"{shortened(name)} {size}" for name, size in self.groups.items())
        return f"{self.name}: {counted(self.units, 'unit')}{f' ({names})' * bool(names)}{between}"


@dataclass(frozen=True, eq=False, kw_only=True)
class HeatMap(Picture):
    """Numbers as colours. A row is an event, a tick or a row of a table, and a column is a unit.

    labels: the label of each row. heads: int64, the first row of each example (or of what the model
    has instead of examples). axis: what a row is, such as "tick". missing: what a cell without a
    value means. is_small: draw rows of half the height.
    """

    panels: Sequence[Panel]
    labels: Sequence[str]
    heads: Longs
    axis: str
    missing: str = "no value (NaN)"
    is_small: bool = False

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.labels)

    @property
    def heading(self) -> str:
        """What the picture shows."""
        return " and ".join(panel.name for panel in self.panels)

    @property
    def details(self) -> str:
        """A text with the number of rows, and the range of values of each side."""
        return "; ".join((f"a heat map with {counted(self.rows, 'row')}", *map(str, self.panels)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Timeline(HeatMap):
    """A heat map with time from left to right, and a row for each unit."""

    ticks: int
    """The number of ticks in an interval of time."""

    @property
    def heading(self) -> str:
        """What the picture shows."""
        return f"{super().heading} over time"

    @property
    def details(self) -> str:
        """The number of ticks, and the values of each side."""
        ticks = f"{counted(self.rows, 'tick')}, {self.ticks} in an interval of time"
        return "; ".join((ticks, *map(str, self.panels)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Grid(Picture):
    """Patterns as small pictures, one tile for each pattern.

    tiles: [patterns, height, width]. valid: which numbers in `tiles` are known. of: what the
    patterns are, such as inputs.
    """

    tiles: Reals
    valid: Flags
    names: Sequence[str]
    of: str

    @property
    def heading(self) -> str:
        """What the picture shows."""
        return f"{self.of} as a grid"

    @property
    def details(self) -> str:
        """The number of tiles and their size."""
        count, height, width = self.tiles.shape
        named = ", ".join(self.names[:8]) + ", ..." * (len(self.names) > 8)
        return f"{counted(count, 'tile')} of {height} x {width} units: {named}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Similarity(Picture):
    """The similarity of patterns, as the cosine of each pair.

    values: float [patterns, patterns]. names: the names of the patterns. of: what the patterns are,
    such as inputs.
    """

    values: Reals
    names: Sequence[str]
    of: str

    @property
    def heading(self) -> str:
        """What the picture shows."""
        return f"similarity of {self.of}"

    @property
    def details(self) -> str:
        """The most similar pairs of different patterns."""
        apart = np.where(np.tri(len(self.names), dtype=np.bool_), -np.inf, self.values)
        best = np.argsort(apart, axis=None)[::-1][:3]
        pairs = [divmod(int(at), len(self.names)) for at in best]
        near = [
            f"{self.names[one]} and {self.names[other]} {self.values[one, other]:.2f}"
            for one, other in pairs
            if one < other
        ]
        of = f"cosines of {counted(len(self.names), 'pattern')}"
        return "; ".join((of, *(("highest: " + ", ".join(near),) if near else ())))


@dataclass(frozen=True, eq=False, kw_only=True)
class Dendrogram(Picture):
    """A tree of patterns, which are joined step by step.

    merges: [patterns - 1, 3], as `patterns.clusters` returns. order: the order of the leaves. of:
    what the patterns are, such as inputs.
    """

    merges: Reals
    order: Longs
    names: Sequence[str]
    of: str

    @property
    def heading(self) -> str:
        """What the picture shows."""
        return f"clusters of {self.of}"

    @property
    def details(self) -> str:
        """The order of the leaves."""
        leaves = [self.names[at] for at in self.order.tolist()]
        named = ", ".join(leaves[:8]) + ", ..." * (len(leaves) > 8)
        return f"a tree of {counted(len(leaves), 'pattern')}, from top to bottom: {named}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Scatter(Picture):
    """Patterns as points in a plane.

    points: [patterns, 2]. shares: each axis's share of the variance. of: what the patterns are,
    such as inputs.
    """

    points: Reals
    shares: tuple[float, float]
    names: Sequence[str]
    of: str

    @property
    def heading(self) -> str:
        """What the picture shows."""
        return f"principal components of {self.of}"

    @property
    def details(self) -> str:
        """The share of the variance that the plane shows."""
        one, other = self.shares
        count = counted(len(self.names), "pattern")
        return f"{count}; the two components explain {one:.0%} and {other:.0%} of the variance"


@dataclass(frozen=True, eq=False, kw_only=True)
class Bars(Picture):
    """Counts with their names, the most frequent first. of: what is counted, such as classes."""

    names: Sequence[str]
    counts: Sequence[int]
    of: str
    axis: str

    @property
    def heading(self) -> str:
        """What the picture shows."""
        return self.of

    @property
    def details(self) -> str:
        """The first counts."""
        first = zip(self.names[:8], self.counts[:8], strict=True)
        named = ", ".join(f"{name} {count:,}" for name, count in first)
        return f"number of {self.axis}: {named}" + ", ..." * (len(self.names) > 8)


@dataclass(frozen=True, eq=False, kw_only=True)
class Composition(Picture):
    """The class of each item in some batches.

    classes: int64 [batches, items], indices into `names`. names: the names of all classes.
    """

    classes: Longs
    names: Sequence[str]
    samples: int
    """How many items of a class follow each other."""

    @property
    def heading(self) -> str:
        """What the picture shows."""
        return "classes in batches"

    @property
    def details(self) -> str:
        """The number of batches and classes."""
        batches, width = self.classes.shape
        each = counted(width // self.samples, "class")
        of = f"{each} with {counted(self.samples, 'item')} of each"
        return f"{counted(batches, 'batch')}; each has {of}, out of {len(self.names):,}"


@dataclass(frozen=True, eq=False, kw_only=True)
class ContactSheet(Picture):
    """Images with captions. tiles: an array for each image, uint8 [height, width, 3], in the order
    red, green, blue.
    """

    tiles: Sequence[NDArray[Any]]
    captions: Sequence[str]

    @property
    def heading(self) -> str:
        """What the picture shows."""
        return "images"

    @property
    def details(self) -> str:
        """The captions."""
        named = ", ".join(self.captions[:8]) + ", ..." * (len(self.captions) > 8)
        return f"{counted(len(self.tiles), 'image')}: {named}"
