"""Check that the ranges of an example set fit a network."""

from dataclasses import replace
from typing import Final

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.text import counted
from exset.grammars.columns.arrays import Flags, Longs
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.lens.views import printable
from exset.runtime.lens.fill import filling_of, range_path, report_missing
from exset.runtime.lens.layout_inference import needed_units
from exset.runtime.lens.network_layout import MODEL, SIDES, Layout, LayoutLike, Side
from exset.runtime.lens.runs import Columns, Uses

_MOST: Final = int(np.iinfo(np.int64).max)


def check(
    examples: ExampleSet,
    findings: Findings,
    *,
    first: int = 0,
    inputs: LayoutLike | None = None,
    targets: LayoutLike | None = None,
) -> None:
    """Add a finding for each range that does not fit the network.

    `inputs`, `targets`: the layout of a side; None: the side is not checked. `first`: the index of
    the first example, for places. Errors: units outside of their group or the network, and a single
    dense range from unit 0 with fewer values than its group. A group that is not in the layout is a
    warning.
    """
    for side, layout in zip(SIDES, (inputs, targets), strict=True):
        if layout is not None:
            _check_side(examples, side, Layout.of(side, layout), findings, first)


def _check_side(
    examples: ExampleSet, side: Side, layout: Layout, findings: Findings, first: int
) -> None:
    columns = Columns.of(np, examples)
    uses = Uses.of(np, columns, getattr(examples.events, side))
    group = examples.ranges.group[uses.range]
    room = layout.places(examples)[1][group]
    if (missing := np.flatnonzero(room < 0)).size:
        report_missing(examples, side, uses.take(missing), findings, None, first)
    needed = needed_units(examples)[uses.range]
    length = examples.ranges.values.lengths[uses.range]
    short = (length > 0) & (needed == length) & (length < room)
    short[short] = _alone(uses.row, group.astype(np.int64))[short]

    def finding(at: int) -> Finding:
        units = counted(int(room[at]), side[:-1])
        whole = "network" if group[at] < 0 else f"group {_name(examples, int(group[at]))}"
        if short[at]:
            message = f"the range has only {length[at]} of the {units} of the {whole}"
            hint = "the other units get the default value: write all values"
            code = "lens-width"
        else:
            message = f"the range needs {needed[at]} units, more than the {units} of the {whole}"
            hint = f"correct the range, or the number of {side} that you give"
            code = "lens-unit-outside"
        field = range_path(examples, side, int(uses.row[at]), int(uses.range[at]), first)
        return Finding(code, Severity.ERROR, message, Place(MODEL, field=field), hint)

    outside = (room >= 0) & (needed > room)
    for wrong in (outside, short):
        findings.add_each(np.flatnonzero(wrong).tolist(), finding)
    if not outside.any():
        try:  # finds spans that no network has, such as from unit 3 to unit 1
            filling_of(np, examples, columns, side, layout, Findings(), _MOST)
        except FormatError as error:
            place = error.place and error.place.moved(0, "examples", first)
            findings.add(replace(error.finding, place=place))


def _alone(row: Longs, group: Longs) -> Flags:
    """Return a mask of the uses whose event has no other range for the same group."""
    pairs = np.stack([row, group])
    _, which, counts = np.unique(pairs, axis=1, return_inverse=True, return_counts=True)
    alone: Flags = counts[which.reshape(-1)] == 1
    return alone


def _name(examples: ExampleSet, group: int) -> str:
    return printable(examples.groups.text(group) or "")
