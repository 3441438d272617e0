"""Find the strings, units and shared lists in a set that text cannot represent."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.grammars.columns.ragged import Ragged, Strings
from exset.grammars.lens.columns import ExampleColumns, SetHeader
from exset.grammars.lens.examples import ExampleSet
from exset.parsers.lens.write_crossed import CrossedLists, Unshareable
from exset.parsers.lens.write_strings import faults, may_have_faults, without_faults

_MODEL: Final = "example set"
_MAY_HAVE_FAULTS: Final = np.array([may_have_faults(bytes([byte])) for byte in range(256)])


class Losses:
    """Handles strings and shared lists that text cannot represent.

    They raise FormatError. With `lossy`, strings give findings instead, and so do shared lists
    with `unshare`. A `path` is the path of a field, such as `examples[3].name`.
    """

    def __init__(self, findings: Findings, *, lossy: bool, unshare: bool) -> None:
        self._lossy = lossy
        self._unshare = unshare
        self._findings = findings

    def apart(self) -> "Losses":
        """Return an object that handles the same losses, but has findings of its own."""
        return Losses(Findings(), lossy=self._lossy, unshare=self._unshare)

    def add_all(self, losses: "Losses") -> None:
        """Add the findings of an object that `apart` made."""
        self._findings.add_all(losses._findings)

    def representable(self, raw: bytes, path: str, is_group: bool = False) -> bytes:
        """Return the string `raw`, or a similar string that text can represent.

        If `lossy`, the bytes that text cannot represent become `?`; otherwise they raise
        FormatError. path: the place of the string. is_group: whether it is the name of a group,
        for which text has other rules.
        """
        found = faults(raw, is_group)
        if not found:
            return raw
        at, why = found[0]
        if not self._lossy:
            raise _error(
                path,
                f"text cannot store this string: {why} (byte {at})",
                "use <--lossy or lossy=True> to write `?` instead; or write a binary"
                " file, which holds every byte but NUL",
            )
        count = f"{len(found)} bytes are" if len(found) > 1 else "a byte is"
        self.report(
            path, f"{count} written as `?`, because text cannot store the string: {why} (byte {at})"
        )
        return without_faults(raw, is_group)

    def stars(self, units: Ragged[np.int32], path: Callable[[int], str | None]) -> Ragged[np.int32]:
        """Return the units; where a range has a single negative unit, which means `*`, it
        becomes -1.

        Text has only `*` for this. So a number other than -1 raises FormatError, unless
        `lossy`. path: gives the field of a range by its index.
        """
        rows = np.flatnonzero(units.lengths == 1)
        rows = rows[units.values[units.offsets[rows]] < -1]
        named = ((each, row) for row in rows.tolist() if (each := path(row)) is not None)
        if (first := next(named, None)) is None:
            return units
        number = units.values[units.offsets[first[1]]]
        message = (
            f"unit {number} means all units: text has `*` for this, which is -1 in a binary file"
        )
        if not self._lossy:
            hint = "use <--lossy or lossy=True> to write `*`; or write a binary file"
            raise _error(f"{first[0]}.units", message, hint)
        self.report(f"{first[0]}.units", message, times=rows.size)
        values = units.values.copy()
        values[units.offsets[rows]] = -1
        return units.with_unchecked(values=values)

    def crossed_lists(self, examples: ExampleColumns, example: int) -> CrossedLists:
        """Return the first steps of an example in which different events share a list.

        Such a crossed list is both the inputs of an event and the targets of another. Raises
        FormatError for a list that text cannot share; with `unshare` the list is written twice
        instead, with a finding.
        """
        start, end = examples.event_offsets[example : example + 2].tolist()
        inputs: list[int] = examples.events.inputs[start:end].tolist()
        targets: list[int] = examples.events.targets[start:end].tolist()
        try:
            lists = CrossedLists(inputs, targets, unshare=self._unshare)
        except Unshareable as error:
            event = min(inputs.index(error.number), targets.index(error.number))
            field = "inputs" if inputs[event] == error.number else "targets"
            raise _error(
                f"examples[{example}].events[{event}].{field}",
                "this list is inputs of one event and targets of another: text cannot share it",
                "use <--unshare or unshare=True> to write the list twice; or write a binary file",
            ) from None
        for event in lists.split.values():
            path = f"examples[{example}].events[{event}].inputs"
            self.report(
                path,
                "this list is inputs of one event and targets of another: exset writes it twice",
            )
        return lists

    def report(self, path: str, message: str, times: int = 1) -> None:
        """Add a finding about a loss at the field `path`; times: how often it occurs."""
        place = Place(_MODEL, field=path)
        self._findings.add(Finding("lens-text-loss", Severity.WARNING, message, place), times=times)


def _error(path: str, message: str, hint: str) -> FormatError:
    return FormatError(message, place=Place(_MODEL, field=path), hint=hint, code="lens-text")


def representable_header(header: SetHeader, losses: Losses) -> SetHeader:
    """Return the header, whose proc text can represent, perhaps after changing the proc.

    Raises FormatError if text cannot represent it, unless lossy.
    """
    if header.proc is None:
        return header
    return replace(header, proc=losses.representable(header.proc, "header.proc"))


def representable(examples: ExampleSet, losses: Losses) -> ExampleSet:
    """Return the set with all strings changed so that text can represent them; not the header.

    Raises FormatError for a string or units that text cannot represent, at the path of the field.
    """
    events = examples.events
    patched = examples.with_unchecked(
        events=events.with_unchecked(
            proc=_strings(events.proc, losses, lambda i: f"{_event_path(examples, i)}.proc")
        ),
        name=_strings(examples.name, losses, lambda i: f"examples[{i}].name"),
        proc=_strings(examples.proc, losses, lambda i: f"examples[{i}].proc"),
        groups=_strings(examples.groups, losses, lambda i: _group_path(examples, i), True),
    )
    units = patched.ranges.units
    if units.values.min(initial=0) < -1:
        units = losses.stars(units, lambda i: _range_path(examples, i))
        patched = patched.with_unchecked(ranges=patched.ranges.with_unchecked(units=units))
    for index, why in _impossible_units(units).items():
        if (path := _range_path(examples, index)) is not None:
            message = f"text cannot store these units: {why}"
            raise _error(f"{path}.units", message, "change the units, or write a binary file")
    return patched


def _event_path(examples: ExampleSet, event: int) -> str:
    offsets = examples.event_offsets
    example = int(np.searchsorted(offsets, event, side="right")) - 1
    return f"examples[{example}].events[{event - offsets[example]}]"


def _strings(
    column: Strings, losses: Losses, path: Callable[[int], str | None], is_group: bool = False
) -> Strings:
    """Return the strings of a column, changed so that text can represent them.

    path: gives the field of a string by its index; None for an unused string, which stays
    unchanged.
    """
    if not column.data.size:
        return column
    suspect = np.flatnonzero(_MAY_HAVE_FAULTS[column.data])
    rows = np.searchsorted(column.offsets, suspect, side="right") - 1
    rows = rows[np.diff(rows, prepend=-1) > 0]
    fine: set[bytes] = set()
    patched: dict[int, bytes] = {}
    for index in rows.tolist():
        raw = column[index] or b""
        if raw in fine:
            continue
        if not faults(raw, is_group):
            fine.add(raw)
        elif (where := path(index)) is not None:
            patched[index] = losses.representable(raw, where, is_group)
    if not patched:
        return column
    return Strings.of(patched.get(index, raw) for index, raw in enumerate(column))


def _group_path(examples: ExampleSet, group: int) -> str | None:
    """Return the path of a group's name, in the first range that uses the group; None if none
    does.
    """
    for index in np.flatnonzero(examples.ranges.group == group).tolist():
        if (path := _range_path(examples, index)) is not None:
            return f"{path}.group"
    return None


def _range_path(examples: ExampleSet, index: int) -> str | None:
    """Return the place of the range with this index in the first event that uses it, as text;
    None if none does.
    """
    number = int(np.searchsorted(examples.lists, index, side="right")) - 1
    of_inputs = np.flatnonzero(examples.events.inputs == number)[:1].tolist()
    of_targets = np.flatnonzero(examples.events.targets == number)[:1].tolist()
    if not of_inputs + of_targets:
        return None
    event = min(of_inputs + of_targets)
    field = "inputs" if of_inputs == [event] else "targets"
    return f"{_event_path(examples, event)}.{field}[{index - examples.lists[number]}]"


def _impossible_units(units: Ragged[np.int32]) -> dict[int, str]:
    """Return why Lens cannot read the units of a range, by the index of the range.

    Ranges that Lens can read are left out. Source: Lens, example.c: readEventRanges.
    """
    values, offsets = units.values, units.offsets
    if values.min(initial=0) == 0:
        return {}
    ends = np.flatnonzero(values < 0)
    begins = np.zeros(values.size + 1, np.bool_)
    begins[offsets] = True
    end, before = -values[ends].astype(np.int64), values[np.maximum(ends - 1, 0)]
    is_first = begins[ends]
    is_star = is_first & (end == 1) & begins[ends + 1]
    found: dict[int, str] = {}
    for wrong, why in (
        (is_first & ~is_star, "the first entry ends a span, but no span has begun"),
        (~is_first & (end < before), "a span ends below the unit before it"),
        (end > np.iinfo(np.int32).max, "a span ends at a unit beyond 31 bits"),
    ):
        row = np.searchsorted(offsets, ends[wrong], side="right") - 1
        found |= dict.fromkeys(row.tolist(), why)
    return dict(sorted(found.items()))
