"""Report the contents of a Lens example set, for `exset info` and `exset stats`; yield names."""

import math
from collections.abc import Iterator

import numpy as np

from exset.core.text import counted, size
from exset.grammars.lens.examples import REAL_FIELDS, ExampleSet, SetHeader
from exset.runtime.lens.range_statistics import by_group, by_side
from exset.runtime.reports.report import Report, limits_of, memory_of, some
from exset.runtime.reports.statistics import Spread

SHOWN = 24
"""The most groups that are shown to people."""


def report(model: ExampleSet, detailed: bool = False) -> Report:
    """Report the numbers of a set.

    Units count as they are stored: a span as two numbers, `*` as one. detailed: add statistics of
    the values, by side and by group.
    """
    made = Report()
    _examples(made, model)
    _ranges(made, model)
    _header(made, model)
    memory = memory_of(model)
    made.add(memory=memory)
    made.row("memory", size(memory))
    if detailed:
        _details(made, model)
    return made


def names(model: ExampleSet) -> Iterator[bytes]:
    """Yield the names of the examples; empty for an example without a name."""
    return (name or b"" for name in model.name)


def _examples(made: Report, model: ExampleSet) -> None:
    events = model.events
    low, high = limits_of(np.diff(model.event_offsets))
    named = int(model.name.present.sum())
    with_inputs, with_targets = (int((side >= 0).sum()) for side in (events.inputs, events.targets))
    made.add(examples=len(model), named=named, events=model.num_events, events_each=(low, high))
    made.add(with_inputs=with_inputs, with_targets=with_targets)
    made.row("examples", f"{len(model):,}", some(named, "named"))
    each = f"{low} to {high} an example" if low != high else f"{high} an example"
    made.row("events", f"{model.num_events:,}", each if len(model) else "")
    made.row("inputs", counted(with_inputs, "event"))
    made.row("targets", counted(with_targets, "event"))


def _ranges(made: Report, model: ExampleSet) -> None:
    events, ranges = model.events, model.ranges
    uses = np.bincount(np.concatenate([events.inputs, events.targets]) + 1, minlength=1)[1:]
    shared = int((uses > 1).sum())  # by several events, or as inputs and as targets
    has_values, has_units = ranges.values.lengths > 0, ranges.units.lengths > 0
    dense, sparse = int(has_values.sum()), int(has_units.sum())
    empty = int((~has_values & ~has_units).sum())
    values = ranges.values.values
    zeros, nans = int((values == 0).sum()), int(np.isnan(values).sum())
    sparsity = zeros / len(values) if len(values) else None
    units = len(ranges.units.values)
    of_group = np.bincount(ranges.group + 1, minlength=len(model.groups) + 1)[1:].tolist()
    groups = {model.groups.text(i) or "": count for i, count in enumerate(of_group)}
    made.add(lists=len(model.lists) - 1, shared=shared, dense=dense, sparse=sparse, empty=empty)
    made.add(values=len(values), zeros=zeros, nans=nans, units=units, groups=groups)
    made.add(sparsity=sparsity)
    made.row("lists", f"{len(model.lists) - 1:,}", some(shared, "shared"))
    made.row("ranges", f"{dense:,} dense", f"{sparse:,} sparse", some(empty, "empty"))
    if sparsity is not None:
        made.row("values", f"{len(values):,}", f"{sparsity:.1%} zero", some(nans, "NaN"))
    made.row("units", some(units, "named in sparse ranges"))
    texts = [f"{name} ({counted(count, 'range')})" for name, count in groups.items()]
    made.texts("groups", texts, SHOWN)


def _header(made: Report, model: ExampleSet) -> None:
    procedures = int(model.proc.present.sum()) + int(model.events.proc.present.sum())
    procedures += model.header.proc is not None
    with np.errstate(invalid="ignore"):  # infinity and minus infinity make NaN
        frequency = float(model.frequency.sum(dtype=np.float64))
    fields = {name: float(getattr(model.header, name)) for name in REAL_FIELDS}
    defaults = SetHeader()
    changed = [f"{name} {x:g}" for name, x in fields.items() if x != getattr(defaults, name)]
    made.add(procedures=procedures, frequency=_number(frequency))
    made.add(header={name: _number(value) for name, value in fields.items()})
    if procedures:
        made.row("procedures", f"{procedures:,}", "never run")
    made.row("frequency", f"{frequency:g} in total")
    made.row("header", *changed or ["the defaults of Lens"])


def _details(made: Report, model: ExampleSet) -> None:
    """Report statistics of the values, units, frequencies and events."""
    units = model.ranges.units.values
    spreads = {
        "values": Spread.of(model.ranges.values.values),
        "units": Spread.of(units[units >= 0]),  # spans and `*` left out
        "frequencies": Spread.of(model.frequency),
        "events": Spread.of(np.diff(model.event_offsets)),
    }
    distinct = int(np.unique(model.frequency).size)
    sides, groups = by_side(model), by_group(model)
    made.add(spreads={name: spread.to_dict() for name, spread in spreads.items()})
    made.add(distinct_frequencies=distinct)
    made.add(sides={name: each.to_dict() for name, each in sides.items()})
    made.add(group_numbers={name: each.to_dict() for name, each in groups.items()})
    made.row("values", spreads["values"].text())
    made.row("units", spreads["units"].text())
    made.row("frequency", spreads["frequencies"].text(), some(distinct, "different"))
    made.row("events", spreads["events"].text(" an example"))
    for name, numbers in sides.items():
        made.row(f"of {name}", str(numbers))
    for name, numbers in [*groups.items()][:SHOWN]:
        made.row("of group", f"{name}: {numbers}")


def _number(value: float) -> float | str:
    """Return a number for JSON: text for NaN and infinity, which JSON cannot store."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
