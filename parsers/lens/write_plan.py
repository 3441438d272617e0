"""Plan in which order the inputs and targets of examples are written: kernels.

Lens gives a range list to the events of the last event list, but only the first inputs and the
first targets after it. Otherwise the list goes to the event after the highest one that already got
one (example.c: readExample). The plan keeps the same account as Lens does, and adds an event list
wherever a range list would reach the wrong events.

Examples in which inputs and targets of *different* events share a range list are `crossed`: their
first steps come from `exset.parsers.lens.write_crossed`.
"""

from typing import Final, NamedTuple

from exset.core.kernels import bare_kernel
from exset.grammars.columns.arrays import Longs

NOTHING: Final = -1

# What the events of a chain have in common: a range list as inputs, one as targets, or equal fields
# of their own.
INPUTS: Final = 0
TARGETS: Final = 1
OWN: Final = 2

# The role of a step: the capital letter that is written, or SETTINGS for an event list with fields
# and without data.
SETTINGS: Final = 0
ROLE_INPUTS: Final = ord("I")
ROLE_TARGETS: Final = ord("T")
ROLE_BOTH: Final = ord("B")


class Chains(NamedTuple):
    """Chains of the events of an example that have something in common.

    following: int64 [3 * m], the next event of the chain, or -1. is_first: int64 [3 * m], 0 or 1.
    The chain of a kind through an event is at index `kind * m + event`.
    """

    following: Longs
    is_first: Longs


class Script(NamedTuple):
    """The steps of the plan, each a column int64 [steps].

    role: see above. number: of the range list, or NOTHING. event: the first that the list goes to.
    listed: the kind of the chain from that event on which is the event list before the step, or
    NOTHING where there is no event list.
    """

    role: Longs
    number: Longs
    event: Longs
    listed: Longs


class Turn(NamedTuple):
    """The events that would get the next inputs and targets.

    They get them as members of the active event list, the chain of `kind` from `active` on, while
    they are armed; and otherwise as the next event.
    """

    kind: int
    active: int
    inputs_armed: bool
    targets_armed: bool
    next_inputs: int
    next_targets: int


@bare_kernel
def link(
    offsets: Longs,
    inputs: Longs,
    targets: Longs,
    own: Longs,
    last: Longs,
    chains: Chains,
    crossed: Longs,
) -> None:
    """Fill the chains of the m events, and `crossed`: int64 [n], 0 or 1.

    own: int64 [m], equal where events have equal fields of their own, or -1. last: int64 [3 * k],
    scratch filled with -1, where k is above any number.
    """
    for example in range(len(offsets) - 1):
        start, end = offsets[example], offsets[example + 1]
        for event in range(start, end):
            _link(INPUTS, event, start, inputs, last, chains)
            _link(TARGETS, event, start, targets, last, chains)
            _link(OWN, event, start, own, last, chains)
        crossed[example] = end - start > 1 and _is_crossed(start, end, inputs, targets, last)


