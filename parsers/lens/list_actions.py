"""The actions for inputs and targets: they find the events of each list, and read its ranges.

These kernels follow the rules of `exset.parsers.lens.actions`, which runs them.
"""

from exset.core.kernels import inline_kernel
from exset.parsers.lens import steps as c
from exset.parsers.lens.steps import (
    Columns,
    Note,
    Reason,
    Tokens,
    effective,
    end_header,
    expand,
    fail,
    note,
    other,
    set_pair,
)


@inline_kernel
def is_of(step: int, side: int) -> bool:
    """Return whether a step begins inputs (side 0) or targets (side 1). One of the steps begins
    both.
    """
    return bool(step == c.BOTH or step == c.INPUTS + side)


@inline_kernel
def begin_list(columns: Columns, step: int, token: int) -> None:
    """Begin a list of inputs, of targets or of both: find the event that gets the list.

    Also find the event's active value, which is the default value of the list. step: the step,
    which says which of the three it begins. token: the index of the token after the step.
    """
    state = columns.state
    end_header(columns)
    state[c.PENDING] = step
    state[c.PENDING_TOKEN] = token - 1
    for side in range(2):
        state[c.LISTED + side] = is_of(step, side) and not state[c.SEEN + side]
        if state[c.LISTED + side]:
            event = state[c.FOR_EVENT + side] = state[c.FIRST_LISTED]
            if columns.uses[side, state[c.BASE] + event] >= 0:
                fail_twice(columns, side, token - 1, event)
                return
        elif is_of(step, side):
            event = state[c.FOR_EVENT + side] = state[c.NEXT + side]
            state[c.NEXT + side] += 1
            if event >= state[c.NUM_EVENTS_HERE]:
                fail(columns, Reason.NO_EVENT_LEFT, token - 1, event)
                return
    side = 1 if step == c.TARGETS else 0
    field = c.ACTIVE_TARGET if side else c.ACTIVE_INPUT
    columns.active[0] = effective(columns, field, state[c.BASE] + state[c.FOR_EVENT + side])
    if step == c.BOTH and state[c.FOR_EVENT] != state[c.FOR_EVENT + 1]:
        note(columns, Note.BOTH_APART, token - 1, state[c.FOR_EVENT], state[c.FOR_EVENT + 1])
    columns.lists[state[c.NUM_LISTS]] = state[c.NUM_RANGES]
    state[c.LIST_START] = state[c.NUM_RANGES]
    state[c.NUM_LISTS] += 1
    state[c.RUN_START] = token
    state[c.EXPLICIT] = 0
    begin_range(columns)


@inline_kernel
def fail_twice(columns: Columns, side: int, token: int, event: int) -> None:
    """Store the failure of a list for an event that already has such a list.

    side: 0 for inputs, 1 for targets. token: the token that begins the list.
    """
    fail(columns, Reason.TARGETS_TWICE if side else Reason.INPUTS_TWICE, token, event)


@inline_kernel
def end_list(columns: Columns) -> None:
    """End the current list: assign it to its events.

    A list without ranges sets nothing, but the next list is still for the next event.
    """
    state = columns.state
    step, at, base = state[c.PENDING], state[c.PENDING_TOKEN], state[c.BASE]
    state[c.PENDING] = 0
    number = state[c.NUM_LISTS] - 1
    if state[c.NUM_RANGES] == state[c.LIST_START]:
        number = -1
        state[c.NUM_LISTS] -= 1
        note(columns, Note.NO_RANGES, at, 0, 0)
    if step == c.BOTH:
        event = base + state[c.FOR_EVENT + 1]
        if columns.uses[1, event] >= 0:
            fail_twice(columns, 1, at, event - base)
            return
        note_active(columns, Note.BOTH_ACTIVE, c.ACTIVE_TARGET, event, event + 1)
    for side in range(2):
        if is_of(step, side):
            columns.uses[side, base + state[c.FOR_EVENT + side]] = number
    if not (state[c.LISTED] or state[c.LISTED + 1]):
        return
    after = 0
    for span in range(state[c.SPANS]):
        if not expand(columns, span, at):
            return
        after = max(after, columns.highs[span] + 1)
        low, high = base + columns.lows[span], base + columns.highs[span] + 1
        for side in range(2):
            if state[c.LISTED + side]:
                event = other(columns.uses, side, low, high, number)
                if event >= 0:
                    fail_twice(columns, side, at, event - base)
                    return
                columns.uses[side, low:high] = number
        if columns.present.shape[1]:
            field = c.ACTIVE_TARGET if step == c.TARGETS else c.ACTIVE_INPUT
            note_active(columns, Note.SHARED_ACTIVE, field, low, high)
    for side in range(2):
        if state[c.LISTED + side]:
            state[c.SEEN + side] = 1
            state[c.NEXT + side] = max(state[c.NEXT + side], after)


@inline_kernel
def note_active(columns: Columns, kind: int, field: int, low: int, high: int) -> None:
    """Add a note if an event of the list has an active value that differs from the list's default.

    The note is added only if the list has a sparse range whose value is this default. kind: the
    kind of the note. field: the active value of inputs or of targets. low, high: the first event
    that gets the list, and the event after the last.
    """
    for event in range(low, high):
        if effective(columns, field, event) != columns.active[0]:
            for index in range(columns.state[c.LIST_START], columns.state[c.NUM_RANGES]):
                is_sparse = columns.unit_ends[index + 1] > columns.unit_ends[index]
                if is_sparse and columns.value[index] == columns.active[0]:
                    note(columns, kind, columns.state[c.PENDING_TOKEN], 0, 0)
                    return
            return


