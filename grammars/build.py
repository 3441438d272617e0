"""Builders: columns of an example set from Python objects, or from arrays.

    Example(name="one", events=[Event(inputs=[1, 0], targets=Sparse([0, (3, 5)], group="output"))])

`ExampleSet.from_examples` and `ExampleSet.from_arrays` give the set itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.grammars.arrays import Floats, Ints, Longs, T, constant, offsets_of
from exset.grammars.columns import Ragged, Reals, Strings
from exset.grammars.given import cube, float_row, int32, stored_units
from exset.grammars.parts import REAL_FIELDS, Events, ExampleColumns, Ranges, SetHeader

Name = str | bytes | None


class Range:
    """A range of an event's inputs or targets: `Dense` or `Sparse`."""


@dataclass(frozen=True, eq=False)
class Dense(Range):
    """A range of values, one a unit, from unit `first` on; of a group, or of the whole network."""

    values: ArrayLike
    first: int = 0
    group: Name = None


@dataclass(frozen=True, eq=False)
class Sparse(Range):
    """A range of units of one value: unit numbers and spans (first, last), or "*" for all.

    Without a value it is that of the event: `active_input`, for targets `active_target`, for a list
    that serves as both `active_input` (Lens, example.c: readExample).
    """

    units: Iterable[int | tuple[int, int]] | Literal["*"]
    value: float | None = None
    group: Name = None


RangeLike = ArrayLike | Range | Sequence[Range] | None


@dataclass(frozen=True, eq=False)
class Event:
    """An event: inputs and targets, each values, a range or a list of ranges; and its own fields.

    What is None is not given; the set's value holds then.
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
    """An example: at least one event, a name or none, a proc (Tcl, never run), a frequency."""

    events: Sequence[Event] = (Event(),)
    name: Name = None
    proc: Name = None
    frequency: float = 1.0


def from_examples(examples: Iterable[Example], header: SetHeader | None = None) -> ExampleColumns:
    """The columns of these examples; raises ValueError that says where.

    A list of inputs or targets used again in the same example, the same object, is shared; tuples
    are not, as Python may make two equal ones the same.
    """
    header = header or SetHeader()
    examples = list(examples)
    events: list[Event] = []
    lists = _Lists()
    numbers: dict[str, list[int]] = {"inputs": [], "targets": []}
    for i, example in enumerate(examples):
        if not example.events:
            raise ValueError(f"examples[{i}]: an example has at least one event")
        events.extend(example.events)
        seen: dict[int, int] = {}
        for side, active in (("inputs", "active_input"), ("targets", "active_target")):
            for j, event in enumerate(example.events):
                where = f"examples[{i}].events[{j}]"
                value = getattr(event, active)
                value = getattr(header, active) if value is None else value
                number = lists.add(f"{where}.{side}", getattr(event, side), value, seen)
                numbers[side].append(number)
    group, groups = _grouped([each.group for each in lists.ranges])
    return ExampleColumns(
        header=header,
        name=Strings.of(example.name for example in examples),
        proc=Strings.of(example.proc for example in examples),
        frequency=float_row("frequency", [example.frequency for example in examples]),
        event_offsets=_offsets([len(example.events) for example in examples]),
        events=_events(events, numbers["inputs"], numbers["targets"]),
        lists=_offsets(lists.lengths),
        ranges=Ranges(
            group=group,
            first=np.array([each.first for each in lists.ranges], np.int32),
            value=np.array([each.value for each in lists.ranges], np.float32),
            values=_rows([each.values for each in lists.ranges], np.float32),
            units=_rows([each.units for each in lists.ranges], np.int32),
        ),
        groups=groups,
    )


def from_arrays(
    inputs: ArrayLike | None,
    targets: ArrayLike | None,
    *,
    names: Iterable[bytes | str | None] | None = None,
    frequency: ArrayLike | None = None,
    header: SetHeader | None = None,
    input_group: Name = None,
    target_group: Name = None,
) -> ExampleColumns:
    """The columns of dense arrays [example, unit] or [example, event, unit]; raises ValueError."""
    given = (("inputs", inputs, input_group), ("targets", targets, target_group))
    sides = {side: (cube(side, a), group) for side, a, group in given if a is not None}
    shapes = {array.shape[:2] for array, _ in sides.values()}
    if len(shapes) != 1:
        found = " and ".join(f"{side} {array.shape}" for side, (array, _) in sides.items())
        raise ValueError(f"one number of examples and of events is wanted, not {found or 'none'}")
    n, k = shapes.pop()
    if k == 0 and n:
        raise ValueError("an example has at least one event")
    sides = {side: each for side, each in sides.items() if each[0].shape[2]}
    flat = [np.empty((n, 0), np.float32)]
    flat += [array.reshape(n, k * array.shape[2]) for array, _ in sides.values()]
    group, groups = _grouped([name for _, name in sides.values() for _ in range(k)])
    per_example = k * len(sides)
    widths = np.repeat([array.shape[2] for array, _ in sides.values()], k)
    event = np.add.outer(np.arange(n) * per_example, np.arange(k)).reshape(-1)
    places = {side: event + i * k for i, side in enumerate(sides)}
    weights = constant(1, n, np.float32) if frequency is None else float_row("frequency", frequency)
    return ExampleColumns(
        header=header or SetHeader(),
        name=Strings.none(n) if names is None else Strings.of(names),
        proc=Strings.none(n),
        frequency=weights,
        event_offsets=np.arange(n + 1) * k,
        events=replace(Events.none(n * k), **places),
        lists=np.arange(n * per_example + 1),
        ranges=Ranges(
            group=np.tile(group, n),
            first=constant(0, n * per_example, np.int32),
            value=constant(0, n * per_example, np.float32),
            values=Ragged(np.concatenate(flat, axis=1).reshape(-1), offsets_of(np.tile(widths, n))),
            units=Ragged.none(n * per_example, np.int32),
        ),
        groups=groups,
    )


@dataclass(frozen=True, eq=False)
class _Range:
    """A range as it will be stored."""

    group: Name
    first: int = 0
    value: float = 0.0
    values: Floats = field(default_factory=lambda: np.empty(0, np.float32))
    units: Ints = field(default_factory=lambda: np.empty(0, np.int32))


class _Lists:
    """The range lists so far: the number of ranges of each, and all the ranges."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.ranges: list[_Range] = []

    def add(self, where: str, given: RangeLike, value: float, seen: dict[int, int]) -> int:
        """The number of the list that is given, new or seen in this example; -1 for none."""
        if given is None:
            return -1
        if id(given) in seen:
            return seen[id(given)]
        if not isinstance(given, tuple):
            seen[id(given)] = len(self.lengths)
        ranges = given if _is_list_of_ranges(given) else [given]
        for i, each in enumerate(ranges):
            self.ranges.append(_range(f"{where}[{i}]", each, value))
        self.lengths.append(len(ranges))
        return len(self.lengths) - 1


