"""Make example sets from arrays: the inverse of `to_arrays`."""

import numpy as np

from exset.grammars.columns.arrays import Floats, bits, constant, offsets_of
from exset.grammars.columns.inputs import raw
from exset.grammars.columns.ragged import Ragged, Reals, Strings
from exset.grammars.lens.examples import TIME_FIELDS, Events, ExampleSet, Ranges, SetHeader
from exset.runtime.arrays import to_host
from exset.runtime.lens.arrays import ExampleArrays
from exset.runtime.lens.network_layout import Layout


def from_arrays(arrays: ExampleArrays) -> ExampleSet:
    """Return a set for which `to_arrays`, with the same layouts, gives the same arrays.

    Each event has dense inputs and targets, group by group. The set has no names and procs. Raises
    ValueError unless the arrays have one row for each event, and for a time that is NaN only for
    some events, which no file can store.
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
    groups = [*_groups(arrays.input_layout), *_groups(arrays.target_layout)]
    sides = [len(_groups(arrays.input_layout)), len(_groups(arrays.target_layout))]
    names: dict[bytes | None, int] = {}
    group = [names.setdefault(name, len(names)) if name else -1 for name, _ in groups]
    lengths = offsets_of(np.tile(np.array([size for _, size in groups], np.int64), m))
    values = np.concatenate([to_host(arrays.inputs), to_host(arrays.targets)], axis=1)
    header, times = _times(arrays)
    none = constant(-1, m, np.int64)
    number = np.arange(m, dtype=np.int64) * 2
    return ExampleSet(
        header=header,
        name=Strings.empty(counts.size),
        proc=Strings.empty(counts.size),
        frequency=to_host(arrays.frequency)[offsets[:-1]],
        event_offsets=offsets,
        events=Events.empty(m).with_unchecked(
            inputs=number if sides[0] else none, targets=number + 1 if sides[1] else none, **times
        ),
        lists=offsets_of(np.tile(np.array(sides, np.int64), m)),
        ranges=Ranges(
            group=np.tile(np.array(group, np.int32), m),
            first=constant(0, m * len(groups), np.int32),
            value=constant(0, m * len(groups), np.float32),
            values=Ragged(values.reshape(-1), lengths),
            units=Ragged.empty(m * len(groups), np.int32),
        ),
        groups=Strings.of(names),
    ).normalized()


def _groups(layout: Layout) -> list[tuple[bytes | None, int]]:
    """Return the names and sizes of groups with units; without groups, None and all units."""
    groups = [(raw("group", name), size) for name, size in layout.groups.items()]
    return [each for each in groups or [(None, layout.units)] if each[1]]


def _times(arrays: ExampleArrays) -> tuple[SetHeader, dict[str, Reals]]:
    """Return a header with the times that all events share, and columns of the other times."""
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
