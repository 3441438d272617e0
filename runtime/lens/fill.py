"""Fill dense arrays with the ranges of an example set, for a layout of the network.

Later ranges override earlier ones, as in Lens. But if NumPy or CuPy writes twice to a cell at once,
the last value is undefined. So if ranges of one event overlap, a sort finds the last range of each
cell. Errors name the example, the event and the range.
"""

from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, LimitError, Place, Severity
from exset.core.limits import Limits, limit_hint
from exset.grammars.columns.arrays import Floats, Longs, is_constant, take
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.lens.views import printable
from exset.runtime.arrays import evenly, spread, to_device, to_host, windows
from exset.runtime.lens.network_layout import MODEL, Layout, Side
from exset.runtime.lens.runs import Columns, Runs, Uses, dense_runs, sparse_runs

_FEW = 16
"""The most lengths of dense ranges for which all ranges of a length are copied at once."""
_LONG = 8
"""From this mean length of ranges on, copying runs is faster than writing cell by cell."""


@dataclass(frozen=True)
class Filling:
    """The runs of cells and the values that fill the array of one side, in the order of the ranges.

    dense, sparse: the runs of dense and of sparse ranges; `runs.py` explains runs. columns: the
    values.
    """

    columns: Columns
    dense: Runs
    sparse: Runs
    several: bool
    """Whether an event has several ranges."""

    def covers(self, events: int, units: int) -> bool:
        """Return whether every event has one dense range of all units."""
        dense = self.dense
        if self.several or dense.start.size < events or events == 0:
            return False
        return int((dense.stop - dense.start).min()) == units

    @property
    def size(self) -> int:
        """The number of cells that all runs have together."""
        return sum(int((runs.stop - runs.start).sum()) for runs in (self.dense, self.sparse))

    def fill(self, xp: ModuleType, out: Floats) -> None:
        """Write the values of all ranges into `out`: float32 [events, units], contiguous."""
        flat = out.reshape(-1)
        if self.several and self._overlap(xp):
            cells, values = self.resolve_overlaps(xp)
            flat[cells] = values
            return
        if self.dense.start.size:
            self._fill_dense(xp, flat)
        if self.sparse.start.size:
            flat[self.sparse.cells(xp)] = self._sparse_values(xp)

    def resolve_overlaps(self, xp: ModuleType) -> tuple[Longs, Floats]:
        """Return two arrays: the filled cells, each once, and the value of the last range of each
        cell.

        The cells are int64 [c], ascending. The values are float32 [c].
        """
        cells = xp.concatenate([self.dense.cells(xp), self.sparse.cells(xp)])
        source = spread(xp, self.dense.source, self.dense.stop - self.dense.start)
        values = xp.empty(cells.size, xp.float32)
        values[: source.size] = self.columns.values[source]
        values[source.size :] = self._sparse_values(xp)
        uses = [runs.each(xp, runs.use) for runs in (self.dense, self.sparse)]
        order = xp.lexsort(xp.stack([xp.concatenate(uses), cells]))
        cells = cells[order]
        final = xp.ones(cells.size, xp.bool_)
        final[:-1] = cells[1:] != cells[:-1]
        return cells[final], values[order][final]

    def _sparse_values(self, xp: ModuleType) -> Floats | float:
        """Return the value of each cell of sparse ranges. If all values are equal, return one
        number.
        """
        value = self.columns.value
        return (
            value if isinstance(value, float) else value[self.sparse.each(xp, self.sparse.source)]
        )

    def _overlap(self, xp: ModuleType) -> bool:
        """Return whether two runs share a cell."""
        start = xp.concatenate([self.dense.start, self.sparse.start])
        stop = xp.concatenate([self.dense.stop, self.sparse.stop])
        if bool((start[1:] >= stop[:-1]).all()):
            return False
        order = xp.argsort(start)
        return not bool((start[order][1:] >= stop[order][:-1]).all())

    def _fill_dense(self, xp: ModuleType, flat: Floats) -> None:
        """Write the values of dense ranges into the flat array `flat`. The runs of the ranges must
        not overlap.

        If there are only a few different lengths, write all runs of the same length at once.
        """
        start, source, length = self.dense.start, self.dense.source, self.dense.stop
        length = length - start
        width = int(length.max())
        if width == int(length.min()):
            _copy(xp, flat, start, self.columns.values, source, width)
            return
        lengths = _few(length)
        if lengths is None or int(length.sum()) < _LONG * length.size:
            flat[self.dense.cells(xp)] = self.columns.values[spread(xp, source, length)]
            return
        for width in lengths:
            which = xp.flatnonzero(length == width)
            _copy(xp, flat, start[which], self.columns.values, source[which], width)


def side_array(
    xp: ModuleType,
    examples: ExampleSet,
    columns: Columns,
    side: Side,
    layout: Layout,
    findings: Findings,
    limits: Limits,
    rows: Longs | None = None,
) -> Floats:
    """Return the inputs, or the targets, of events as a new array: float32 [events, units].

    xp: NumPy or CuPy. columns: the ranges of `examples`, on the device. side: "inputs" or
    "targets". layout: the positions of the groups in a row. rows: the indices of the events, int64,
    by default all events. Raises the errors of `filling_of`.
    """
    events = examples.num_events if rows is None else rows.size
    most = max(limits.max_expand, layout.units * events)
    filling = filling_of(xp, examples, columns, side, layout, findings, most, rows)
    return filled(xp, examples, filling, side, layout, rows)


