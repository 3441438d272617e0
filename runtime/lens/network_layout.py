"""The layout of a network: the positions of its units in a row of an array."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType
from typing import Literal

import numpy as np

from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.inputs import raw, shown
from exset.grammars.lens.examples import ExampleSet

Side = Literal["inputs", "targets"]

SIDES: tuple[Side, Side] = ("inputs", "targets")

MODEL = "example set"
"""The name of an example set in errors."""


@dataclass(frozen=True)
class Layout:
    """The positions of the units of a network in a row of an array. Groups follow one after
    another.

    units: the number of units in a row. groups: the size of each group, in the order of the
    network. Without groups, no range may name a group. Raises ValueError if the sizes do not add up
    to `units`.
    """

    units: int
    groups: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", MappingProxyType(dict(self.groups)))
        if self.groups and sum(self.groups.values()) != self.units:
            total = sum(self.groups.values())
            raise ValueError(f"units must be {total}, the sum of the group sizes, not {self.units}")

    @classmethod
    def of(cls, name: str, layout: "LayoutLike") -> "Layout":
        """Make a layout from a dict of the sizes of groups, or from a number of units.

        name: `inputs` or `targets`, for errors.
        """
        if isinstance(layout, Layout):
            return layout
        if not isinstance(layout, Mapping):
            if isinstance(layout, str | Iterable):
                what = "a number of units, or group sizes by name"
                example = f"{name}={{{_example(layout)!r}: 10}}"
                raise TypeError(f"{name} must be {what}, such as {example}, not {shown(layout)}")
            return cls(_size(name, layout))
        sizes = {group: _size(f"{name}[{group!r}]", size) for group, size in layout.items()}
        for group in sizes:
            if not isinstance(group, str):
                raise ValueError(f"{name}: names of groups must be strings, not {shown(group)}")
        return cls(sum(sizes.values()), sizes)

    def __getitem__(self, group: str) -> slice:
        """Return the positions of a group's units in a row.

        Raises KeyError for an unknown group.
        """
        begin, size = self._spans()[group]
        return slice(begin, begin + size)

    def places(self, examples: ExampleSet) -> tuple[Longs, Longs]:
        """Return two arrays: the position in a row of each group of a set, and the size of each
        group.

        Both are int64 [groups + 1]. The last element is for the whole network. A group that is not
        in the layout has the size -1.
        """
        spans = {raw("group", name): span for name, span in self._spans().items()}
        rows = [*(spans.get(name, (0, -1)) for name in examples.groups), (0, self.units)]
        begin, size = np.array(rows, np.int64).T
        return begin, size

    def _spans(self) -> dict[str, tuple[int, int]]:
        """Return where each group begins in a row, and its size."""
        begins = accumulate(self.groups.values(), initial=0)
        return dict(zip(self.groups, zip(begins, self.groups.values(), strict=False), strict=True))

    def __reduce__(self) -> "tuple[type[Layout], tuple[int, dict[str, int]]]":
        return type(self), (self.units, dict(self.groups))

    def __repr__(self) -> str:
        return f"Layout({dict(self.groups) or self.units})"


LayoutLike = Layout | Mapping[str, int] | int


def layout_of_text(text: str) -> dict[str, int] | int:
    """Return the layout that a text describes, such as `20` or `onset=20,vowel=6`.

    Raises ValueError for any other text.
    """
    if text.isdecimal():
        return int(text)
    sizes: dict[str, int] = {}
    for each in text.split(","):
        name, equals, size = each.rpartition("=")
        if not equals or not size.isdecimal():
            raise ValueError(f"{each} is not of the form GROUP=SIZE")
        if name in sizes:
            raise ValueError(f"{each}: the group is named twice")
        sizes[name] = int(size)
    return sizes


def _example(names: Iterable[object]) -> str:
    """Return the name of a group to show in a message: the first of `names`, or `hidden` if there
    is none.
    """
    first = names if isinstance(names, str) else next(iter(names), None)
    return first[:20] if isinstance(first, str) and first else "hidden"


def _size(name: str, size: object) -> int:
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
        raise ValueError(f"{name} must be a number of units, not {shown(size)}")
    return int(size)
