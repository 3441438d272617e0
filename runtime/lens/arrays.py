"""Make arrays of an example set: the values that Lens presents to a network, event by event.

Every unit first gets the default value of the event. Then the ranges (values for some units) are
applied in order, so that later ranges override earlier ones (Lens, example.c: standardLoadEvent).
The code works on NumPy and CuPy (`xp`), without loops over examples.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from exset.core.callers import public
from exset.core.errors import Findings, LimitError, Place, collect_findings, warn
from exset.core.html import SHOWN, table
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.core.text import counted
from exset.grammars.columns.arrays import Flags, Floats, Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.lens.examples import TIME_FIELDS, ExampleSet
from exset.runtime.arrays import Device, namespace_of, on_device, repeat, to_device
from exset.runtime.lens.fill import side_array
from exset.runtime.lens.layout_inference import layouts_of
from exset.runtime.lens.network_layout import MODEL, SIDES, Layout, LayoutLike, Side
from exset.runtime.lens.runs import Columns

_ROUNDING = 1e-6
"""The time that Lens adds to the end of a tick to allow for rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class ExampleArrays:
    """The events of a set as arrays of NumPy or CuPy. All arrays are new and writable.

    The result of `to_arrays` has one row for each event: `...` is the number of events. `inputs`,
    `targets`: float32 [..., units]. `example`, `event`, `tick`: int64 [...], the index of the
    example, of the event in the example, and of the tick in the event (0, except in the result of
    `by_tick`). `frequency`: float32 [...], of the example. `max_time`, `min_time`, `grace_time`:
    float32 [...], the values that Lens uses for the event. `present`: bool [...], False for
    padding, where all values are 0. `scored`: bool [...], False where no target counts: in padding,
    and in the grace time.

    `name`: the names of all examples of the set, `Strings` [examples]. `name[example[i]]` is the
    name for row i, as bytes, or None.
    """

    inputs: Floats
    targets: Floats
    example: Longs
    event: Longs
    tick: Longs
    frequency: Floats
    max_time: Floats
    min_time: Floats
    grace_time: Floats
    present: Flags
    scored: Flags
    name: Strings
    input_layout: Layout
    target_layout: Layout

    def __len__(self) -> int:
        return len(self.inputs)

    def __repr__(self) -> str:
        rows = " x ".join(map(str, self.present.shape))
        inputs = counted(self.input_layout.units, "input")
        targets = counted(self.target_layout.units, "target")
        events = "event" if rows == "1" else "events"
        return f"ExampleArrays({rows} {events}, {inputs}, {targets})"

    def _repr_html_(self) -> str:
        flat = self if self.present.ndim == 1 else self.take(slice(0))
        first = flat.take(slice(SHOWN))
        columns = [each.tolist() for each in (first.example, first.event, first.tick)]
        values = [[f"{x:g}" for x in side[:SHOWN].tolist()] for side in first.inputs]
        wanted = [[f"{x:g}" for x in side[:SHOWN].tolist()] for side in first.targets]
        rows = zip(*columns, map(" ".join, values), map(" ".join, wanted), strict=True)
        heads = ("example", "event", "tick", "first inputs", "first targets")
        return table(repr(self), heads, rows, len(flat))

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NoReturn:
        """Raise TypeError, because the object contains several arrays."""
        raise TypeError("ExampleArrays has several arrays: use inputs, targets, or another one")

    @property
    def input_mask(self) -> Flags:
        """A mask that is False for inputs that are NaN. It has the shape of `inputs`.

        If an input is NaN, the unit computes its own value.
        """
        return _known(self.inputs, self.present)

    @property
    def target_mask(self) -> Flags:
        """A mask that is True for targets that count. It has the shape of `targets`.

        A target that is NaN does not count: Lens computes no error for it.
        """
        return _known(self.targets, self.scored)

    def by_example(self) -> "ExampleArrays":
        """Return arrays with one row for each example: [examples, most events, ...].

        Examples with fewer events are padded with 0. Raises ValueError unless these arrays have one
        row for each event.
        """
        self.check_flat("by_example")
        return self.stacked(self.example, int(self.example[-1]) + 1 if self.example.size else 0)

    def stacked(self, row: Longs, rows: int) -> "ExampleArrays":
        """Return arrays with several events in a row: [rows, most events, ...], padded with 0.

        row: int64 [events], the new row of each event. rows: the number of new rows.
        """
        return self._map(padder(namespace_of(self.inputs), row, self.event, rows))

    def by_tick(
        self, ticks: int, limits: Limits = DEFAULT, *, criterion: bool = False
    ) -> "ExampleArrays":
        """Return arrays with one row for each tick.

        `ticks`: the number of ticks in an interval of time.

        An event has the ticks that Lens runs until its `max_time`, but at least one. Targets in the
        grace time are not scored.

        `criterion`: whether the groups of the network have a criterion. If so, Lens ends an event
        when the criterion is reached, which may be before `max_time`. An event whose targets are
        all NaN always reaches it, and ends at its `min_time`. For other events it depends on the
        outputs of the network, which exset does not know. So here these events last until
        `max_time`. A network of the type CONTINUOUS runs one more tick, without a target, before
        the first event of each example.

        Raises ValueError unless these arrays have one row for each event, and for an event that
        never ends. Raises LimitError for too many ticks. (Lens, train.c: standardNetRunExample)
        """
        self.check_flat("by_tick")
        if ticks < 1:
            raise ValueError(f"ticks must be at least 1, not {ticks}")
        xp = namespace_of(self.inputs)
        time = self._end_times(xp) if criterion else self.max_time
        endless = ~(time < math.inf)
        if bool(endless.any()):
            at = int(endless.argmax())
            where = f"examples[{int(self.example[at])}].events[{int(self.event[at])}]"
            raise ValueError(f"{where} never ends: max_time is {float(self.max_time[at])}")
        longest = float(time.max()) if len(self) else 0.0
        most = float(xp.maximum(time, 0).astype(xp.float64).sum()) * ticks
        if max(most, longest * ticks) > limits.max_expand:
            raise LimitError(
                f"the events have {most:.3g} ticks, more than the limit of {limits.max_expand:,}",
                place=Place(MODEL),
                hint=limit_hint("max_expand"),
            )
        count = ticks_until(xp, time, ticks)
        row: Longs = repeat(xp, xp.arange(count.size), count)
        tick = xp.arange(row.size) - (xp.cumsum(count) - count)[row]
        finite = xp.minimum(xp.where(self.grace_time > 0, self.grace_time, 0), time)
        grace = xp.where(self.grace_time > time, count, ticks_until(xp, finite, ticks))
        grace = xp.where(self.grace_time > 0, grace, 0)
        return replace(self.take(row), tick=tick, scored=tick >= grace[row])

    def _end_times(self, xp: ModuleType) -> Floats:
        """Return the time at which each event ends: `min_time` if all its targets are NaN, else
        `max_time`.
        """
        reached = ~self.target_mask.any(axis=-1) & (self.target_layout.units > 0)
        # Comparisons with NaN are false: such a time never ends an event.
        reached &= (self.min_time == self.min_time) & ~(self.min_time >= self.max_time)
        times: Floats = xp.where(reached, self.min_time, self.max_time)
        return times

    def take(self, rows: Longs | slice) -> "ExampleArrays":
        """Return arrays with only some of the rows. rows: a slice, or indices, int64."""
        return self._map(lambda array: array[rows])

    def _map(self, change: Callable[[Any], Any]) -> "ExampleArrays":
        """Return a copy in which `change` has replaced each array by its result."""
        others = Layout | Strings
        arrays = {name: each for name, each in vars(self).items() if not isinstance(each, others)}
        return replace(self, **{name: change(array) for name, array in arrays.items()})

    def check_flat(self, caller: str) -> None:
        """Raise ValueError unless there is one row for each event.

        caller: the name of the calling function, for the message.
        """
        if self.present.ndim != 1 or bool(self.tick.any()):
            raise ValueError(f"{caller}: arrays must have one row per event, as to_arrays makes")


