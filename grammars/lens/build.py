"""Build the columns of an example set from Python objects such as these, or from arrays.

    Example(name="one", events=[Event(inputs=[1, 0], targets=Sparse([0, (3, 5)], group="output"))])

Users call `ExampleSet.from_examples` and `ExampleSet.from_arrays`, which return an example set.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.grammars.columns.arrays import Floats, Ints, Longs, T, constant, offsets_of
from exset.grammars.columns.inputs import (
    check_kind,
    cube,
    float_row,
    int32,
    raw,
    real,
    shown,
    stored_units,
)
from exset.grammars.columns.ragged import Ragged, Reals, Strings
from exset.grammars.lens.columns import REAL_FIELDS, Events, ExampleColumns, Ranges, SetHeader

Name = str | bytes | None


class Range:
    """A range of an event's inputs or targets: `Dense` or `Sparse`."""


@dataclass(frozen=True, eq=False)
class Dense(Range):
    """A range that gives a value to each of several consecutive units. first: the first of these
    units.

    group: the name of a group, or None for the whole network.

    A masked value of a NumPy masked array becomes NaN, which is Lens's value for "not known".
    """

    values: ArrayLike
    first: int = 0
    group: Name = None


@dataclass(frozen=True, eq=False)
class Sparse(Range):
    """A range that gives the same value to all its units. units: numbers and spans (first, last),
    or "*".

    If `value` is None, the value is the event's `active_input` for inputs, and its `active_target`
    for targets. For a list that is used for both, it is `active_input` (Lens, example.c:
    readExample).
    """

    units: Iterable[int | tuple[int, int]] | Literal["*"]
    value: float | None = None
    group: Name = None

    def __post_init__(self) -> None:
        if isinstance(self.units, Iterator):  # an iterator can be read only once
            object.__setattr__(self, "units", tuple(self.units))


RangeLike = ArrayLike | Range | Sequence[Range] | None


@dataclass(frozen=True, eq=False)
class Event:
    """An event. inputs, targets: each is an array of values, a range, or a list of ranges.

    A number that is None is inherited from the header of the set.
    """

    inputs: RangeLike = None
    targets: RangeLike = None
    proc: Name = None
    max_time: float | None = None
    min_time: float | None = None
    grace_time: float | None = None
    default_input: float | None = None
    active_input: float | None = None
    default_target: float | None = None
    active_target: float | None = None


@dataclass(frozen=True, eq=False)
class Example:
    """An example. It has at least one event, and may have a name, a proc and a frequency.

    The proc is Tcl code, which exset never runs.
    """

    events: Sequence[Event] = (Event(),)
    name: Name = None
    proc: Name = None
    frequency: float = 1.0


def from_examples(examples: Iterable[Example], header: SetHeader | None = None) -> ExampleColumns:
    """Return the columns of the given examples. Raises ValueError, which names the wrong object.

    If an example uses the same object twice as inputs or targets, they share one list. This does
    not apply to tuples, because Python may make one object of two equal tuples.
    """
    header = SetHeader() if header is None else header
    check_kind("header", header, SetHeader)
    check_kind("examples", examples, Iterable, "a list of examples")
    names: list[bytes | None] = []
    procs: list[bytes | None] = []
    weights: list[float] = []
    counts: list[int] = []
    events = _Events(header)
    for i, example in enumerate(examples):
        where = f"examples[{i}]"
        check_kind(where, example, Example)
        check_kind(f"{where}.events", example.events, Sequence, "a list of events")
        if not len(example.events):
            raise ValueError(f"{where}: an example has at least one event")
        names.append(raw(f"{where}.name", example.name))
        procs.append(raw(f"{where}.proc", example.proc))
        weights.append(real(f"{where}.frequency", example.frequency))
        counts.append(len(example.events))
        events.add(where, example.events)
    ranges, groups = events.lists.columns()
    return ExampleColumns(
        header=header,
        name=Strings.of(names),
        proc=Strings.of(procs),
        frequency=np.array(weights, np.float32),
        event_offsets=_offsets(counts),
        events=events.columns(),
        lists=_offsets(events.lists.lengths),
        ranges=ranges,
        groups=groups,
    )


