"""Infer the layout of a network from the units that an example set uses."""

from dataclasses import dataclass, field

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.text import counted
from exset.grammars.columns.arrays import Flags, Longs
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.lens.views import printable
from exset.runtime.lens.network_layout import MODEL, SIDES, Layout, LayoutLike, Side


def layouts_of(
    examples: ExampleSet, requested: tuple[LayoutLike | None, LayoutLike | None], findings: Findings
) -> tuple[Layout, Layout]:
    """Return the layouts of inputs and targets. Where `requested` is None, infer the layout from
    the set.

    An inferred layout is the smallest layout that has all units of the set. Its groups are in the
    order of first use. A note reports it.

    Raises FormatError if some ranges name groups, and others units of the whole network, because
    the positions of groups are then unknown. Raises TypeError if `examples` is no ExampleSet.
    """
    if not isinstance(examples, ExampleSet):
        raise TypeError(f"examples must be an ExampleSet, as from exset.load, not {examples!r:.60}")
    used = UsedUnits()
    if None in requested:
        used.add(examples)
    inputs, targets = (
        used.layout(side, findings) if each is None else Layout.of(side, each)
        for side, each in zip(SIDES, requested, strict=True)
    )
    return inputs, targets


@dataclass
class _SideUnits:
    """The units that the inputs, or the targets, of a set use.

    groups: the size that each group needs. whole: the size that the whole network needs.
    """

    groups: dict[str, int] = field(default_factory=dict)
    whole: int = 0
    has_units: bool = False


class UsedUnits:
    """The units that the ranges of a set use, counted chunk by chunk."""

    def __init__(self) -> None:
        self._order: dict[str, None] = {}
        self._sides = {side: _SideUnits() for side in SIDES}

    def add(self, examples: ExampleSet) -> None:
        """Add a chunk of the set."""
        names = [examples.groups.text(number) or "" for number in range(len(examples.groups))]
        self._order.update(dict.fromkeys(names))
        reach = needed_units(examples)
        for side, known in self._sides.items():
            used = used_ranges(examples, side)
            if examples.ranges.units.values.size:
                known.has_units |= bool(examples.ranges.units.lengths[used].any())
            if not names:
                known.whole = max(known.whole, int(reach.max(initial=0, where=used)))
                continue
            group = examples.ranges.group[used]
            sizes = np.zeros(len(names) + 1, np.int64)  # the last is the whole network's
            np.maximum.at(sizes, group, reach[used])
            for number in np.unique(group[group >= 0]).tolist():
                name = names[number]
                known.groups[name] = max(known.groups.get(name, 0), int(sizes[number]))
            known.whole = max(known.whole, int(sizes[-1]))

    def layout(self, side: Side, findings: Findings) -> Layout:
        """Return the layout of a side, inferred from the units.

        Errors and notes are those of `layouts_of`.
        """
        used = self._sides[side]
        if used.groups and used.whole > 0:
            raise FormatError(
                f"the layout of {side} is unknown: some ranges name groups, but others count units "
                f"of the whole network (0 to {used.whole - 1})",
                place=Place(MODEL),
                hint=f"pass {side}={{group: size, ...}} in the order of the network",
                code="lens-layout",
            )
        groups = {name: used.groups[name] for name in self._order if name in used.groups}
        units = sum(groups.values()) if groups else used.whole
        named = ", ".join(f"'{printable(name)}' {size}" for name, size in groups.items())
        detail = f"group sizes in the order of first use: {named}" if groups else "no groups"
        message = f"{side}: exset assumes {counted(units, 'unit')}, the fewest possible ({detail})"
        place = Place(MODEL)
        findings.add(Finding("lens-layout-inferred", Severity.NOTE, message, place))
        starred = [f"group '{printable(name)}'" for name, size in groups.items() if size == 0]
        if starred or (units == 0 and used.has_units):
            what = starred[0] if starred else "the network"
            message = f"{side}: the size of {what} is unknown, so exset gives it no units"
            hint = f"pass {side}={{group: size, ...}}, or the number of units"
            findings.add(Finding("lens-layout-unknown", Severity.WARNING, message, place, hint))
        return Layout(units, groups)


def used_ranges(examples: ExampleSet, side: Side) -> Flags:
    """Return for each range of a set whether any event uses it in its inputs, or in its targets:
    bool [ranges].

    side: "inputs" or "targets".
    """
    numbers = getattr(examples.events, side)
    lists = np.zeros(examples.lists.size, np.bool_)
    lists[numbers] = True  # -1, for no list, sets the last, unused element
    return np.repeat(lists[:-1], np.diff(examples.lists))


def needed_units(examples: ExampleSet) -> Longs:
    """Return for each range how many units its group must have: int64 [ranges].

    The number is 0 for `*` and for a range without units.
    """
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