# Ranges


@inline_kernel
def begin_range(columns: Columns) -> None:
    """Prepare the state for a new range: no group, first unit 0, no values."""
    columns.state[c.GROUP_START] = -1
    columns.state[c.GROUP_END] = -1
    columns.state[c.FIRST] = 0
    columns.state[c.NUMBERS_SEEN] = 0
    columns.active[1] = columns.active[0]


@inline_kernel
def set_range(tokens: Tokens, columns: Columns, step: int, token: int) -> None:
    """Run a step within a range: store the group, the first unit or the value, or begin the
    numbers.

    step: the number of the step, which says which of these to do. token: the index of the token
    after the step.
    """
    state = columns.state
    if step == c.STRING:
        state[c.STRING_START] = token - 1
    elif step == c.GROUP:
        start, state[c.STRING_START] = state[c.STRING_START], -1
        if start < 0:
            start = token - 1
        elif is_blank(tokens, start + 1, token - 1):
            return
        if state[c.GROUP_START] >= 0:
            note(columns, Note.GROUP_TWICE, start, 0, 0)
        state[c.GROUP_START] = start
        state[c.GROUP_END] = token
    elif step == c.FIRST_UNIT or step == c.VALUE:
        if state[c.NUMBERS_SEEN]:
            note(columns, Note.VALUE_TWICE, token - 1, 0, 0)
        state[c.NUMBERS_SEEN] += 1
        if step == c.FIRST_UNIT:
            state[c.FIRST] = tokens.ints[token - 1]
            if state[c.FIRST] < 0:
                note(columns, Note.NEGATIVE_FIRST, token - 1, 0, 0)
        else:
            columns.active[1] = tokens.reals[token - 1]
    else:
        state[c.RUN_START] = token
        state[c.EXPLICIT] = 1


@inline_kernel
def is_blank(tokens: Tokens, start: int, end: int) -> bool:
    """Return whether a string has only line breaks. Such a string counts as empty, not as a name.

    start, end: the string's first token, and the token after its last.
    """
    for token in range(start, end):
        first = tokens.buffer[tokens.starts[token] - tokens.base]
        if first != 10 and first != 13:
            return False
    return True


@inline_kernel
def end_range(tokens: Tokens, columns: Columns, step: int, token: int) -> None:
    """End a range after its numbers, and store the range.

    A range without ( ), { } and numbers is not stored. step: the step, which says whether the
    numbers are values or units. token: the token after the numbers.
    """
    state, index, start = columns.state, columns.state[c.NUM_RANGES], columns.state[c.RUN_START]
    if state[c.EXPLICIT] or token > start:
        if token == start:
            note(columns, Note.EMPTY_RANGE, token - 1, 0, 0)
        is_dense = step == c.DENSE_VALUES and token > start
        if is_dense:
            keep_values(tokens, columns, token)
        elif step != c.DENSE_VALUES:
            keep_units(tokens, columns, step, token)
        if state[c.GROUP_START] >= 0:
            set_pair(columns.group, index, state[c.GROUP_START], state[c.GROUP_END])
        if len(columns.first):
            columns.first[index] = state[c.FIRST] if is_dense else 0
        columns.value[index] = 0 if is_dense else columns.active[1]
        columns.value_ends[index + 1] = state[c.NUM_VALUES]
        columns.unit_ends[index + 1] = state[c.NUM_UNITS]
        state[c.NUM_RANGES] += 1
    begin_range(columns)


@inline_kernel
def keep_values(tokens: Tokens, columns: Columns, token: int) -> None:
    """Store the values of a range, which end before the token `token`."""
    start, end = columns.state[c.RUN_START], columns.state[c.NUM_VALUES]
    for at in range(start, token):
        columns.values[end] = tokens.reals[at]
        end += 1
        if at > start and tokens.starts[at] == tokens.ends[at - 1]:
            note(columns, Note.GLUED_NUMBERS, at, 0, 0)
    columns.state[c.NUM_VALUES] = end


@inline_kernel
def keep_units(tokens: Tokens, columns: Columns, step: int, token: int) -> None:
    """Store the units of a range, which end before the token `token`.

    A negative number ends a span of units, which must not end below its first unit. step: the step,
    which says whether the units are listed or are all units (`*`).
    """
    state, start, before = columns.state, columns.state[c.RUN_START], 0
    if step == c.ALL_UNITS:
        columns.units[state[c.NUM_UNITS]] = -1
        state[c.NUM_UNITS] += 1
        return
    for at in range(start, token):
        unit = tokens.ints[at]
        if unit <= 0 and tokens.buffer[tokens.starts[at] - tokens.base] == 45:
            if unit == 0:
                note(columns, Note.ZERO_SPAN, at, 0, 0)
            elif at == start:
                fail(columns, Reason.NO_UNIT_BEFORE, at, 0)
                return
            elif -unit < before:
                fail(columns, Reason.UNIT_SPAN_DOWN, at, before)
                return
            elif before < 0:
                note(columns, Note.SPAN_CHAIN, at, 0, 0)
            if unit < 0 and tokens.starts[at] != tokens.ends[at - 1]:
                note(columns, Note.BLANK_SPAN, at, 0, 0)
        columns.units[state[c.NUM_UNITS]] = unit
        state[c.NUM_UNITS] += 1
        before = unit
