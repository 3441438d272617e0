"""Compute statistics of ranges, by side (inputs, targets) and by group."""

from dataclasses import asdict, dataclass

import numpy as np

from exset.core.text import counted
from exset.grammars.columns.arrays import Longs
from exset.grammars.lens.examples import ExampleSet, Ranges
from exset.runtime.lens.layout_inference import used_ranges
from exset.runtime.lens.network_layout import SIDES
from exset.runtime.reports.report import finite


@dataclass(frozen=True)
class RangeStatistics:
    """Statistics of some ranges; a shared list counts once."""

    ranges: int
    values: int
    """The number of values of dense ranges."""
    zeros: int
    nans: int
    low: float
    """The smallest value that is not NaN; infinity if there is none."""
    high: float
    units: int
    """The number of stored units of sparse ranges: a span counts as two, `*` as one."""

    @property
    def sparsity(self) -> float | None:
        """The fraction of values that are zero; None without values."""
        return self.zeros / self.values if self.values else None

    def plus(self, other: "RangeStatistics") -> "RangeStatistics":
        """Return the statistics of both sets of ranges together."""
        return RangeStatistics(
            ranges=self.ranges + other.ranges,
            values=self.values + other.values,
            zeros=self.zeros + other.zeros,
            nans=self.nans + other.nans,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            units=self.units + other.units,
        )

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON. A number that is not finite becomes null."""
        ends = {"low": finite(self.low), "high": finite(self.high)}
        return {**asdict(self), **ends, "sparsity": self.sparsity}

    def __str__(self) -> str:
        parts = [counted(self.ranges, "range")]
        if self.values:
            between = f" from {self.low:g} to {self.high:g}" if self.low <= self.high else ""
            parts.append(f"{counted(self.values, 'value')}{between}, {self.sparsity:.1%} zero")
            parts += [f"{self.nans:,} NaN"] * bool(self.nans)
        if self.units:
            parts.append(f"{counted(self.units, 'unit')} listed")
        return ", ".join(parts)


def by_side(model: ExampleSet) -> dict[str, RangeStatistics]:
    """Return {side: statistics} for the inputs and the targets of all events."""
    return {
        side: _numbers(model.ranges, np.where(used_ranges(model, side), 0, -1), 1)[0]
        for side in SIDES
    }


def by_group(model: ExampleSet) -> dict[str, RangeStatistics]:
    """Return the statistics of the ranges of each group."""
    names = [model.groups.text(number) or "" for number in range(len(model.groups))]
    found = _numbers(model.ranges, model.ranges.group.astype(np.int64), len(names))
    return dict(zip(names, found, strict=True))


def _numbers(ranges: Ranges, part: Longs, count: int) -> list[RangeStatistics]:
    """Return the statistics of each part of the ranges. count: the number of parts.

    part: the index of the part to which each range belongs, -1 for none.
    """
    values = ranges.values.values
    nan = np.isnan(values)
    of_value = np.repeat(part, ranges.values.lengths)
    of_unit = np.repeat(part, ranges.units.lengths)
    low, high = np.full(count + 1, np.inf, np.float32), np.full(count + 1, -np.inf, np.float32)
    # Ranges without a part are counted in the last element.
    np.minimum.at(low, of_value[~nan], values[~nan])
    np.maximum.at(high, of_value[~nan], values[~nan])

    def tally(parts: Longs) -> Longs:
        return np.bincount(parts[parts >= 0], minlength=count)

    columns = (
        tally(part),
        tally(of_value),
        tally(of_value[values == 0]),
        tally(of_value[nan]),
        low[:count] + 0.0,  # 0.0 rather than -0.0
        high[:count] + 0.0,
        tally(of_unit),
    )
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [RangeStatistics(*row) for row in rows]
