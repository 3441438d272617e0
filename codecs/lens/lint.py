"""What Lens reads in a binary file but people are caught by, as findings."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from exset.codecs.engine import Fields
from exset.codecs.lens.event_lists import is_odd
from exset.codecs.lens.events import INPUTS, EventLists, Placed
from exset.core.errors import Findings, Place
from exset.core.source import Source, Span
from exset.grammars.columns.arrays import Flags, Longs
from exset.grammars.lens.columns import Ranges
from exset.grammars.lens.findings import LONG, LONG_STRING, finding_at, too_many_groups

_SHOWN: Final = 100  # findings of one code and one field that get a place of their own

# The code of a trap, a field, and which of its elements.
Doubt = tuple[str, str, Flags]


def report_header(fields: Fields, source: Source, findings: Findings) -> None:
    """Add a finding for every trap in what comes before the examples."""
    if fields.ints("sizeof_real")[0] != 4:
        what = "sizeof(real) is 8, from a build with double reals"
        advice = "exset writes 4; the reals have four bytes in either case"
        at = fields.place(source, "sizeof_real", 0)
        findings.add(finding_at("lens-refuses", at, what=what, hint=advice))
    length = fields.strings("set_proc").lengths[0]
    for code, wrong in (("lens-set-proc", length > 0), ("lens-refuses", length > LONG)):
        if wrong:
            findings.add(finding_at(code, fields.place(source, "set_proc", 0), **LONG_STRING))


def report(
    fields: Fields,
    source: Source,
    kinds: Sequence[EventLists],
    placed: Placed,
    event_offsets: Longs,
    is_odd_range: bool,
    findings: Findings,
) -> None:
    """Add a finding for every trap in the examples, in the order of their places.

    is_odd_range: whether one may be in the ranges.
    """
    found: list[tuple[int, str, str, int, dict[str, object], int]] = []
    doubts = [*_strings(fields), *_events(fields, kinds)]
    if is_odd_range:
        doubts += _ranges(fields)
    for code, path, wrong in doubts:
        which = np.flatnonzero(wrong).tolist()
        for rank, k in enumerate(which[:_SHOWN]):
            times = len(which) - rank if rank == _SHOWN - 1 else 1
            found.append((fields.offset(path, k), code, path, k, {**LONG_STRING}, times))
    lost = sorted(
        (fields.offset(f"{path}.set_numEventsInList", row), path, row, event)
        for path, row, event in placed.lost
    )
    for rank, (offset, path, row, event) in enumerate(lost[:_SHOWN]):
        example = int(np.searchsorted(event_offsets, event, "right")) - 1
        role = "inputs" if path == INPUTS else "targets"
        words: dict[str, object] = {"event": event - int(event_offsets[example]), "role": role}
        times = len(lost) - rank if rank == _SHOWN - 1 else 1
        at = f"{path}.set_numEventsInList"
        found.append((offset, "lens-replaced-list", at, row, words, times))
    for _, code, path, k, words, times in sorted(found, key=lambda each: each[:2]):
        findings.add(finding_at(code, fields.place(source, path, k), **words), times)


def report_rest(name: str, offset: int, size: int, findings: Findings) -> None:
    """Add a finding if bytes follow the examples."""
    if size:
        place = Place(name, Span(offset, offset))
        findings.add(finding_at("lens-trailing-bytes", place, count=size))


def report_groups(count: int, name: str, findings: Findings) -> None:
    """Add a finding if a set has more groups than Lens can hold."""
    if finding := too_many_groups(count, Place.of(name)):
        findings.add(finding)


def may_be_odd(lists: Longs, ranges: Ranges) -> bool:
    """Whether a list or a range, none of which is empty, has something for `report`.

    That is told from all of them at once.
    """
    units = ranges.units
    return bool(
        (lists[1:] == lists[:-1]).any()
        or (ranges.first.size and ranges.first.min() < 0)
        or is_odd(units.values, units.offsets, units=True).any()
    )


def _strings(fields: Fields) -> Iterator[Doubt]:
    for path in ("examples.example_name", "examples.example_proc"):
        yield "lens-refuses", path, fields.strings(path).lengths > LONG


def _events(fields: Fields, kinds: Sequence[EventLists]) -> Iterator[Doubt]:
    for kind in kinds:
        path = f"{kind.path}.event_num"
        yield "lens-event-span", path, is_odd(fields.ints(path), kind.offsets)


def _ranges(fields: Fields) -> Iterator[Doubt]:
    for kind in ("inputs", "targets"):
        ranges = f"examples.{kind}.ranges"
        bounds = fields.bounds[ranges]
        yield "lens-no-ranges", f"examples.{kind}.num_ranges", bounds[1:] == bounds[:-1]
        path = f"{ranges}.range_numUnits"
        yield "lens-empty-range", path, fields.ints(path) == 0
        path = f"{ranges}.units.range_firstUnit"
        yield "lens-negative-first", path, fields.ints(path) < 0
        path = f"{ranges}.units.unit_index"
        yield "lens-unit-span", path, is_odd(fields.ints(path), fields.bounds[path], units=True)
