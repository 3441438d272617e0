"""Kernels that plan the order in which the inputs and targets of examples are written.

After an event list, Lens assigns the first inputs and the first targets to its events. Other
inputs or targets are for the event after the highest event that already has some (example.c:
readExample). The plan follows these rules, and adds an event list wherever Lens would otherwise
assign a range list to wrong events.

Examples in which inputs and targets of *different* events share a range list are `crossed`: their
first steps come from `exset.parsers.lens.write_crossed`.
"""

from typing import Final, NamedTuple

from exset.core.kernels import entry_kernel, kernel
from exset.grammars.columns.arrays import Longs

NOTHING: Final = -1

# The kind of a chain: its events have equal own fields, the same range list as inputs, or the same
# range list as targets.
OWN: Final = 0
INPUTS: Final = 1
TARGETS: Final = 2

# The role of a step: the capital letter that is written, or SETTINGS for an event list with own
# fields and without data.
SETTINGS: Final = 0
ROLE_INPUTS: Final = ord("I")
ROLE_TARGETS: Final = ord("T")
ROLE_BOTH: Final = ord("B")

# A turn: the events that would get the next inputs and targets. While a kind is armed (`ARMED` plus
# the kind), these are the events of the active event list, the chain of `KIND` from event `ACTIVE`
# on; otherwise it is the next event (`NEXT` plus the kind).
KIND: Final = 0
ACTIVE: Final = 1
ARMED: Final = 2
NEXT: Final = ARMED + 3
TURN_SIZE: Final = NEXT + 3


class Chains(NamedTuple):
    """For each event, the next event of the same example with the same range list or fields.

    Such events form a chain. There are three kinds: by inputs, by targets, and by the fields that
    an event does not inherit. The entry of an event for a kind is at index `kind * m + event` of
    each column, int64 [3 * m]. numbers: the number of the range list or the fields, or NOTHING.
    following: the chain's next event, or NOTHING. is_first: whether the event is the first of its
    chain, 0 or 1.
    """

    numbers: Longs
    following: Longs
    is_first: Longs


class Script(NamedTuple):
    """The steps that write the examples, in order; each column is int64 [steps].

    role: `SETTINGS`, `ROLE_INPUTS`, `ROLE_TARGETS` or `ROLE_BOTH`. number: the number of the range
    list or the fields, or NOTHING. event: the first event that gets them. listed: NOTHING if no
    event list comes before the step. Otherwise the event list has the events of a chain from
    `event` on, and `listed` is the kind of this chain.
    """

    role: Longs
    number: Longs
    event: Longs
    listed: Longs


class CrossedSteps(NamedTuple):
    """The steps with which k crossed examples begin.

    begins: int64 [k + 1], the first step of each example. turns: int64 [k * TURN_SIZE], which
    events get the next lists after these steps.
    """

    script: Script
    begins: Longs
    turns: Longs


@entry_kernel
def link(offsets: Longs, chains: Chains, last: Longs, crossed: Longs) -> None:
    """Fill `chains.following` and `chains.is_first` from `chains.numbers`; mark crossed examples.

    Examples of one event have no chains, and keep the values that they have.

    offsets: the first event of each example, and the end. last: scratch space, int64 [3 * k]
    filled with -1, where k is larger than all numbers. crossed: the entry of each crossed example
    is set to 0.
    """
    numbers, following, is_first = chains
    m, k = len(numbers) // 3, len(last) // 3
    for example in range(len(offsets) - 1):
        start, end = offsets[example], offsets[example + 1]
        if end - start == 1:
            continue
        for kind in range(3):
            for event in range(start, end):
                at = kind * m + event
                number = numbers[at]
                if number >= 0:
                    before = last[kind * k + number]
                    is_first[at] = before < start
                    if before >= start:
                        following[kind * m + before] = event
                    last[kind * k + number] = event
        if _is_crossed(start, end, numbers, last):
            crossed[example] = 0


@kernel
def _is_crossed(start: int, end: int, numbers: Longs, last: Longs) -> bool:
    """Return whether inputs and targets of different events of an example share a list.

    start, end: the events of the example. last: the last event with each number, for each kind.
    """
    m, k = len(numbers) // 3, len(last) // 3
    for event in range(start, end):
        a, b = numbers[INPUTS * m + event], numbers[TARGETS * m + event]
        if a != b and (
            (a >= 0 and last[TARGETS * k + a] >= start)
            or (b >= 0 and last[INPUTS * k + b] >= start)
        ):
            return True
    return False


@entry_kernel
def plan(
    offsets: Longs,
    chains: Chains,
    crossed: Longs,
    first: CrossedSteps,
    turn: Longs,
    script: Script,
    begins: Longs,
) -> None:
    """Fill `script` with the steps of all examples.

    offsets: the first event of each example, and the end. crossed: int64 [n], the index of the
    example in `first`, or NOTHING. first: the first steps of crossed examples. turn: scratch,
    int64 [TURN_SIZE]. begins: int64 [n + 1], filled with the first step of each example. `script`
    must have room for three steps for each event, in addition to the steps in `first`.
    """
    at = 0
    for example in range(len(offsets) - 1):
        start, end = offsets[example], offsets[example + 1]
        begins[example] = at
        which = crossed[example]
        if end - start == 1:
            at = _plan_single(start, chains, script, at)
        elif which == NOTHING:
            at = _plan_settings(start, end, chains, script, at)
            is_set = at > begins[example]
            turn[KIND] = OWN
            turn[ACTIVE] = script.event[at - 1] if is_set else NOTHING
            turn[ARMED + INPUTS] = turn[ARMED + TARGETS] = is_set
            turn[NEXT + INPUTS] = turn[NEXT + TARGETS] = start
            at = _plan_data(start, end, chains, turn, script, at)
        else:
            steps = first.script
            for row in range(first.begins[which], first.begins[which + 1]):
                at = _add_step(
                    script,
                    at,
                    steps.role[row],
                    steps.number[row],
                    steps.event[row],
                    steps.listed[row],
                )
            for slot in range(TURN_SIZE):
                turn[slot] = first.turns[which * TURN_SIZE + slot]
            at = _plan_data(start, end, chains, turn, script, at)
            at = _plan_settings(start, end, chains, script, at)
    begins[len(offsets) - 1] = at


