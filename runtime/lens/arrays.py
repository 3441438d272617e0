"""Arrays of an example set: what Lens would put on the units of a network, event by event.

First every unit has the default of the event, then the ranges are applied in order, so that later
ones override earlier ones (Lens, example.c: standardLoadEvent). Written over `xp`, NumPy or CuPy;
nothing loops over examples.
"""

from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np

from exset.core.errors import Findings, LimitError, Place, collect_findings, warn
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.core.text import counted
from exset.grammars.columns.arrays import Flags, Floats, Longs, is_constant
from exset.grammars.lens.examples import TIME_FIELDS, ExampleSet
from exset.runtime.arrays import Device, namespace, namespace_of, repeat, to_device
from exset.runtime.lens.fill_sides import filling_of, layouts_of
from exset.runtime.lens.network_layout import MODEL, SIDES, Layout, LayoutLike, Side
from exset.runtime.lens.runs import Columns
from exset.runtime.lens.ticks import ticks_until


@dataclass(frozen=True, eq=False, repr=False)
class ExampleArrays:
    """The events of a set as arrays of NumPy or CuPy, all new and writable, so they can be shared.

    inputs, targets: float32 [..., units]. example, event: int64 [...], the index of the example,
    and that of the event in it. frequency, max_time, min_time, grace_time: float32 [...], of the
    example and as they hold at the event. `...` is one row an event, as `to_arrays` gives them.
    """

    inputs: Floats
    targets: Floats
    example: Longs
    event: Longs
    tick: Longs
    """int64 [...], from 0; 0 but in `by_tick`."""
    frequency: Floats
    max_time: Floats
    min_time: Floats
    grace_time: Floats
    present: Flags
    """bool [...], false for what only pads an example; there everything is 0."""
    scored: Flags
    """bool [...], false where no target counts: for what pads, and in the time of grace."""
    input_layout: Layout
    target_layout: Layout

    def __len__(self) -> int:
        return len(self.inputs)

    def __repr__(self) -> str:
        rows = " x ".join(map(str, self.present.shape))
        sides = f"{self.input_layout.units} inputs, {self.target_layout.units} targets"
        return f"ExampleArrays({rows} events, {sides})"

    @property
    def input_mask(self) -> Flags:
        """Where an input is given: bool like inputs. Lens lets units compute one that is NaN."""
        mask: Flags = self.present[..., None] & ~namespace_of(self.inputs).isnan(self.inputs)
        return mask

    @property
    def target_mask(self) -> Flags:
        """Where a target counts: bool like targets. Lens finds no error where one is NaN."""
        mask: Flags = self.scored[..., None] & ~namespace_of(self.targets).isnan(self.targets)
        return mask

    def by_example(self) -> "ExampleArrays":
        """The same with one row an example: [examples, most events of one, ...], padded with 0.

        Of one row an event. Raises ValueError otherwise.
        """
        self.check_flat("by_example")
        return self.stacked(self.example, int(self.example[-1]) + 1 if self.example.size else 0)

    def stacked(self, row: Longs, rows: int) -> "ExampleArrays":
        """The same with so many rows, padded with 0: int64 [events], the row that each goes to."""
        xp = namespace_of(self.inputs)
        wide = int(self.event.max()) + 1 if self.event.size else 0
        cell = row * wide + self.event
        padded = {}
        for name, array in self._arrays().items():
            out = xp.zeros((rows * wide, *array.shape[1:]), array.dtype)
            out[cell] = array
            padded[name] = out.reshape(rows, wide, *array.shape[1:])
        return replace(self, **padded)

    def by_tick(self, ticks: int, limits: Limits = DEFAULT) -> "ExampleArrays":
        """The same with one row a tick, of so many in an interval of time; grace is not scored.

        An event lasts as many ticks as Lens gives it that reaches no criterion: until its max_time
        is reached, at least one; that is round(max_time * ticks) where those are whole. Of one row
        an event. Raises ValueError otherwise, and for an event that never ends; LimitError.
        """
        self.check_flat("by_tick")
        if ticks < 1:
            raise ValueError(f"ticks must be at least 1, not {ticks}")
        xp = namespace_of(self.inputs)
        endless = ~xp.isfinite(self.max_time)
        if bool(endless.any()):
            at = int(endless.argmax())
            where = f"examples[{int(self.example[at])}].events[{int(self.event[at])}]"
            raise ValueError(f"{where}: it never ends: max_time is {float(self.max_time[at])}")
        longest = float(self.max_time.max()) if len(self) else 0.0
        most = float(xp.maximum(self.max_time, 0).astype(xp.float64).sum()) * ticks
        if max(most, longest * ticks) > limits.max_expand:
            raise LimitError(
                f"the events last {most:.3g} ticks, which is over {limits.max_expand:,}",
                place=Place.of(MODEL),
                hint=limit_hint("max_expand"),
            )
        count = ticks_until(xp, self.max_time, ticks)
        row: Longs = repeat(xp, xp.arange(count.size), count)
        tick = xp.arange(row.size) - (xp.cumsum(count) - count)[row]
        finite = xp.minimum(xp.where(self.grace_time > 0, self.grace_time, 0), self.max_time)
        grace = xp.where(self.grace_time > 0, ticks_until(xp, finite, ticks), 0)
        grace = xp.where(self.grace_time > self.max_time, count, grace)
        arrays = {name: array[row] for name, array in self._arrays().items()}
        return replace(self, **{**arrays, "tick": tick, "scored": tick >= grace[row]})

    def _arrays(self) -> dict[str, Floats]:
        return {name: each for name, each in vars(self).items() if not isinstance(each, Layout)}

    def check_flat(self, what: str) -> None:
        """Raises ValueError, in the name of what wants it, unless there is one row an event."""
        if self.present.ndim != 1 or bool(self.tick.any()):
            raise ValueError(f"{what}: one row an event is wanted, as to_arrays gives them")


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
    """The inputs and targets of all events as dense arrays, one row an event.

    `inputs`, `targets`: the sizes of the groups by name, in the order of the network, or a number
    of units; by default the least that hold what the set names, and a note says from what. What a
    range says of a group that is not there is passed over, as Lens does, with a finding; with
    `strict` that is a FormatError, as is a unit outside of its group or of the network always.
    Without `findings` one FormatWarning tells of them. `device`: "cpu", or "cuda" for arrays of
    CuPy. Raises LimitError and ValueError, too.
    """
    told, xp = collect_findings(strict, findings), namespace(device)
    layouts = layouts_of(examples, (inputs, targets), told)
    for side, layout, asked in zip(SIDES, layouts, (inputs, targets), strict=True):
        if asked is None:
            check_size(examples, side, layout, examples.num_events, limits)
    arrays = arrays_of(xp, examples, layouts, told, limits)
    if findings is None:
        warn(told, 3)
    return arrays


