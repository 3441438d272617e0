"""What fills the arrays of an example set: its ranges, under a layout of the network.

What is wrong is said with example, event and range: a unit outside, a group that is not there.
"""

from dataclasses import replace
from types import ModuleType

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, LimitError, Place, Severity
from exset.core.limits import limit_hint
from exset.grammars.columns.arrays import Longs, take
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.lens.views import printable
from exset.runtime.arrays import to_device, to_host
from exset.runtime.lens.fill_cells import Filling
from exset.runtime.lens.network_layout import MODEL, SIDES, Layout, LayoutLike, Side, infer
from exset.runtime.lens.runs import Columns, Uses, dense_runs, sparse_runs


def layouts_of(
    examples: ExampleSet,
    given: tuple[LayoutLike | None, LayoutLike | None],
    findings: Findings,
) -> tuple[Layout, Layout]:
    """The layouts that were given, or that the set allows to infer.

    Raises FormatError, and TypeError for what is no set.
    """
    if not isinstance(examples, ExampleSet):
        raise TypeError(f"an ExampleSet is wanted, such as exset.load gives, not {examples!r:.60}")
    layouts = {
        side: Layout.of(side, layout)
        for side, layout in zip(SIDES, given, strict=True)
        if layout is not None
    }
    if len(layouts) < len(SIDES):
        inferred = infer(examples, [side for side in SIDES if side not in layouts], findings)
        layouts |= inferred
    return layouts["inputs"], layouts["targets"]


def filling_of(
    xp: ModuleType,
    examples: ExampleSet,
    columns: Columns,
    side: Side,
    layout: Layout,
    findings: Findings,
    most: int,
    rows: Longs | None = None,
) -> Filling:
    """What the ranges of one side fill. Raises FormatError for a unit outside, LimitError.

    `most`: how many units spans may come to. `rows`: the events, by default all.
    """
    numbers = getattr(examples.events, side)
    uses = Uses.of(xp, columns, to_device(xp, numbers if rows is None else take(numbers, rows)))
    begin, size = layout.places(examples)
    base = uses.row * layout.units
    if len(size) == 1:
        uses = replace(uses, base=base, room=int(size[0]))
    else:
        group = columns.group[uses.range]
        room = to_device(xp, size)[group]
        uses = replace(uses, base=base + to_device(xp, begin)[group], room=room)
        missing = room < 0
        if bool(missing.any()):
            _tell_missing(examples, side, uses.take(xp.flatnonzero(missing)), findings, rows)
            uses = uses.take(xp.flatnonzero(~missing))

    def outside(uses: Uses, at: int, units: str) -> FormatError:
        row, number = int(uses.row[at]), int(uses.range[at])
        row = row if rows is None else int(rows[row])
        group = int(examples.ranges.group[number])
        room = layout.units if group < 0 else int(size[group])
        whole = "network" if group < 0 else f"group {printable(examples.groups.text(group) or '')}"
        return FormatError(
            f"{units} outside of the {room} {side} of the {whole}",
            place=Place(MODEL, field=_path(examples, side, row, number)),
            code="lens-unit-outside",
        )

    dense = dense_runs(xp, columns, uses, outside)
    sparse = sparse_runs(xp, columns, uses, outside)
    filled = 0 if sparse.length is None else int(sparse.length.sum())
    if filled > most:
        raise LimitError(
            f"the spans of {side} are {filled:,} units, which is over {most:,}",
            place=Place.of(MODEL),
            hint=limit_hint("max_expand"),
        )
    return Filling(columns, dense, sparse, uses.several)


def _path(examples: ExampleSet, side: Side, row: int, number: int) -> str:
    """Which range it is, of which event: `examples[3].events[0].inputs[2]`."""
    example = int(np.searchsorted(examples.event_offsets, row, "right")) - 1
    event = row - int(examples.event_offsets[example])
    place = number - int(examples.lists[getattr(examples.events, side)[row]])
    return f"examples[{example}].events[{event}].{side}[{place}]"


def _tell_missing(
    examples: ExampleSet, side: Side, uses: Uses, findings: Findings, rows: Longs | None
) -> None:
    """Add a finding for each group that is not in the layout, where it is named first."""
    row, number = to_host(uses.row), to_host(uses.range)
    row = row if rows is None else rows[row]
    groups, first, times = np.unique(
        examples.ranges.group[number], return_index=True, return_counts=True
    )
    for group, at, count in sorted(
        zip(groups, first, times, strict=True), key=lambda each: each[1]
    ):
        message = (
            f"group {printable(examples.groups.text(int(group)) or '')} is not in the layout of "
            f"{side}; what its ranges say is passed over, as Lens does"
        )
        place = Place(MODEL, field=_path(examples, side, int(row[at]), int(number[at])))
        finding = Finding("lens-group-missing", Severity.WARNING, message, place)
        findings.add(finding, times=int(count))
