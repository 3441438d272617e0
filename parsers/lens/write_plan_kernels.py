"""In which order to tell Lens the inputs and targets of many examples: kernels.

They keep the account that `write_plan` explains, for every example in which no list
is shared by inputs and targets of *different* events; those are left to it.
"""

from typing import Final

from exset.core.kernels import bare_kernel
from exset.grammars.columns.arrays import Flags, Longs
from exset.parsers.lens.write_plan import NOTHING

INPUTS: Final = 0
TARGETS: Final = 1
OWN: Final = 2
"""What events have in common: a list as inputs, as targets, or the same fields of their own."""

SETTINGS: Final = 0  # the role of an event list with fields, which has no data
ROLE_INPUTS: Final = ord("I")
ROLE_TARGETS: Final = ord("T")
ROLE_BOTH: Final = ord("B")


# The rows of a script, int64 [4, steps]: the capital letter of a statement, or SETTINGS for an
# event list alone; the number of the range list; the first event that it goes to; and the kind of
# chain that, from that event on, is the event list which must come before, or NOTHING.
ROLE: Final = 0
NUMBER: Final = 1
EVENT: Final = 2
LISTED: Final = 3


@bare_kernel
def link(
    offsets: Longs,
    inputs: Longs,
    targets: Longs,
    own: Longs,
    last: Longs,
    following: Longs,
    is_first: Flags,
    crossed: Flags,
) -> None:
    """Find which of the m events of an example have something in common: that is a chain.

    own: int64 [m], equal where events have the same fields of their own, or -1. last: int64 [3, k],
    k above any number; it is scratch. Found are, in rows INPUTS, TARGETS and OWN, following: int64
    [3, m], the next event of the chain, or -1; is_first: bool [3, m]; and crossed: bool [n]:
    inputs and targets of different events share a list.
    """
    last[:] = -1
    for example in range(offsets.size - 1):
        start, end = offsets[example], offsets[example + 1]
        crossed[example] = False
        if end - start == 1:
            following[:, start] = -1
            is_first[INPUTS, start] = inputs[start] >= 0
            is_first[TARGETS, start] = targets[start] >= 0
            is_first[OWN, start] = own[start] >= 0
            continue
        for event in range(start, end):
            _link(INPUTS, event, start, inputs[event], last, following, is_first)
            _link(TARGETS, event, start, targets[event], last, following, is_first)
            _link(OWN, event, start, own[event], last, following, is_first)
        crossed[example] = _is_crossed(start, end, inputs, targets, last)


@bare_kernel
def _link(
    kind: int,
    event: int,
    start: int,
    number: int,
    last: Longs,
    following: Longs,
    is_first: Flags,
) -> None:
    following[kind, event] = -1
    is_first[kind, event] = number >= 0
    if number >= 0:
        before = last[kind, number]
        if before >= start:
            following[kind, before] = event
            is_first[kind, event] = False
        last[kind, number] = event


@bare_kernel
def _is_crossed(start: int, end: int, inputs: Longs, targets: Longs, last: Longs) -> bool:
    """Whether some list has uses as inputs and uses as targets, and not for the same events."""
    for event in range(start, end):
        a, b = inputs[event], targets[event]
        if a != b and (
            (a >= 0 and last[TARGETS, a] >= start) or (b >= 0 and last[INPUTS, b] >= start)
        ):
            return True
    return False


@bare_kernel
def same_events(following: Longs, a: int, first: int, b: int, second: int) -> bool:
    """Whether two chains, of kinds a and b, from their first events on, are the same events."""
    while first == second and first >= 0:
        first, second = following[a, first], following[b, second]
    return first == second


