"""The columns of an example set's table that are neither inputs nor targets."""

import numpy as np

from exset.grammars.columns.arrays import lengths_of
from exset.grammars.columns.ragged import Reals
from exset.grammars.columns.strings import Strings
from exset.grammars.lens.examples import TIME_FIELDS, UNIT_FIELDS, ExampleSet
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text
from exset.runtime.lens.arrays import numbers_of
from exset.runtime.lens.table_layout import TableLayout


def named_columns(
    examples: ExampleSet,
    layout: TableLayout,
    sides: dict[str, TableColumn],
    first: int,
) -> tuple[dict[str, TableColumn], int]:
    """Return {name: column} for all columns of a table, and the number of its rows.

    sides: the columns of inputs and targets, with a row for each event. first: the number of the
    first example, if `examples` is a chunk.
    """
    n = len(examples)
    of_examples: dict[str, TableColumn] = {
        "example": Numbers.of(np.arange(first, first + n).astype(np.uint32)),
        "name": _strings(examples.name, "name", layout),
        "frequency": Numbers.of(examples.frequency),
    }
    if "proc" in layout.optional:
        of_examples["proc"] = _strings(examples.proc, "proc", layout)
    example, event = numbers_of(np, examples, None)
    of_events: dict[str, TableColumn] = {"event": Numbers.of(event.astype(np.uint32))}
    if "event_proc" in layout.optional:
        of_events["event_proc"] = _strings(examples.events.proc, "event_proc", layout)
    fields = [field for field in UNIT_FIELDS if field in layout.optional]
    for field in (*TIME_FIELDS, *fields):
        of_events[field] = _reals(examples.events.real(field))
    of_events.update(sides)
    if layout.rows == "event":
        of_examples = {name: column.take(example) for name, column in of_examples.items()}
    else:
        counts = lengths_of(examples.event_offsets)
        of_events = {name: Lists.of(column, counts) for name, column in of_events.items()}
    numbers = {"example": of_examples.pop("example"), "event": of_events.pop("event")}
    return {**numbers, **of_examples, **of_events}, n if layout.rows == "example" else example.size


def _strings(column: Strings, name: str, layout: TableLayout) -> Strings:
    return column if name in layout.in_bytes else Text.unchecked(**vars(column))


def _reals(column: Reals) -> Numbers:
    return Numbers.unchecked(values=column.values, present=column.present)
