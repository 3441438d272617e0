"""Make arrays of events for many batches. What all batches need is computed once.

If every event has one dense range of all units, a batch copies the values from the set. Otherwise,
if a side (inputs or targets) is small, its array is made once. For a larger side, each batch fills
its own arrays.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from exset.core.errors import Findings
from exset.core.limits import Limits
from exset.grammars.columns.arrays import Floats, Longs
from exset.grammars.lens.examples import TIME_FIELDS, ExampleSet
from exset.runtime.arrays import evenly, windows
from exset.runtime.lens.arrays import numbers_of
from exset.runtime.lens.fill import filled, filling_of, side_array
from exset.runtime.lens.network_layout import SIDES, Layout, Side
from exset.runtime.lens.runs import Columns
from exset.runtime.training.dataset import Values

_MOST_EXPANDED: Final = 1 << 24
"""The most cells of one side that are expanded once, for all batches: 64 MiB of float32."""

_Take: TypeAlias = Callable[[Longs], Floats]
"""A function that returns one side of some events as a new array: float32 [events, units]."""


class EventRows:
    """Makes NumPy arrays of any events of a set, for given layouts of inputs and targets."""

    def __init__(
        self,
        examples: ExampleSet,
        layouts: tuple[Layout, Layout],
        findings: Findings,
        limits: Limits,
    ) -> None:
        """Check all ranges of the set. Raises the FormatError of `to_arrays`."""
        self._examples, self._limits = examples, limits
        self._columns = Columns.of(np, examples)
        self._takes = [
            self._taken(side, layout, findings) for side, layout in zip(SIDES, layouts, strict=True)
        ]
        self._times = {field: examples.effective(field) for field in TIME_FIELDS}

    def take(self, rows: Longs) -> dict[str, Values]:
        """Return {name: array} for some events, as in `ExampleArrays`, but without `tick`,
        `present` and `scored`.

        rows: the indices of the events, int64.
        """
        inputs, targets = (take(rows) for take in self._takes)
        example, event = numbers_of(np, self._examples, rows)
        return {
            "inputs": inputs,
            "targets": targets,
            "input_mask": inputs == inputs,  # NaN differs from itself
            "target_mask": targets == targets,
            "example": example,
            "event": event,
            "frequency": self._examples.frequency[example],
            **{name: time[rows] for name, time in self._times.items()},
        }

    def _taken(self, side: Side, layout: Layout, findings: Findings) -> _Take:
        """Return the fastest function that makes the inputs or the targets of events.

        The function gets the indices of the events. side: "inputs" or "targets".
        """
        examples, columns = self._examples, self._columns
        most = int(np.iinfo(np.int64).max)
        filling = filling_of(np, examples, columns, side, layout, findings, most)
        if filling.covers(examples.num_events, layout.units):
            values = windows(np, columns.values, layout.units)
            source = evenly(filling.dense.source)
            if isinstance(source, slice):
                return partial(_rows_of, values[source])
            return lambda rows: values[source[rows]]
        cells = max(layout.units * examples.num_events, filling.size)
        if cells <= min(_MOST_EXPANDED, self._limits.max_expand):
            return partial(_rows_of, filled(np, examples, filling, side, layout))
        again, limits = Findings(), self._limits
        return partial(side_array, np, examples, columns, side, layout, again, limits)


def _rows_of(table: Floats, rows: Longs) -> Floats:
    return table[rows]
