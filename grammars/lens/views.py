"""Views: objects for one example, event, range list or range of a set, created on access.

A view stores only the set and an index. Names, procs and groups are text, decoded as UTF-8. Invalid
bytes become lone surrogates, as in Python's file names. The columns have the original bytes.

Views are equal if the values of their examples, events or ranges are equal, bit for bit; NaN equals
NaN. The comparison ignores indices, the headers of the sets, and which lists are shared. Views have
no hash.
"""

from abc import ABC, abstractmethod
from functools import partial
from typing import Literal, overload

from exset.core.html import table
from exset.core.text import counted
from exset.grammars.columns.arrays import Floats, Ints, canonical_nan
from exset.grammars.columns.views import Views
from exset.grammars.lens.columns import REAL_FIELDS, ExampleColumns


class _View(ABC):
    """The base class of views. Two views of the same class are equal if their keys are equal."""

    @abstractmethod
    def _key(self) -> tuple[object, ...]:
        """Return the values by which views are compared. Equal views have equal keys."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._key() == other._key()


class ExampleView(_View):
    """One example of a set: its index, name, proc, frequency and events."""

    def __init__(self, columns: ExampleColumns, index: int) -> None:
        self._columns = columns
        self.index = index

    @property
    def columns(self) -> ExampleColumns:
        """The columns of the set that contains the example."""
        return self._columns

    @property
    def name(self) -> str | None:
        """The name, or None for an example without a name."""
        return self._columns.name.text(self.index)

    @property
    def proc(self) -> str | None:
        """The Tcl code that Lens runs when it presents the example. exset never runs it."""
        return self._columns.proc.text(self.index)

    @property
    def frequency(self) -> float:
        """How often Lens draws the example, relative to the other examples."""
        return float(self._columns.frequency[self.index])

    @property
    def events(self) -> "Views[EventView]":
        """The events of the example, at least one."""
        begin, end = self._columns.event_offsets[self.index : self.index + 2].tolist()
        make = partial(EventView, self._columns, self.index)
        return Views(make, range(begin, end), f"examples[{self.index}].events")

    def _key(self) -> tuple[object, ...]:
        return self.name, self.proc, self.frequency.hex(), self.events

    def _repr_html_(self) -> str:
        heads = ("event", "max_time", "inputs", "targets")
        rows = ((each.index, each.effective("max_time"), *each.sides()) for each in self.events)
        return table(repr(self), heads, rows, len(self.events))

    def __repr__(self) -> str:
        name = "" if self.name is None else f" {self.name!r}"
        return f"<example {self.index}{name}: {counted(len(self.events), 'event')}>"


class _Real:
    """A descriptor for a number of an event: the event's own value, or None if it is inherited."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self.__doc__ = f"The event's own {name}, or None where the set's holds."

    @overload
    def __get__(self, view: None, owner: type) -> "_Real": ...
    @overload
    def __get__(self, view: "EventView", owner: type) -> float | None: ...
    def __get__(self, view: "EventView | None", owner: type) -> "_Real | float | None":
        return self if view is None else view._columns.events.real(self._name)[view.row]


