"""What a Lens example set holds, in more numbers than `exset info` gives: ranges and spreads."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from exset.grammars.lens.examples import ExampleSet
from exset.runtime.lens.range_statistics import Numbers, by_group, by_side
from exset.runtime.lens.summary import SHOWN, Summary, summarise
from exset.runtime.reports.statistics import Spread


@dataclass(frozen=True)
class Statistics:
    """A summary, and what the numbers of the set are like."""

    summary: Summary
    values: Spread
    """Of the values in dense ranges."""
    units: Spread
    """Of the unit numbers in sparse ranges, spans and `*` left out."""
    frequencies: Spread
    distinct: int
    """Different frequencies."""
    events: Spread
    """Of the events of an example."""
    sides: dict[str, Numbers]
    """Of the ranges of inputs and of targets."""
    groups: dict[str, Numbers]
    """Of the ranges of each group."""

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON."""
        spreads = ("values", "units", "frequencies", "events")
        return {
            **self.summary.to_dict(),
            "spreads": {name: _plain(getattr(self, name)) for name in spreads},
            "distinct_frequencies": self.distinct,
            "sides": {name: each.to_dict() for name, each in self.sides.items()},
            "group_numbers": {name: each.to_dict() for name, each in self.groups.items()},
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return the numbers as (label, text), for people."""
        rows = self.summary.rows()
        different = f", {self.distinct:,} different"
        for label, what, spread in (
            ("values", "", self.values),
            ("units", "", self.units),
            ("frequency", different, self.frequencies),
            ("events", " an example", self.events),
        ):
            if spread.count:
                said = f"{spread.low:g} to {spread.high:g}, {spread.mean:g} in the mean{what}"
                rows.append((label, said + f", {spread.odd:,} not finite" * bool(spread.odd)))
        rows += [(f"of {side}", str(numbers)) for side, numbers in self.sides.items()]
        for name, numbers in [*self.groups.items()][:SHOWN]:
            rows.append(("of group", f"{name}: {numbers}"))
        return rows


def describe(model: ExampleSet) -> Statistics:
    """Return the numbers of a set."""
    units = model.ranges.units.values
    return Statistics(
        summary=summarise(model),
        values=Spread.of(model.ranges.values.values),
        units=Spread.of(units[units >= 0]),
        frequencies=Spread.of(model.frequency),
        distinct=int(np.unique(model.frequency).size),
        events=Spread.of(np.diff(model.event_offsets)),
        sides=by_side(model),
        groups=by_group(model),
    )


def _plain(spread: Spread) -> dict[str, float | None]:
    """The spread for JSON: what is not finite is null."""
    numbers = asdict(spread).items()
    return {name: value if math.isfinite(value) else None for name, value in numbers}
