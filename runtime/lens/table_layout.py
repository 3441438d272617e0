"""Find the columns of an example set's table in a first pass over the set or its chunks."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from exset.core.errors import Findings, FormatError
from exset.core.limits import Limits
from exset.core.protocols import Level
from exset.grammars.columns.strings import Strings
from exset.grammars.lens.examples import UNIT_FIELDS, ExampleSet
from exset.grammars.tables.columns import first_wrong_text
from exset.runtime.lens.arrays import check_size
from exset.runtime.lens.layout_inference import UsedUnits
from exset.runtime.lens.network_layout import SIDES, Layout, LayoutLike, Side

RowKind = Literal["event", "example"]
"""What a row of a table is."""


@dataclass(frozen=True)
class TableLayout:
    """The columns of the tables of a set. They are the same for all its chunks.

    sides: the layouts of inputs and targets. At the level "said", None means that the layout is
    unknown. optional: the names of the optional columns: procs, and the events' own default and
    active values. in_bytes: the names of the columns of strings that are not all UTF-8. shares:
    whether events share lists. level, rows, defaults: arguments of `to_table`.
    """

    level: Level
    rows: RowKind
    defaults: bool

    sides: dict[Side, Layout | None]
    optional: frozenset[str]
    in_bytes: frozenset[str]
    shares: bool


def layout_of(
    chunks: Iterable[ExampleSet],
    /,
    *,
    level: Level,
    rows: RowKind = "event",
    defaults: bool = True,
    inputs: LayoutLike | None = None,
    targets: LayoutLike | None = None,
    findings: Findings,
    limits: Limits,
) -> TableLayout:
    """Return the columns for the tables of a set that is read in chunks.

    Options are the same as for `to_table`. Raises LimitError and ValueError. Raises FormatError if
    the level "meant" needs a layout that cannot be inferred.
    """
    if rows not in get_args(RowKind):
        raise ValueError(f"rows must be 'event' or 'example', not {rows!r}")
    requested: dict[Side, LayoutLike | None] = {"inputs": inputs, "targets": targets}
    found = _Tally(is_counting=None in requested.values())
    for chunk in chunks:
        found.add(chunk)
    sides: dict[Side, Layout | None] = {}
    for side in SIDES:
        given = requested[side]
        if given is not None:
            sides[side] = Layout.of(side, given)
        elif level == "said":
            sides[side] = _known(found.units, side)
        else:
            sides[side] = layout = found.units.layout(side, findings)
            check_size(found.values, side, layout, found.events, limits)
    optional, in_bytes = frozenset(found.optional), frozenset(found.in_bytes)
    return TableLayout(level, rows, defaults, sides, optional, in_bytes, found.shares)


def _known(units: UsedUnits, side: Side) -> Layout | None:
    """Return the inferred layout of a side. Return None if it cannot be inferred."""
    try:
        return units.layout(side, Findings())
    except FormatError:
        return None


@dataclass
class _Tally:
    """Collects from the chunks of a set the facts that decide the columns of its tables.

    is_counting: whether to also collect the used units.
    """

    is_counting: bool
    units: UsedUnits = field(default_factory=UsedUnits)
    optional: set[str] = field(default_factory=set)
    in_bytes: set[str] = field(default_factory=set)
    shares: bool = False
    events: int = 0
    values: int = 0

    def add(self, chunk: ExampleSet) -> None:
        """Collect from the next chunk, which is in normal form."""
        if self.is_counting:
            self.units.add(chunk)
        events, procs = chunk.events, {"proc": chunk.proc, "event_proc": chunk.events.proc}
        self.optional.update(name for name, column in procs.items() if column.present.any())
        self.optional.update(name for name in UNIT_FIELDS if events.real(name).present.any())
        strings: dict[str, Strings] = {"name": chunk.name, "group": chunk.groups, **procs}
        self.in_bytes.update(
            name for name, column in strings.items() if first_wrong_text(column) is not None
        )
        uses = int((events.inputs >= 0).sum()) + int((events.targets >= 0).sum())
        self.shares |= uses > chunk.lists.size - 1
        self.events += chunk.num_events
        self.values += chunk.ranges.values.values.size