def filled(
    xp: ModuleType,
    examples: ExampleSet,
    filling: Filling,
    side: Side,
    layout: Layout,
    rows: Longs | None = None,
) -> Floats:
    """Return a new array, float32 [events, units], filled by `filling`.

    Units that no range fills have the default value of their event. xp, side, layout, rows: as for
    `side_array`.
    """
    events = examples.num_events if rows is None else rows.size
    if filling.covers(events, layout.units):
        out: Floats = xp.empty((events, layout.units), xp.float32)
    else:
        out = _background(xp, examples.effective(f"default_{side[:-1]}", rows), layout.units)
    filling.fill(xp, out)
    return out


def _background(xp: ModuleType, default: Floats, units: int) -> Floats:
    """Return an array [events, units] in which all units of an event have the event's default
    value.
    """
    shape = (default.size, units)
    if is_constant(default) and not default[:1].view(np.uint32).any():
        zeros: Floats = xp.zeros(shape, xp.float32)  # faster than writing zeros
        return zeros
    out: Floats = xp.empty(shape, xp.float32)
    out[...] = to_device(xp, default)[:, None]
    return out


def _copy(
    xp: ModuleType, flat: Floats, start: Longs, values: Floats, source: Longs, width: int
) -> None:
    """Copy runs from `values` to `flat`. All runs have the length `width`.

    start, source: the index of the beginning of each run in `flat` and in `values`. If both are
    evenly spaced, one assignment of views copies all runs.
    """
    windows(xp, flat, width)[evenly(start)] = windows(xp, values, width)[evenly(source)]


def _few(length: Longs) -> list[int] | None:
    """Return the different lengths if they are few, else None."""
    found: list[int] = []
    left = length
    while left.size:
        if len(found) == _FEW:
            return None
        found.append(int(left[0]))
        left = left[left != found[-1]]
    return found


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
    """Return the cells of an array of inputs or targets that ranges fill, and their values.

    most: how many units all sparse ranges may have together. Other arguments are as for
    `side_array`. Raises FormatError for a unit outside its group or network, and LimitError.
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
            report_missing(examples, side, uses.take(xp.flatnonzero(missing)), findings, rows)
            uses = uses.take(xp.flatnonzero(~missing))

    def outside(uses: Uses, at: int, units: str) -> FormatError:
        row, number = int(uses.row[at]), int(uses.range[at])
        row = row if rows is None else int(rows[row])
        group = int(examples.ranges.group[number])
        room = layout.units if group < 0 else int(size[group])
        whole = "network"
        if group >= 0:
            whole = f"group '{printable(examples.groups.text(group) or '')}'"
        message = f"{units} the {room} {side} of the {whole} (units count from 0)"
        place = range_place(examples, side, row, number)
        return FormatError(message, place=place, code="lens-unit-outside")

    dense = dense_runs(xp, columns, uses, outside)
    sparse = sparse_runs(xp, columns, uses, outside)
    filled = 0 if sparse.length is None else int(sparse.length.sum())
    if filled > most:
        message = f"the spans of {side} have {filled:,} units, more than the limit of {most:,}"
        message += " (max_expand, or the size of the array if that is larger)"
        raise LimitError(message, place=Place(MODEL), hint=limit_hint("max_expand"))
    return Filling(columns, dense, sparse, uses.several)


def range_place(examples: ExampleSet, side: Side, row: int, number: int, first: int = 0) -> Place:
    """Return the place of a range of an event, such as `examples[3].events[0].inputs[2]`.

    row, number: the indices of the event and of the range in the set. first: the number of the
    first example, if the set is a chunk.
    """
    example = int(np.searchsorted(examples.event_offsets, row, "right")) - 1
    event = row - int(examples.event_offsets[example])
    rank = number - int(examples.lists[getattr(examples.events, side)[row]])
    field = f"examples[{first + example}].events[{event}].{side}[{rank}]"
    return Place(MODEL, field=field, name=examples.name.text(example))


def report_missing(
    examples: ExampleSet,
    side: Side,
    uses: Uses,
    findings: Findings,
    rows: Longs | None,
    first: int = 0,
) -> None:
    """Add a warning for each group that the layout lacks, but that ranges of a side name.

    side: "inputs" or "targets". uses: pairs of an event and a range that names such a group. rows:
    the index in the set of each event, by the event's number in `uses`; None if the numbers are
    already these indices. first: as in `range_place`.
    """
    row, number = to_host(uses.row), to_host(uses.range)
    row = row if rows is None else rows[row]
    groups, firsts, times = np.unique(
        examples.ranges.group[number], return_index=True, return_counts=True
    )
    for group, at, count in sorted(
        zip(groups, firsts, times, strict=True), key=lambda each: each[1]
    ):
        name = printable(examples.groups.text(int(group)) or "")
        message = (
            f"the layout of {side} has no group '{name}':"
            " exset ignores the values of this group, as Lens does if the network has no such group"
        )
        place = range_place(examples, side, int(row[at]), int(number[at]), first)
        finding = Finding("lens-group-missing", Severity.WARNING, message, place)
        findings.add(finding, times=int(count))
