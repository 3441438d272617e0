"""Run the steps of a Lens text: which event gets which data (Lens, example.c: readExample).

The actions are kernels over flat arrays. Each looks back from `token`, the number of tokens before
its step. An action that can fail returns a reason, or 0, and leaves the token to blame in the
state. `exset.parsers.lens.write_plan` keeps the same account when it writes.
"""

import numpy as np

from exset.core.kernels import bare_kernel, inline_kernel
from exset.grammars.columns.arrays import offsets_of
from exset.parsers.lens import steps as c
from exset.parsers.lens.list_actions import begin_list, end_list, end_range, set_range
from exset.parsers.lens.steps import (
    Columns,
    Ints,
    Tokens,
    begin_examples,
    expand,
    fail,
    has_any,
    note,
    note_repeated,
)


@bare_kernel
def act(tokens: Tokens, columns: Columns, max_expand: int) -> int:
    """Run the steps; return the reason why one fails, or 0.

    max_expand: how many events all event lists together may name.
    """
    state = columns.state
    for index in range(len(tokens.steps)):
        step, token = tokens.steps[index], tokens.before[index]
        reason = c.FINE
        if state[c.PENDING] and (
            c.EVENT <= step <= c.EVENTS or c.INPUTS <= step <= c.BOTH or step == c.EXAMPLE
        ):
            reason = end_list(columns, max_expand)
        if reason == c.FINE:
            if step < 2 * c.NUM_REALS:
                reason = set_real(tokens, columns, step, token, max_expand)
            elif c.NAME <= step <= c.EMPTY_PROC:
                reason = set_string(columns, step, token, max_expand)
            elif c.FREQUENCY <= step <= c.NUM_EVENTS:
                set_heading(tokens, columns, step, token)
            elif c.EVENT <= step <= c.ALL_EVENTS:
                reason = list_events(tokens, columns, step, token)
            elif step == c.EVENTS:
                end_events(columns)
            elif c.INPUTS <= step <= c.BOTH:
                reason = begin_list(columns, step, token)
            elif c.DENSE_VALUES <= step <= c.ALL_UNITS:
                reason = end_range(tokens, columns, step, token)
            elif c.DENSE_RANGE <= step <= c.STRING:
                set_range(tokens, columns, step, token)
            elif step == c.EXAMPLE:
                end_example(columns, token)
            elif step == c.EVENT_LIST:
                state[c.LISTING] = 0
            elif step == c.HEADER:
                state[c.IN_HEADER] = 0
                state[c.GIVEN_FIELDS] = 0
        if reason != c.FINE:
            state[c.REASON] = reason
            return reason
    return c.FINE


# Fields


@bare_kernel
def set_real(tokens: Tokens, columns: Columns, step: int, token: int, max_expand: int) -> int:
    """A real field of the set, or of every event of the event list."""
    state, field, at = columns.state, step % c.NUM_REALS, token - 2
    if step < c.NUM_REALS:
        real = tokens.reals[token - 1]
    else:
        real, at = np.float32(np.nan), token - 1
        note(columns, c.MISSING_VALUE, at, 0, 0)
    note_repeated(columns, field, at)
    if state[c.IN_HEADER]:
        columns.header[field] = real
        return c.FINE
    for span in range(state[c.SPANS]):
        if not expand(columns, span, max_expand):
            return fail(columns, c.TOO_MANY, at, 0)
        low = state[c.BASE] + columns.lows[span]
        high = state[c.BASE] + columns.highs[span] + 1
        columns.reals[field, low:high] = real
        columns.present[field, low:high] = True
        if (field == c.ACTIVE_INPUT and has_any(columns.inputs, low, high)) or (
            field == c.ACTIVE_TARGET and has_any(columns.targets, low, high)
        ):
            note(columns, c.LATE_ACTIVE, at, 0, 0)
    return c.FINE


@inline_kernel
def set_string(columns: Columns, step: int, token: int, max_expand: int) -> int:
    """A name, or a proc of the set, of an example or of every event of the event list."""
    state = columns.state
    start = state[c.STRING_START]
    if step == c.EMPTY_PROC:
        start = token
    elif start < 0:
        start = token - 1
    state[c.STRING_START] = -1
    note_repeated(columns, c.PROC if step == c.EMPTY_PROC else step, start - 1)
    if state[c.LISTING]:
        for span in range(state[c.SPANS]):
            if not expand(columns, span, max_expand):
                return fail(columns, c.TOO_MANY, start, 0)
            low = state[c.BASE] + columns.lows[span]
            high = state[c.BASE] + columns.highs[span] + 1
            columns.event_proc[low:high, 0] = start
            columns.event_proc[low:high, 1] = token
        return c.FINE
    if step == c.NAME:
        begin_examples(columns)
        columns.name[state[c.EXAMPLES_DONE], 0] = start
        columns.name[state[c.EXAMPLES_DONE], 1] = token
    elif state[c.IN_HEADER]:
        columns.header_proc[0] = start
        columns.header_proc[1] = token
    else:
        begin_examples(columns)
        columns.proc[state[c.EXAMPLES_DONE], 0] = start
        columns.proc[state[c.EXAMPLES_DONE], 1] = token
    return c.FINE


