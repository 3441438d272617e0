"""Inputs and targets in a table of the level "meant": a column of dense values for each group."""

from dataclasses import dataclass, field
from itertools import product
from typing import Final

import numpy as np

from exset.core.errors import Findings, Place
from exset.core.limits import Limits
from exset.grammars.columns.arrays import Flags, Longs, lengths_of, row_indices
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.lens.findings import finding_at
from exset.grammars.tables.columns import Numbers, TableColumn
from exset.runtime.lens.fill import Filling, filled, filling_of
from exset.runtime.lens.network_layout import MODEL, SIDES, Layout, Side
from exset.runtime.lens.runs import Columns
from exset.runtime.lens.table_metadata import column_names, groups_of

EXPANDED: Final = "lens-table-expanded"
DEFAULTS: Final = "lens-table-defaults"


@dataclass
class Notes:
    """Collects notes about the chunks of a set.

    A note has the first event that it concerns, and the number of these events. first: the number
    of the first example of the current chunk.
    """

    first: int = 0
    _found: dict[tuple[Side, str], tuple[Place, int]] = field(default_factory=dict)

    def add(self, side: Side, code: str, examples: ExampleSet, events: Longs) -> None:
        """Note that the finding `code` concerns some events of a chunk.

        events: the indices of these events, at least one.
        """
        row = int(events[0])
        example = int(np.searchsorted(examples.event_offsets, row, "right")) - 1
        event = row - int(examples.event_offsets[example])
        place = Place(MODEL, field=f"examples[{self.first + example}].events[{event}].{side}")
        place, count = self._found.get((side, code), (place, 0))
        self._found[side, code] = place, count + events.size

    def report(self, findings: Findings) -> None:
        """Add the collected notes to the findings: first the notes on inputs, then the notes on
        targets.
        """
        for key in product(SIDES, (EXPANDED, DEFAULTS)):
            if key in self._found:
                (side, code), (place, count) = key, self._found[key]
                findings.add(finding_at(code, place, count=count, side=side), times=count)


def dense_columns(
    examples: ExampleSet,
    columns: Columns,
    side: Side,
    layout: Layout,
    *,
    shares: bool,
    defaults: bool,
    notes: Notes,
    findings: Findings,
    limits: Limits,
) -> dict[str, TableColumn]:
    """Return the inputs, or the targets, as a column of arrays for each group: float32 [units].

    columns: the ranges on a device. shares: whether events share lists. defaults: if False, an
    event without a range for a group has no value in the group's column. Raises the errors of
    `to_arrays`.
    """
    most = max(limits.max_expand, layout.units * examples.num_events)
    filling = filling_of(np, examples, columns, side, layout, findings, most)
    rows = filled(np, examples, filling, side, layout)
    groups = groups_of(layout)
    names = column_names(side, groups)
    ends = np.cumsum([size for _, size in groups])
    said = None if defaults else _said(filling, ends, examples.num_events)
    has_sparse = filling.sparse.start.size > 0
    if shares or has_sparse or not filling.covers(examples.num_events, layout.units):
        _note(examples, side, layout, defaults, notes)
    found: dict[str, TableColumn] = {}
    for number, (name, (_, size)) in enumerate(zip(names, groups, strict=True)):
        if size:
            values = rows[:, ends[number] - size : ends[number]]
            found[name] = Numbers.of(values, None if said is None else said[:, number])
    return found


def _said(filling: Filling, ends: Longs, events: int) -> Flags:
    """Return for each event and each group whether the event has a range in it: bool [events,
    groups].

    ends: the position in a row at which each group ends.
    """
    units = int(ends[-1])
    change = np.zeros((events, ends.size + 1), np.int32)
    for runs in (filling.dense, filling.sparse):
        whole = runs.stop > runs.start
        start, stop = runs.start[whole], runs.stop[whole]
        row = start // max(units, 1)
        np.add.at(change, (row, ends.searchsorted(start - row * units, "right")), 1)
        np.add.at(change, (row, ends.searchsorted(stop - 1 - row * units, "right") + 1), -1)
    said: Flags = np.cumsum(change, axis=1, out=change)[:, :-1] > 0
    return said


def _note(examples: ExampleSet, side: Side, layout: Layout, defaults: bool, notes: Notes) -> None:
    """Add a note about events whose lists become dense. If `defaults`, also add a note about events
    without a list, which get default values.

    side: "inputs" or "targets".
    """
    numbers = getattr(examples.events, side)
    expanded = np.flatnonzero((numbers >= 0) & ~_is_dense(examples, side, layout))
    if expanded.size:
        notes.add(side, EXPANDED, examples, expanded)
    silent = np.flatnonzero(numbers < 0)
    if defaults and silent.size and layout.units:
        notes.add(side, DEFAULTS, examples, silent)


def _is_dense(examples: ExampleSet, side: Side, layout: Layout) -> Flags:
    """Return for each event whether dense values store its list without loss: bool [events].

    They do if the list is not shared, and has exactly one dense range for each group of `layout`
    that has units, in the order of the groups. side: "inputs" or "targets".
    """
    groups = [(name, size) for name, size in groups_of(layout) if size]
    lists, ranges = examples.lists, examples.ranges
    numbers = getattr(examples.events, side)
    used = np.concatenate([examples.events.inputs, examples.events.targets])
    own = np.bincount(used + 1, minlength=lists.size)[1:] == 1
    fits = np.append(own & (lengths_of(lists) == len(groups)), False)
    found: Flags = fits[numbers]
    if not groups or not found.any():
        return found
    starts = lists[numbers[found]]
    at = row_indices(starts, np.full(starts.size, len(groups), np.int64)).reshape(-1, len(groups))
    number_of = {name: number for number, name in enumerate(examples.groups)}
    group = [-1 if name is None else number_of.get(name, -2) for name, _ in groups]
    sizes = [size for _, size in groups]
    is_whole = (ranges.values.lengths[at] == sizes) & (ranges.first[at] == 0)
    found[found] = (is_whole & (ranges.group[at] == group)).all(axis=1)
    return found