class EventView(_View):
    """One event: its index in the example, own values (None if inherited), inputs and targets."""

    max_time = _Real()
    min_time = _Real()
    grace_time = _Real()
    default_input = _Real()
    active_input = _Real()
    default_target = _Real()
    active_target = _Real()

    def __init__(self, columns: ExampleColumns, example: int, row: int) -> None:
        self._columns = columns
        self._example = example
        self.row = row
        self.index = row - int(columns.event_offsets[example])

    @property
    def proc(self) -> str | None:
        """The Tcl code that Lens runs when the event starts. exset never runs it."""
        return self._columns.events.proc.text(self.row)

    @property
    def inputs(self) -> "RangeList | None":
        """The ranges of the inputs, or None."""
        return self._list("inputs", int(self._columns.events.inputs[self.row]))

    @property
    def targets(self) -> "RangeList | None":
        """The ranges of the targets, or None."""
        return self._list("targets", int(self._columns.events.targets[self.row]))

    def effective(self, field: str) -> float:
        """Return a number of the event. If the event has no value of its own, return the set's.

        field: such as `max_time`.
        """
        own = self._columns.events.real(field)[self.row]
        return float(self._columns.header.real(field)) if own is None else own

    def _key(self) -> tuple[object, ...]:
        reals: list[float | None] = [getattr(self, field) for field in REAL_FIELDS]
        own = [None if value is None else value.hex() for value in reals]
        return self.proc, own, self.inputs, self.targets

    def sides(self) -> tuple[str, str]:
        """Return the inputs and the targets as text."""
        inputs, targets = (
            ", ".join([repr(each)[1:-1] for each in ranges[:3]] + ["..."] * (len(ranges) > 3))
            for ranges in (self.inputs or (), self.targets or ())
        )
        return inputs, targets

    def _repr_html_(self) -> str:
        what = f"examples[{self._example}].events[{self.index}]"
        own = ((field, self.effective(field)) for field in REAL_FIELDS)
        rows = (*zip(("inputs", "targets"), self.sides(), strict=True), *own)
        return table(f"{self!r}, {what}", ("", "value"), rows, len(rows))

    def _list(self, side: str, number: int) -> "RangeList | None":
        if number < 0:
            return None
        what = f"examples[{self._example}].events[{self.index}].{side}"
        return RangeList(self._columns, number, what)

    def __repr__(self) -> str:
        words = [
            f"{side} {counted(len(ranges), 'range')}"
            for side, ranges in (("inputs", self.inputs), ("targets", self.targets))
            if ranges is not None
        ]
        return f"<event {self.index}: {', '.join(words) or 'nothing'}>"


class RangeList(Views["RangeView"]):
    """The ranges of an event's inputs or targets. Shared lists have the same `number`."""

    def __init__(self, columns: ExampleColumns, number: int, what: str) -> None:
        begin, end = columns.lists[number : number + 2].tolist()
        super().__init__(partial(RangeView, columns), range(begin, end), what)
        self.number = number


class RangeView(_View):
    """One range of a group or of the whole network. It has dense values, or sparse units with one
    value, or neither.
    """

    def __init__(self, columns: ExampleColumns, row: int) -> None:
        self._columns = columns
        self.row = row

    @property
    def group(self) -> str | None:
        """The name of the group, or None for the whole network."""
        number = int(self._columns.ranges.group[self.row])
        return None if number < 0 else self._columns.groups.text(number)

    @property
    def kind(self) -> Literal["dense", "sparse"] | None:
        """The kind of the range: "dense" if it has values, "sparse" if it has units, None if it has
        neither.
        """
        if self.values.size:
            return "dense"
        return "sparse" if self.units.size else None

    @property
    def first(self) -> int:
        """The unit of the first value of a dense range."""
        return int(self._columns.ranges.first[self.row])

    @property
    def value(self) -> float:
        """The value of all units of a sparse range."""
        return float(self._columns.ranges.value[self.row])

    @property
    def values(self) -> Floats:
        """The values of a dense range: float32, read-only."""
        return self._columns.ranges.values[self.row]

    @property
    def units(self) -> Ints:
        """The units of a sparse range, as Lens stores them.

        n is a unit, -m after n means the units from n to m, -m alone means all units.
        """
        return self._columns.ranges.units[self.row]

    def _key(self) -> tuple[object, ...]:
        if self.kind == "dense":
            return self.group, "dense", self.first, canonical_nan(self.values).tobytes()
        if self.kind == "sparse":
            return self.group, "sparse", self.value.hex(), self.units.tobytes()
        return self.group, None

    def __repr__(self) -> str:
        where = "" if self.group is None else f" {self.group!r}"
        if self.kind == "dense":
            where += f" from {self.first}" if self.first else ""
            return f"<dense{where}: {_short(self.values)}>"
        if self.kind == "sparse":
            units = "*" if self.units[0] < 0 and self.units.size == 1 else _short(self.units)
            return f"<sparse{where} {self.value:g}: {units}>"
        return f"<empty{where}>"


def printable(text: str) -> str:
    """Return the text. If it has characters that cannot be printed, return its repr."""
    return text if text.isprintable() else repr(text)


def _short(numbers: Floats | Ints) -> str:
    return " ".join(f"{number:g}" for number in numbers[:8].tolist()) + (
        " ..." if numbers.size > 8 else ""
    )
