"""Compare patterns, such as the inputs of examples: cosines, clusters and principal components."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np

from exset.core.text import counted
from exset.grammars.columns.arrays import Flags, Longs
from exset.runtime.pictures.kinds import Dendrogram, Grid, Reals, Scatter, Similarity

SIMILAR = 200
"""The most patterns of a matrix, a tree or a grid."""

POINTS = 1_000
"""The most patterns of a plane."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """Rows of numbers with names, such as the inputs of examples.

    values: float64 [rows, units]. valid: which values are known. of: what the rows are, such as
    inputs. total: the number of all patterns; the rows may be only the first of them.
    """

    values: Reals
    valid: Flags
    names: Sequence[str]
    of: str
    total: int

    def first(self, most: int) -> "Patterns":
        """Return the first `most` rows, or all rows if there are fewer.

        Raises ValueError if there are no values.
        """
        if not self.values.size:
            raise ValueError("there is nothing to draw: no units")
        part = slice(most)
        return Patterns(self.values[part], self.valid[part], self.names[part], self.of, self.total)

    @property
    def note(self) -> str:
        """A text that says which of all patterns the rows are.

        Empty if the rows are all patterns.
        """
        if len(self.names) == self.total:
            return ""
        return f"the first {len(self.names):,} of {counted(self.total, 'pattern')}"

    @property
    def numbers(self) -> Reals:
        """The values, but 0 for an unknown value, and the largest float32 for infinity."""
        largest = float(np.finfo(np.float32).max)
        return np.where(self.valid, np.nan_to_num(self.values, posinf=largest, neginf=-largest), 0)


def square(patterns: Patterns) -> tuple[int, int]:
    """Return the sides of a square that has as many cells as a pattern has units.

    Raises ValueError if there is no such square.
    """
    units = patterns.values.shape[1]
    side = isqrt(units)
    if side * side != units or not units:
        has = f"the {patterns.of} have {counted(units, 'unit')}, which is not a square number"
        raise ValueError(f"{has}: give the height and width of a grid")
    return side, side


def grid(patterns: Patterns, shape: tuple[int, int]) -> Grid:
    """Return patterns as tiles of (height, width) units.

    Raises ValueError if a pattern has another number of units.
    """
    chosen = patterns.first(SIMILAR)
    height, width = shape
    units = chosen.values.shape[1]
    if height * width != units:
        raise ValueError(
            f"a grid of {height}x{width} has {counted(height * width, 'unit')},"
            f" but the {chosen.of} have {units:,}"
        )
    size = (-1, height, width)
    return Grid(
        tiles=chosen.values.reshape(size),
        valid=chosen.valid.reshape(size),
        names=chosen.names,
        of=chosen.of,
        note=chosen.note,
    )


def similarity(patterns: Patterns) -> Similarity:
    """Return the cosine of each pair of patterns."""
    chosen = patterns.first(SIMILAR)
    values = cosines(chosen.numbers)
    return Similarity(values=values, names=chosen.names, of=chosen.of, note=chosen.note)


def dendrogram(patterns: Patterns) -> Dendrogram:
    """Return the tree of patterns. The distance of two patterns is 1 minus their cosine."""
    chosen = patterns.first(SIMILAR)
    merges, order = clusters(1 - cosines(chosen.numbers))
    return Dendrogram(
        merges=merges, order=order, names=chosen.names, of=chosen.of, note=chosen.note
    )


def components(patterns: Patterns) -> Scatter:
    """Return patterns in the plane of their first two principal components."""
    chosen = patterns.first(POINTS)
    points, shares = principal(chosen.numbers)
    return Scatter(points=points, shares=shares, names=chosen.names, of=chosen.of, note=chosen.note)


def cosines(values: Reals) -> Reals:
    """Return the cosine of each pair of rows: float64 [rows, rows].

    A row of zeros has the cosine 1 with rows of zeros, and 0 with all other rows.
    """
    scale = np.abs(values).max(axis=1, initial=0, keepdims=True)
    unit = values / np.where(scale > 0, scale, 1)
    length = np.sqrt(np.square(unit).sum(axis=1, keepdims=True))
    unit = unit / np.where(length > 0, length, 1)
    found = np.clip(unit @ unit.T, -1, 1)
    empty = scale[:, 0] == 0
    found[np.ix_(empty, empty)] = 1
    np.fill_diagonal(found, 1)
    return found


def clusters(distances: Reals) -> tuple[Reals, Longs]:
    """Join the two nearest clusters repeatedly, until only one cluster remains. Return the tree.

    distances: [n, n], the distances of the n members. The distance of two clusters is the mean over
    all pairs of their members.

    Returns two arrays. The first is float64 [n - 1, 3]: row k has the numbers of two clusters and
    their distance; the joined cluster gets the number n + k. The second is int64 [n], the order of
    the leaves in the tree.
    """
    count = len(distances)
    far = distances.astype(np.float64).copy()
    np.fill_diagonal(far, np.inf)
    sizes, numbers = np.ones(count), np.arange(count)
    leaves = {number: [number] for number in range(count)}
    merges = np.zeros((max(count - 1, 0), 3))
    for step in range(count - 1):
        one, other = sorted(divmod(int(far.argmin()), count))
        pair = int(numbers[one]), int(numbers[other])
        merges[step] = (*pair, far[one, other])
        weight = sizes[one] + sizes[other]
        joined = (sizes[one] * far[one] + sizes[other] * far[other]) / weight
        joined[one] = np.inf
        far[one], far[:, one] = joined, joined
        far[other], far[:, other] = np.inf, np.inf
        sizes[one], numbers[one] = weight, count + step
        leaves[count + step] = leaves.pop(pair[0]) + leaves.pop(pair[1])
    [order] = leaves.values() if count else [[]]
    return merges, np.array(order, np.int64)


def principal(values: Reals) -> tuple[Reals, tuple[float, float]]:
    """Return the rows' points in the plane of the largest variance, and each axis's share of the
    variance.

    The points are [rows, 2]. On each axis, the coordinate that is furthest from 0 is positive, so
    that equal data give equal pictures.
    """
    scale = float(np.abs(values).max(initial=0)) or 1.0
    centred = values / scale
    centred = centred - centred.mean(axis=0)
    if centred.shape[1] > len(centred):  # a much smaller matrix with the same components
        squares, left = np.linalg.eigh(centred @ centred.T)
        left, sizes = left[:, ::-1], np.sqrt(np.maximum(squares[::-1], 0))
    else:
        left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    points = np.zeros((len(values), 2))
    axes = min(2, sizes.size)
    points[:, :axes] = left[:, :axes] * sizes[:axes] * scale
    at = np.abs(points).argmax(axis=0)
    points *= np.where(points[at, [0, 1]] < 0, -1, 1)
    total = float(np.square(sizes).sum())
    first, second = np.append(np.square(sizes[:2]), [0.0, 0.0])[:2] / (total or 1)
    return points, (float(first), float(second))
