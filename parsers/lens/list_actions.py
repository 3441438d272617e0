"""The actions for inputs and targets: which events they are given to, and their ranges.

Written like those of `exset.parsers.lens.actions`, which runs them.
"""

from exset.core.kernels import inline_kernel
from exset.parsers.lens import steps as c
from exset.parsers.lens.steps import (
    Columns,
    Tokens,
    begin_examples,
    effective,
    expand,
    fail,
    note,
    other,
)


@inline_kernel
def begin_list(columns: Columns, step: int, token: int) -> int:
    """Inputs, targets or both begin: whose they are, and the active value that they take."""
    state = columns.state
    begin_examples(columns)
    state[c.PENDING] = step
    state[c.PENDING_TOKEN] = token - 1
    state[c.INPUTS_LISTED] = step != c.TARGETS and not state[c.INPUTS_SEEN]
    state[c.TARGETS_LISTED] = step != c.INPUTS and not state[c.TARGETS_SEEN]
    if step != c.TARGETS:
        if state[c.INPUTS_LISTED]:
            state[c.INPUT_EVENT] = state[c.FIRST_LISTED]
            if columns.inputs[state[c.BASE] + state[c.INPUT_EVENT]] >= 0:
                return fail(columns, c.INPUTS_GIVEN, token - 1, state[c.INPUT_EVENT])
        else:
            state[c.INPUT_EVENT] = state[c.NEXT_INPUT]
            state[c.NEXT_INPUT] += 1
            if state[c.INPUT_EVENT] >= state[c.NUM_EVENTS_HERE]:
                return fail(columns, c.NO_EVENT_LEFT, token - 1, state[c.INPUT_EVENT])
    if step != c.INPUTS:
        if state[c.TARGETS_LISTED]:
            state[c.TARGET_EVENT] = state[c.FIRST_LISTED]
            if columns.targets[state[c.BASE] + state[c.TARGET_EVENT]] >= 0:
                return fail(columns, c.TARGETS_GIVEN, token - 1, state[c.TARGET_EVENT])
        else:
            state[c.TARGET_EVENT] = state[c.NEXT_TARGET]
            state[c.NEXT_TARGET] += 1
            if state[c.TARGET_EVENT] >= state[c.NUM_EVENTS_HERE]:
                return fail(columns, c.NO_EVENT_LEFT, token - 1, state[c.TARGET_EVENT])
    if step == c.TARGETS:
        columns.active[0] = effective(
            columns, c.ACTIVE_TARGET, state[c.BASE] + state[c.TARGET_EVENT]
        )
    else:
        columns.active[0] = effective(columns, c.ACTIVE_INPUT, state[c.BASE] + state[c.INPUT_EVENT])
    if step == c.BOTH and state[c.INPUT_EVENT] != state[c.TARGET_EVENT]:
        note(columns, c.BOTH_APART, token - 1, state[c.INPUT_EVENT], state[c.TARGET_EVENT])
    columns.lists[state[c.NUM_LISTS]] = state[c.NUM_RANGES]
    state[c.LIST_START] = state[c.NUM_RANGES]
    state[c.NUM_LISTS] += 1
    state[c.RUN_START] = token
    state[c.EXPLICIT] = 0
    begin_range(columns)
    return c.FINE


@inline_kernel
def end_list(columns: Columns, max_expand: int) -> int:
    """Give the list to its events. One without ranges gives nothing, but its turn is over."""
    state = columns.state
    kind, at, base = state[c.PENDING], state[c.PENDING_TOKEN], state[c.BASE]
    state[c.PENDING] = 0
    number = state[c.NUM_LISTS] - 1
    if state[c.NUM_RANGES] == state[c.LIST_START]:
        number = -1
        state[c.NUM_LISTS] -= 1
        note(columns, c.NO_RANGES, at, 0, 0)
    if kind == c.BOTH:
        if columns.targets[base + state[c.TARGET_EVENT]] >= 0:
            return fail(columns, c.TARGETS_GIVEN, at, state[c.TARGET_EVENT])
        note_both_active(columns)
    if kind != c.TARGETS:
        columns.inputs[base + state[c.INPUT_EVENT]] = number
    if kind != c.INPUTS:
        columns.targets[base + state[c.TARGET_EVENT]] = number
    if not (state[c.INPUTS_LISTED] or state[c.TARGETS_LISTED]):
        return c.FINE
    after = 0
    for span in range(state[c.SPANS]):
        if not expand(columns, span, max_expand):
            return fail(columns, c.TOO_MANY, at, 0)
        after = max(after, columns.highs[span] + 1)
        low, high = base + columns.lows[span], base + columns.highs[span] + 1
        if state[c.INPUTS_LISTED]:
            event = other(columns.inputs, low, high, number)
            if event >= 0:
                return fail(columns, c.INPUTS_GIVEN, at, event - base)
            columns.inputs[low:high] = number
        if state[c.TARGETS_LISTED]:
            event = other(columns.targets, low, high, number)
            if event >= 0:
                return fail(columns, c.TARGETS_GIVEN, at, event - base)
            columns.targets[low:high] = number
        note_shared_active(
            columns, c.ACTIVE_TARGET if kind == c.TARGETS else c.ACTIVE_INPUT, low, high
        )
    if state[c.INPUTS_LISTED]:
        state[c.INPUTS_SEEN] = 1
        state[c.NEXT_INPUT] = max(state[c.NEXT_INPUT], after)
    if state[c.TARGETS_LISTED]:
        state[c.TARGETS_SEEN] = 1
        state[c.NEXT_TARGET] = max(state[c.NEXT_TARGET], after)
    return c.FINE


