"""Infer the layout of a network from the units that an example set uses."""

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
    """Return the layouts of both sides; infer those that are None from the set.

    An inferred layout is the smallest one with all units of the set; groups are in the order of
    first use. A note reports it. Raises FormatError if some ranges name groups, and others units of
    the whole network, because the positions of groups are then unknown; TypeError for anything but
    an ExampleSet.
    """
    if not isinstance(examples, ExampleSet):
        raise TypeError(f"examples must be an ExampleSet, as from exset.load, not {examples!r:.60}")
    reach = _reach(examples) if None in requested else np.zeros(0, np.int64)
    inputs, targets = (
        _infer(examples, side, reach, findings) if each is None else Layout.of(side, each)
        for side, each in zip(SIDES, requested, strict=True)
    )
    return inputs, targets


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
            place=Place(MODEL),
            hint=f"pass {side}={{group: size, ...}} in the order of the network",
            code="lens-layout",
        )
    names = [examples.groups.text(int(number)) or "" for number in numbers]
    groups = dict(zip(names, sizes[numbers].tolist(), strict=True))
    units = sum(groups.values()) if groups else int(sizes[-1])
    named = ", ".join(f"{printable(name)} {size}" for name, size in groups.items())
    detail = f"{named}; in the order of first use" if groups else "no groups"
    message = f"{side}: {counted(units, 'unit')}, the least that contain all ranges ({detail})"
    place = Place(MODEL)
    findings.add(Finding("lens-layout-inferred", Severity.NOTE, message, place))
    starred = [f"group {printable(name)}" for name, size in groups.items() if size == 0]
    if starred or (units == 0 and examples.ranges.units.lengths[used].any()):
        what = starred[0] if starred else "the network"
        message = f"{side}: the size of {what} is unknown, so it gets no units"
        hint = f"pass {side}={{group: size, ...}}, or the number of units"
        findings.add(Finding("lens-layout-unknown", Severity.WARNING, message, place, hint))
    return Layout(units, groups)


def used_ranges(examples: ExampleSet, side: Side) -> Flags:
    """Return a mask of the ranges that a side uses: bool [ranges]."""
    numbers = getattr(examples.events, side)
    lists = np.zeros(examples.lists.size, np.bool_)
    lists[numbers] = True  # -1, for no list, sets the last, unused element
    return np.repeat(lists[:-1], np.diff(examples.lists))


def _reach(examples: ExampleSet) -> Longs:
    """Return the number of units that each range needs, 0 if `*` or empty: int64 [ranges]."""
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
