"""The parts of a Lens example set (header, events, ranges), and the class that contains them all.

Names are from the Lens manual ("Example Files"), in snake_case. Constructors check all columns; a
ValueError names the wrong column. The columns need not be in the normal form of
`exset.grammars.lens.normal_form`.
"""

import math
from collections.abc import Sized
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from exset.core.text import counted
from exset.grammars.columns import arrays
from exset.grammars.columns.arrays import Floats, Ints, Longs
from exset.grammars.columns.inputs import check_kind, raw, real
from exset.grammars.columns.ragged import Ragged, Reals, Strings
from exset.grammars.columns.rows import FrozenColumns, Rows

TIME_FIELDS = ("max_time", "min_time", "grace_time")
UNIT_FIELDS = ("default_input", "active_input", "default_target", "active_target")
REAL_FIELDS = TIME_FIELDS + UNIT_FIELDS
WORDS = dict(zip(REAL_FIELDS, ("max", "min", "grace", "defI", "actI", "defT", "actT"), strict=True))
"""The words of the language for the fields."""


@dataclass(frozen=True, eq=False, init=False)
class SetHeader:
    """The values at the start of a set: a proc (Tcl, never run), and seven numbers that events
    inherit.

    The proc may be given as bytes or text. It is stored as bytes; `proc_text` returns it as text.
    An empty proc becomes None. Numbers are rounded to float32. Equality is bitwise: NaN equals NaN,
    -0.0 differs from 0.0. The defaults are from Lens (defaults.h). Raises ValueError for a value of
    another type.
    """

    proc: bytes | None
    max_time: float
    min_time: float
    grace_time: float
    default_input: float
    active_input: float
    default_target: float
    active_target: float

    def __init__(
        self,
        proc: bytes | str | None = None,
        max_time: float = 1.0,
        min_time: float = 0.0,
        grace_time: float = 0.0,
        default_input: float = 0.0,
        active_input: float = 1.0,
        default_target: float = 0.0,
        active_target: float = 1.0,
    ) -> None:
        times = max_time, min_time, grace_time
        units = default_input, active_input, default_target, active_target
        object.__setattr__(self, "proc", raw("proc", proc) or None)
        for field, each in zip(REAL_FIELDS, (*times, *units), strict=True):
            value = real(field, each)
            object.__setattr__(self, field, math.nan if math.isnan(value) else value)

    @property
    def proc_text(self) -> str | None:
        """The proc as text, decoded as UTF-8. Invalid bytes become lone surrogates."""
        return None if self.proc is None else self.proc.decode("utf-8", "surrogateescape")

    def real(self, field: str) -> np.float32:
        """Return the value of one of the seven floating-point fields."""
        return np.float32(_real_field(self, field))

    def _key(self) -> tuple[bytes | None, bytes]:
        return self.proc, np.array([self.real(field) for field in REAL_FIELDS]).tobytes()

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, SetHeader) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True, eq=False, repr=False)
class Events(Rows):
    """The events of all examples: their procs, the numbers that they do not inherit, and range
    lists.

    inputs, targets: int64 [m], the number of a range list, or -1 for no list. Raises ValueError for
    columns of different lengths.
    """

    proc: Strings
    max_time: Reals
    min_time: Reals
    grace_time: Reals
    default_input: Reals
    active_input: Reals
    default_target: Reals
    active_target: Reals
    inputs: Longs
    targets: Longs

    def __post_init__(self) -> None:
        check_kind("events.proc", self.proc, Strings)
        for field in REAL_FIELDS:
            _check_rows(f"events.{field}", self.real(field), Reals, len(self.proc))
        for name, numbers in (("inputs", self.inputs), ("targets", self.targets)):
            arrays.check_column(f"events.{name}", numbers, np.int64, len(self.proc))
        self._freeze()

    @classmethod
    def empty(cls, m: int) -> Self:
        """Return `m` events without values. `dataclasses.replace` can add columns."""
        reals = {field: Reals.empty(m) for field in REAL_FIELDS}
        nothing = arrays.constant(-1, m, np.int64)
        return cls.unchecked(proc=Strings.empty(m), **reals, inputs=nothing, targets=nothing)

    def __len__(self) -> int:
        return len(self.proc)

    def real(self, field: str) -> Reals:
        """Return the column of one of the seven floating-point fields."""
        column: Reals = _real_field(self, field)
        return column


