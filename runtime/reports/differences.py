"""Differences between two models: the place of each difference, and both values."""

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

from exset.core.html import table
from exset.core.protocols import Model
from exset.core.text import safe

_SHOWN: Final = 60
"""The most characters of a value in a difference."""


@dataclass(frozen=True)
class Difference:
    """One difference of two models. path: where they differ. one, other: both values as text."""

    path: str
    one: str
    other: str

    @classmethod
    def of(cls, path: str, one: object, other: object) -> "Difference":
        """Make a difference of two values, which become text. Long text is cut.

        path: the place of the values in both models.
        """
        return cls(path, _short(str(one)), _short(str(other)))

    def __str__(self) -> str:
        return f"{safe(self.path)}: {safe(self.one)} / {safe(self.other)}"


@dataclass(frozen=True)
class Differences:
    """The differences of two models; true if there are any."""

    what: str
    """The word for the compared units, such as examples."""
    compared: int
    """The number of compared units: the smaller of the two counts."""
    differing: int
    """The number of compared units that differ."""
    first: tuple[Difference, ...]
    """The first differences, in the order of the models."""

    def __bool__(self) -> bool:
        return bool(self.first)

    def _repr_html_(self) -> str:
        title = "equal in meaning"
        if self:
            title = f"{self.differing:,} of {self.compared:,} {self.what} differ"
        rows = ((each.path, each.one, each.other) for each in self.first)
        return table(title, ("place", "first", "second"), rows, len(self.first))

    def to_dict(self) -> dict[str, object]:
        """Return the differences for JSON."""
        return {
            "equal": not self,
            "what": self.what,
            "compared": self.compared,
            "differing": self.differing,
            "first": [{k: safe(v) for k, v in asdict(each).items()} for each in self.first],
        }


Comparison: TypeAlias = Callable[[Any, Any, float, int], Differences]
"""A function that compares two models of a family. Its other arguments are the tolerance, as for
`column_diff.unequal`, and the number of differences to keep.
"""


def by_equality(one: Model, other: Model, tolerance: float, keep: int, /) -> Differences:
    """Compare two models by `==`, for a family without its own comparison.

    `tolerance` has no effect.
    """
    first = () if one == other else (Difference.of("", repr(one), repr(other)),)
    return Differences("models", 1, len(first), first[:keep])


def of_trees(
    one: dict[str, object], other: dict[str, object], tolerance: float, keep: int
) -> Differences:
    """Compare two trees of dicts and lists. one, other: the leaves of the trees, {path: value}.

    tolerance: how much two numbers may differ. keep: how many differences to keep.
    """
    paths = dict.fromkeys((*one, *other))
    found = [path for path in paths if not _same(path, one, other, tolerance)]

    def shown(tree: dict[str, object], path: str) -> str:
        return repr(tree[path]) if path in tree else "nothing"

    first = (Difference.of(path, shown(one, path), shown(other, path)) for path in found[:keep])
    return Differences("values", len(paths), len(found), tuple(first))


def leaves(path: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield (path, value) for each leaf of a tree of dicts and lists."""
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from leaves(f"{path}.{name}" if path else str(name), each)
    elif isinstance(value, list | tuple) and value:
        for number, each in enumerate(value):
            yield from leaves(f"{path}[{number}]", each)
    else:
        yield path, value


def _same(path: str, one: dict[str, object], other: dict[str, object], tolerance: float) -> bool:
    if path not in one or path not in other:
        return False
    a, b = one[path], other[path]
    numbers = isinstance(a, int | float) and isinstance(b, int | float)
    if not numbers or isinstance(a, bool) or isinstance(b, bool):
        return type(a) is type(b) and a == b
    x, y = float(a), float(b)  # type: ignore[arg-type]
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return x == y or abs(x - y) <= tolerance * max(1.0, abs(x), abs(y))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
