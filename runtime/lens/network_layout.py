"""Where the units of a network stand in a row: groups in the order of the network, or a number."""

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
"""What an error calls a set."""


@dataclass(frozen=True)
class Layout:
    """The units of a row: `units` of them in all, and how many each group has, in their order.

    Where no range names a group there may be none. Raises ValueError.
    """

    units: int
    groups: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", MappingProxyType(dict(self.groups)))
        if self.groups and sum(self.groups.values()) != self.units:
            total = sum(self.groups.values())
            raise ValueError(f"units must be {total}, as the groups have, not {self.units}")

    @classmethod
    def of(cls, what: str, given: "LayoutLike") -> "Layout":
        """The layout that was given: itself, the sizes of groups by name, or a number of units."""
        if isinstance(given, Layout):
            return given
        if not isinstance(given, Mapping):
            return cls(_size(what, given))
        sizes = {name: _size(f"{what}[{name!r}]", size) for name, size in given.items()}
        for name in sizes:
            if not isinstance(name, str):
                raise ValueError(f"{what}: the name of a group is wanted, not {shown(name)}")
        return cls(sum(sizes.values()), sizes)

    def __getitem__(self, group: str) -> slice:
        """The columns of a group. Raises KeyError."""
        begin = 0
        for name, size in self.groups.items():
            if name == group:
                return slice(begin, begin + size)
            begin += size
        raise KeyError(group)

    def places(self, examples: ExampleSet) -> tuple[Longs, Longs]:
        """The first column and the size of each group of a set, and last of the whole network.

        The size of a group that is not in the layout is -1. int64 [groups + 1] each.
        """
        begins = accumulate(self.groups.values(), initial=0)
        known = {
            raw("group", name): (begin, size)
            for (name, size), begin in zip(self.groups.items(), begins, strict=False)
        }
        rows = [*(known.get(name, (0, -1)) for name in examples.groups), (0, self.units)]
        begin, size = np.array(rows, np.int64).T
        return begin, size

    def __reduce__(self) -> "tuple[type[Layout], tuple[int, dict[str, int]]]":
        return type(self), (self.units, dict(self.groups))

    def __repr__(self) -> str:
        return f"Layout({dict(self.groups) or self.units})"


LayoutLike = Layout | Mapping[str, int] | int


def _size(what: str, given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 0:
        raise ValueError(f"{what}: a number of units is wanted, not {shown(given)}")
    return int(given)


def infer(examples: ExampleSet, sides: Iterable[Side], findings: Findings) -> dict[Side, Layout]:
    """The least layouts that hold all units that a set names, groups in the order of first use.

    A note says from what. Raises FormatError where ranges with and without groups are mixed, as
    nothing says then where the groups begin.
    """
    reach = _reach(examples)
    return {side: _infer(examples, side, reach, findings) for side in sides}


def _infer(examples: ExampleSet, side: Side, reach: Longs, findings: Findings) -> Layout:
    used = _used(examples, side)
    reach, group = reach[used], examples.ranges.group[used]
    sizes = np.zeros(len(examples.groups) + 1, np.int64)  # the last is the whole network's
    if len(sizes) == 1:
        sizes[0] = reach.max(initial=0)
    else:
        np.maximum.at(sizes, group, reach)
    numbers = np.unique(group[group >= 0])
    if numbers.size and sizes[-1] > 0:
        raise FormatError(
            f"nothing says where the groups of the network begin: some {side} name groups, others "
            f"the units of the whole network (up to {sizes[-1] - 1})",
            place=Place.of(MODEL),
            hint=f"say {side}={{group: size, ...}} in the order of the network",
            code="lens-layout",
        )
    names = [examples.groups.text(int(number)) or "" for number in numbers]
    groups = dict(zip(names, sizes[numbers].tolist(), strict=True))
    units = sum(groups.values()) if groups else int(sizes[-1])
    named = ", ".join(f"{printable(name)} {size}" for name, size in groups.items())
    whence = f"{named}; in the order in which they are named" if groups else "no groups"
    message = f"{side}: {units} units, from the highest that a range names ({whence})"
    findings.add(Finding("lens-layout-inferred", Severity.NOTE, message, Place.of(MODEL)))
    starred = [f"group {printable(name)}" for name, size in groups.items() if size == 0]
    if starred or (units == 0 and examples.ranges.units.lengths[used].any()):
        what = starred[0] if starred else "the network"
        message = f"{side}: no range says how many units {what} has, so it gets none"
        hint = f"say {side}={{group: size, ...}}, or the number of units"
        place = Place.of(MODEL)
        findings.add(Finding("lens-layout-unknown", Severity.WARNING, message, place, hint))
    return Layout(units, groups)


def _used(examples: ExampleSet, side: Side) -> Flags:
    """Which ranges are in lists of that side: bool [r]."""
    numbers = getattr(examples.events, side)
    lists = np.zeros(examples.lists.size, np.bool_)
    lists[numbers] = True  # -1 is the last, of no list
    return np.repeat(lists[:-1], np.diff(examples.lists))


def _reach(examples: ExampleSet) -> Longs:
    """How many units each range needs, 0 if none (`*`, or nothing at all): int64 [r]."""
    values, units = examples.ranges.values, examples.ranges.units
    if values.values.size:
        length = values.lengths
        reach = np.where(length > 0, np.maximum(examples.ranges.first + length, 0), 0)
    else:
        reach = np.zeros(len(examples.ranges), np.int64)
    if units.values.size:
        sparse = np.flatnonzero(units.lengths)
        begin = units.offsets[sparse]
        # Unsigned, as there is a number whose absolute value is not one of 32 bits with a sign.
        top = np.abs(units.values).view(np.uint32)
        if sparse.size < top.size:
            top = np.maximum.reduceat(top, begin)
        reach[sparse] = np.where(units.values[begin] < 0, 0, top.astype(np.int64) + 1)
    return reach