@bare_kernel
def plan(
    offsets: Longs,
    inputs: Longs,
    targets: Longs,
    following: Longs,
    is_first: Flags,
    crossed: Flags,
    script: Longs,
    step_offsets: Longs,
) -> int:
    """Write the script of all examples that are not crossed; gives how many steps it has.

    There must be room for three steps an event. Example i has steps step_offsets[i] to
    step_offsets[i + 1].
    """
    at = 0
    for example in range(offsets.size - 1):
        start, end = offsets[example], offsets[example + 1]
        step_offsets[example] = at
        if end - start == 1:
            a, b = inputs[start], targets[start]
            if is_first[OWN, start]:
                at = _add(script, at, SETTINGS, NOTHING, start, OWN)
            if a == b and a != NOTHING:
                at = _add(script, at, ROLE_BOTH, a, start, NOTHING)
                continue
            if a != NOTHING:
                at = _add(script, at, ROLE_INPUTS, a, start, NOTHING)
            if b != NOTHING:
                at = _add(script, at, ROLE_TARGETS, b, start, NOTHING)
        elif not crossed[example]:
            at = _some_events(start, end, inputs, targets, following, is_first, script, at)
    step_offsets[offsets.size - 1] = at
    return at


@bare_kernel
def _add(script: Longs, at: int, role: int, number: int, event: int, listed: int) -> int:
    script[ROLE, at] = role
    script[NUMBER, at] = number
    script[EVENT, at] = event
    script[LISTED, at] = listed
    return at + 1


@bare_kernel
def _some_events(
    start: int,
    end: int,
    inputs: Longs,
    targets: Longs,
    following: Longs,
    is_first: Flags,
    script: Longs,
    at: int,
) -> int:
    # The active events: a chain. Whose turn it is, of inputs and of targets: the active events'
    # (it is armed), or else the next event's.
    kind, active = OWN, -1
    next_inputs, next_targets = start, start
    for event in range(start, end):
        if is_first[OWN, event]:
            at = _add(script, at, SETTINGS, NOTHING, event, OWN)
            active = event
    inputs_armed = targets_armed = active >= 0
    for event in range(start, end):
        has_inputs, has_targets = is_first[INPUTS, event], is_first[TARGETS, event]
        listed = -1
        if has_inputs and has_targets and same_events(following, INPUTS, event, TARGETS, event):
            # One event list for both.
            if not _is_turn(
                following, INPUTS, event, inputs_armed, kind, active, next_inputs
            ) or not _is_turn(following, INPUTS, event, targets_armed, kind, active, next_targets):
                kind, active, listed = INPUTS, event, INPUTS
                inputs_armed = targets_armed = True
            if inputs[event] == targets[event]:
                at = _add(script, at, ROLE_BOTH, inputs[event], event, listed)
                last = _last(following, INPUTS, event)
                next_inputs, next_targets = max(next_inputs, last + 1), max(next_targets, last + 1)
                inputs_armed = targets_armed = False
                continue
        if has_inputs:
            if not _is_turn(following, INPUTS, event, inputs_armed, kind, active, next_inputs):
                kind, active, listed = INPUTS, event, INPUTS
                inputs_armed = targets_armed = True
            at = _add(script, at, ROLE_INPUTS, inputs[event], event, listed)
            next_inputs = max(next_inputs, _last(following, INPUTS, event) + 1)
            inputs_armed, listed = False, -1
        if has_targets:
            if not _is_turn(following, TARGETS, event, targets_armed, kind, active, next_targets):
                kind, active, listed = TARGETS, event, TARGETS
                inputs_armed = targets_armed = True
            at = _add(script, at, ROLE_TARGETS, targets[event], event, listed)
            next_targets = max(next_targets, _last(following, TARGETS, event) + 1)
            targets_armed = False
    return at


@bare_kernel
def _is_turn(
    following: Longs, wanted: int, event: int, armed: bool, kind: int, active: int, after: int
) -> bool:
    """Whether data would go to the events of the chain `wanted` that begins with this event."""
    if armed:
        return same_events(following, kind, active, wanted, event)
    return event == after and following[wanted, event] < 0


@bare_kernel
def _last(following: Longs, kind: int, event: int) -> int:
    while following[kind, event] >= 0:
        event = following[kind, event]
    return event
