"""What the fields of a Lens binary file mean: from the columns of the layout to an `ExampleSet`.

Lens, example.c: readBinaryExample and readBinaryEventRanges.
"""

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import Fields
from exset.codecs.lens_doubts import report, report_groups
from exset.codecs.lens_events import (
    INPUTS,
    SHARED,
    TARGETS,
    EventLists,
    Placed,
    check_expansion,
    place_lists,
    read_event_lists,
)
from exset.errors import Findings, FormatError, LimitError
from exset.grammars.arrays import Flags, Floats, Longs, T, concat_offsets, constant, offsets_of
from exset.grammars.columns import Ragged, Reals, Strings
from exset.grammars.examples import ExampleSet
from exset.grammars.parts import REAL_FIELDS, Events, Ranges, SetHeader
from exset.limits import Limits
from exset.source import Source

_WORDS: Final = (
    "maxTime",
    "minTime",
    "graceTime",
    "defaultInput",
    "activeInput",
    "defaultTarget",
    "activeTarget",
)
REALS: Final = dict(zip(REAL_FIELDS, _WORDS, strict=True))
"""The manual's words for the real fields of a set and of an event."""

_SPECIAL: Final = "examples.special_events"


def examples_of(fields: Fields, source: Source, limits: Limits, findings: Findings) -> ExampleSet:
    """The examples that the fields of a file describe. Raises FormatError, LimitError."""
    _check_frequencies(fields, source)
    event_offsets = _event_offsets(fields, source, limits)
    m = int(event_offsets[-1])
    kinds = _event_lists(fields, source, event_offsets)
    check_expansion(fields, source, limits, *kinds)
    sets = [fields.bounds[f"examples.{kind}.ranges"] for kind in ("inputs", "targets")]
    lists = concat_offsets(sets)
    placed = place_lists(*kinds, lists[1:] == lists[:-1], m)
    report(fields, source, kinds, placed, event_offsets, findings)

    header = SetHeader(
        proc=fields.strings("set_proc")[0],
        **{name: float(fields.reals(f"set_{word}")[0]) for name, word in REALS.items()},
    )
    events = _events(fields, event_offsets, placed)
    active_inputs = _effective(events.active_input, header.active_input)
    active_targets = _effective(events.active_target, header.active_target)
    inputs, input_groups = _ranges(fields, "inputs", "externalInput", kinds[0], active_inputs)
    targets, target_groups = _ranges(fields, "targets", "target", kinds[2], active_targets)
    shift = np.where(targets.group < 0, 0, len(input_groups)).astype(np.int32)
    examples = ExampleSet.normal(
        header=header,
        name=_given(fields.strings("examples.example_name")),
        proc=_given(fields.strings("examples.example_proc")),
        frequency=fields.reals("examples.example_frequency"),
        event_offsets=event_offsets,
        events=events,
        lists=lists,
        ranges=Ranges.concat([inputs, replace(targets, group=targets.group + shift)]),
        groups=Strings.concat([input_groups, target_groups]),
    )
    report_groups(len(examples.groups), source, findings)
    return examples


def _check_frequencies(fields: Fields, source: Source) -> None:
    negative = fields.reals("examples.example_frequency") < 0
    if negative.any():
        k = int(negative.argmax())
        place = fields.place(source, "examples.example_frequency", k)
        raise FormatError("the frequency is negative, which Lens refuses", place=place)


def _event_offsets(fields: Fields, source: Source, limits: Limits) -> Longs:
    counts = fields.ints("examples.example_numEvents")
    most = len(source.data) + limits.max_events
    offsets = offsets_of(counts)
    if offsets[-1] > most:
        k = int(np.searchsorted(offsets, most, "right")) - 1
        place = fields.place(source, "examples.example_numEvents", k)
        hint = "a higher limit for max_events lets it pass"
        raise LimitError(f"more than {most} events", place=place, hint=hint)
    return offsets