@kernel
def _plan_single(event: int, chains: Chains, script: Script, at: int) -> int:
    """Add the steps of an example that has one event, which is always the next in turn.

    at: where in the script to add steps; returns where they end.
    """
    m = len(chains.numbers) // 3
    own = chains.numbers[OWN * m + event]
    inputs, targets = chains.numbers[INPUTS * m + event], chains.numbers[TARGETS * m + event]
    if own >= 0:
        at = _add_step(script, at, SETTINGS, own, event, OWN)
    if inputs >= 0:
        role = ROLE_BOTH if inputs == targets else ROLE_INPUTS
        at = _add_step(script, at, role, inputs, event, NOTHING)
    if targets >= 0 and inputs != targets:
        at = _add_step(script, at, ROLE_TARGETS, targets, event, NOTHING)
    return at


@kernel
def _plan_settings(start: int, end: int, chains: Chains, script: Script, at: int) -> int:
    """Add the steps that write the fields that events do not inherit, each after an event list.

    start, end: the events of the example. at: where in the script to add steps; returns where they
    end.
    """
    own = OWN * (len(chains.numbers) // 3)
    for event in range(start, end):
        if chains.is_first[own + event]:
            at = _add_step(script, at, SETTINGS, chains.numbers[own + event], event, OWN)
    return at


@kernel
def _plan_data(start: int, end: int, chains: Chains, turn: Longs, script: Script, at: int) -> int:
    """Add the steps that write the range lists, each at the first event of its chain.

    start, end: the events of the example. turn: which events get the next lists. at: where in the
    script to add steps; returns where they end.
    """
    numbers, following, is_first = chains
    m = len(numbers) // 3
    of_inputs, of_targets = INPUTS * m, TARGETS * m
    for event in range(start, end):
        inputs, targets = of_inputs + event, of_targets + event
        listed, is_both = NOTHING, False
        if is_first[inputs] and is_first[targets] and _are_same(following, inputs, targets, event):
            is_both = numbers[inputs] == numbers[targets]
            if not (
                _is_turn(following, turn, INPUTS, inputs, event)
                and _is_turn(following, turn, TARGETS, targets, event)
            ):
                listed = _list_events(turn, INPUTS, event)  # one event list for both
        for kind in range(INPUTS, INPUTS + 1 if is_both else TARGETS + 1):
            place = kind * m + event
            if is_first[place]:
                if not _is_turn(following, turn, kind, place, event):
                    listed = _list_events(turn, kind, event)
                role = ROLE_BOTH if is_both else ROLE_INPUTS if kind == INPUTS else ROLE_TARGETS
                at = _add_step(script, at, role, numbers[place], event, listed)
                listed = NOTHING
                after = _last(following, kind * m, event) + 1
                turn[ARMED + kind] = False
                turn[NEXT + kind] = max(turn[NEXT + kind], after)
                if is_both:
                    turn[ARMED + TARGETS] = False
                    turn[NEXT + TARGETS] = max(turn[NEXT + TARGETS], after)
    return at


@kernel
def _add_step(script: Script, at: int, role: int, number: int, event: int, listed: int) -> int:
    script.role[at] = role
    script.number[at] = number
    script.event[at] = event
    script.listed[at] = listed
    return at + 1


@kernel
def _list_events(turn: Longs, kind: int, event: int) -> int:
    """Note that an event list is written, with the chain of a kind that begins at `event`.

    Returns the kind. turn: which events get the next lists.
    """
    turn[KIND] = kind
    turn[ACTIVE] = event
    turn[ARMED + INPUTS] = turn[ARMED + TARGETS] = True
    return kind


@kernel
def _is_turn(following: Longs, turn: Longs, kind: int, at: int, event: int) -> bool:
    """Return whether Lens would assign the next list of a kind to exactly the chain that
    begins with `event`.

    kind: inputs, targets, or both. at: the index of the event in the columns of this kind.
    following: for each event, the next one in its chain. turn: what Lens assigns next.
    """
    if turn[ARMED + kind]:
        listed = turn[KIND] * (len(following) // 3) + event
        return bool(turn[ACTIVE] == event and _are_same(following, listed, at, event))
    return bool(turn[NEXT + kind] == event and following[at] < 0)


@kernel
def _are_same(following: Longs, a: int, b: int, event: int) -> bool:
    """Return whether two chains of different kinds, both from `event` on, have the same events.

    following: for each event of each kind, the next one in its chain. a, b: the indices of this
    event in the columns of the two kinds.
    """
    first = second = event
    while first == second and first >= 0:
        first, second = following[a - event + first], following[b - event + second]
    return bool(first == second)


@kernel
def _last(following: Longs, chain: int, event: int) -> int:
    while following[chain + event] >= 0:
        event = following[chain + event]
    return event
