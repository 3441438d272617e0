"""In what two sets of Lens examples differ.

What holds is compared, and not how it is said: a value that an event gives with one that it takes
from the header, a list that is shared with one that is not.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from exset.grammars.columns.arrays import Longs
from exset.grammars.lens.examples import REAL_FIELDS, ExampleSet, Ranges
from exset.runtime.reports.differences import Comparer, Differences, Pairs, Show, quoted, unequal

_KINDS: Final = ("empty", "dense", "sparse")
_DENSE, _SPARSE = 1, 2


def differences(one: ExampleSet, other: ExampleSet, tolerance: float, keep: int, /) -> Differences:
    """Compare sets; see `exset.diff`."""
    found = Comparer("examples", len(one), len(other), tolerance, keep)
    if one == other:
        return found.done()
    found.strings(found.units, "name", one.name, other.name)
    found.strings(found.units, "proc", one.proc, other.proc)
    found.numbers(found.units, "frequency", one.frequency, other.frequency)
    offsets = one.event_offsets, other.event_offsets
    events = found.rows(found.units, "events", *offsets, "event")
    if one.header.proc != other.header.proc:
        procs = (each.header.proc_text for each in (one, other))
        found.differ("header.proc", *map(quoted, procs))
    found.strings(events, "proc", one.events.proc, other.events.proc)
    for field in REAL_FIELDS:
        _real(found, events, field, one, other)
    codes = _codes(one, other)
    for side in ("inputs", "targets"):
        a, b = getattr(one.events, side), getattr(other.events, side)
        has = a[events.one] >= 0, b[events.other] >= 0
        found.at(
            events,
            has[0] != has[1],
            f".{side}",
            _having(a),
            _having(b),
        )
        lists = events.where(has[0] & has[1]).on(a, b)
        ranges = found.rows(lists, side, one.lists, other.lists, "range")
        _ranges(found, ranges, one, other, codes)
    return found.done()


def _real(found: Comparer, events: Pairs, field: str, one: ExampleSet, other: ExampleSet) -> None:
    """Compare a real field as it holds; where both take it from the header, as it is there."""
    given = one.events.real(field).given[events.one] | other.events.real(field).given[events.other]
    found.numbers(events.where(given), field, one.effective(field), other.effective(field))
    if given.size and given.all():
        return
    a, b = one.header.real(field), other.header.real(field)
    if unequal(np.array([a]), np.array([b]), found.tolerance)[0]:
        found.differ(f"header.{field}", a, b)


def _ranges(
    found: Comparer,
    pairs: Pairs,
    one: ExampleSet,
    other: ExampleSet,
    codes: tuple[Longs, Longs],
) -> None:
    """Compare ranges: their groups, and their values or their units."""
    a, b = one.ranges, other.ranges
    found.at(
        pairs,
        codes[0][a.group[pairs.one]] != codes[1][b.group[pairs.other]],
        ".group",
        lambda row: one.groups.text(a.group[row]) if a.group[row] >= 0 else "none",
        lambda row: other.groups.text(b.group[row]) if b.group[row] >= 0 else "none",
    )
    kinds = _kinds(a), _kinds(b)
    alike = kinds[0][pairs.one] == kinds[1][pairs.other]
    found.at(
        pairs,
        ~alike,
        "",
        lambda row: _KINDS[kinds[0][row]],
        lambda row: _KINDS[kinds[1][row]],
    )
    pairs = pairs.where(alike)
    kind = kinds[0][pairs.one]
    dense, sparse = pairs.where(kind == _DENSE), pairs.where(kind == _SPARSE)
    found.numbers(dense, "first", a.first, b.first)
    found.ragged(dense, "values", a.values, b.values)
    found.numbers(sparse, "value", a.value, b.value)
    found.ragged(sparse, "units", a.units, b.units)


def _kinds(ranges: Ranges) -> Longs:
    """Which kind each range is of."""
    sparse = np.where(ranges.units.lengths > 0, _SPARSE, 0)
    return np.where(ranges.values.lengths > 0, _DENSE, sparse)


def _codes(one: ExampleSet, other: ExampleSet) -> tuple[Longs, Longs]:
    """A number for each group of the sets, the same for the same name; the last is for none."""
    numbers: dict[bytes | None, int] = {}
    first, second = (
        np.array([*(numbers.setdefault(name, len(numbers)) for name in each.groups), -1])
        for each in (one, other)
    )
    return first, second


def _having(lists: Longs) -> Show:
    """What says whether an event has a list of ranges."""
    return lambda row: "nothing" if lists[row] < 0 else "ranges"