def _event_lists(
    fields: Fields, source: Source, event_offsets: Longs
) -> tuple[EventLists, EventLists, EventLists]:
    """The event lists of the input sets, of their shared targets, and of the target sets."""
    inputs = _owners(fields.bounds["examples.inputs"])
    targets = _owners(fields.bounds["examples.targets"])
    number = np.arange(inputs.size + targets.size)
    shared = np.flatnonzero(fields.flags("examples.inputs.shared_targets"))
    lists = (
        (INPUTS, number[: inputs.size], inputs),
        (SHARED, shared, inputs[shared]),
        (TARGETS, number[inputs.size :], targets),
    )
    first, second, third = (
        read_event_lists(fields, source, path, of, example, event_offsets)
        for path, of, example in lists
    )
    return first, second, third


def _owners(offsets: Longs) -> Longs:
    """The row that each element of rows belongs to."""
    return np.repeat(np.arange(offsets.size - 1), np.diff(offsets))


def _events(fields: Fields, event_offsets: Longs, placed: Placed) -> Events:
    """The events; of two special events of one number the later wins, but an empty proc is none."""
    m = int(event_offsets[-1])
    if fields.bounds[_SPECIAL][-1] == 0:
        return replace(Events.none(m), inputs=placed.inputs, targets=placed.targets)
    event = event_offsets[_owners(fields.bounds[_SPECIAL])] + fields.ints(f"{_SPECIAL}.event_num")
    given = np.zeros(m, np.bool_)
    given[event] = True
    reals = dict[str, Reals]()
    for name, word in REALS.items():
        values = np.zeros(m, np.float32)
        values[event] = fields.reals(f"{_SPECIAL}.event_{word}")
        reals[name] = Reals(values, given)
    procs = fields.strings(f"{_SPECIAL}.event_proc")
    number = np.full(m, -1, np.int64)
    some = np.flatnonzero(procs.lengths)
    number[event[some]] = some
    starts, ends = procs.offsets[:-1][number], procs.offsets[1:][number]
    proc = Strings.from_spans(procs.data, starts, ends, number >= 0)
    return Events(proc=proc, inputs=placed.inputs, targets=placed.targets, **reals)


def _effective(column: Reals, inherited: float) -> Floats:
    if not column.given.any():
        return constant(inherited, len(column), np.float32)
    return np.where(column.given, column.values, np.float32(inherited))


def _ranges(
    fields: Fields, kind: str, real: str, lists: EventLists, active: Floats
) -> tuple[Ranges, Strings]:
    """The ranges of inputs or of targets, and the names of the groups that they name."""
    at = f"examples.{kind}.ranges"
    values, units = f"{at}.units.unit_{real}", f"{at}.units.unit_index"
    sparse = fields.flags(f"{at}.range_sparseEncoding")
    value = _spread(fields.reals(f"{at}.units.range_{real}"), sparse)
    bare = ~sparse & (fields.ints(f"{at}.range_numUnits") == 0)
    if bare.any():
        # newRange: what has no value of its own has that of the first event it was made for.
        first = np.minimum.reduceat(lists.first, lists.offsets[:-1])
        value = value.copy()
        value[bare] = active[first[_owners(fields.bounds[at])[bare]]]
    names = fields.strings(f"{at}.range_groupName")
    named = np.flatnonzero(names.lengths)
    group = np.full(sparse.size, -1, np.int32)
    group[named] = np.arange(named.size)
    ranges = Ranges(
        group,
        _spread(fields.ints(f"{at}.units.range_firstUnit"), ~sparse),
        value,
        _rows(fields.reals(values), fields.bounds[values], ~sparse),
        _rows(fields.ints(units), fields.bounds[units], sparse),
    )
    return ranges, names.take(named)


def _spread(column: NDArray[T], where: Flags) -> NDArray[T]:
    """The column's values at the rows where there is one, elsewhere 0."""
    if column.size == where.size:
        return column
    spread = np.zeros(where.size, column.dtype)
    spread[where] = column
    return spread


def _rows(column: NDArray[T], bounds: Longs, where: Flags) -> Ragged[T]:
    """The column's rows where there is one, elsewhere an empty row."""
    if bounds.size - 1 == where.size:
        return Ragged(column, bounds)
    return Ragged(column, offsets_of(_spread(np.diff(bounds), where)))


def _given(strings: Strings) -> Strings:
    """The strings, none given that is empty: so says the file what is absent."""
    return replace(strings, given=strings.lengths > 0)
