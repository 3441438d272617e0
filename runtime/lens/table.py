"""Make tables of example sets: of whole sets, and of sets that are read in chunks."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from exset.core.errors import ChangedFindings, Finding, Findings, FormatError
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Level
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.tables.columns import TableColumn
from exset.grammars.tables.table import Table
from exset.runtime.lens.network_layout import SIDES, LayoutLike
from exset.runtime.lens.runs import Columns
from exset.runtime.lens.table_columns import named_columns
from exset.runtime.lens.table_layout import RowKind, TableLayout, layout_of
from exset.runtime.lens.table_meant import Notes, dense_columns
from exset.runtime.lens.table_metadata import to_json
from exset.runtime.lens.table_said import nested_columns

_MOST_CELLS: Final = 1 << 24
"""The most values in the table of a chunk, 64 MiB of float32; one event may have more."""


def to_table(
    examples: ExampleSet,
    /,
    *,
    level: Level = "meant",
    rows: RowKind = "event",
    defaults: bool = True,
    inputs: LayoutLike | None = None,
    targets: LayoutLike | None = None,
    findings: Findings,
    limits: Limits = DEFAULT,
) -> Table:
    """Return the table of an example set.

    `level`: "meant" gives dense arrays, float32, in a column for each group, such as
    `inputs.onset`; without groups, the columns are `inputs` and `targets`. "said" gives lists of
    ranges. `rows`: "event", or "example" with lists over the events of an example. `defaults`: if
    an event has no range for a group, True gives the default value to the group's units; False
    leaves the row without a value. `inputs`, `targets`: the layouts of the network, as in
    `to_arrays`.

    Raises FormatError for a unit outside its group or network, LimitError, and ValueError.
    """
    examples = examples.normalized() if level == "said" else examples
    layout = layout_of(
        [examples],
        level=level,
        rows=rows,
        defaults=defaults,
        inputs=inputs,
        targets=targets,
        findings=findings,
        limits=limits,
    )
    notes = Notes()
    table = _table(examples, layout, 0, notes, findings, limits)
    notes.report(findings)
    return table


def tables_of(
    chunks: Iterable[ExampleSet],
    layout: TableLayout,
    /,
    *,
    findings: Findings,
    limits: Limits = DEFAULT,
) -> Iterator[Table]:
    """Yield the tables of a set that is read in chunks. Together they are the table of the set.

    layout: the columns that `layout_of` found in the same chunks. A chunk with many dense values
    becomes several tables. Other arguments and errors are the same as for `to_table`.
    """
    first, notes = 0, Notes()
    width = (
        sum(each.units for each in layout.sides.values() if each) if layout.level == "meant" else 0
    )
    for chunk in chunks:
        for part in _parts(chunk.normalized() if layout.level == "said" else chunk, width):
            notes.first = first
            moved = partial(_moved, first)
            found = ChangedFindings(findings, moved)
            try:
                table = _table(part, layout, first, notes, found, limits)
            except FormatError as error:
                raise error.changed(moved) from None
            yield table
            first += len(part)
    notes.report(findings)


def _moved(first: int, finding: Finding) -> Finding:
    """Return a finding about a chunk of a set as a finding about the whole set.

    first: the number of the chunk's first example.
    """
    place = finding.place
    return finding if place is None else replace(finding, place=place.moved(0, "examples", first))


def _parts(chunk: ExampleSet, width: int) -> Iterator[ExampleSet]:
    """Divide a chunk into parts whose dense values need little memory. Yield the examples of each
    part.

    width: the number of values of an event.
    """
    if width * chunk.num_events <= _MOST_CELLS:
        yield chunk
        return
    cells = chunk.event_offsets * width
    begin = 0
    while begin < len(chunk):
        end = int(np.searchsorted(cells, cells[begin] + _MOST_CELLS, "right")) - 1
        end = max(end, begin + 1)
        yield chunk.select(slice(begin, end))
        begin = end


def _table(
    examples: ExampleSet,
    layout: TableLayout,
    first: int,
    notes: Notes,
    findings: Findings,
    limits: Limits,
) -> Table:
    sides: dict[str, TableColumn] = {}
    if layout.level == "said":
        sides.update(nested_columns(examples, layout))
    else:
        columns = Columns.of(np, examples)
        for side in SIDES:
            if (known := layout.sides[side]) is not None:
                made = dense_columns(
                    *(examples, columns, side, known),
                    shares=layout.shares,
                    defaults=layout.defaults,
                    notes=notes,
                    findings=findings,
                    limits=limits,
                )
                sides.update(made)
    named, count = named_columns(examples, layout, sides, first)
    return Table(named, count, to_json(examples.header, layout.sides, layout.level, layout.rows))