@inline_kernel
def set_heading(tokens: Tokens, columns: Columns, step: int, token: int) -> None:
    """The frequency of an example, or its number of events, which the event offsets have."""
    begin_examples(columns)
    if step == c.NUM_EVENTS:
        note_repeated(columns, step, token - 1)
        return
    at = token - 2
    if step == c.FREQUENCY:
        columns.frequency[columns.state[c.EXAMPLES_DONE]] = tokens.reals[token - 1]
        if tokens.reals[token - 1] < 0:
            note(columns, c.NEGATIVE_FREQUENCY, token - 1, 0, 0)
    else:
        at = token - 1
        columns.frequency[columns.state[c.EXAMPLES_DONE]] = np.nan
        note(columns, c.MISSING_VALUE, at, 0, 0)
    note_repeated(columns, c.FREQUENCY, at)


# Event lists


@bare_kernel
def list_events(tokens: Tokens, columns: Columns, step: int, token: int) -> int:
    """An event, a span of events, or `*` of an event list."""
    state = columns.state
    if not state[c.LISTING]:
        state[c.LISTING] = 1
        state[c.SPANS] = 0
        state[c.EVERY] = 0
    low, high, at = 0, state[c.NUM_EVENTS_HERE] - 1, token - 1
    if step == c.EVENT:
        low = high = tokens.ints[token - 1]
    elif step == c.EVENT_SPAN:
        low, high, at = tokens.ints[token - 3], tokens.ints[token - 1], token - 3
    if low >= state[c.NUM_EVENTS_HERE]:
        return fail(columns, c.OUT_OF_RANGE, at, low)
    if step == c.EVENT_SPAN and high <= low:
        return fail(columns, c.BAD_SPAN, at, high)
    if high >= state[c.NUM_EVENTS_HERE]:
        return fail(columns, c.OUT_OF_RANGE, token - 1, high)
    if state[c.EVERY] or (step == c.ALL_EVENTS and state[c.SPANS]):
        note(columns, c.EVERY_EVENT, token - 1, 0, 0)
    if step == c.ALL_EVENTS:
        state[c.EVERY] = 1
    columns.lows[state[c.SPANS]] = low
    columns.highs[state[c.SPANS]] = high
    state[c.SPANS] += 1
    return c.FINE


@inline_kernel
def end_events(columns: Columns) -> None:
    """The events are listed, all if none is named: the next inputs and targets are theirs."""
    state = columns.state
    begin_examples(columns)
    if not state[c.LISTING]:
        state[c.LISTING] = 1
        state[c.SPANS] = 1
        columns.lows[0] = 0
        columns.highs[0] = state[c.NUM_EVENTS_HERE] - 1
    state[c.FIRST_LISTED] = columns.lows[0]
    for span in range(1, state[c.SPANS]):
        state[c.FIRST_LISTED] = min(state[c.FIRST_LISTED], columns.lows[span])
    state[c.GIVEN_FIELDS] = 0  # now of the list
    state[c.INPUTS_SEEN] = 0
    state[c.TARGETS_SEEN] = 0


@inline_kernel
def end_example(columns: Columns, token: int) -> None:
    """The example is complete: forget what belongs to it alone."""
    state = columns.state
    columns.lists[state[c.NUM_LISTS]] = state[c.NUM_RANGES]
    if not in_order(columns):
        state[c.UNORDERED] = 1
    state[c.FIRST_LIST] = state[c.NUM_LISTS]
    if not state[c.ANYTHING]:
        note(columns, c.EMPTY_EXAMPLE, token - 1, 0, 0)
    state[c.EXAMPLES_DONE] += 1
    state[c.BASE] += state[c.NUM_EVENTS_HERE]
    if state[c.EXAMPLES_DONE] < len(columns.event_offsets) - 1:
        following = columns.event_offsets[state[c.EXAMPLES_DONE] + 1]
        state[c.NUM_EVENTS_HERE] = following - state[c.BASE]
    state[c.IN_HEADER] = 0
    state[c.GIVEN_FIELDS] = 0
    state[c.ANYTHING] = 0
    state[c.SPANS] = 0
    state[c.INPUTS_SEEN] = 1
    state[c.TARGETS_SEEN] = 1
    state[c.NEXT_INPUT] = 0
    state[c.NEXT_TARGET] = 0


@inline_kernel
def in_order(columns: Columns) -> bool:
    """Whether the example's lists are in normal form: inputs by their first events, then targets.

    No list is left out then.
    """
    state = columns.state
    low, high = state[c.BASE], state[c.BASE] + state[c.NUM_EVENTS_HERE]
    following = state[c.FIRST_LIST]
    for event in range(low, high):
        if columns.inputs[event] > following:
            return False
        following += columns.inputs[event] == following
    for event in range(low, high):
        if columns.targets[event] > following:
            return False
        following += columns.targets[event] == following
    return bool(following == state[c.NUM_LISTS])


def event_offsets(tokens: Tokens, count: Ints) -> Ints:
    """Where the events of each example begin and end: int64[examples + 1].

    An example has as many as it says last, or one. count: of the steps of each kind.
    """
    if not count[c.NUM_EVENTS]:
        return np.arange(count[c.EXAMPLE] + 1)
    ends = np.flatnonzero(tokens.steps == c.EXAMPLE)
    counts = np.ones(len(ends), np.int64)
    given = np.flatnonzero(tokens.steps == c.NUM_EVENTS)
    last = np.searchsorted(ends, given)
    counts[last] = tokens.ints[tokens.before[given] - 1]
    return offsets_of(counts)
