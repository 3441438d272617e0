"""Convert an `ExampleSet` to the columns of the Lens binary layout, as Lens writes them.

Lens, example.c: writeBinaryExampleFile, writeBinaryEventRanges, normalEvent.
"""

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import Values
from exset.codecs.lens.event_lists import write_spans
from exset.codecs.lens.losses import Losses, ints
from exset.codecs.lens.to_examples import REALS
from exset.grammars.columns.arrays import Flags, Ints, Longs, T, compact, row_indices
from exset.grammars.columns.ragged import Strings
from exset.grammars.lens.columns import TIME_FIELDS
from exset.grammars.lens.examples import ExampleSet

_Columns = dict[str, Values]


def columns_of(examples: ExampleSet, losses: Losses) -> _Columns:
    """Return the columns of a binary file with these examples, which must be in normal form.

    Raises FormatError for values that a binary file cannot store.
    """
    header = examples.header
    file: _Columns = {
        "sizeof_real": np.array([4], np.int32),
        "set_proc": losses.strings(Strings.of([header.proc]), lambda _: "header.proc"),
        **{f"set_{word}": np.array([header.real(name)]) for name, word in REALS.items()},
        "num_examples": ints(np.array([len(examples)]), "examples"),
    }
    each: _Columns = {
        "example_name": losses.names(examples.name),
        "example_proc": losses.strings(examples.proc, "examples[{}].proc".format),
        "example_frequency": losses.frequencies(examples.frequency),
        "example_numEvents": ints(np.diff(examples.event_offsets), "events of one example"),
        **_special_events(examples, losses),
        **_Sets(examples, losses).columns(),
    }
    return file | _prefixed("examples", each)


def _prefixed(path: str, columns: _Columns) -> _Columns:
    return {f"{path}.{name}": column for name, column in columns.items()}


def _special_events(examples: ExampleSet, losses: Losses) -> _Columns:
    """Return the columns of special events: those that do not inherit all values from the header.

    Lens writes all fields of a special event.
    """
    events = examples.events
    own = np.zeros(len(events.proc), np.bool_)
    for name in REALS:
        own |= events.real(name).present
    event = np.flatnonzero(own | events.proc.present)
    example = examples.example_of_event[event]
    number = event - examples.event_offsets[example]
    procs = losses.strings(
        events.proc.take(event), lambda i: f"examples[{example[i]}].events[{number[i]}].proc"
    )
    # A proc that is empty after the cut at a NUL may have been the only own field of its event.
    if not (kept := procs.present | own[event]).all():
        event, example, number = event[kept], example[kept], number[kept]
        procs = procs.take(np.flatnonzero(kept))
    special: _Columns = {"event_num": ints(number, "events of one example"), "event_proc": procs}
    for name, word in REALS.items():
        column = events.real(name).take(event)
        inherited = np.float32(np.nan) if name in TIME_FIELDS else examples.header.real(name)
        special[f"event_{word}"] = np.where(column.present, column.values, inherited)
    counts = np.bincount(example, minlength=len(examples))
    return {
        "example_number_of_special_events": ints(counts, "special events"),
        **_prefixed("special_events", special),
    }