@public
def to_arrays(
    examples: ExampleSet,
    inputs: LayoutLike | None = None,
    targets: LayoutLike | None = None,
    *,
    device: Device = "cpu",
    strict: bool = False,
    findings: Findings | None = None,
    limits: Limits = DEFAULT,
) -> ExampleArrays:
    """Return the inputs and targets of all events as dense arrays, with one row for each event.

    `inputs`, `targets`: the layout of the network. A layout is a dict of the sizes of groups, in
    the order of the network, or a number of units. By default the layout is inferred from the
    highest units in the set, with a note. Ranges of a group that is not in the layout are ignored,
    with a finding; Lens also ignores groups that the network lacks. `device`: "cpu"; or "cuda",
    "cuda:1" or a `torch.device`, for arrays of CuPy. `findings`: collects findings; by default, one
    FormatWarning reports them. `strict`: raise FormatError for warnings.

    Raises FormatError for a unit outside its group or network, LimitError, and ValueError for an
    invalid layout or device.
    """
    found = collect_findings(strict, findings)
    layouts = layouts_of(examples, (inputs, targets), found)
    for side, layout, requested in zip(SIDES, layouts, (inputs, targets), strict=True):
        if requested is None:
            values = examples.ranges.values.values.size
            check_size(values, side, layout, examples.num_events, limits)
    with on_device(device) as xp:
        arrays = arrays_of(xp, examples, layouts, found, limits)
    if findings is None:
        warn(found)
    return arrays