def _is_list_of_ranges(given: object) -> TypeGuard[Sequence[Range]]:
    return isinstance(given, list | tuple) and (
        not given or any(isinstance(each, Range) for each in given)
    )


def _range(where: str, given: object, active: float) -> _Range:
    if isinstance(given, Sparse):
        value = active if given.value is None else given.value
        value = float(float_row(f"{where}.value", [value])[0])
        return _Range(given.group, value=value, units=stored_units(f"{where}.units", given.units))
    if isinstance(given, Dense):
        first = int32(f"{where}.first", given.first)
        return _Range(given.group, first, values=float_row(f"{where}.values", given.values))
    return _Range(None, values=float_row(where, given))


def _offsets(lengths: list[int]) -> Longs:
    return offsets_of(np.array(lengths, np.int64))


def _rows(rows: list[NDArray[T]], dtype: type[T]) -> Ragged[T]:
    values = np.concatenate([np.empty(0, dtype), *rows])
    return Ragged(values, _offsets([row.size for row in rows]))


def _grouped(names: list[Name]) -> tuple[Ints, Strings]:
    """The number of each name among the distinct ones, -1 for none, and those names."""
    numbers: dict[Name, int] = {}
    group = [numbers.setdefault(name, len(numbers)) if name else -1 for name in names]
    return np.array(group, np.int32), Strings.of(numbers)


def _events(events: list[Event], inputs: list[int], targets: list[int]) -> Events:
    columns = {}
    for name in REAL_FIELDS:
        values = [getattr(event, name) for event in events]
        given = np.array([value is not None for value in values], np.bool_)
        columns[name] = Reals(
            float_row(name, [0.0 if value is None else value for value in values]), given
        )
    return Events.unchecked(
        proc=Strings.of(event.proc for event in events),
        **columns,
        inputs=np.array(inputs, np.int64),
        targets=np.array(targets, np.int64),
    )
