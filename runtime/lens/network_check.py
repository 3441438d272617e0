"""Check that the ranges of an example set fit a network."""

from dataclasses import replace
from typing import Final

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Severity
from exset.core.text import counted
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.lens.views import printable
from exset.runtime.lens.fill import filling_of, range_place, report_missing
from exset.runtime.lens.layout_inference import needed_units
from exset.runtime.lens.network_layout import SIDES, Layout, LayoutLike, Side
from exset.runtime.lens.runs import Columns, Uses
from exset.runtime.lens.widths import Widths, covering

_MOST: Final = int(np.iinfo(np.int64).max)


class NetworkCheck:
    """Checks that the ranges of an example set have the widths of a network.

    inputs, targets: the layout of a side of the network, or None if exset does not know it.

    With a layout, units outside their group or the network are errors. A dense range that begins at
    unit 0, and is its event's only range for a group, must have a value for each unit of the group:
    fewer values are an error. A group that is not in the layout is a warning. Without a layout,
    different widths of such ranges are warnings.
    """

    def __init__(
        self, *, inputs: LayoutLike | None = None, targets: LayoutLike | None = None
    ) -> None:
        self._layouts: dict[Side, Layout] = {}
        self._widths: list[Widths] = []
        for side, layout in zip(SIDES, (inputs, targets), strict=True):
            if layout is None:
                self._widths.append(Widths(side))
            else:
                self._layouts[side] = Layout.of(side, layout)

    def __call__(self, examples: ExampleSet, findings: Findings, *, first: int = 0) -> None:
        """Check a chunk of the set. `first`: the index of its first example, for the findings."""
        for side, layout in self._layouts.items():
            _check_side(examples, side, layout, findings, first)
        for widths in self._widths:
            widths.add(examples, findings, first)

    @property
    def common(self) -> tuple[str, ...]:
        """The widths that were found for each group. All parts of a file should have the same
        widths.
        """
        return tuple(
            f"{each.side} {width} {group!r}"
            for each in self._widths
            for group, known in sorted(each.found.items(), key=repr)
            for width in sorted(known)
        )


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
    short = covering(examples, uses) & (length < room)

    def finding(at: int) -> Finding:
        units = counted(int(room[at]), side[:-1])
        whole = "network" if group[at] < 0 else f"group '{_name(examples, int(group[at]))}'"
        if short[at]:
            message = f"this range has values for only {length[at]} of the {units} of the {whole}"
            hint = "write a value for each unit: the other units get the default value"
            code = "lens-width"
        else:
            message = f"this range needs {needed[at]} units, but the {whole} has {units}"
            hint = f"correct the range, or the number of {side} in your command"
            code = "lens-unit-outside"
        place = range_place(examples, side, int(uses.row[at]), int(uses.range[at]), first)
        return Finding(code, Severity.ERROR, message, place, hint)

    outside = (room >= 0) & (needed > room)
    for wrong in (outside, short):
        findings.add_each(np.flatnonzero(wrong).tolist(), finding)
    if not outside.any():
        try:  # finds spans that no network has, such as from unit 3 to unit 1
            filling_of(np, examples, columns, side, layout, Findings(), _MOST)
        except FormatError as error:
            place = error.place and error.place.moved(0, "examples", first)
            findings.add(replace(error.finding, place=place))


def _name(examples: ExampleSet, group: int) -> str:
    return printable(examples.groups.text(group) or "")
