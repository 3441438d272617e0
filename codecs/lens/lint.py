"""Check binary files for likely mistakes that Lens accepts."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from exset.codecs.engine import Fields
from exset.codecs.lens.event_lists import INPUTS, EventLists, is_invalid
from exset.codecs.lens.list_placement import ListPlacement
from exset.core.errors import Findings, Place
from exset.core.source import Source, Span
from exset.grammars.columns.arrays import Flags, Longs
from exset.grammars.lens.columns import Ranges
from exset.grammars.lens.findings import LONG, LONG_STRING, finding_at, too_many_groups

_SHOWN: Final = 100  # findings of a code and a field that have places; others are only counted

# A code, a field, and the elements with this finding.
Check = tuple[str, str, Flags]


def report_header(fields: Fields, source: Source, findings: Findings) -> None:
    """Add the findings about the header, which precedes the examples."""
    if fields.ints("sizeof_real")[0] != 4:
        what = "sizeof(real) is 8, as in a build of Lens with double precision"
        advice = "exset convert writes 4: files with 8 also store each real in four bytes"
        at = fields.place(source, "sizeof_real", 0)
        findings.add(finding_at("lens-refuses", at, what=what, hint=advice))
    length = fields.strings("set_proc").lengths[0]
    for code, applies in (("lens-set-proc", length > 0), ("lens-refuses", length > LONG)):
        if applies:
            findings.add(finding_at(code, fields.place(source, "set_proc", 0), **LONG_STRING))


def report(
    fields: Fields,
    source: Source,
    kinds: Sequence[EventLists],
    placed: ListPlacement,
    event_offsets: Longs,
    check_ranges: bool,
    findings: Findings,
) -> None:
    """Add the findings about the examples, in the order of their places.

    kinds: all event lists. placed: the range lists that the events got. event_offsets: the first
    event of each example. check_ranges: whether to check the ranges, too.
    """
    sortable: list[tuple[int, str, str, int, dict[str, object], int]] = []
    for code, path, elements in _checks(fields, kinds, check_ranges):
        which = np.flatnonzero(elements).tolist()
        for rank, k in enumerate(which[:_SHOWN]):
            times = len(which) - rank if rank == _SHOWN - 1 else 1
            sortable.append((fields.offset(path, k), code, path, k, {**LONG_STRING}, times))
    replaced = sorted(
        (fields.offset(f"{path}.set_numEventsInList", row), path, row, event)
        for path, row, event in placed.replaced
    )
    for rank, (offset, path, row, event) in enumerate(replaced[:_SHOWN]):
        example = int(np.searchsorted(event_offsets, event, "right")) - 1
        role = "inputs" if path == INPUTS else "targets"
        words: dict[str, object] = {"event": event - int(event_offsets[example]), "role": role}
        times = len(replaced) - rank if rank == _SHOWN - 1 else 1
        at = f"{path}.set_numEventsInList"
        sortable.append((offset, "lens-replaced-list", at, row, words, times))
    for _, code, path, k, words, times in sorted(sortable, key=lambda each: each[:2]):
        findings.add(finding_at(code, fields.place(source, path, k), **words), times)


def report_rest(name: str, offset: int, size: int, findings: Findings) -> None:
    """Add a finding if bytes follow the examples.

    name: the file. offset: where these bytes begin. size: the number of these bytes.
    """
    if size:
        place = Place(name, Span(offset, offset))
        findings.add(finding_at("lens-trailing-bytes", place, count=size))


def report_groups(count: int, name: str, findings: Findings) -> None:
    """Add a finding if the number of groups, `count`, is more than Lens supports.

    name: the file or set, for the finding.
    """
    if finding := too_many_groups(count, Place(name)):
        findings.add(finding)


def may_have_findings(lists: Longs, ranges: Ranges) -> bool:
    """Return whether `report` must check the ranges. This is a quick test.

    lists: where each list begins in the ranges, and the end.
    """
    units = ranges.units
    return bool(
        (lists[1:] == lists[:-1]).any()
        or (ranges.first.size and ranges.first.min() < 0)
        or is_invalid(units.values, units.offsets, units=True).any()
    )


def _checks(fields: Fields, kinds: Sequence[EventLists], check_ranges: bool) -> Iterator[Check]:
    for path in ("examples.example_name", "examples.example_proc"):
        yield "lens-refuses", path, fields.strings(path).lengths > LONG
    for kind in kinds:
        path = f"{kind.path}.event_num"
        yield "lens-event-span", path, is_invalid(fields.ints(path), kind.offsets)
    for role in ("inputs", "targets") if check_ranges else ():
        ranges = f"examples.{role}.ranges"
        bounds = fields.bounds[ranges]
        yield "lens-no-ranges", f"examples.{role}.num_ranges", bounds[1:] == bounds[:-1]
        path = f"{ranges}.range_numUnits"
        yield "lens-empty-range", path, fields.ints(path) == 0
        path = f"{ranges}.units.range_firstUnit"
        yield "lens-negative-first", path, fields.ints(path) < 0
        path = f"{ranges}.units.unit_index"
        yield "lens-unit-span", path, is_invalid(fields.ints(path), fields.bounds[path], units=True)