@bare_kernel
def _link(kind: int, event: int, start: int, numbers: Longs, last: Longs, chains: Chains) -> None:
    number, chain = numbers[event], kind * len(numbers)
    chains.following[chain + event] = NOTHING
    chains.is_first[chain + event] = number >= 0
    if number >= 0:
        slot = kind * (len(last) // 3) + number
        before = last[slot]
        if before >= start:
            chains.following[chain + before] = event
            chains.is_first[chain + event] = False
        last[slot] = event


@bare_kernel
def _is_crossed(start: int, end: int, inputs: Longs, targets: Longs, last: Longs) -> bool:
    """Whether some list is used as inputs and as targets, and not for the same events."""
    of_inputs, of_targets = INPUTS * (len(last) // 3), TARGETS * (len(last) // 3)
    for event in range(start, end):
        a, b = inputs[event], targets[event]
        if a != b and (
            (a >= 0 and last[of_targets + a] >= start) or (b >= 0 and last[of_inputs + b] >= start)
        ):
            return True
    return False


@bare_kernel
def plan(
    offsets: Longs,
    inputs: Longs,
    targets: Longs,
    chains: Chains,
    crossed: Longs,
    script: Script,
    begins: Longs,
    ends: Longs,
) -> int:
    """Write the steps of all examples that are not crossed; return how many there are.

    There must be room for three steps an event. begins, ends: of the steps of each example.
    """
    at = 0
    for example in range(len(offsets) - 1):
        begins[example] = at
        if not crossed[example]:
            start, end = offsets[example], offsets[example + 1]
            at = plan_settings(start, end, chains, script, at)
            active = script.event[at - 1] if at > begins[example] else NOTHING
            armed = active >= 0
            turn = Turn(OWN, active, armed, armed, start, start)
            at = plan_data(start, end, inputs, targets, chains, script, at, turn)
        ends[example] = at
    return at


@bare_kernel
def plan_settings(start: int, end: int, chains: Chains, script: Script, at: int) -> int:
    """Write the event lists that set the events' own fields."""
    own = OWN * (len(chains.following) // 3)
    for event in range(start, end):
        if chains.is_first[own + event]:
            at = _add(script, at, SETTINGS, NOTHING, event, OWN)
    return at


@bare_kernel
def plan_data(
    start: int,
    end: int,
    inputs: Longs,
    targets: Longs,
    chains: Chains,
    script: Script,
    at: int,
    turn: Turn,
) -> int:
    """Write the steps of the range lists, each where its chain begins."""
    following, m = chains.following, len(inputs)
    of_inputs, of_targets = INPUTS * m, TARGETS * m
    kind, active, inputs_armed, targets_armed, next_inputs, next_targets = turn
    for event in range(start, end):
        has_inputs = chains.is_first[of_inputs + event]
        has_targets = chains.is_first[of_targets + event]
        listed, is_both = NOTHING, False
        if has_inputs and has_targets and _same(following, of_inputs, event, of_targets, event):
            # One event list for both.
            is_both = inputs[event] == targets[event]
            chain = kind * m
            if not (
                _is_turn(following, of_inputs, event, inputs_armed, chain, active, next_inputs)
                and _is_turn(
                    following, of_inputs, event, targets_armed, chain, active, next_targets
                )
            ):
                kind, active, listed = INPUTS, event, INPUTS
                inputs_armed = targets_armed = True
        if has_inputs:
            chain = kind * m
            if not _is_turn(following, of_inputs, event, inputs_armed, chain, active, next_inputs):
                kind, active, listed = INPUTS, event, INPUTS
                inputs_armed = targets_armed = True
            role = ROLE_BOTH if is_both else ROLE_INPUTS
            at = _add(script, at, role, inputs[event], event, listed)
            after = _last(following, of_inputs, event) + 1
            next_inputs = max(next_inputs, after)
            inputs_armed, listed = False, NOTHING
            if is_both:
                next_targets = max(next_targets, after)
                targets_armed = False
        if has_targets and not is_both:
            chain = kind * m
            if not _is_turn(
                following, of_targets, event, targets_armed, chain, active, next_targets
            ):
                kind, active, listed = TARGETS, event, TARGETS
                inputs_armed = targets_armed = True
            at = _add(script, at, ROLE_TARGETS, targets[event], event, listed)
            next_targets = max(next_targets, _last(following, of_targets, event) + 1)
            targets_armed = False
    return at


@bare_kernel
def _add(script: Script, at: int, role: int, number: int, event: int, listed: int) -> int:
    script.role[at] = role
    script.number[at] = number
    script.event[at] = event
    script.listed[at] = listed
    return at + 1


@bare_kernel
def _is_turn(
    following: Longs, wanted: int, event: int, armed: bool, chain: int, active: int, after: int
) -> bool:
    """Whether data would reach exactly the events of the chain `wanted` from this event on."""
    if armed:
        return _same(following, chain, active, wanted, event)
    return bool(event == after and following[wanted + event] < 0)


@bare_kernel
def _same(following: Longs, a: int, first: int, b: int, second: int) -> bool:
    """Whether the chains a and b, from these events on, are the same events."""
    while first == second and first >= 0:
        first, second = following[a + first], following[b + second]
    return first == second


@bare_kernel
def _last(following: Longs, chain: int, event: int) -> int:
    while following[chain + event] >= 0:
        event = following[chain + event]
    return event