@dataclass(frozen=True, eq=False, repr=False)
class Ranges(Rows):
    """The ranges of all lists. A range has values (a dense range), units (a sparse range), or
    neither.

    group: int32 [r], an index into the groups, or -1 for the whole network. first: int32 [r], the
    first unit of a dense range. value: float32 [r], the value of a sparse range. values: float32, a
    row for each range. units: int32, a row for each range, as Lens stores them: n is a unit, -m
    after n means the units from n to m, -m alone means all units (`*`). Raises ValueError for
    columns that do not fit together.
    """

    group: Ints
    first: Ints
    value: Floats
    values: Ragged[np.float32]
    units: Ragged[np.int32]

    def __post_init__(self) -> None:
        arrays.check_column("ranges.group", self.group, np.int32)
        r = self.group.size
        arrays.check_column("ranges.first", self.first, np.int32, r)
        arrays.check_column("ranges.value", self.value, np.float32, r)
        _check_rows("ranges.values", self.values, Ragged, r)
        _check_rows("ranges.units", self.units, Ragged, r)
        arrays.check_column("ranges.values", self.values.values, np.float32)
        arrays.check_column("ranges.units", self.units.values, np.int32)
        if self.values.values.size and self.units.values.size:
            both = (self.values.lengths > 0) & (self.units.lengths > 0)
            if both.any():
                raise ValueError(f"ranges: range {both.argmax()} has both values and units")
        self._freeze()

    @classmethod
    def empty(cls, r: int) -> Self:
        """Return r ranges without values, units and groups."""
        return cls.unchecked(
            group=arrays.constant(-1, r, np.int32),
            first=arrays.constant(0, r, np.int32),
            value=arrays.constant(0, r, np.float32),
            values=Ragged.empty(r, np.float32),
            units=Ragged.empty(r, np.int32),
        )

    def __len__(self) -> int:
        return self.group.size


@dataclass(frozen=True, eq=False, repr=False)
class ExampleColumns(FrozenColumns):
    """The checked columns of n examples, m events, L range lists and r ranges.

    They need not be in normal form. frequency: float32 [n]. event_offsets: int64 [n + 1], at least
    one event for each example. lists: int64 [L + 1], list k has the ranges lists[k]:lists[k + 1].
    groups: the names of groups, to which ranges refer by index. Raises ValueError for columns that
    do not fit together.
    """

    header: SetHeader
    name: Strings
    proc: Strings
    frequency: Floats
    event_offsets: Longs
    events: Events
    lists: Longs
    ranges: Ranges
    groups: Strings

    def __post_init__(self) -> None:
        kinds = {"header": SetHeader, "events": Events, "ranges": Ranges, "groups": Strings}
        for what, kind in kinds.items():
            check_kind(what, getattr(self, what), kind)
        arrays.check_offsets("event_offsets", self.event_offsets, len(self.events))
        n = self.event_offsets.size - 1
        _check_rows("name", self.name, Strings, n)
        _check_rows("proc", self.proc, Strings, n)
        arrays.check_column("frequency", self.frequency, np.float32, n)
        empty = self.event_offsets[1:] == self.event_offsets[:-1]
        if empty.any():
            raise ValueError(f"event_offsets: example {empty.argmax()} has no event")
        arrays.check_offsets("lists", self.lists, len(self.ranges))
        _check_numbers("events.inputs", self.events.inputs, self.lists.size - 1)
        _check_numbers("events.targets", self.events.targets, self.lists.size - 1)
        _check_numbers("ranges.group", self.ranges.group, len(self.groups))
        if not self.groups.present.all():
            raise ValueError("groups: every name must be present")
        self._freeze()

    def __len__(self) -> int:
        """Return the number of examples."""
        return self.frequency.size

    @property
    def num_events(self) -> int:
        """The number of events of all examples."""
        return len(self.events)

    @property
    def example_of_event(self) -> Longs:
        """The index of each event's example: int64 [m]."""
        numbers = np.arange(len(self))
        if self.num_events > len(self):
            numbers = np.repeat(numbers, np.diff(self.event_offsets))
        return arrays.frozen(numbers)

    def effective(self, field: str, rows: Longs | None = None) -> Floats:
        """Return a number of each event: float32 [m]. If the event has none of its own, it is the
        set's.

        field: such as `max_time`. rows: the indices of events, by default all. Raises ValueError
        for an unknown field. Source: Lens, example.c: initEvent.
        """
        column, inherited = self.events.real(field), self.header.real(field)
        if rows is not None:
            column = column.take(rows)
        if arrays.is_constant(column.present) and not column.present[:1].any():
            return arrays.constant(inherited, len(column), np.float32)
        return arrays.frozen(np.where(column.present, column.values, inherited))


def _real_field(columns: SetHeader | Events, field: str) -> Any:
    if field not in REAL_FIELDS:
        raise ValueError(f"no field is called {field!r}: choose one of {', '.join(REAL_FIELDS)}")
    return getattr(columns, field)


def _check_rows(
    what: str, column: Sized, kind: type[Strings | Reals | Ragged[np.float32]], n: int
) -> None:
    check_kind(what, column, kind)
    if len(column) != n:
        raise ValueError(f"{what}: expected {counted(n, 'row')}, not {len(column)}")


def _check_numbers(what: str, numbers: Longs | Ints, n: int) -> None:
    wrong = numbers[:1] if arrays.is_constant(numbers) else numbers
    if wrong.size and (wrong.min() < -1 or wrong.max() >= n):
        raise ValueError(f"{what}: each number must be from -1 to {n - 1}")