@inline_kernel
def takes_active(columns: Columns) -> bool:
    """Whether a sparse range of the list being read has the active value."""
    for index in range(columns.state[c.LIST_START], columns.state[c.NUM_RANGES]):
        is_sparse = columns.unit_ends[index + 1] > columns.unit_ends[index]
        if is_sparse and columns.value[index] == columns.active[0]:
            return True
    return False


@inline_kernel
def note_both_active(columns: Columns) -> None:
    """Note targets that take the active input where the active target differs."""
    event = columns.state[c.BASE] + columns.state[c.TARGET_EVENT]
    if effective(columns, c.ACTIVE_TARGET, event) != columns.active[0] and takes_active(columns):
        note(columns, c.BOTH_ACTIVE, columns.state[c.PENDING_TOKEN], 0, 0)


@inline_kernel
def note_shared_active(columns: Columns, field: int, low: int, high: int) -> None:
    """Note events whose own active value is not the one that their shared list took."""
    if not columns.present.shape[1]:
        return
    for event in range(low, high):
        if effective(columns, field, event) != columns.active[0]:
            if takes_active(columns):
                note(columns, c.SHARED_ACTIVE, columns.state[c.PENDING_TOKEN], 0, 0)
            return


# Ranges


@inline_kernel
def begin_range(columns: Columns) -> None:
    """Nothing is known of the next range yet."""
    columns.state[c.GROUP_START] = -1
    columns.state[c.GROUP_END] = -1
    columns.state[c.FIRST] = 0
    columns.state[c.NUMBERS_GIVEN] = 0
    columns.active[1] = columns.active[0]


@inline_kernel
def set_range(tokens: Tokens, columns: Columns, step: int, token: int) -> None:
    """What stands in ( ) or { }, a string begun, or the closing of one of the two."""
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
            note(columns, c.GROUP_TWICE, start, 0, 0)
        state[c.GROUP_START] = start
        state[c.GROUP_END] = token
    elif step == c.FIRST_UNIT or step == c.VALUE:
        if state[c.NUMBERS_GIVEN]:
            note(columns, c.VALUE_TWICE, token - 1, 0, 0)
        state[c.NUMBERS_GIVEN] += 1
        if step == c.FIRST_UNIT:
            state[c.FIRST] = tokens.ints[token - 1]
            if state[c.FIRST] < 0:
                note(columns, c.NEGATIVE_FIRST, token - 1, 0, 0)
        else:
            columns.active[1] = tokens.reals[token - 1]
    else:
        state[c.RUN_START] = token
        state[c.EXPLICIT] = 1


@inline_kernel
def is_blank(tokens: Tokens, start: int, end: int) -> bool:
    """Whether a string has nothing but line breaks in it: then it is empty, and no name."""
    for token in range(start, end):
        first = tokens.buffer[tokens.starts[token] - tokens.base]
        if first != 10 and first != 13:
            return False
    return True


@inline_kernel
def end_range(tokens: Tokens, columns: Columns, step: int, token: int) -> int:
    """The numbers of a range are read. Without ( ) or { } a list begins only with a number."""
    state, index, start = columns.state, columns.state[c.NUM_RANGES], columns.state[c.RUN_START]
    reason = c.FINE
    if state[c.EXPLICIT] or token > start:
        if token == start:
            note(columns, c.EMPTY_RANGE, token - 1, 0, 0)
        is_dense = step == c.DENSE_VALUES and token > start
        if is_dense:
            keep_values(tokens, columns, token)
        elif step != c.DENSE_VALUES:
            reason = keep_units(tokens, columns, step, token)
        if state[c.GROUP_START] >= 0:
            columns.group[index, 0] = state[c.GROUP_START]
            columns.group[index, 1] = state[c.GROUP_END]
        if len(columns.first):
            columns.first[index] = state[c.FIRST] if is_dense else 0
        columns.value[index] = 0 if is_dense else columns.active[1]
        columns.value_ends[index + 1] = state[c.NUM_VALUES]
        columns.unit_ends[index + 1] = state[c.NUM_UNITS]
        state[c.NUM_RANGES] += 1
    begin_range(columns)
    return reason


@inline_kernel
def keep_values(tokens: Tokens, columns: Columns, token: int) -> None:
    """Keep the values of a range."""
    start, end = columns.state[c.RUN_START], columns.state[c.NUM_VALUES]
    for at in range(start, token):
        columns.values[end] = tokens.reals[at]
        end += 1
        if at > start and tokens.starts[at] == tokens.ends[at - 1]:
            note(columns, c.GLUED_NUMBERS, at, 0, 0)
    columns.state[c.NUM_VALUES] = end


@inline_kernel
def keep_units(tokens: Tokens, columns: Columns, step: int, token: int) -> int:
    """Keep the units of a range; a negative one ends a span that begins no higher."""
    state, start, before = columns.state, columns.state[c.RUN_START], 0
    if step == c.ALL_UNITS:
        columns.units[state[c.NUM_UNITS]] = -1
        state[c.NUM_UNITS] += 1
        return c.FINE
    for at in range(start, token):
        unit = tokens.ints[at]
        if unit <= 0 and tokens.buffer[tokens.starts[at] - tokens.base] == 45:
            if unit == 0:
                note(columns, c.ZERO_SPAN, at, 0, 0)
            elif at == start:
                return fail(columns, c.NO_UNIT_BEFORE, at, 0)
            elif -unit < before:
                return fail(columns, c.UNIT_SPAN_DOWN, at, before)
            elif before < 0:
                note(columns, c.SPAN_CHAIN, at, 0, 0)
            if unit < 0 and tokens.starts[at] != tokens.ends[at - 1]:
                note(columns, c.BLANK_SPAN, at, 0, 0)
        columns.units[state[c.NUM_UNITS]] = unit
        state[c.NUM_UNITS] += 1
        before = unit
    return c.FINE
