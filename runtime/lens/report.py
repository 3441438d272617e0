"""Report the contents of a Lens example set, for `exset info` and `exset stats`."""

import math
from collections.abc import Mapping

from exset.core.text import counted, size
from exset.grammars.lens.columns import WORDS
from exset.grammars.lens.examples import REAL_FIELDS, ExampleSet, SetHeader
from exset.runtime.lens.tally import Tally
from exset.runtime.reports.report import Report, some
from exset.runtime.reports.statistics import Spread

SHOWN = 24
"""The most groups that are shown to people."""


class SetTally(Tally):
    """Counts the contents of a set, and reports the counts.

    With `detailed`, also computes statistics of the values. Units count as they are stored: a span
    counts as two numbers, and `*` as one.
    """

    def report(self) -> Report:
        """Return a report of the counts. Add no chunk afterwards."""
        spreads, frequency = self.spreads()
        made, memory = Report(), self.memory
        details = spreads if self.detailed else {}
        _examples(made, self, details)
        _ranges(made, self, details)
        _header(made, self, frequency, details)
        made.add(memory=memory)
        made.row("memory", size(memory))
        if self.detailed:
            _add_details(made, self, spreads)
        return made


def cells(examples: ExampleSet, index: int) -> list[tuple[str, object]]:
    """Return the cells for an example in a table: its name, its numbers, and the ranges of its
    first event.
    """
    example = examples[index]
    inputs, targets = example.events[0].sides()
    return [
        ("name", example.name or ""),
        ("frequency", f"{example.frequency:g}"),
        ("events", len(example.events)),
        ("inputs of the first event", inputs),
        ("targets of the first event", targets),
    ]


def _examples(made: Report, tally: Tally, details: Mapping[str, Spread]) -> None:
    counts, (low, high) = tally.counts, tally.events_each.bounds()
    examples, events = counts["examples"], counts["events"]
    with_inputs, with_targets = counts["with_inputs"], counts["with_targets"]
    made.add(examples=examples, named=counts["named"], events=events, events_each=(low, high))
    made.add(with_inputs=with_inputs, with_targets=with_targets)
    made.row("examples", f"{examples:,}", some(counts["named"], "named"))
    each = f"{low} to {high} per example" if low != high else f"{high} per example"
    mean = f"mean {details['events'].mean:g}" if details and low != high else ""
    made.row("events", f"{events:,}", each if examples else "", mean)
    sides = {side: str(numbers) for side, numbers in tally.sides.items()}
    made.row("inputs", counted(with_inputs, "event"), sides.get("inputs", ""))
    made.row("targets", counted(with_targets, "event"), sides.get("targets", ""))


def _ranges(made: Report, tally: Tally, details: Mapping[str, Spread]) -> None:
    counts, values = tally.counts, tally.counts["values"]
    sparsity = counts["zeros"] / values if values else None
    groups = {_text(name): count for name, count in tally.groups.items()}
    names = ("lists", "shared", "dense", "sparse", "empty", "values", "zeros", "nans", "units")
    made.add(**{name: counts[name] for name in names}, groups=groups)
    made.add(sparsity=sparsity)
    made.row("lists", f"{counts['lists']:,}", some(counts["shared"], "shared"))
    dense, sparse = f"{counts['dense']:,} dense", f"{counts['sparse']:,} sparse"
    made.row("ranges", dense, sparse, some(counts["empty"], "empty"))
    if sparsity is not None:
        zeros, nans = f"{sparsity:.1%} zero", some(counts["nans"], "NaN")
        made.row("values", f"{values:,}", zeros, nans, _text_of(details, "values"))
    made.row("units", some(counts["units"], "listed in sparse ranges"), _text_of(details, "units"))
    texts = [f"{name}: {counted(count, 'range')}" for name, count in groups.items()]
    if details:
        texts = [f"{name}: {numbers}" for name, numbers in tally.group_numbers.items()]
    made.texts("groups", texts, SHOWN)


def _header(made: Report, tally: Tally, frequency: float, details: Mapping[str, Spread]) -> None:
    header, defaults = tally.header, SetHeader()
    procedures = tally.counts["procedures"] + (header.proc is not None)
    fields = {name: float(getattr(header, name)) for name in REAL_FIELDS}
    changed = [
        f"{WORDS[name]}: {'-' if math.isnan(value) else f'{value:g}'}"
        for name, value in fields.items()
        if value != getattr(defaults, name)
    ]
    made.add(procedures=procedures, frequency=_number(frequency))
    made.add(header={name: _number(value) for name, value in fields.items()})
    if procedures:
        made.row("procedures", f"{procedures:,}", "never run")
    distinct = counted(tally.distinct_frequencies, "distinct value") if details else ""
    made.row("frequency", f"sum {frequency:g}", _text_of(details, "frequencies"), distinct)
    made.row("header", *changed or ["the defaults of Lens"])


def _add_details(made: Report, tally: Tally, spreads: Mapping[str, Spread]) -> None:
    """Add numbers about the values, units, frequencies and events to the report `made`."""
    sides, groups = tally.sides, tally.group_numbers
    made.add(spreads={name: spread.to_dict() for name, spread in spreads.items()})
    made.add(distinct_frequencies=tally.distinct_frequencies)
    made.add(sides={name: each.to_dict() for name, each in sides.items()})
    made.add(group_numbers={name: each.to_dict() for name, each in groups.items()})


def _text_of(details: Mapping[str, Spread], name: str) -> str:
    text = details[name].text() if details else ""
    return text and f"from {text}"


def _text(name: bytes | None) -> str:
    return "" if name is None else name.decode("utf-8", "surrogateescape")


def _number(value: float) -> float | str:
    """Return a number for JSON. NaN and infinity become text, because JSON cannot store them."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
