"""The slow model: the values that Lens presents to the units of a network, in plain Python.

It follows the manual ("Inputs and Targets") and example.c (standardLoadEvent), and shares nothing
with the array code that it tests.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.grammars.lens.examples import TIME_FIELDS, ExampleSet
from exset.grammars.lens.views import EventView, RangeView
from exset.runtime.lens.network_layout import SIDES, Layout

Columns: TypeAlias = dict[str, NDArray[Any]]
Groups = Mapping[str, int]
Side = Literal["inputs", "targets"]


class Outside(Exception):
    """A unit that the network does not have; the message is its place."""


def rows(examples: ExampleSet, side: Side, layout: Groups | int) -> Iterator[list[float]]:
    """Yield the values of all units, event by event."""
    for i, example in enumerate(examples):
        for j, event in enumerate(example.events):
            yield row(event, side, layout, f"examples[{i}].events[{j}].{side}")


def columns(examples: ExampleSet, inputs: Layout, targets: Layout) -> Columns:
    """Return the arrays of all events by their names in `ExampleArrays`."""
    found: Columns = {}
    for side, layout in zip(SIDES, (inputs, targets), strict=True):
        dense = list(rows(examples, side, dict(layout.groups) or layout.units))
        found[side] = np.array(dense, np.float32).reshape(len(dense), layout.units)
    events = [(example, event) for example in examples for event in example.events]
    found["example"] = np.array([example.index for example, _ in events], np.int64)
    found["event"] = np.array([event.index for _, event in events], np.int64)
    found["frequency"] = np.array([example.frequency for example, _ in events], np.float32)
    for field in TIME_FIELDS:
        found[field] = np.array([event.effective(field) for _, event in events], np.float32)
    return found


def row(event: EventView, side: Side, layout: Groups | int, where: str) -> list[float]:
    """Return the values of all units at one event."""
    groups = {} if isinstance(layout, int) else layout
    size = layout if isinstance(layout, int) else sum(layout.values())
    units = [event.effective(f"default_{side[:-1]}")] * size
    ranges = getattr(event, side)
    for number, each in enumerate([] if ranges is None else ranges):
        begin, room = 0, size
        if each.group is not None:
            if each.group not in groups:
                continue
            names = list(groups)
            begin = sum(groups[name] for name in names[: names.index(each.group)])
            room = groups[each.group]
        for unit, value in pairs(each, room):
            if not 0 <= unit < room:
                raise Outside(f"{where}[{number}]")
            units[begin + unit] = value
    return units


def pairs(each: RangeView, room: int) -> Iterator[tuple[int, float]]:
    """Yield units, perhaps outside, and their values, in the order in which Lens sets them."""
    if each.kind == "dense":
        if each.first < 0 or each.first + len(each.values) > room:
            yield -1, 0.0
        for k, value in enumerate(each.values.tolist()):
            yield each.first + k, value
    elif each.kind == "sparse":
        units = each.units.tolist()
        if units[0] < 0:
            yield from ((unit, each.value) for unit in range(room))
            return
        i = 0
        while i < len(units):
            first = last = units[i]
            if i + 1 < len(units) and units[i + 1] < 0:
                i += 1
                last = -units[i]
            if first < 0 or last < first or last >= room:
                yield -1, each.value
            for unit in range(first, last + 1):
                yield unit, each.value
            i += 1


def ticks(time: float, per_interval: int) -> int:
    """Return the number of ticks until a time is reached: at least one."""
    k = 1
    while k / per_interval + 1e-6 < time:
        k += 1
    return k


def same(a: list[list[float]], b: list[list[float]]) -> bool:
    """Return whether numbers are equal, bit for bit; NaN equals NaN."""
    flat = [[(math.copysign(1, x), "nan" if x != x else x) for x in row] for row in (*a, *b)]
    return len(a) == len(b) and flat[: len(a)] == flat[len(a) :]
