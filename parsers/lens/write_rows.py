"""Lens examples as text, one after another: the way for few of them."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np

from exset.grammars.lens.examples import ExampleSet
from exset.parsers.lens.write_checks import Planner
from exset.parsers.lens.write_fields import field, joined, own_fields, string_field
from exset.parsers.lens.write_lists import ListWriter
from exset.parsers.lens.write_plan import NOTHING, Events, Role, Step
from exset.parsers.shared import numerals

ACTIVE: Final = ("active_input", "active_target")


def lines(examples: ExampleSet, compact: bool, planner: Planner) -> Iterator[bytes]:
    """The text of each example, with its line break. Raises FormatError."""
    yield from _Writer(examples, compact, planner).lines()


class _Writer:
    def __init__(self, examples: ExampleSet, compact: bool, planner: Planner) -> None:
        self.set = examples
        self.compact = compact
        self.planner = planner
        self.lists = ListWriter(examples, compact)
        self.inputs: list[int] = examples.events.inputs.tolist()
        self.targets: list[int] = examples.events.targets.tolist()
        numbers, self.own_texts = own_fields(examples.events, compact)
        self.own: list[int] = numbers.tolist() if self.own_texts else []
        # Active values by their bits: those of each event, and those of the set.
        self.active = {name: examples.effective(name).view(np.uint32).tolist() for name in ACTIVE}
        self.set_active = {name: int(examples.header.real(name).view(np.uint32)) for name in ACTIVE}

    def lines(self) -> Iterator[bytes]:
        """The examples, each with its line break."""
        rows = zip(
            self.set.name,
            self.set.proc,
            numerals.reals(self.set.frequency),
            pairwise(self.set.event_offsets.tolist()),
            strict=True,
        )
        for index, (name, proc, frequency, (start, end)) in enumerate(rows):
            head = []
            if name is not None:
                head.append(string_field(b"name:", name, self.compact))
            if proc is not None:
                head.append(string_field(b"proc:", proc, self.compact))
            if frequency != b"1":
                head.append(field(b"freq:", frequency, self.compact))
            if end - start > 1:
                head.append(b"%d" % (end - start))
            yield self.layout(head, self.data(index, start, end))

    def layout(self, head: list[bytes], rows: list[list[bytes]]) -> bytes:
        """An example: the words of its head, then rows of words."""
        if self.compact:
            return joined([*head, *(word for row in rows for word in row)], True) + b";\n"
        end = b";\n" if rows or not head else b" ;\n"  # the head may end in a bare word
        if len(rows) == 1:
            return b" ".join(head + rows[0]) + end
        return b"\n".join(b" ".join(row) for row in (head, *rows) if row) + end

    def settings(self, start: int, end: int) -> list[tuple[Events, bytes]]:
        """The events of an example that have the same fields of their own, and the fields."""
        same: dict[int, list[int]] = {}
        for event in range(start, end) if self.own else ():
            if self.own[event] != NOTHING:
                same.setdefault(self.own[event], []).append(event - start)
        return [(tuple(events), self.own_texts[number]) for number, events in same.items()]

    def data(self, index: int, start: int, end: int) -> list[list[bytes]]:
        """The event lists and the data of an example, in rows of words."""
        settings = self.settings(start, end)
        if end - start == 1:
            row = [self.event_list(events, 1, text) for events, text in settings]
            steps = _only_event(self.inputs[start], self.targets[start])
            row += [self.statement(step, start, True) for step in steps]
            return [row] if row else []
        plan = self.planner.plan(index)
        lists = [[self.event_list(events, end - start, text)] for events, text in settings]
        # Where Lens's own count of events does the sharing, event lists must come after it.
        before = not plan.is_crossed
        active = settings[-1][0] if before and settings else None
        rows: list[list[bytes]] = []
        last = -1
        for step in plan.steps(active):
            if step.listed is not None or step.event > last:
                rows.append([])
            last = step.event
            if step.listed is not None:
                rows[-1].append(self.event_list(step.listed, end - start))
            rows[-1].append(self.statement(step, start, before))
        return lists + rows if before else rows + lists

    def event_list(self, events: Events, num_events: int, fields: bytes = b"") -> bytes:
        """An event list; all events are `*`, or nothing where fields follow."""
        words = [fields] if fields else []
        if len(events) < num_events:
            words = [*_spans(events), *words]
        return b"[%s]" % joined(words or [b"*"], self.compact)

    def statement(self, step: Step, start: int, are_set: bool) -> bytes:
        """A list of inputs or targets; `are_set`: the events' own fields are set before it."""
        event = start + step.event
        of_input, of_target = (
            self.active[name][event] if are_set else self.set_active[name] for name in ACTIVE
        )
        active: int | None = of_target if step.role is Role.TARGETS else of_input
        if step.role is Role.BOTH and of_input != of_target:
            active = None  # Lens takes the inputs' value, which is easily mistaken: say it
        return self.lists.statement(step.role, step.number, active)


def _only_event(inputs: int, targets: int) -> list[Step]:
    """The data of an example's one event."""
    if inputs == targets != NOTHING:
        return [Step(Role.BOTH, inputs, 0, None)]
    roles = ((Role.INPUTS, inputs), (Role.TARGETS, targets))
    return [Step(role, number, 0, None) for role, number in roles if number != NOTHING]


def _spans(events: Events) -> Iterator[bytes]:
    """The numbers of events, runs of them as spans."""
    first = last = events[0]
    for event in (*events[1:], -1):
        if event != last + 1:
            yield b"%d" % first if first == last else b"%d-%d" % (first, last)
            first = event
        last = event