def arrays_of(
    xp: ModuleType,
    examples: ExampleSet,
    layouts: tuple[Layout, Layout],
    findings: Findings,
    limits: Limits,
    rows: Longs | None = None,
) -> ExampleArrays:
    """The arrays of some events under the layouts of both sides, on the device of a namespace.

    rows: which events, int64, in any order; by default all. Raises as `to_arrays`.
    """
    columns = Columns.of(xp, examples)
    events = examples.num_events if rows is None else rows.size
    dense = []
    for side, layout in zip(SIDES, layouts, strict=True):
        most = max(limits.max_expand, layout.units * events)
        filling = filling_of(xp, examples, columns, side, layout, findings, most, rows)
        if filling.covers(events, layout.units):
            out = xp.empty((events, layout.units), xp.float32)
        else:
            default = examples.effective(f"default_{side[:-1]}", rows)
            out = _background(xp, default, layout.units)
        filling.paint(xp, out)
        dense.append(out)
    example, event = _numbers(xp, examples, rows)
    times = [to_device(xp, examples.effective(field, rows)).copy() for field in TIME_FIELDS]
    return ExampleArrays(
        inputs=dense[0],
        targets=dense[1],
        example=example,
        event=event,
        tick=xp.zeros(events, xp.int64),
        frequency=to_device(xp, examples.frequency)[example],
        max_time=times[0],
        min_time=times[1],
        grace_time=times[2],
        present=xp.ones(events, xp.bool_),
        scored=xp.ones(events, xp.bool_),
        input_layout=layouts[0],
        target_layout=layouts[1],
    )


def check_size(
    examples: ExampleSet, side: Side, layout: Layout, events: int, limits: Limits
) -> None:
    """Raises LimitError for a layout that nobody said and that makes much of little."""
    cells = layout.units * events
    if cells > max(limits.max_expand, 64 * examples.ranges.values.values.size):
        raise LimitError(
            f"{counted(events, 'event')} by {layout.units:,} {side} are {cells:,} numbers, "
            f"which is over {limits.max_expand:,}",
            place=Place.of(MODEL),
            hint=f"if that is meant, say {side}=...; or take to_csr; or {limit_hint('max_expand')}",
        )


def _numbers(xp: ModuleType, examples: ExampleSet, rows: Longs | None) -> tuple[Longs, Longs]:
    """The index of the example of each event, and that of the event in it: int64 [events] each."""
    offsets = examples.event_offsets
    if rows is not None:
        of = np.searchsorted(offsets, rows, side="right") - 1
        return to_device(xp, of), to_device(xp, rows - offsets[of])
    example = xp.arange(len(examples))
    if examples.num_events > len(examples):
        example = repeat(xp, example, to_device(xp, np.diff(offsets)))
    return example, xp.arange(examples.num_events) - to_device(xp, offsets)[example]


def _background(xp: ModuleType, default: Floats, units: int) -> Floats:
    """An array [events, units] of the default of each event."""
    shape = (default.size, units)
    out: Floats
    if is_constant(default):
        value = default[:1].view(np.uint32)
        if not value.any():
            out = xp.zeros(shape, xp.float32)
        else:
            out = xp.full(shape, default[0], xp.float32)
        return out
    out = xp.empty(shape, xp.float32)
    out[...] = to_device(xp, default)[:, None]
    return out