def arrays_of(
    xp: ModuleType,
    examples: ExampleSet,
    layouts: tuple[Layout, Layout],
    findings: Findings,
    limits: Limits,
    rows: Longs | None = None,
) -> ExampleArrays:
    """Return the arrays of events, with the given layouts of inputs and targets.

    xp: NumPy or CuPy, which decides the device. rows: the indices of events, int64, in any order;
    by default all events. Raises the errors of `to_arrays`.
    """
    columns = Columns.of(xp, examples)
    sides = [
        side_array(xp, examples, columns, side, layout, findings, limits, rows)
        for side, layout in zip(SIDES, layouts, strict=True)
    ]
    times = [to_device(xp, examples.effective(field, rows)).copy() for field in TIME_FIELDS]
    example, event = numbers_of(xp, examples, rows)
    return ExampleArrays(
        inputs=sides[0],
        targets=sides[1],
        example=example,
        event=event,
        tick=xp.zeros(example.size, xp.int64),
        frequency=to_device(xp, examples.frequency)[example],
        max_time=times[0],
        min_time=times[1],
        grace_time=times[2],
        present=xp.ones(example.size, xp.bool_),
        scored=xp.ones(example.size, xp.bool_),
        name=examples.name,
        input_layout=layouts[0],
        target_layout=layouts[1],
    )


def check_size(values: int, side: Side, layout: Layout, events: int, limits: Limits) -> None:
    """Raise LimitError if the array of one side has far more cells than the set has numbers.

    values: how many numbers the set has for the side. layout: the side's inferred layout. events:
    how many rows the array will have.
    """
    cells = layout.units * events
    if cells > max(limits.max_expand, 64 * values):
        raise LimitError(
            f"{counted(events, 'event')} with {layout.units:,} {side} need {cells:,} numbers, "
            f"more than the limit of {limits.max_expand:,}",
            place=Place(MODEL),
            hint=f"pass {side}=... to confirm, or use to_csr; or {limit_hint('max_expand')}",
        )


def padder(xp: ModuleType, row: Longs, event: Longs, rows: int) -> Callable[[Any], Any]:
    """Return a function that changes an array [events, ...] to [rows, width, ...].

    width is the largest number of events in a row. Rows with fewer events are padded with 0. row,
    event: int64 [events], the position of each event in the new array.
    """
    width = int(event.max()) + 1 if event.size else 0
    cell = row * width + event

    def padded(array: Any) -> Any:
        out = xp.zeros((rows * width, *array.shape[1:]), array.dtype)
        out[cell] = array
        return out.reshape(rows, width, *array.shape[1:])

    return padded


def _known(values: Floats, rows: Flags) -> Flags:
    """Return for each value whether it is not NaN and its row is one of the given rows."""
    mask: Flags = values == values
    mask &= rows[..., None]
    return mask


def numbers_of(xp: ModuleType, examples: ExampleSet, rows: Longs | None) -> tuple[Longs, Longs]:
    """Return two arrays, int64 [events]: the index of each event's example, and its index in the
    example.

    xp: NumPy or CuPy, which decides the device. rows: the indices of the events, or None for all
    events.
    """
    offsets = examples.event_offsets
    if rows is not None:
        if examples.num_events == len(examples):
            return to_device(xp, rows.copy()), xp.zeros(rows.size, xp.int64)
        of = np.searchsorted(offsets, rows, side="right") - 1
        return to_device(xp, of), to_device(xp, rows - offsets[of])
    example = xp.arange(len(examples))
    if examples.num_events > len(examples):
        example = repeat(xp, example, to_device(xp, np.diff(offsets)))
    return example, xp.arange(examples.num_events) - to_device(xp, offsets)[example]


def ticks_until(xp: ModuleType, time: Floats, ticks: int) -> Longs:
    """Return the number of ticks after which each time is reached: int64 [m]. The times are finite.

    ticks: the number of ticks in an interval of time. Tick k ends at k / ticks + 1e-6, in single
    precision. An event ends after the first tick whose end is not less than the event's time (Lens,
    train.c: standardNetRunExample). For times of whole ticks, this is round(time * ticks).
    """
    last = xp.maximum(xp.ceil(time.astype(xp.float64) * ticks), 1).astype(xp.int64)
    before = (last - 1).astype(xp.float32) / xp.float32(ticks) + xp.float32(_ROUNDING)
    reached: Longs = xp.where((before >= time) & (last > 1), last - 1, last)
    return reached
