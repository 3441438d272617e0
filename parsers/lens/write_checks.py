"""What text cannot say of a set, its strings and units: looked for before anything is written."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from exset.grammars.columns.ragged import Ragged, Strings
from exset.grammars.lens.examples import ExampleSet
from exset.parsers.lens.write_plan import Plan, Unshareable
from exset.parsers.lens.write_strings import Diction, faults, may_have_faults, refusal

_MAY_HAVE_FAULTS: Final = np.array([may_have_faults(bytes([byte])) for byte in range(256)])


def sayable(examples: ExampleSet, diction: Diction) -> ExampleSet:
    """The set with no string that text cannot say, if diction patches those that there are.

    Raises FormatError for what text cannot say, its place the path of the field.
    """
    header, events = examples.header, examples.events
    if header.proc is not None:
        header = replace(header, proc=diction.sayable(header.proc, "header.proc"))
    patched = examples.with_columns(
        header=header,
        events=events.with_columns(
            proc=_sayable(events.proc, diction, lambda i: f"{_event_path(examples, i)}.proc")
        ),
        name=_sayable(examples.name, diction, lambda i: f"examples[{i}].name"),
        proc=_sayable(examples.proc, diction, lambda i: f"examples[{i}].proc"),
        groups=_sayable(examples.groups, diction, lambda i: _group_path(examples, i), True),
    )
    for index, why in _unsayable(examples.ranges.units).items():
        if (path := _range_path(examples, index)) is not None:
            raise refusal(
                f"{path}.units",
                f"text cannot say these units: {why}",
                "change the units, or keep the set in a binary file",
            )
    return patched


class Planner:
    """Plans examples of a set, or says why text cannot; `unshare` as in `lens_text.render`."""

    def __init__(self, examples: ExampleSet, unshare: bool, diction: Diction) -> None:
        self._set = examples
        self._unshare = unshare
        self._diction = diction

    def plan(self, example: int) -> Plan:
        """The plan of an example. Raises FormatError."""
        start, end = self._set.event_offsets[example : example + 2].tolist()
        inputs: list[int] = self._set.events.inputs[start:end].tolist()
        targets: list[int] = self._set.events.targets[start:end].tolist()
        try:
            plan = Plan(inputs, targets, unshare=self._unshare)
        except Unshareable as error:
            event = min(inputs.index(error.number), targets.index(error.number))
            field = "inputs" if inputs[event] == error.number else "targets"
            raise refusal(
                f"examples[{example}].events[{event}].{field}",
                "text cannot say that inputs and targets of these different events share a list",
                "say --unshare, or unshare=True in Python, to write the list twice; or write a"
                " binary file",
            ) from None
        for event in plan.split.values():
            path = f"examples[{example}].events[{event}].inputs"
            self._diction.tell(path, "a shared list is written twice")
        return plan


def _event_path(examples: ExampleSet, event: int) -> str:
    """Which event it is, as the views call it."""
    offsets = examples.event_offsets
    example = int(np.searchsorted(offsets, event, side="right")) - 1
    return f"examples[{example}].events[{event - offsets[example]}]"


def _sayable(
    column: Strings,
    diction: Diction,
    path: Callable[[int], str | None],
    is_group: bool = False,
) -> Strings:
    """The strings; those that nothing refers to have no path, and do not matter."""
    odd = np.flatnonzero(_MAY_HAVE_FAULTS[column.data])
    rows = np.searchsorted(column.offsets, odd, side="right") - 1
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
            patched[index] = diction.sayable(raw, where, is_group)
    if not patched:
        return column
    return Strings.of(patched.get(index, raw) for index, raw in enumerate(column))


def _group_path(examples: ExampleSet, group: int) -> str | None:
    """Where a group is first named, if it is."""
    for index in np.flatnonzero(examples.ranges.group == group).tolist():
        if (path := _range_path(examples, index)) is not None:
            return f"{path}.group"
    return None


def _range_path(examples: ExampleSet, index: int) -> str | None:
    """Where a range is first used, if it is."""
    number = int(np.searchsorted(examples.lists, index, side="right")) - 1
    of_inputs = np.flatnonzero(examples.events.inputs == number)[:1].tolist()
    of_targets = np.flatnonzero(examples.events.targets == number)[:1].tolist()
    if not of_inputs + of_targets:
        return None
    event = min(of_inputs + of_targets)
    field = "inputs" if of_inputs == [event] else "targets"
    return f"{_event_path(examples, event)}.{field}[{index - examples.lists[number]}]"


def _unsayable(units: Ragged[np.int32]) -> dict[int, str]:
    """The ranges whose units Lens does not read, and why (example.c: readEventRanges)."""
    values, offsets = units.values, units.offsets
    if values.min(initial=0) == 0:
        return {}
    ends = np.flatnonzero(values < 0)
    row = np.searchsorted(offsets, ends, side="right") - 1
    end, before = -values[ends].astype(np.int64), values[np.maximum(ends - 1, 0)]
    is_first = offsets[row] == ends
    is_star = is_first & (end == 1) & (units.lengths[row] == 1)
    found: dict[int, str] = {}
    for wrong, why in (
        (is_first & ~is_star, "they begin with the end of a span"),
        (~is_first & (end < before), "a span ends below the unit before it"),
        (end > np.iinfo(np.int32).max, "a span ends at a unit beyond 31 bits"),
    ):
        found |= dict.fromkeys(row[wrong].tolist(), why)
    return dict(sorted(found.items()))
