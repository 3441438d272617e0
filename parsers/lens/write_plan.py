"""In which order to tell Lens the inputs and targets of one example (example.c: readExample).

Data go to the events of the last event list, but only the first inputs and the first targets after
it; otherwise, and before any list, they go to the event after the highest one that was given any.
This module keeps the same account as Lens does and adds an event list wherever the data would go
astray. Inputs and targets of *different* events can share a range list only if at least one of the
two goes to a single event in that second way, so such lists come first, in an order found from its
end: a list can be the last if the others, whatever their order, do not stand in its way.
"""

from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from typing import NamedTuple, TypeAlias

Events: TypeAlias = tuple[int, ...]
NOTHING = -1


class Role(Enum):
    """What a range list is read for."""

    INPUTS = "I"
    TARGETS = "T"
    BOTH = "B"


class Step(NamedTuple):
    """One list to write: its number (or NOTHING), and the event list that must precede it.

    `event` is the first that it goes to, whose active value holds.
    """

    role: Role
    number: int
    event: int
    listed: Events | None


class Unshareable(ValueError):
    """There is no order; `number` is one of the lists to blame."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _Way(Enum):
    """How a list reaches inputs and targets of different events."""

    NEXT_BOTH = 0
    LISTED_INPUTS = 1
    LISTED_TARGETS = 2


class _Side:
    """Where Lens would put the next inputs, or the next targets."""

    def __init__(self, role: Role, numbers: Sequence[int]) -> None:
        self.role = role
        self.numbers = numbers
        self.uses = uses(numbers)
        self.written: set[int] = set()
        self.reserved: set[int] = set()  # events that must not be given any yet
        self.next = 0
        self.seen = True

    def goes_to(self, active: Events) -> Events:
        return (self.next,) if self.seen else active

    def give(self, number: int, active: Events) -> None:
        self.next = max(self.next, self.goes_to(active)[-1] + 1)
        self.seen = True
        self.written.add(number)

    def new_at(self, event: int) -> int:
        """The list that the event is the first to use, unless it is written, or NOTHING."""
        number = self.numbers[event]
        is_new = number != NOTHING and self.uses[number][0] == event
        return number if is_new and number not in self.written else NOTHING


def uses(numbers: Iterable[int]) -> dict[int, Events]:
    """The events that use each list."""
    found: dict[int, list[int]] = {}
    for event, number in enumerate(numbers):
        if number != NOTHING:
            found.setdefault(number, []).append(event)
    return {number: tuple(events) for number, events in found.items()}


class Plan:
    """How to tell an example, of each event's list of inputs and of targets.

    `is_crossed`: whether inputs and targets of different events share a list; if so, no event list
    may come before the steps. Lists that no order can share raise Unshareable; with `unshare` they
    are told twice, and `split` has each with the first event of its inputs.
    """

    def __init__(self, inputs: Sequence[int], targets: Sequence[int], *, unshare: bool) -> None:
        self._inputs = _Side(Role.INPUTS, inputs)
        self._targets = _Side(Role.TARGETS, targets)
        self._steps: list[Step] = []
        self._listed: Events | None = None
        self._active: Events = ()
        both = self._inputs.uses.keys() & self._targets.uses.keys()
        crossed = {n for n in both if self._inputs.uses[n] != self._targets.uses[n]}
        self.split: dict[int, int] = {}
        self._order, stuck = _schedule(crossed, self._inputs.uses, self._targets.uses)
        if stuck:
            if not unshare:
                raise Unshareable(stuck[0])
            self.split = {n: self._inputs.uses[n][0] for n in sorted(stuck)}
            crossed.difference_update(stuck)
            self._order, _ = _schedule(crossed, self._inputs.uses, self._targets.uses)
        self._shared = both.difference(self.split)
        self.is_crossed = bool(crossed)

    def steps(self, active: Events | None = None) -> list[Step]:
        """The steps in order, once; `active` are the events of the event list before, if any."""
        if active is not None:
            self._activate(active)
            self._listed = None
        self._tell_crossed()
        for event in range(len(self._inputs.numbers)):
            self._tell(event)
        return self._steps

    def _tell(self, event: int) -> None:
        """Tell the lists that the event is the first to use."""
        of_inputs, of_targets = self._inputs.new_at(event), self._targets.new_at(event)
        events = self._inputs.uses.get(of_inputs)
        if events is not None and events == self._targets.uses.get(of_targets):
            ways = self._inputs.goes_to(self._active), self._targets.goes_to(self._active)
            if ways != (events, events):
                self._activate(events)
            if of_inputs == of_targets:
                self._add(Role.BOTH, of_inputs)
                return
        for side, number in ((self._inputs, of_inputs), (self._targets, of_targets)):
            if number != NOTHING:
                if side.goes_to(self._active) != side.uses[number]:
                    self._activate(side.uses[number])
                self._add(side.role, number)

    def _tell_crossed(self) -> None:
        for number, way in self._order:
            if way is _Way.LISTED_INPUTS:
                self._targets.reserved.update(self._inputs.uses[number])
            elif way is _Way.LISTED_TARGETS:
                self._inputs.reserved.update(self._targets.uses[number])
        for number, way in self._order:
            inputs, targets = self._inputs.uses[number], self._targets.uses[number]
            if way is _Way.LISTED_INPUTS:
                self._use_up(self._targets, inputs)
            elif way is _Way.LISTED_TARGETS:
                self._use_up(self._inputs, targets)
            self._pass_to(
                0 if way is _Way.LISTED_INPUTS else inputs[0],
                0 if way is _Way.LISTED_TARGETS else targets[0],
            )
            self._add(Role.BOTH, number)

    def _use_up(self, side: _Side, events: Events) -> None:
        """List events so that one side's next data, but not the other's, go to the next event."""
        self._activate(events)
        number = side.numbers[events[0]]
        is_theirs = number not in self._shared and side.uses.get(number) == events
        self._add(side.role, number if is_theirs else NOTHING)

    def _pass_to(self, input_event: int, target_event: int) -> None:
        """Move on to these events, giving those before them what is theirs alone, or nothing."""
        inputs, targets = self._inputs, self._targets
        while inputs.next < input_event or targets.next < target_event:
            is_input = inputs.next < input_event and (
                inputs.next <= targets.next or targets.next >= target_event
            )
            side = inputs if is_input else targets
            event, number = side.next, side.numbers[side.next]
            is_level = inputs.next == targets.next < min(input_event, target_event)
            if number == NOTHING or side.uses[number] != (event,) or event in side.reserved:
                self._add(side.role, NOTHING)
            elif number not in self._shared:
                self._add(side.role, number)
            elif is_level and targets.uses[number] == (event,):
                self._add(Role.BOTH, number)
            else:
                self._add(side.role, NOTHING)

    def _activate(self, events: Events) -> None:
        self._active = self._listed = events
        self._inputs.seen = self._targets.seen = False

    def _add(self, role: Role, number: int) -> None:
        lead = self._targets if role is Role.TARGETS else self._inputs
        self._steps.append(Step(role, number, lead.goes_to(self._active)[0], self._listed))
        self._listed = None
        if role is not Role.TARGETS:
            self._inputs.give(number, self._active)
        if role is not Role.INPUTS:
            self._targets.give(number, self._active)


def _schedule(
    crossed: Collection[int], inputs: dict[int, Events], targets: dict[int, Events]
) -> tuple[list[tuple[int, _Way]], list[int]]:
    """An order of the lists that inputs and targets of different events share, and the way of each;
    and the lists for which there is none.

    What a list of inputs i and targets t needs of those before it: that they go to lower inputs
    and lower targets (NEXT_BOTH); to lower targets, and to no targets among i (LISTED_INPUTS, which
    lists i and uses up its turn for targets); likewise LISTED_TARGETS. Since a list that can be
    last never hinders the others, taking them from the end finds an order if there is one.
    """
    input_of = {event: n for n in crossed for event in inputs[n]}
    target_of = {event: n for n in crossed for event in targets[n]}
    last_inputs, last_targets = sorted(input_of), sorted(target_of)
    # How many events of its inputs are targets of the lists left, and the other way round.
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
