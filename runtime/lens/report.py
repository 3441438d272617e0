"""Report the contents of a Lens example set, for `exset info` and `exset stats`; yield names."""

import math
from collections.abc import Iterable, Iterator

from exset.core.text import counted, size
from exset.grammars.lens.examples import REAL_FIELDS, ExampleSet, SetHeader
from exset.runtime.lens.tally import Tally
from exset.runtime.reports.report import Report, some
from exset.runtime.reports.statistics import Spread

SHOWN = 24
"""The most groups that are shown to people."""


def report(chunks: Iterable[ExampleSet], detailed: bool = False) -> Report:
    """Report the numbers of a set, from its chunks.

    Units count as they are stored: a span as two numbers, `*` as one. detailed: add statistics of
    the values, by side and by group.
    """
    tally = Tally(detailed)
    for chunk in chunks:
        tally.add(chunk)
    spreads, frequency = tally.spreads()
    made, memory = Report(), tally.memory
    _examples(made, tally)
    _ranges(made, tally)
    _header(made, tally, frequency)
    made.add(memory=memory)
    made.row("memory", size(memory))
    if detailed:
        _details(made, tally, spreads)
    return made


def names(model: ExampleSet) -> Iterator[bytes]:
    """Yield the names of the examples; empty for an example without a name."""
    return (name or b"" for name in model.name)


def _examples(made: Report, tally: Tally) -> None:
    counts, (low, high) = tally.counts, tally.events_each.bounds()
    examples, events = counts["examples"], counts["events"]
    with_inputs, with_targets = counts["with_inputs"], counts["with_targets"]
    made.add(examples=examples, named=counts["named"], events=events, events_each=(low, high))
    made.add(with_inputs=with_inputs, with_targets=with_targets)
    made.row("examples", f"{examples:,}", some(counts["named"], "named"))
    each = f"{low} to {high} an example" if low != high else f"{high} an example"
    made.row("events", f"{events:,}", each if examples else "")
    made.row("inputs", counted(with_inputs, "event"))
    made.row("targets", counted(with_targets, "event"))


def _ranges(made: Report, tally: Tally) -> None:
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
        made.row("values", f"{values:,}", f"{sparsity:.1%} zero", some(counts["nans"], "NaN"))
    made.row("units", some(counts["units"], "named in sparse ranges"))
    texts = [f"{name} ({counted(count, 'range')})" for name, count in groups.items()]
    made.texts("groups", texts, SHOWN)


def _header(made: Report, tally: Tally, frequency: float) -> None:
    header, defaults = tally.header, SetHeader()
    procedures = tally.counts["procedures"] + (header.proc is not None)
    fields = {name: float(getattr(header, name)) for name in REAL_FIELDS}
    changed = [f"{name} {x:g}" for name, x in fields.items() if x != getattr(defaults, name)]
    made.add(procedures=procedures, frequency=_number(frequency))
    made.add(header={name: _number(value) for name, value in fields.items()})
    if procedures:
        made.row("procedures", f"{procedures:,}", "never run")
    made.row("frequency", f"{frequency:g} in total")
    made.row("header", *changed or ["the defaults of Lens"])


def _details(made: Report, tally: Tally, spreads: dict[str, Spread]) -> None:
    """Report what the values, units, frequencies and events are like."""
    distinct, sides, groups = tally.distinct_frequencies, tally.sides, tally.group_numbers
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


def _text(name: bytes | None) -> str:
    return "" if name is None else name.decode("utf-8", "surrogateescape")


def _number(value: float) -> float | str:
    """Return a number for JSON: text for NaN and infinity, which JSON cannot store."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
