"""What a set of Lens examples holds, in numbers: the answer of `exset info`."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from exset.core.text import counted, size
from exset.grammars.lens.examples import REAL_FIELDS, ExampleSet, SetHeader
from exset.runtime.reports.memory import memory_of

SHOWN = 24
"""How many groups are shown to people."""


@dataclass(frozen=True)
class Summary:
    """The numbers of one set; counts are of what is stored, spans and `*` as one or two units."""

    examples: int
    named: int
    """Examples that have a name."""
    frequency: float
    """The sum of the frequencies."""
    events: int
    events_each: tuple[int, int]
    """The fewest and the most events of an example."""
    with_inputs: int
    """Events that have inputs."""
    with_targets: int
    """Events that have targets."""
    procedures: int
    """Procedures of the set, of examples and of events."""
    header: dict[str, float]
    lists: int
    shared: int
    """Lists that more than one event uses, or that are inputs and targets."""
    dense: int
    """Ranges with values."""
    sparse: int
    """Ranges with units."""
    empty: int
    """Ranges with neither."""
    values: int
    """Values in dense ranges."""
    zeros: int
    nans: int
    units: int
    """Unit numbers in sparse ranges."""
    groups: dict[str, int]
    """How many ranges name each group."""
    memory: int
    """Bytes of the columns."""

    @property
    def sparsity(self) -> float | None:
        """Which part of the dense values is zero; None where there are none."""
        return self.zeros / self.values if self.values else None

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON, which has no word for NaN and infinity: they are strings."""
        return {
            **asdict(self),
            "frequency": _number(self.frequency),
            "header": {name: _number(value) for name, value in self.header.items()},
            "sparsity": self.sparsity,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return the numbers as (label, text), for people."""
        low, high = self.events_each
        each = f", {low} to {high} an example" if low != high else f", {high} an example"
        rows = [
            ("examples", f"{self.examples:,}" + _of(self.named, "named")),
            ("events", f"{self.events:,}{each if self.examples else ''}"),
            ("inputs", counted(self.with_inputs, "event")),
            ("targets", counted(self.with_targets, "event")),
            ("lists", f"{self.lists:,}" + _of(self.shared, "shared")),
            ("ranges", f"{self.dense:,} dense, {self.sparse:,} sparse" + _of(self.empty, "empty")),
        ]
        if self.sparsity is not None:
            share = f", {self.sparsity:.1%} zero" + _of(self.nans, "NaN")
            rows.append(("values", f"{self.values:,}{share}"))
        if self.units:
            rows.append(("units", f"{self.units:,} named in sparse ranges"))
        for number, (name, ranges) in enumerate(self.groups.items()):
            if number == SHOWN:
                rows.append(("", f"and {len(self.groups) - SHOWN:,} more"))
                break
            group = f"{name} ({counted(ranges, 'range')})"
            rows.append(("" if number else "groups", group))
        if self.procedures:
            rows.append(("procedures", f"{self.procedures:,}, never run"))
        rows.append(("frequency", f"{self.frequency:g} in all"))
        usual = SetHeader()
        said = [f"{name} {x:g}" for name, x in self.header.items() if x != getattr(usual, name)]
        rows.append(("header", ", ".join(said) or "the defaults of Lens"))
        rows.append(("memory", size(self.memory)))
        return rows


def summarise(model: ExampleSet) -> Summary:
    """Return the numbers of a set."""
    events, ranges = model.events, model.ranges
    each = np.diff(model.event_offsets)
    dense = np.diff(ranges.values.offsets) > 0
    sparse = np.diff(ranges.units.offsets) > 0
    values = ranges.values.values
    uses = np.bincount(np.concatenate([events.inputs, events.targets]) + 1, minlength=1)[1:]
    named = np.bincount(ranges.group + 1, minlength=len(model.groups) + 1)[1:]
    procedures = int(model.proc.given.sum()) + int(events.proc.given.sum())
    with np.errstate(invalid="ignore"):  # infinity and minus infinity make NaN
        frequency = float(model.frequency.sum(dtype=np.float64))
    return Summary(
        examples=len(model),
        named=int(model.name.given.sum()),
        frequency=frequency,
        events=model.num_events,
        events_each=(int(each.min(initial=2**31)), int(each.max(initial=0)))
        if len(each)
        else (0, 0),
        with_inputs=int((events.inputs >= 0).sum()),
        with_targets=int((events.targets >= 0).sum()),
        procedures=procedures + (model.header.proc is not None),
        header={name: float(getattr(model.header, name)) for name in REAL_FIELDS},
        lists=len(model.lists) - 1,
        shared=int((uses > 1).sum()),
        dense=int(dense.sum()),
        sparse=int(sparse.sum()),
        empty=int((~dense & ~sparse).sum()),
        values=len(values),
        zeros=int((values == 0).sum()),
        nans=int(np.isnan(values).sum()),
        units=len(ranges.units.values),
        groups={model.groups.text(i) or "": int(count) for i, count in enumerate(named)},
        memory=memory_of(model),
    )


def _of(count: int, what: str) -> str:
    return f", {count:,} {what}" if count else ""


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
