"""Convert the columns of the Lens binary layout to an `ExampleSet`.

Lens, example.c: readBinaryExample and readBinaryEventRanges.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import Fields, Values
from exset.codecs.lens.event_lists import (
    INPUTS,
    SHARED,
    TARGETS,
    EventLists,
    check_expansion,
    owners,
    read_event_lists,
)
from exset.codecs.lens.lint import may_have_findings, report
from exset.codecs.lens.list_placement import ListPlacement, place_lists, place_plain
from exset.core.errors import Findings, FormatError, LimitError
from exset.core.limits import Limits, limit_hint
from exset.core.source import Source
from exset.grammars.columns import arrays
from exset.grammars.columns.arrays import Flags, Floats, Ints, Longs, T
from exset.grammars.columns.ragged import Ragged, Reals, Strings
from exset.grammars.lens.columns import REAL_FIELDS, Events, Ranges, SetHeader
from exset.grammars.lens.examples import ExampleSet


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


REALS: Final = {name: _camel_case(name) for name in REAL_FIELDS}
"""The names of the real fields of a set and of an event in the layout: `maxTime` for `max_time`."""

_SETS: Final = "examples.inputs", "examples.targets"
_SPECIAL: Final = "examples.special_events"


@dataclass(frozen=True)
class Offsets:
    """The totals of the chunks before this one: bytes, events, and events in event lists."""

    size: int = 0
    events: int = 0
    listed: int = 0


def header_of(fields: Fields) -> SetHeader:
    """Make the header from the fields before the examples."""
    return SetHeader(
        proc=fields.strings("set_proc")[0],
        **{name: float(fields.reals(f"set_{word}")[0]) for name, word in REALS.items()},
    )


class Decoder:
    """Converts the fields of one chunk to `examples`, a set that is not yet in normal form.

    before: the totals of the earlier chunks. listed: the number of events in event lists,
    including the lists of earlier chunks. Raises FormatError for values that Lens rejects, and
    LimitError for too many events.
    """

    def __init__(
        self, fields: Fields, source: Source, header: SetHeader, limits: Limits, before: Offsets
    ) -> None:
        self._fields = fields
        self._source = source
        _check_frequencies(fields, source)
        self._event_offsets = event_offsets = _event_offsets(fields, source, limits, before)
        m = int(event_offsets[-1])
        self._kinds: tuple[EventLists, ...] = ()
        ranges, groups = _ranges(fields)
        self.listed = before.listed + 2 * m
        placed = place_plain(fields) if self.listed <= limits.max_expand else None
        if placed is not None:
            lists = _lists(fields)
        else:
            order = fields.order(*_SETS)
            lists = _lists(fields, order)
            self._kinds = three = _event_lists(fields, source, event_offsets, order)
            self.listed = check_expansion(fields, source, limits, before.listed, *three)
            placed = place_lists(*three, lists[1:] == lists[:-1], m)
        self._placed = placed
        events = _events(fields, event_offsets, placed)
        empty = ranges.values.lengths + ranges.units.lengths == 0
        if has_empty := bool(empty.any()):
            ranges = _with_inherited(ranges, empty, fields, self._kinds, events, header)
        self._check_ranges = has_empty or may_have_findings(lists, ranges)
        self.examples = ExampleSet(
            header=header,
            name=_absent_if_empty(fields.strings("examples.example_name")),
            proc=_absent_if_empty(fields.strings("examples.example_proc")),
            frequency=fields.reals("examples.example_frequency"),
            event_offsets=event_offsets,
            events=events,
            lists=lists,
            ranges=ranges,
            groups=groups,
        )

    def lint(self, findings: Findings) -> None:
        """Add the findings about the examples."""
        offsets, check = self._event_offsets, self._check_ranges
        report(self._fields, self._source, self._kinds, self._placed, offsets, check, findings)


def _check_frequencies(fields: Fields, source: Source) -> None:
    negative = fields.reals("examples.example_frequency") < 0
    if negative.any():
        k = int(negative.argmax())
        place = fields.place(source, "examples.example_frequency", k)
        raise FormatError("the frequency is negative, which Lens rejects", place=place)


def _event_offsets(fields: Fields, source: Source, limits: Limits, before: Offsets) -> Longs:
    counts = fields.ints("examples.example_numEvents")
    offsets = arrays.offsets_of(counts)
    starts = fields.starts["examples.example_numEvents"]
    many = before.events + offsets[1:] > before.size + starts + limits.max_events
    if many.any():
        place = fields.place(source, "examples.example_numEvents", int(many.argmax()))
        message = (
            f"too many events: the limit here is {limits.max_events:,}"
            " plus one for each byte before this position"
        )
        raise LimitError(message, place=place, hint=limit_hint("max_events"))
    return offsets


def _lists(fields: Fields, order: Longs | None = None) -> Longs:
    """Return where the ranges of each set begin among all ranges, and the end.

    order: the numbers of the sets in file order, if all input sets are numbered before the target
    sets. By default, input and target sets alternate.
    """
    inputs, targets = (fields.counts(f"{path}.ranges") for path in _SETS)
    lengths = np.empty(inputs.size + targets.size, np.int64)
    if order is None:
        lengths[0::2], lengths[1::2] = inputs, targets
    else:
        lengths[:] = np.concatenate([inputs, targets])[order]
    return arrays.offsets_of(arrays.compact(lengths))


def _event_lists(
    fields: Fields, source: Source, event_offsets: Longs, order: Longs
) -> tuple[EventLists, EventLists, EventLists]:
    """Read the event lists of the input sets, of their shared targets, and of the target sets.

    order: the sets in file order; input sets are numbered before target sets. event_offsets: the
    first event of each example.
    """
    inputs, targets = (owners(fields.bounds[path]) for path in _SETS)
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size)
    shared = np.flatnonzero(fields.flags("examples.inputs.shared_targets"))
    lists = (
        (INPUTS, number[: inputs.size], inputs),
        (SHARED, number[shared], inputs[shared]),
        (TARGETS, number[inputs.size :], targets),
    )
    first, second, third = (
        read_event_lists(fields, source, path, each, example, event_offsets)
        for path, each, example in lists
    )
    return first, second, third


def _events(fields: Fields, event_offsets: Longs, placed: ListPlacement) -> Events:
    """Return the events of the examples, with the range lists that `placed` gives them.

    If several special events have values for the same event, the last one counts. For the proc,
    the last special event that has a proc counts.
    """
    m = int(event_offsets[-1])
    if not fields.counts(_SPECIAL).any():
        return replace(Events.empty(m), inputs=placed.inputs, targets=placed.targets)
    event = event_offsets[owners(fields.bounds[_SPECIAL])] + fields.ints(f"{_SPECIAL}.event_num")
    present = np.zeros(m, np.bool_)
    present[event] = True
    reals = dict[str, Reals]()
    for name, word in REALS.items():
        values = np.zeros(m, np.float32)
        values[event] = fields.reals(f"{_SPECIAL}.event_{word}")
        reals[name] = Reals(values, present)
    procs = fields.strings(f"{_SPECIAL}.event_proc")
    number = np.full(m, -1, np.int64)
    with_proc = np.flatnonzero(procs.lengths)
    number[event[with_proc]] = with_proc
    starts, ends = procs.offsets[:-1][number], procs.offsets[1:][number]
    proc = Strings.from_spans(procs.data, starts, ends, number >= 0)
    return Events(proc=proc, inputs=placed.inputs, targets=placed.targets, **reals)


def _effective(column: Reals, inherited: float) -> Floats:
    if not column.present.any():
        return arrays.constant(inherited, len(column), np.float32)
    return np.where(column.present, column.values, np.float32(inherited))


def _ranges(fields: Fields) -> tuple[Ranges, Strings]:
    """Return the ranges in file order, and the group names of the ranges that have one."""
    units = [f"{path}.ranges.units" for path in _SETS]
    sparse = cast(Flags, _both(fields, *["range_sparseEncoding"] * 2))
    dense = ~sparse
    value = _both(fields, "units.range_externalInput", "units.range_target")
    values = fields.merged_rows(f"{units[0]}.unit_externalInput", f"{units[1]}.unit_target")
    indices = fields.merged_rows(*(f"{path}.unit_index" for path in units))
    names = cast(Strings, _both(fields, *["range_groupName"] * 2))
    named = np.flatnonzero(names.lengths) if names.data.size else np.empty(0, np.int64)
    group = arrays.constant(-1, sparse.size, np.int32)
    if named.size:
        group = np.full(sparse.size, -1, np.int32)
        group[named] = np.arange(named.size)
    ranges = Ranges(
        group,
        _spread(cast(Ints, _both(fields, *["units.range_firstUnit"] * 2)), dense),
        _spread(cast(Floats, value), sparse),
        _rows(cast(Ragged[np.float32], values), dense),
        _rows(cast(Ragged[np.int32], indices), sparse),
    )
    return ranges, names.take(named)


def _both(fields: Fields, first: str, second: str) -> Values:
    """Return the values of input ranges and of target ranges together, in file order.

    first, second: the names of the two columns.
    """
    return fields.merged(f"{_SETS[0]}.ranges.{first}", f"{_SETS[1]}.ranges.{second}")


def _with_inherited(
    ranges: Ranges,
    empty: Flags,
    fields: Fields,
    kinds: Sequence[EventLists],
    events: Events,
    header: SetHeader,
) -> Ranges:
    """Return the ranges, with a value for each dense range without units, as in Lens (newRange).

    The value is the active value of the first event that has the range's list. empty: which ranges
    have no units. kinds: the kinds of lists in the file, which say which events have each list.
    """
    values = list[Floats]()
    for path, lists, active in (
        (_SETS[0], kinds[:1], _effective(events.active_input, header.active_input)),
        (_SETS[1], kinds[2:], _effective(events.active_target, header.active_target)),
    ):
        first = np.arange(len(events))  # in a plain file, each event has a list
        for each in lists:
            first = each.first_events
        values.append(active[first[owners(fields.bounds[f"{path}.ranges"])]])
    inherited = np.concatenate(values)[fields.order(*(f"{path}.ranges" for path in _SETS))]
    dense = empty & ~cast(Flags, _both(fields, *["range_sparseEncoding"] * 2))
    return replace(ranges, value=np.where(dense, inherited, ranges.value))


def _spread(column: NDArray[T], where: Flags) -> NDArray[T]:
    """Return an array with values of `column` where `where` is true, and 0 elsewhere.

    The values are in order: each True gets the next value of `column`.
    """
    if column.size == where.size:
        return column
    if column.size == 0:
        return np.broadcast_to(np.zeros((), column.dtype), where.shape)
    spread = np.zeros(where.size, column.dtype)
    spread[where] = column
    return spread


def _rows(rows: Ragged[T], where: Flags) -> Ragged[T]:
    """Return a row for each element of `where`.

    If the element is True, this is the next row of `rows`, else an empty row.
    """
    if len(rows) == where.size:
        return rows
    if len(rows) == 0:
        return Ragged(rows.values, arrays.constant(0, where.size + 1, np.int64))
    return Ragged(rows.values, arrays.offsets_of(_spread(rows.lengths, where)))


def _absent_if_empty(strings: Strings) -> Strings:
    """Return the strings, but make each empty string absent.

    A binary file does not distinguish empty strings from absent strings.
    """
    return replace(strings, present=strings.lengths > 0)