def from_arrays(
    sides: Mapping[str, tuple[ArrayLike | None, Name]],
    names: Iterable[Name] | None,
    frequency: ArrayLike | None,
    header: SetHeader | None,
) -> ExampleColumns:
    """Return the columns of dense arrays [example, unit] or [example, event, unit].

    sides: {"inputs" or "targets": (array or None, name of the group)}. names, frequency: one for
    each example, or None. Raises ValueError for arrays of different lengths, and for arrays that do
    not have such a shape or are not numbers.
    """
    present = {side: array for side, (array, _) in sides.items() if array is not None}
    arrays = {side: cube(side, array) for side, array in present.items()}
    shapes = {array.shape[:2] for array in arrays.values()}
    if len(shapes) != 1:
        if not present:
            raise ValueError("inputs or targets must be given, or both")
        found = " and ".join(str(np.shape(array)) for array in present.values())
        what = "inputs and targets must have the same numbers of examples and events"
        raise ValueError(f"{what}, not the shapes {found}")
    n, k = shapes.pop()
    if k == 0 and n:
        raise ValueError("an example has at least one event")
    names_of = {side: raw(f"{side[:-1]}_group", group) for side, (_, group) in sides.items()}
    arrays = {side: array for side, array in arrays.items() if array.shape[2]}
    flat = [np.empty((n, 0), np.float32)]
    flat += [array.reshape(n, k * array.shape[2]) for array in arrays.values()]
    group, groups = _grouped([names_of[side] for side in arrays for _ in range(k)])
    per_example = k * len(arrays)
    widths = np.repeat([array.shape[2] for array in arrays.values()], k)
    event = np.add.outer(np.arange(n) * per_example, np.arange(k)).reshape(-1)
    places = {side: event + i * k for i, side in enumerate(arrays)}
    return ExampleColumns(
        header=SetHeader() if header is None else header,
        name=_names(names, n),
        proc=Strings.empty(n),
        frequency=_frequency(frequency, n),
        event_offsets=np.arange(n + 1) * k,
        events=Events.empty(n * k).with_unchecked(**places),
        lists=np.arange(n * per_example + 1),
        ranges=Ranges(
            group=np.tile(group, n),
            first=constant(0, n * per_example, np.int32),
            value=constant(0, n * per_example, np.float32),
            values=Ragged(np.concatenate(flat, axis=1).reshape(-1), offsets_of(np.tile(widths, n))),
            units=Ragged.empty(n * per_example, np.int32),
        ),
        groups=groups,
    )


def _names(names: Iterable[Name] | None, n: int) -> Strings:
    if names is None:
        return Strings.empty(n)
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise ValueError(f"names: expected a list of names, not {shown(names)}")
    column = Strings.of(raw(f"names[{i}]", name) for i, name in enumerate(names))
    if len(column) != n:
        raise ValueError(f"names: expected {n}, one for each example, not {len(column)}")
    return column


def _frequency(frequency: ArrayLike | None, n: int) -> Floats:
    if frequency is None:
        return constant(1, n, np.float32)
    if np.ma.is_masked(frequency):
        raise ValueError("frequency: each example needs a number, and one is masked")
    column = float_row("frequency", frequency)
    if column.size != n:
        raise ValueError(f"frequency: expected {n}, one for each example, not {column.size}")
    return column


