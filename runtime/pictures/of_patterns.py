"""The pictures of any family with patterns: similarity, tree and principal components.

A pattern is a row of numbers, such as the inputs of an example.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from exset.runtime.pictures import patterns
from exset.runtime.pictures.kinds import Dendrogram, Scatter, Similarity
from exset.runtime.pictures.options import PictureOptions
from exset.runtime.pictures.patterns import POINTS, SIMILAR, Patterns

M = TypeVar("M")


class PatternPictures(Generic[M]):
    """Makes pictures that compare the patterns of a model.

    patterns_of: a function that returns the first patterns of a model.
    """

    def __init__(self, patterns_of: Callable[[M, PictureOptions, int], Patterns]) -> None:
        self._patterns_of = patterns_of

    def similarity(self, model: M, options: PictureOptions) -> Similarity:
        """Return the cosine of each pair of patterns.

        Raises ValueError if there are no patterns.
        """
        return patterns.similarity(self._patterns_of(model, options, SIMILAR))

    def dendrogram(self, model: M, options: PictureOptions) -> Dendrogram:
        """Return the tree of the patterns. Raises ValueError if there are no patterns."""
        return patterns.dendrogram(self._patterns_of(model, options, SIMILAR))

    def components(self, model: M, options: PictureOptions) -> Scatter:
        """Return the patterns in the plane of their first two principal components.

        Raises ValueError if there are no patterns.
        """
        return patterns.components(self._patterns_of(model, options, POINTS))
