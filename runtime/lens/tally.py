"""Count the contents of a Lens example set, chunk by chunk."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.strings import Strings
from exset.grammars.lens.examples import ExampleSet, SetHeader
from exset.runtime.lens.range_statistics import RangeStatistics, by_group, by_side
from exset.runtime.reports.column_memory import ColumnMemory
from exset.runtime.reports.report import Extremes
from exset.runtime.reports.statistics import RunningSpread, Spread

_SPREADS: Final = ("values", "units", "frequencies", "events")


@dataclass
class Tally:
    """The counts of a set's contents. With `detailed`, also statistics of its values."""

    detailed: bool
    header: SetHeader = field(default_factory=SetHeader)
    counts: dict[str, int] = field(default_factory=dict)
    """How many examples, events, lists, ranges and so on there are, by their names in JSON."""
    events_each: Extremes = field(default_factory=Extremes)
    groups: dict[bytes | None, int] = field(default_factory=dict)
    """How many ranges each group has."""
    sides: dict[str, RangeStatistics] = field(default_factory=dict)
    group_numbers: dict[str, RangeStatistics] = field(default_factory=dict)
    running: dict[str, RunningSpread] = field(
        default_factory=lambda: {name: RunningSpread() for name in _SPREADS}
    )
    frequencies: bytes = b""
    """The different frequencies, as float32."""
    columns: ColumnMemory = field(default_factory=lambda: ColumnMemory(("event_offsets", "lists")))

    def add(self, model: ExampleSet) -> None:
        """Add a chunk of the set."""
        events, procedures = model.events, int(model.proc.present.sum())
        events_each = np.diff(model.event_offsets)
        if not self.columns.chunks:
            self.header = model.header
        self.events_each.add(events_each)
        _count(
            self.counts,
            examples=len(model),
            named=int(model.name.present.sum()),
            events=model.num_events,
            with_inputs=int((events.inputs >= 0).sum()),
            with_targets=int((events.targets >= 0).sum()),
            procedures=procedures + int(events.proc.present.sum()),
        )
        self._add_ranges(model)
        self.running["frequencies"].add(model.frequency)
        self.columns.add(model)
        if self.detailed:
            units = model.ranges.units.values
            self.running["values"].add(model.ranges.values.values)
            self.running["units"].add(units[units >= 0])  # spans and `*` left out
            self.running["events"].add(events_each)
            self._add_frequencies(model.frequency)
            _add(self.sides, by_side(model))
            _add(self.group_numbers, by_group(model))

    def merge(self, other: "Tally") -> None:
        """Add the counts of the next part of the set."""
        if not self.columns.chunks:
            self.header = other.header
        _count(self.counts, **other.counts)
        self.events_each.merge(other.events_each)
        for name, count in other.groups.items():
            self.groups[name] = self.groups.get(name, 0) + count
        _add(self.sides, other.sides)
        _add(self.group_numbers, other.group_numbers)
        for kind, spread in other.running.items():
            self.running[kind].merge(spread)
        self._add_frequencies(np.frombuffer(other.frequencies, np.float32))
        self.columns.merge(other.columns)

    def spreads(self) -> tuple[dict[str, Spread], float]:
        """Return {kind of numbers: spread}, and the sum of the frequencies."""
        found = {name: spread.result() for name, spread in self.running.items()}
        return {name: spread for name, (spread, _) in found.items()}, found["frequencies"][1]

    @property
    def distinct_frequencies(self) -> int:
        """How many different frequencies there are."""
        return len(self.frequencies) // np.dtype(np.float32).itemsize

    @property
    def memory(self) -> int:
        """How much memory the whole set takes, in bytes."""
        return self.columns.total(groups=Strings.of(self.groups))

    def _add_frequencies(self, values: NDArray[np.float32]) -> None:
        known = np.frombuffer(self.frequencies, np.float32)
        self.frequencies = np.unique(np.concatenate([known, values])).tobytes()

    def _add_ranges(self, model: ExampleSet) -> None:
        events, ranges = model.events, model.ranges
        uses = np.bincount(np.concatenate([events.inputs, events.targets]) + 1, minlength=1)[1:]
        has_values, has_units = ranges.values.lengths > 0, ranges.units.lengths > 0
        values = ranges.values.values
        _count(
            self.counts,
            lists=len(model.lists) - 1,
            shared=int((uses > 1).sum()),  # by several events, or as inputs and as targets
            dense=int(has_values.sum()),
            sparse=int(has_units.sum()),
            empty=int((~has_values & ~has_units).sum()),
            values=len(values),
            zeros=int((values == 0).sum()),
            nans=int(np.isnan(values).sum()),
            units=len(ranges.units.values),
        )
        of_group = np.bincount(ranges.group + 1, minlength=len(model.groups) + 1)[1:].tolist()
        for name, count in zip(model.groups, of_group, strict=True):
            self.groups[name] = self.groups.get(name, 0) + count


def _count(counts: dict[str, int], **more: int) -> None:
    for name, count in more.items():
        counts[name] = counts.get(name, 0) + count


def _add(known: dict[str, RangeStatistics], more: dict[str, RangeStatistics]) -> None:
    for name, numbers in more.items():
        known[name] = known[name].plus(numbers) if name in known else numbers
