"""The layout of the units of a network in a row of an array."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType
from typing import Literal

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.grammars.columns.arrays import Flags, Longs
from exset.grammars.columns.inputs import raw, shown
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.lens.views import printable

Side = Literal["inputs", "targets"]

SIDES: tuple[Side, Side] = ("inputs", "targets")

MODEL = "example set"
"""The name of a set in errors."""


@dataclass(frozen=True)
class Layout:
    """The number of units in a row, and the sizes of groups in the order of the network.

    Without groups, ranges must not name any. Raises ValueError if sizes do not add up to `units`.
    """

    units: int
    groups: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", MappingProxyType(dict(self.groups)))
        if self.groups and sum(self.groups.values()) != self.units:
            total = sum(self.groups.values())
            raise ValueError(f"units must be {total}, the sum of the groups, not {self.units}")

    @classmethod
    def of(cls, name: str, layout: "LayoutLike") -> "Layout":
        """Return a layout from the sizes of groups by name, a number of units, or a layout."""
        if isinstance(layout, Layout):
            return layout
        if not isinstance(layout, Mapping):
            return cls(_size(name, layout))
        sizes = {group: _size(f"{name}[{group!r}]", size) for group, size in layout.items()}
        for group in sizes:
            if not isinstance(group, str):
                raise ValueError(f"{name}: names of groups must be strings, not {shown(group)}")
        return cls(sum(sizes.values()), sizes)

    def __getitem__(self, group: str) -> slice:
        """Return the columns of a group. Raises KeyError for an unknown group."""
        begin, size = self._spans()[group]
        return slice(begin, begin + size)

    def places(self, examples: ExampleSet) -> tuple[Longs, Longs]:
        """Return the first column and the size of each group of a set: int64 [groups + 1] each.

        The last row is for the whole network. A group that is not in the layout has the size -1.
        """
        spans = {raw("group", name): span for name, span in self._spans().items()}
        rows = [*(spans.get(name, (0, -1)) for name in examples.groups), (0, self.units)]
        begin, size = np.array(rows, np.int64).T
        return begin, size

    def _spans(self) -> dict[str, tuple[int, int]]:
        """Return the first column and the size of each group."""
        begins = accumulate(self.groups.values(), initial=0)
        return dict(zip(self.groups, zip(begins, self.groups.values(), strict=False), strict=True))

    def __reduce__(self) -> "tuple[type[Layout], tuple[int, dict[str, int]]]":
        return type(self), (self.units, dict(self.groups))

    def __repr__(self) -> str:
        return f"Layout({dict(self.groups) or self.units})"


LayoutLike = Layout | Mapping[str, int] | int


def _size(name: str, size: object) -> int:
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
        raise ValueError(f"{name} must be a number of units, not {shown(size)}")
    return int(size)


def infer(examples: ExampleSet, sides: Iterable[Side], findings: Findings) -> dict[Side, Layout]:
    """Return the smallest layouts with all units of a set, groups in the order of first use.

    Adds a note for each. Raises FormatError if some ranges name groups and others units of the
    whole network, because the positions of the groups are then unknown.
    """
    reach = _reach(examples)
    return {side: _infer(examples, side, reach, findings) for side in sides}


def _infer(examples: ExampleSet, side: Side, reach: Longs, findings: Findings) -> Layout:
    used = used_ranges(examples, side)
    reach, group = reach[used], examples.ranges.group[used]
    sizes = np.zeros(len(examples.groups) + 1, np.int64)  # the last is the whole network's
    if len(sizes) == 1:
        sizes[0] = reach.max(initial=0)
    else:
        np.maximum.at(sizes, group, reach)
    numbers = np.unique(group[group >= 0])
    if numbers.size and sizes[-1] > 0:
        raise FormatError(
            f"the layout of {side} is unknown: some ranges name groups, others units of the whole "
            f"network (up to {sizes[-1] - 1})",
            place=Place.of(MODEL),
            hint=f"pass {side}={{group: size, ...}} in the order of the network",
            code="lens-layout",
        )
    names = [examples.groups.text(int(number)) or "" for number in numbers]
    groups = dict(zip(names, sizes[numbers].tolist(), strict=True))
    units = sum(groups.values()) if groups else int(sizes[-1])
    named = ", ".join(f"{printable(name)} {size}" for name, size in groups.items())
    detail = f"{named}; in the order of first use" if groups else "no groups"
    message = f"{side}: {units} units, the least that contain all ranges ({detail})"
    place = Place.of(MODEL)
    findings.add(Finding("lens-layout-inferred", Severity.NOTE, message, place))
    starred = [f"group {printable(name)}" for name, size in groups.items() if size == 0]
    if starred or (units == 0 and examples.ranges.units.lengths[used].any()):
        what = starred[0] if starred else "the network"
        message = f"{side}: the size of {what} is unknown, so it gets no units"
        hint = f"pass {side}={{group: size, ...}}, or the number of units"
        findings.add(Finding("lens-layout-unknown", Severity.WARNING, message, place, hint))
    return Layout(units, groups)


def used_ranges(examples: ExampleSet, side: Side) -> Flags:
    """Return which ranges are used by that side: bool [ranges]."""
    numbers = getattr(examples.events, side)
    lists = np.zeros(examples.lists.size, np.bool_)
    lists[numbers] = True  # -1, for no list, sets the last
    return np.repeat(lists[:-1], np.diff(examples.lists))


def _reach(examples: ExampleSet) -> Longs:
    """Return the number of units that each range needs, 0 for `*` and empty: int64 [ranges]."""
    ranges = examples.ranges
    length, units = ranges.values.lengths, ranges.units
    if ranges.values.values.size:
        reach = np.where(length > 0, np.maximum(ranges.first + length, 0), 0)
    else:
        reach = np.zeros(len(ranges), np.int64)
    if units.values.size:
        sparse = np.flatnonzero(units.lengths)
        begin = units.offsets[sparse]
        # Unsigned, because the absolute value of -2**31 does not fit in int32.
        top = np.abs(units.values).view(np.uint32)
        if sparse.size < top.size:
            top = np.maximum.reduceat(top, begin)
        reach[sparse] = np.where(units.values[begin] < 0, 0, top.astype(np.int64) + 1)
    return reach
