"""Count the contents of a Lens example set, chunk by chunk."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.strings import Strings
from exset.grammars.lens.examples import ExampleSet, SetHeader
from exset.runtime.lens.range_statistics import RangeStatistics, by_group, by_side
from exset.runtime.reports.column_memory import ColumnMemory
from exset.runtime.reports.report import Extremes
from exset.runtime.reports.statistics import RunningSpread, Spread


@dataclass
class Tally:
    """The counts of a set; with `detailed`, also statistics of its values."""

    detailed: bool
    header: SetHeader = field(default_factory=SetHeader)
    counts: Counter[str] = field(default_factory=Counter)
    """How many examples, events, lists, ranges and so on there are, by their names in JSON."""
    events_each: Extremes = field(default_factory=Extremes)
    groups: Counter[bytes | None] = field(default_factory=Counter)
    """How many ranges each group has."""
    sides: dict[str, RangeStatistics] = field(default_factory=dict)
    group_numbers: dict[str, RangeStatistics] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = ("values", "units", "frequencies", "events")
        self._spreads = {name: RunningSpread() for name in names}
        self._frequencies: NDArray[np.float32] = np.zeros(0, np.float32)
        self._memory = ColumnMemory("event_offsets", "lists")

    def add(self, model: ExampleSet) -> None:
        """Add a chunk of the set."""
        events, procedures = model.events, int(model.proc.present.sum())
        events_each = np.diff(model.event_offsets)
        self.header = model.header
        self.events_each.add(events_each)
        self.counts.update(
            examples=len(model),
            named=int(model.name.present.sum()),
            events=model.num_events,
            with_inputs=int((events.inputs >= 0).sum()),
            with_targets=int((events.targets >= 0).sum()),
            procedures=procedures + int(events.proc.present.sum()),
        )
        self._add_ranges(model)
        self._spreads["frequencies"].add(model.frequency)
        self._memory.add(model)
        if self.detailed:
            units = model.ranges.units.values
            self._spreads["values"].add(model.ranges.values.values)
            self._spreads["units"].add(units[units >= 0])  # spans and `*` left out
            self._spreads["events"].add(events_each)
            self._frequencies = np.unique(np.concatenate([self._frequencies, model.frequency]))
            _add(self.sides, by_side(model))
            _add(self.group_numbers, by_group(model))

    def spreads(self) -> tuple[dict[str, Spread], float]:
        """Return the spreads of numbers by their names, and the sum of the frequencies."""
        found = {name: spread.result() for name, spread in self._spreads.items()}
        return {name: spread for name, (spread, _) in found.items()}, found["frequencies"][1]

    @property
    def distinct_frequencies(self) -> int:
        """How many different frequencies there are."""
        return self._frequencies.size

    @property
    def memory(self) -> int:
        """The memory of the whole set, in bytes."""
        return self._memory.total(groups=Strings.of(self.groups))

    def _add_ranges(self, model: ExampleSet) -> None:
        events, ranges = model.events, model.ranges
        uses = np.bincount(np.concatenate([events.inputs, events.targets]) + 1, minlength=1)[1:]
        has_values, has_units = ranges.values.lengths > 0, ranges.units.lengths > 0
        values = ranges.values.values
        self.counts.update(
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
        self.groups.update(dict(zip(model.groups, of_group, strict=True)))


def _add(known: dict[str, RangeStatistics], more: dict[str, RangeStatistics]) -> None:
    for name, numbers in more.items():
        known[name] = known[name].plus(numbers) if name in known else numbers