class _Events:
    """Collects events: their procs, the numbers that they do not inherit, and their range lists."""

    def __init__(self, header: SetHeader) -> None:
        self.lists = _Lists()
        self._header = header
        self._procs: list[bytes | None] = []
        self._reals: dict[str, list[float | None]] = {field: [] for field in REAL_FIELDS}
        self._numbers: dict[str, list[int]] = {"inputs": [], "targets": []}

    def add(self, where: str, events: Sequence[Event]) -> None:
        """Add the events of one example. where: the example, for messages."""
        begin = len(self._procs)
        for j, event in enumerate(events):
            path = f"{where}.events[{j}]"
            check_kind(path, event, Event)
            self._procs.append(raw(f"{path}.proc", event.proc))
            for name, column in self._reals.items():
                value = getattr(event, name)
                column.append(None if value is None else real(f"{path}.{name}", value))
        seen: dict[int, int] = {}
        for side, active in (("inputs", "active_input"), ("targets", "active_target")):
            for j, event in enumerate(events):
                own = self._reals[active][begin + j]
                value = getattr(self._header, active) if own is None else own
                path = f"{where}.events[{j}].{side}"
                number = self.lists.add(path, getattr(event, side), value, seen)
                self._numbers[side].append(number)

    def columns(self) -> Events:
        """Return the events as columns."""
        reals = {}
        for name, column in self._reals.items():
            values = np.array([value or 0.0 for value in column], np.float32)
            reals[name] = Reals(values, np.array([value is not None for value in column], np.bool_))
        numbers = {side: np.array(column, np.int64) for side, column in self._numbers.items()}
        return Events.unchecked(proc=Strings.of(self._procs), **reals, **numbers)


class _Range(NamedTuple):
    """One range, whose values have the types of a set's columns."""

    group: bytes | None
    first: int = 0
    value: float = 0.0
    values: Floats = np.empty(0, np.float32)
    units: Ints = np.empty(0, np.int32)


class _Lists:
    """Collects lists of ranges. Each list is the inputs or the targets of events.

    lengths: the number of ranges in each list.
    """

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self._ranges: list[_Range] = []

    def add(self, where: str, data: RangeLike, value: float, seen: dict[int, int]) -> int:
        """Add the ranges of an event's inputs or targets as a list. Return the list's number.

        Return -1 if `data` is None. where: the event and the side, for messages. value: the value
        of sparse ranges without a value of their own. seen: for the current example, {`id()` of
        data: number of its list}, so that the same object is added only once.
        """
        if data is None:
            return -1
        if id(data) in seen:
            return seen[id(data)]
        if not isinstance(data, tuple):
            seen[id(data)] = len(self.lengths)
        ranges = data if _is_list_of_ranges(data) else [data]
        for i, each in enumerate(ranges):
            self._ranges.append(_range(f"{where}[{i}]", each, value))
        self.lengths.append(len(ranges))
        return len(self.lengths) - 1

    def columns(self) -> tuple[Ranges, Strings]:
        """Return the ranges and the groups as columns."""
        group, groups = _grouped([each.group for each in self._ranges])
        ranges = Ranges(
            group=group,
            first=np.array([each.first for each in self._ranges], np.int32),
            value=np.array([each.value for each in self._ranges], np.float32),
            values=_rows([each.values for each in self._ranges], np.float32),
            units=_rows([each.units for each in self._ranges], np.int32),
        )
        return ranges, groups


def _is_list_of_ranges(data: object) -> TypeGuard[Sequence[Range]]:
    return isinstance(data, list | tuple) and (
        not data or any(isinstance(each, Range) for each in data)
    )


def _range(where: str, data: object, active: float) -> _Range:
    if isinstance(data, Sparse):
        value = active if data.value is None else real(f"{where}.value", data.value)
        units = stored_units(f"{where}.units", data.units)
        return _Range(raw(f"{where}.group", data.group), value=value, units=units)
    if isinstance(data, Dense):
        first = int32(f"{where}.first", data.first)
        values = float_row(f"{where}.values", data.values)
        return _Range(raw(f"{where}.group", data.group), first, values=values)
    return _Range(None, values=float_row(where, data))


def _offsets(lengths: list[int]) -> Longs:
    return offsets_of(np.array(lengths, np.int64))


def _rows(rows: list[NDArray[T]], dtype: type[T]) -> Ragged[T]:
    values = np.concatenate([np.empty(0, dtype), *rows])
    return Ragged(values, _offsets([row.size for row in rows]))


def _grouped(names: list[bytes | None]) -> tuple[Ints, Strings]:
    """Return each name's index among the distinct names, and the distinct names.

    For None and an empty name, the index is -1.
    """
    numbers: dict[bytes, int] = {}
    group = [numbers.setdefault(name, len(numbers)) if name else -1 for name in names]
    return np.array(group, np.int32), Strings.of(numbers)
