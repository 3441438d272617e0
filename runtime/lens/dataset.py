"""Datasets of example sets. Samples have the values that Lens presents to a network."""

from collections.abc import Iterable
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from exset.core.errors import Findings, LimitError, Place, collect_findings, warn, with_source_name
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.core.text import counted
from exset.grammars.columns.arrays import Longs, chosen_rows, row_indices
from exset.grammars.lens.examples import TIME_FIELDS, ExampleSet
from exset.runtime.arrays import Device, on_device
from exset.runtime.lens.arrays import arrays_of, check_size, padder
from exset.runtime.lens.event_rows import EventRows
from exset.runtime.lens.example_sampler import ExampleBatchSampler, ExampleSampler
from exset.runtime.lens.layout_inference import layouts_of
from exset.runtime.lens.network_layout import MODEL, SIDES, Layout, LayoutLike
from exset.runtime.training.dataset import Dataset, Values, checked_names

By = Literal["event", "example"]
"""The kind of a sample: an event, or an example with all its events."""

_FIELDS: Final = (
    *("inputs", "targets", "input_mask", "target_mask", "example", "event", "frequency"),
    *TIME_FIELDS,
)


class ExampleDataset(Dataset):
    """The events or examples of a set, with the fields of `ExampleArrays`.

    The dataset, and its pickle, contain the set itself. If the set's ranges are dense, a batch
    copies numbers from the set. Otherwise, if a side (inputs or targets) has at most 64 MiB, its
    array is made once. For a larger set, each batch makes its own arrays.
    """

    name = MODEL

    def __init__(
        self,
        examples: ExampleSet,
        inputs: LayoutLike | None = None,
        targets: LayoutLike | None = None,
        *,
        by: By = "event",
        fields: Iterable[str] | None = None,
        strict: bool = False,
        findings: Findings | None = None,
        limits: Limits = DEFAULT,
    ) -> None:
        """Make a dataset of a set. Check all ranges of the set now, so that no batch fails later.

        `by`: what a sample is, "event" or "example". An example has a row for each event. A batch
        pads shorter examples, and `present`, bool, is False in the padding. `fields`: the arrays of
        a batch, by default all. All other arguments are the same as for `to_arrays`. Raises the
        errors of `to_arrays`, and ValueError for another `by` and for unknown fields.
        """
        if by not in get_args(By):
            raise ValueError(f"by must be {' or '.join(map(repr, get_args(By)))}, not {by!r}")
        found = collect_findings(strict, findings)
        self.examples = examples
        self.by = by
        known = (*_FIELDS, "present") if by == "example" else _FIELDS
        self._fields = known if fields is None else checked_names("fields", fields, known)
        self.layouts: tuple[Layout, Layout] = layouts_of(examples, (inputs, targets), found)
        self._limits = limits
        self._inferred = tuple(layout is None for layout in (inputs, targets))
        self._rows: EventRows | None = EventRows(examples, self.layouts, found, limits)
        if findings is None:
            warn(found)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the arrays of a batch, in order."""
        return self._fields

    def __len__(self) -> int:
        return self.examples.num_events if self.by == "event" else len(self.examples)

    def __repr__(self) -> str:
        sides = f"{self.layouts[0].units} inputs, {self.layouts[1].units} targets"
        return f"ExampleDataset({len(self)} {self.by}s, {sides})"

    def batch(self, indices: ArrayLike) -> dict[str, Values]:
        """Return the arrays of the samples with these indices. Raises the errors of
        `Dataset.batch`.
        """
        chosen = chosen_rows(indices, len(self))
        with with_source_name(self.name, MODEL):
            if self.by == "event":
                columns = self._events(chosen)
                return {name: columns[name] for name in self.fields}
            starts = self.examples.event_offsets[chosen]
            counts = self.examples.event_offsets[chosen + 1] - starts
            self._check_padded(counts)
            columns = self._events(row_indices(starts, counts))
        row = np.repeat(np.arange(chosen.size), counts)
        columns["present"] = np.ones(row.size, np.bool_)
        pad = padder(np, row, columns["event"], chosen.size)
        return {name: pad(columns[name]) for name in self.fields}

    def check_sampler(self, sampler: object) -> None:
        """Raise ValueError for a sampler of events if samples are examples, or vice versa."""
        kinds = ExampleSampler | ExampleBatchSampler
        if isinstance(sampler, kinds) and sampler.among != len(self):
            raise ValueError(
                f"the sampler is for {counted(sampler.among, 'sample')}, but the dataset has"
                f" {counted(len(self), self.by)}: pass by='example' to exset.dataset, or"
                " events=True to the sampler's batches()"
            )

    def to_arrays(self, device: Device = "cpu") -> dict[str, Values]:
        """Return the arrays of all samples, expanded on the device."""
        examples = self.examples
        with on_device(device) as xp, with_source_name(self.name, MODEL):
            self._check_inferred(examples.num_events)
            if self.by == "example":
                self._check_padded(np.diff(examples.event_offsets))
            arrays = arrays_of(xp, examples, self.layouts, Findings(), self._limits)
            arrays = arrays.by_example() if self.by == "example" else arrays
            return {name: getattr(arrays, name) for name in self.fields}

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_rows": None}

    def _events(self, rows: Longs) -> dict[str, Values]:
        self._check_inferred(rows.size)
        if self._rows is None:  # after unpickling
            self._rows = EventRows(self.examples, self.layouts, Findings(), self._limits)
        return self._rows.take(rows)

    def _check_inferred(self, events: int) -> None:
        """Raise LimitError if, with an inferred layout, the arrays of `events` (a number) events
        are too large.
        """
        for side, layout, inferred in zip(SIDES, self.layouts, self._inferred, strict=True):
            if inferred:
                values = self.examples.ranges.values.values.size
                check_size(values, side, layout, events, self._limits)

    def _check_padded(self, counts: Longs) -> None:
        """Raise LimitError if padded arrays of examples are too large.

        counts: the number of events of each example.
        """
        units = sum(layout.units for layout in self.layouts)
        size = 4 * units * counts.size * int(counts.max(initial=0))
        if size > self._limits.max_batch:
            examples = counted(counts.size, "example")
            message = (
                f"{examples} of up to {counted(int(counts.max()), 'event')} need {size:,} bytes, "
                f"more than the limit of {self._limits.max_batch:,}"
            )
            hint = f"read fewer examples at a time, or use by='event'; or {limit_hint('max_batch')}"
            raise LimitError(message, place=Place(MODEL), hint=hint)
