"""Comparisons of patterns: cosines, clusters and principal components."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from exset.runtime.pictures.kinds import Reals
from exset.runtime.pictures.patterns import (
    Patterns,
    clusters,
    components,
    cosines,
    dendrogram,
    grid,
    principal,
    similarity,
    square,
)

VALUES = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12),
    elements=st.floats(-1e6, 1e6).map(lambda x: round(x, 3)),
)


def patterns(values: Reals) -> Patterns:
    names = [f"p{number}" for number in range(len(values))]
    return Patterns(values, ~np.isnan(values), names, "inputs", len(values))


@given(VALUES)
def test_cosines(values: Reals) -> None:
    found = cosines(values)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.diag(found), 1)
    norms = np.linalg.norm(values, axis=1)
    for one, other in np.argwhere(np.outer(norms, norms) > 0).tolist():
        if one != other:
            expected = values[one] @ values[other] / (norms[one] * norms[other])
            assert abs(found[one, other] - expected) < 1e-9
    empty = norms == 0
    assert (found[np.ix_(empty, empty)] == 1).all() and (found[np.ix_(empty, ~empty)] == 0).all()


@given(VALUES)
def test_clusters(values: Reals) -> None:
    """Each step joins two clusters that exist; its distance is the mean over all pairs."""
    distances = 1 - cosines(values)
    merges, order = clusters(distances)
    count = len(values)
    assert sorted(order.tolist()) == list(range(count))
    members = {number: [number] for number in range(count)}
    for step, (one, other, far) in enumerate(merges.tolist()):
        left, right = members.pop(int(one)), members.pop(int(other))
        assert abs(far - distances[np.ix_(left, right)].mean()) < 1e-9
        others = [distances[np.ix_(a, b)].mean() for a in members.values() for b in members.values()
                  if a is not b]  # fmt: skip
        assert far <= min(others, default=np.inf) + 1e-9
        members[count + step] = left + right
    assert len(members) == 1


@given(VALUES)
def test_principal_components(values: Reals) -> None:
    """The plane has the most variance that a plane can have, and the shares say how much."""
    points, shares = principal(values)
    centred = values - values.mean(axis=0)
    sizes = np.linalg.svd(centred, compute_uv=False)
    total, scale = float(np.square(sizes).sum()), max(float(np.abs(values).max()), 1e-3)
    first = [*np.square(sizes).tolist(), 0, 0][:2]
    np.testing.assert_allclose(np.square(points).sum(axis=0), first, atol=1e-6 * scale**2)
    if total > 1e-9 * scale**2:
        np.testing.assert_allclose(shares, [each / total for each in first], atol=1e-5)
    at = np.abs(points).argmax(axis=0)
    assert (points[at, [0, 1]] >= 0).all()


def test_unknown_and_infinite_numbers() -> None:
    values = np.array([[1, np.nan], [np.inf, 0], [0, 0], [-np.inf, 1]], np.float64)
    assert np.isfinite(similarity(patterns(values)).values).all()
    assert np.isfinite(components(patterns(values)).points).all()
    assert np.isfinite(dendrogram(patterns(values)).merges).all()


def test_words() -> None:
    """The alternative text of a picture says what is in it."""
    values = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 0.1, 0, 0]], np.float64)
    shown = similarity(patterns(values))
    assert shown.alternative.startswith(
        "similarity of inputs: cosines of 3 patterns; highest: p0 and"
    )
    assert "p0 and p2 1.00" in shown.alternative
    assert "p1" in dendrogram(patterns(values)).alternative
    assert "2 x 2 units: p0, p1, p2" in grid(patterns(values), square(patterns(values))).alternative


def test_sizes_of_grids() -> None:
    values = np.zeros((2, 6))
    assert grid(patterns(values), (2, 3)).tiles.shape == (2, 2, 3)
    with pytest.raises(ValueError, match="a grid of 2x2 has 4 units, but the inputs have 6"):
        grid(patterns(values), (2, 2))
    with pytest.raises(ValueError, match="which is not a square number"):
        square(patterns(values))
    with pytest.raises(ValueError, match="no units"):
        grid(patterns(np.zeros((2, 0))), (0, 0))


def test_only_the_first_are_compared() -> None:
    values = np.ones((500, 3))
    shown = similarity(Patterns(values, values > 0, ["a"] * 500, "inputs", 900))
    assert shown.values.shape == (200, 200)
    assert shown.note == "the first 200 of 900 patterns"
