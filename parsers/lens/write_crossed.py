"""Plan examples in which inputs and targets of different events share a range list.

Lens can share such a list only if a single event, the next event in turn, gets it as inputs or as
targets (`exset.parsers.lens.write_plan`). So these lists come first, before any event list of the
example. Their order is found from the end: a list can be the last if its events are still next in
turn, whatever the order of the other lists.
"""

from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from typing import TypeAlias

from exset.parsers.lens import write_plan as p

Events: TypeAlias = tuple[int, ...]
Step: TypeAlias = tuple[int, int, int, int]
"""A row of a `Script`: role, number, event, listed."""


class Unshareable(ValueError):
    """Raised if text cannot share some lists, whatever their order. number: the number of one of
    these lists.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _Way(Enum):
    """How text can give a list to the inputs of some events and to the targets of other events."""

    NEXT_BOTH = 0
    LISTED_INPUTS = 1
    LISTED_TARGETS = 2


class _Side:
    """The inputs, or the targets, of one example while its text is planned.

    It knows which event gets the next list that is written.
    """

    def __init__(self, role: int, kind: int, numbers: Sequence[int]) -> None:
        self.role = role
        self.kind = kind
        self.numbers = numbers
        self.uses = _uses(numbers)
        self.written: list[int] = []  # the first event of each list that is written
        self.reserved: set[int] = set()  # events that must not get a list yet
        self.next = 0
        self.armed = False

    def give(self, number: int, active: Events) -> int:
        """Record that list `number` is written now; return the first of the events to which
        Lens assigns it.

        active: the events of the last event list.
        """
        events = active if self.armed else (self.next,)
        self.next = max(self.next, events[-1] + 1)
        self.armed = False
        self.written += self.uses.get(number, ())[:1]
        return events[0]


def _uses(numbers: Iterable[int]) -> dict[int, Events]:
    found: dict[int, list[int]] = {}
    for event, number in enumerate(numbers):
        if number != p.NOTHING:
            found.setdefault(number, []).append(event)
    return {number: tuple(events) for number, events in found.items()}


class CrossedLists:
    """Plans the steps that write the crossed lists of one example.

    inputs, targets: the number of each event's list. steps: the planned steps, with which the
    example begins. split: for each list that must be written twice, the first event. Raises
    Unshareable for such lists unless `unshare`.
    """

    def __init__(self, inputs: Sequence[int], targets: Sequence[int], *, unshare: bool) -> None:
        self._inputs = _Side(p.ROLE_INPUTS, p.INPUTS, inputs)
        self._targets = _Side(p.ROLE_TARGETS, p.TARGETS, targets)
        self.steps: list[Step] = []
        self._listed = p.NOTHING
        self._kind = p.INPUTS
        self._active: Events = ()
        of_inputs, of_targets = self._inputs.uses, self._targets.uses
        both = of_inputs.keys() & of_targets.keys()
        crossed = {n for n in both if of_inputs[n] != of_targets[n]}
        order, stuck = _schedule(crossed, of_inputs, of_targets)
        self.split: dict[int, int] = {}
        if stuck:
            if not unshare:
                raise Unshareable(stuck[0])
            self.split = {n: of_inputs[n][0] for n in sorted(stuck)}
            order, _ = _schedule(crossed.difference(stuck), of_inputs, of_targets)
        self._shared = both.difference(self.split)
        self._write(order)

    @property
    def written(self) -> list[tuple[int, int]]:
        """The lists that the steps write, each as its kind and the first event that uses it."""
        return [(side.kind, at) for side in (self._inputs, self._targets) for at in side.written]

    def turn(self, start: int) -> list[int]:
        """Return which events get the next lists after the steps.

        start: the index of the example's first event.
        """
        turn = [p.NOTHING] * p.TURN_SIZE
        turn[p.KIND] = self._kind
        turn[p.ACTIVE] = start + self._active[0] if self._active else p.NOTHING
        for side in (self._inputs, self._targets):
            turn[p.ARMED + side.kind] = side.armed
            turn[p.NEXT + side.kind] = start + side.next
        return turn

    def _write(self, order: list[tuple[int, _Way]]) -> None:
        inputs, targets = self._inputs, self._targets
        for number, way in order:
            if way is _Way.LISTED_INPUTS:
                targets.reserved.update(inputs.uses[number])
            elif way is _Way.LISTED_TARGETS:
                inputs.reserved.update(targets.uses[number])
        for number, way in order:
            input_event, target_event = inputs.uses[number][0], targets.uses[number][0]
            if way is _Way.LISTED_INPUTS:
                self._list_events(inputs, targets, number)
                input_event = 0
            elif way is _Way.LISTED_TARGETS:
                self._list_events(targets, inputs, number)
                target_event = 0
            self._advance(input_event, target_event)
            self._add_step(p.ROLE_BOTH, number)

    def _list_events(self, side: _Side, other: _Side, number: int) -> None:
        """Write an event list, and add a step for `other` after it.

        number: a list of `side`, whose events the event list has. After the step, the next list of
        `other` goes to the next event in turn.
        """
        events = side.uses[number]
        self._kind, self._active, self._listed = side.kind, events, side.kind
        side.armed = other.armed = True
        theirs = other.numbers[events[0]]
        is_theirs = theirs not in self._shared and other.uses.get(theirs) == events
        self._add_step(other.role, theirs if is_theirs else p.NOTHING)

    def _advance(self, input_event: int, target_event: int) -> None:
        """Add steps until the next list of inputs is for `input_event`, and the next list of
        targets for `target_event`.

        A step gives an earlier event its list, or nothing if that is not possible yet.
        """
        inputs, targets = self._inputs, self._targets
        while inputs.next < input_event or targets.next < target_event:
            is_input = inputs.next < input_event and (
                inputs.next <= targets.next or targets.next >= target_event
            )
            side = inputs if is_input else targets
            event, number = side.next, side.numbers[side.next]
            is_level = inputs.next == targets.next < min(input_event, target_event)
            if number == p.NOTHING or side.uses[number] != (event,) or event in side.reserved:
                self._add_step(side.role, p.NOTHING)
            elif number not in self._shared:
                self._add_step(side.role, number)
            elif is_level and targets.uses[number] == (event,):
                self._add_step(p.ROLE_BOTH, number)
            else:
                self._add_step(side.role, p.NOTHING)

    def _add_step(self, role: int, number: int) -> None:
        first = p.NOTHING
        for side in (self._targets, self._inputs):
            if role in (side.role, p.ROLE_BOTH):
                first = side.give(number, self._active)
        self.steps.append((role, number, first, self._listed))
        self._listed = p.NOTHING


def _schedule(
    crossed: Collection[int], inputs: dict[int, Events], targets: dict[int, Events]
) -> tuple[list[tuple[int, _Way]], list[int]]:
    """Order the lists that inputs and targets of different events share.

    Returns the lists in order, each with its way, and the lists for which there is no order.
    Below, i are the events that get a list as inputs, and t the events that get it as targets.
    NEXT_BOTH is possible if earlier lists are inputs only of events before i, and targets only of
    events before t. LISTED_INPUTS writes an event list of i, after which events up to the last of
    i have had their turn for targets. It is possible if earlier lists are targets only of events
    before t, and not of i. LISTED_TARGETS is the same with inputs and targets exchanged. A list
    that can be the last never prevents an order of the others. So choosing lists from the end
    finds an order if there is one.
    """
    input_of = {event: n for n in crossed for event in inputs[n]}
    target_of = {event: n for n in crossed for event in targets[n]}
    last_inputs, last_targets = sorted(input_of), sorted(target_of)
    # For each list, how many of its input events are targets of remaining lists, and vice versa.
    barred_inputs = {n: sum(event in target_of for event in inputs[n]) for n in crossed}
    barred_targets = {n: sum(event in input_of for event in targets[n]) for n in crossed}
    left = set(crossed)
    order: list[tuple[int, _Way]] = []
    stuck: list[int] = []
    while left:
        while input_of[last_inputs[-1]] not in left:
            last_inputs.pop()
        while target_of[last_targets[-1]] not in left:
            last_targets.pop()
        i, t = last_inputs[-1], last_targets[-1]
        by_input, by_target = input_of[i], target_of[t]
        only_input, only_target = len(inputs[by_input]) == 1, len(targets[by_target]) == 1
        number = by_target
        if by_input == by_target and only_input and only_target:
            order.append((number, _Way.NEXT_BOTH))
        elif only_target and inputs[by_target][-1] < t and not barred_inputs[by_target]:
            order.append((number, _Way.LISTED_INPUTS))
        elif only_input and targets[by_input][-1] < i and not barred_targets[by_input]:
            number = by_input
            order.append((number, _Way.LISTED_TARGETS))
        else:
            stuck.append(number)
        left.remove(number)
        for event in targets[number]:
            if event in input_of:
                barred_inputs[input_of[event]] -= 1
        for event in inputs[number]:
            if event in target_of:
                barred_targets[target_of[event]] -= 1
    return order[::-1], stuck
