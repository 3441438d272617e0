"""Make an `ExampleSet` in normal form from the columns that the actions filled."""

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import T, compact, constant
from exset.grammars.columns.ragged import Ragged, Reals, Strings
from exset.grammars.lens.columns import REAL_FIELDS, Events, Ranges, SetHeader
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.lens.normal_form import own_fields, without_empty
from exset.parsers.lens import steps as c
from exset.parsers.lens.lint import StringsOf
from exset.parsers.lens.steps import Columns, Ints
from exset.parsers.lens.tokens import Quoted, Text


def strings_of(text: Text, columns: Columns) -> StringsOf:
    """Return the strings of a chunk. A proc that many events share is included only once."""
    of_events = columns.event_proc
    if len(of_events):
        of_events = of_events[np.unique(of_events[:, 0], return_index=True)[1]]
    return StringsOf(
        header_proc=text.quoted(columns.header_proc),
        name=text.quoted(columns.name),
        proc=text.quoted(columns.proc),
        event_proc=text.quoted(of_events),
        group=text.quoted(columns.group[: columns.state[c.NUM_RANGES]]),
    )


def header_of(text: Text, columns: Columns, strings: StringsOf) -> SetHeader:
    """Return the header of the set, which is in the first chunk of a text."""
    [proc] = text.strings(strings.header_proc)
    return SetHeader(proc=proc, **dict(zip(REAL_FIELDS, columns.header.tolist(), strict=True)))


def example_set(text: Text, columns: Columns, strings: StringsOf, header: SetHeader) -> ExampleSet:
    """Make the example set of a chunk, in normal form.

    text: the tokens of the chunk. columns: the columns that the actions filled. strings: the tokens
    that are strings. header: the header of the set.
    """
    n, lists = len(columns.event_offsets) - 1, columns.state[c.NUM_LISTS]
    group, groups = _groups(text, strings.group, int(columns.state[c.NUM_RANGES]))
    return ExampleSet.unchecked(
        header=header,
        name=_rows(text, strings.name, n),
        proc=without_empty(_rows(text, strings.proc, n)),
        frequency=_numbers(columns.frequency, 1, n),
        event_offsets=columns.event_offsets,
        events=_events(text, columns, header),
        lists=columns.lists[: lists + 1],
        ranges=_ranges(columns, group),
        groups=groups,
    )


def _rows(text: Text, quoted: Quoted, n: int) -> Strings:
    return text.strings(quoted) if len(quoted.pairs) else Strings.empty(n)


def _numbers(column: NDArray[T], default: int, n: int) -> NDArray[T]:
    """Return `column`. If no step has set the column, return n times the default instead."""
    return compact(column[:n]) if len(column) else constant(default, n, column.dtype.type)


def _groups(text: Text, quoted: Quoted, n: int) -> tuple[NDArray[np.int32], Strings]:
    if not len(quoted.pairs):
        return constant(-1, n, np.int32), Strings.empty(0)
    numbers, names = text.groups(quoted)
    return compact(numbers), names


def _ranges(columns: Columns, group: NDArray[np.int32]) -> Ranges:
    n, state = len(group), columns.state
    return Ranges.unchecked(
        group=group,
        first=_numbers(columns.first, 0, n),
        value=compact(columns.value[:n]),
        values=_ragged(columns.values[: state[c.NUM_VALUES]], columns.value_ends[: n + 1]),
        units=_ragged(columns.units[: state[c.NUM_UNITS]], columns.unit_ends[: n + 1]),
    )


def _ragged(values: NDArray[T], offsets: Ints) -> Ragged[T]:
    return Ragged.unchecked(values=compact(values), offsets=compact(offsets))


def _events(text: Text, columns: Columns, header: SetHeader) -> Events:
    inputs, targets = columns.uses
    events = Events.empty(len(inputs)).with_unchecked(
        inputs=compact(inputs), targets=compact(targets)
    )
    if len(columns.event_proc):
        proc = without_empty(text.strings(text.quoted(columns.event_proc)))
        events = events.with_unchecked(proc=proc)
    if columns.present.shape[1]:
        rows = zip(REAL_FIELDS, columns.reals, columns.present, strict=True)
        own = {
            field: Reals.unchecked(values=values, present=present)
            for field, values, present in rows
            if present.any()
        }
        events = own_fields(header, events.with_unchecked(**own))
    return events
