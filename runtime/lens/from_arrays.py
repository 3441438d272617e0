"""Make example sets from arrays: the inverse of `to_arrays`."""

import numpy as np

from exset.grammars.columns.arrays import Floats, bits, offsets_of
from exset.grammars.columns.inputs import raw
from exset.grammars.columns.ragged import Reals, Strings
from exset.grammars.lens.examples import TIME_FIELDS, Events, ExampleSet, SetHeader
from exset.runtime.arrays import to_host
from exset.runtime.lens.arrays import ExampleArrays
from exset.runtime.lens.event_lists import Block, EventLists
from exset.runtime.lens.network_layout import Layout


def from_arrays(arrays: ExampleArrays) -> ExampleSet:
    """Return a set for which `to_arrays`, with the same layouts, returns the same arrays.

    Each event has dense inputs and targets, group by group. Names and frequencies are kept. The set
    has no procs. Raises ValueError unless the arrays have one row for each event. Also raises it if
    a time is NaN for some events and not for others, which no file can store.
    """
    arrays.check_flat("from_arrays")
    example, event = to_host(arrays.example), to_host(arrays.event)
    counts = np.bincount(example, minlength=0)
    offsets = offsets_of(counts.astype(np.int64))
    if not np.array_equal(example, np.repeat(np.arange(counts.size), counts)) or not np.array_equal(
        event, np.arange(event.size) - offsets[example]
    ):
        raise ValueError("from_arrays: examples and their events must be in order")
    m = event.size
    made = EventLists.of_blocks(
        m,
        _blocks(to_host(arrays.inputs), arrays.input_layout),
        _blocks(to_host(arrays.targets), arrays.target_layout),
    )
    header, times = _times(arrays)
    return ExampleSet(
        header=header,
        name=arrays.name[: counts.size],
        proc=Strings.empty(counts.size),
        frequency=to_host(arrays.frequency)[offsets[:-1]],
        event_offsets=offsets,
        events=Events.empty(m).with_unchecked(inputs=made.inputs, targets=made.targets, **times),
        lists=made.lists,
        ranges=made.ranges,
        groups=made.groups,
    ).normalized()


def _blocks(rows: Floats, layout: Layout) -> list[Block]:
    """Divide an array [events, units] of inputs or targets into a block for each group of the
    layout.
    """
    if not layout.groups:
        return [Block.of(None, rows)]
    return [Block.of(raw("group", name), rows[:, layout[name]]) for name in layout.groups]


def _times(arrays: ExampleArrays) -> tuple[SetHeader, dict[str, Reals]]:
    """Return a header, and the columns of times.

    The header has the times that are equal for all events. All other times become columns.
    """
    equal: dict[str, float] = {}
    times = {}
    for field in TIME_FIELDS:
        time: Floats = to_host(getattr(arrays, field))
        if time.size and (bits(time) == bits(time[:1])).all():
            equal[field] = float(time[0])
        elif np.isnan(time).any():
            raise ValueError(f"from_arrays: {field} is NaN at some events only")
        else:
            times[field] = Reals(time, np.ones(time.size, np.bool_))
    return SetHeader(**equal), times  # type: ignore[arg-type]