class _Sets:
    """The range lists of all examples, divided into input sets and target sets of the file.

    A list that an event uses as inputs is an input set; any other list is a target set.
    """

    def __init__(self, examples: ExampleSet, losses: Losses) -> None:
        self.examples = examples
        self.groups = losses.strings(examples.groups, "groups[{}]".format)
        self.num_lists = examples.lists.size - 1
        self.is_input = np.zeros(self.num_lists, np.bool_)
        self.owner = np.zeros(self.num_lists, np.int64)
        inputs, targets = examples.events.inputs, examples.events.targets
        for numbers in (inputs, targets):
            used = np.flatnonzero(numbers >= 0)
            self.owner[numbers[used]] = examples.example_of_event[used]
        self.is_input[inputs[inputs >= 0]] = True
        self.inputs, self.targets = np.flatnonzero(self.is_input), np.flatnonzero(~self.is_input)

    def columns(self) -> _Columns:
        """Return the columns of the input sets and of the target sets, in file order."""
        inputs, targets = self.examples.events.inputs, self.examples.events.targets
        shared = self.event_lists(targets, self.is_input)
        shared_counts = shared[1][self.inputs]
        is_shared = shared_counts > 0
        return {
            "example_numInputSets": self.counts(self.inputs),
            **self.set_columns("inputs", "externalInput", inputs, self.inputs),
            "inputs.shared_targets": is_shared,
            "inputs.target_events.set_numEventsInList": shared_counts[is_shared],
            "inputs.target_events.event_num": shared[0],
            "example_numTargetSets": self.counts(self.targets),
            **self.set_columns("targets", "target", targets, self.targets),
        }

    def counts(self, chosen: Longs) -> Ints:
        """Return for each example how many of the lists `chosen` it has."""
        sets = np.bincount(self.owner[chosen], minlength=len(self.examples))
        return ints(sets, "sets of one example")

    def set_columns(self, kind: str, real: str, numbers: Longs, chosen: Longs) -> _Columns:
        """Return the columns of the lists `chosen`: the events that use them, and their ranges.

        kind: "inputs" or "targets". real: what the Lens manual calls a value on this side, part of
        the columns' names. numbers: the list of each event.
        """
        is_chosen = self.is_input if chosen is self.inputs else ~self.is_input
        entries, entry_counts = self.event_lists(numbers, is_chosen)
        starts = self.examples.lists[:-1][chosen]
        lengths = self.examples.lists[1:][chosen] - starts
        ranges = self.examples.ranges.take(row_indices(starts, compact(lengths)))
        dense = ranges.values.offsets[1:] > ranges.values.offsets[:-1]
        num_units = ranges.values.lengths + ranges.units.lengths
        columns: _Columns = {
            "events.set_numEventsInList": entry_counts[chosen],
            "events.event_num": entries,
            "num_ranges": ints(lengths, "ranges of one list"),
            "ranges.range_groupName": self.group_names(ranges.group),
            "ranges.range_numUnits": ints(num_units, "units of one range"),
            "ranges.range_sparseEncoding": ~dense,
            f"ranges.units.range_{real}": _filtered(ranges.value, ~dense),
            "ranges.units.unit_index": ranges.units.values,
            "ranges.units.range_firstUnit": _filtered(ranges.first, dense),
            f"ranges.units.unit_{real}": ranges.values.values,
        }
        return _prefixed(kind, columns)

    def event_lists(self, numbers: Longs, chosen: Flags) -> tuple[Ints, Ints]:
        """Return the events that use each of the lists `chosen`, as entries of event lists.

        numbers: for each event, the index of its list, or -1. Also returns how many entries each
        list has; 0 for a list that is not chosen.
        """
        event = np.flatnonzero(numbers >= 0)
        event = event[chosen[numbers[event]]]
        lists = numbers[event]
        if (lists[1:] < lists[:-1]).any():
            order = np.argsort(lists, kind="stable")
            event, lists = event[order], lists[order]
        number = event - self.examples.event_offsets[self.examples.example_of_event[event]]
        if not (lists[1:] == lists[:-1]).any():  # one event each
            counts = np.zeros(self.num_lists, np.int32)
            counts[lists] = 1
            return number.astype(np.int32), counts
        return write_spans(number, lists, self.num_lists)

    def group_names(self, group: Ints) -> Strings:
        """Return the group name of each range; no value for a range without a group."""
        if len(self.groups) == 0:
            return Strings.empty(group.size)
        starts, ends = self.groups.offsets[:-1][group], self.groups.offsets[1:][group]
        return Strings.from_spans(self.groups.data, starts, ends, group >= 0)


def _filtered(column: NDArray[T], where: Flags) -> NDArray[T]:
    """Return the values of a column for which `where` is true; do not copy them if it is true
    for all.
    """
    if where.all():
        return column
    return column[where] if where.any() else column[:0]
