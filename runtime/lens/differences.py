"""Compare two Lens example sets by meaning. `exset.diff` calls this.

A value of an event is equal to the same value inherited from the header. A shared list is equal to
a copy of it.
"""

from typing import Final

import numpy as np

from exset.grammars.columns.arrays import Longs
from exset.grammars.lens.examples import REAL_FIELDS, ExampleSet, Ranges
from exset.runtime.reports.column_diff import ColumnDiff, Pairs, unequal
from exset.runtime.reports.differences import Differences

_KINDS: Final = ("empty", "dense", "sparse")
_DENSE, _SPARSE = 1, 2


def differences(one: ExampleSet, other: ExampleSet, tolerance: float, keep: int, /) -> Differences:
    """Compare two sets example by example, event by event and range by range.

    tolerance: how much two numbers may differ. keep: how many differences to keep; further ones are
    only counted.
    """
    diff = ColumnDiff("examples", len(one), len(other), tolerance, keep)
    if one == other:
        return diff.result()
    diff.strings(diff.units, "name", one.name, other.name)
    diff.strings(diff.units, "proc", one.proc, other.proc)
    diff.numbers(diff.units, "frequency", one.frequency, other.frequency)
    events = diff.rows(diff.units, "events", one.event_offsets, other.event_offsets, "event")
    if one.header.proc != other.header.proc:
        procs = (each.header.proc_text for each in (one, other))
        diff.add("header.proc", *("nothing" if proc is None else repr(proc) for proc in procs))
    diff.strings(events, "proc", one.events.proc, other.events.proc)
    for field in REAL_FIELDS:
        _real(diff, events, field, one, other)
    codes = _group_codes(one, other)
    for side in ("inputs", "targets"):
        lists = getattr(one.events, side), getattr(other.events, side)
        has = lists[0][events.one] >= 0, lists[1][events.other] >= 0
        diff.mark(events, has[0] != has[1], f".{side}", lists, _presence)
        both = events.where(has[0] & has[1]).on(*lists)
        ranges = diff.rows(both, side, one.lists, other.lists, "range")
        _ranges(diff, ranges, one, other, codes)
    return diff.result()


def _real(diff: ColumnDiff, events: Pairs, field: str, one: ExampleSet, other: ExampleSet) -> None:
    """Compare a numeric field of events, such as `max_time`: both the value that each event uses,
    and the value in the headers.

    diff: gets the differences. events: the pairs of events to compare. field: the name of the
    field. The values in the headers are compared only if some event inherits them.
    """
    own = (
        one.events.real(field).present[events.one] | other.events.real(field).present[events.other]
    )
    diff.numbers(events.where(own), field, one.effective(field), other.effective(field))
    if own.size and own.all():
        return
    a, b = one.header.real(field), other.header.real(field)
    if unequal(np.array([a]), np.array([b]), diff.tolerance)[0]:
        diff.add(f"header.{field}", a, b)


def _ranges(
    diff: ColumnDiff, pairs: Pairs, one: ExampleSet, other: ExampleSet, codes: tuple[Longs, Longs]
) -> None:
    a, b = one.ranges, other.ranges
    groups = codes[0][a.group[pairs.one]] != codes[1][b.group[pairs.other]]
    diff.mark(pairs, groups, ".group", (one, other), _group)
    kinds = _kinds(a), _kinds(b)
    same = kinds[0][pairs.one] == kinds[1][pairs.other]
    diff.mark(pairs, ~same, "", kinds, lambda column, row: _KINDS[column[row]])
    pairs = pairs.where(same)
    kind = kinds[0][pairs.one]
    dense, sparse = pairs.where(kind == _DENSE), pairs.where(kind == _SPARSE)
    diff.numbers(dense, "first", a.first, b.first)
    diff.ragged(dense, "values", a.values, b.values)
    diff.numbers(sparse, "value", a.value, b.value)
    diff.ragged(sparse, "units", a.units, b.units)


def _kinds(ranges: Ranges) -> Longs:
    sparse = np.where(ranges.units.lengths > 0, _SPARSE, 0)
    return np.where(ranges.values.lengths > 0, _DENSE, sparse)


def _group_codes(one: ExampleSet, other: ExampleSet) -> tuple[Longs, Longs]:
    """Number the groups of both sets together, so that groups of the same name have the same
    number.

    Return an array for each set: the number of each of its groups, and at the end a number that
    means no group.
    """
    numbers: dict[bytes | None, int] = {}
    first, second = (
        np.array([*(numbers.setdefault(name, len(numbers)) for name in each.groups), -1])
        for each in (one, other)
    )
    return first, second


def _group(model: ExampleSet, row: int) -> str | None:
    group = model.ranges.group[row]
    return model.groups.text(group) if group >= 0 else "none"


def _presence(lists: Longs, row: int) -> str:
    return "nothing" if lists[row] < 0 else "ranges"
