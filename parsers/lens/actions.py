"""Run the steps of a Lens text: find the data of each event (Lens, example.c: readExample).

The actions are kernels over flat arrays. The argument `token` of an action is the number of tokens
before its step; the action reads these tokens. An action that fails stores the reason and the wrong
token in the state. `exset.parsers.lens.write_plan` follows the same rules for writing.
"""

import numpy as np

from exset.core.kernels import entry_kernel, inline_kernel, kernel
from exset.grammars.columns.arrays import offsets_of
from exset.parsers.lens import steps as c
from exset.parsers.lens.list_actions import begin_list, end_list, end_range, set_range
from exset.parsers.lens.steps import (
    Columns,
    Ints,
    Note,
    Reason,
    Tokens,
    end_header,
    expand,
    fail,
    has_any,
    note,
    note_repeated,
    set_pair,
)


@entry_kernel
def act(tokens: Tokens, columns: Columns) -> None:
    """Run the action of each step in `tokens`; the actions fill `columns`.

    Stop at a step whose action fails: the state then has the reason (`REASON`) of the failure.
    """
    state = columns.state
    for index in range(len(tokens.steps)):
        step, token = int(tokens.steps[index]), tokens.before[index]
        if state[c.PENDING] and (
            c.EVENT <= step <= c.EVENTS or c.INPUTS <= step <= c.BOTH or step == c.EXAMPLE
        ):
            end_list(columns)
            if state[c.REASON]:
                return
        if step < 2 * c.NUM_REALS:
            set_real(tokens, columns, step, token)
        elif c.NAME <= step <= c.EMPTY_PROC:
            set_string(columns, step, token)
        elif c.FREQUENCY <= step <= c.NUM_EVENTS:
            set_heading(tokens, columns, step, token)
        elif c.EVENT <= step <= c.ALL_EVENTS:
            list_events(tokens, columns, step, token)
        elif step == c.EVENTS:
            end_events(columns)
        elif c.INPUTS <= step <= c.BOTH:
            begin_list(columns, step, token)
        elif c.DENSE_VALUES <= step <= c.ALL_UNITS:
            end_range(tokens, columns, step, token)
        elif c.DENSE_RANGE <= step <= c.STRING:
            set_range(tokens, columns, step, token)
        elif step == c.EXAMPLE:
            end_example(columns, token)
        elif step == c.EVENT_LIST:
            state[c.LISTING] = 0
        elif step == c.HEADER:
            state[c.IN_HEADER] = 0
            state[c.SEEN_FIELDS] = 0
        if state[c.REASON]:
            return


# Fields


@kernel
def set_real(tokens: Tokens, columns: Columns, step: int, token: int) -> None:
    """Set a real field of the set or, after an event list, of the events in the list.

    step: the number of the step, which says which field to set. token: the index of the token after
    the step.
    """
    state, field, at = columns.state, step % c.NUM_REALS, token - 2
    if step < c.NUM_REALS:
        real = tokens.reals[token - 1]
    else:
        real, at = np.float32(np.nan), token - 1
        note(columns, Note.MISSING_VALUE, at, 0, 0)
    note_repeated(columns, field, at)
    if state[c.IN_HEADER]:
        columns.header[field] = real
        if step >= c.NUM_REALS:  # `;` or an event list comes next, and ends the header
            state[c.IN_HEADER] = 0
            state[c.SEEN_FIELDS] = 0
        return
    for span in range(state[c.SPANS]):
        if not expand(columns, span, at):
            return
        low = state[c.BASE] + columns.lows[span]
        high = state[c.BASE] + columns.highs[span] + 1
        columns.reals[field, low:high] = real
        columns.present[field, low:high] = True
        if (field == c.ACTIVE_INPUT and has_any(columns.uses, 0, low, high)) or (
            field == c.ACTIVE_TARGET and has_any(columns.uses, 1, low, high)
        ):
            note(columns, Note.LATE_ACTIVE, at, 0, 0)


@inline_kernel
def set_string(columns: Columns, step: int, token: int) -> None:
    """Set the name of an example, or the proc of the set, of an example or of listed events.

    step: the number of the step, which says which string to set. token: the index of the token
    after the step.
    """
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
            if not expand(columns, span, start):
                return
            low = state[c.BASE] + columns.lows[span]
            high = state[c.BASE] + columns.highs[span] + 1
            columns.event_proc[low:high, 0] = start
            columns.event_proc[low:high, 1] = token
    elif step == c.NAME:
        end_header(columns)
        set_pair(columns.name, state[c.EXAMPLES_DONE], start, token)
    elif state[c.IN_HEADER]:
        set_pair(columns.header_proc, 0, start, token)
    else:
        end_header(columns)
        set_pair(columns.proc, state[c.EXAMPLES_DONE], start, token)


@inline_kernel
def set_heading(tokens: Tokens, columns: Columns, step: int, token: int) -> None:
    """Set the frequency of an example. Ignore its number of events, which `event_offsets` reads.

    step: the number of the step, which says which of the two fields it is. token: the index of the
    token after the step.
    """
    end_header(columns)
    if step == c.NUM_EVENTS:
        note_repeated(columns, step, token - 1)
        return
    at = token - 2
    if step == c.FREQUENCY:
        columns.frequency[columns.state[c.EXAMPLES_DONE]] = tokens.reals[token - 1]
        if tokens.reals[token - 1] < 0:
            note(columns, Note.NEGATIVE_FREQUENCY, token - 1, 0, 0)
    else:
        at = token - 1
        columns.frequency[columns.state[c.EXAMPLES_DONE]] = np.nan
        note(columns, Note.MISSING_VALUE, at, 0, 0)
    note_repeated(columns, c.FREQUENCY, at)


# Event lists


@kernel
def list_events(tokens: Tokens, columns: Columns, step: int, token: int) -> None:
    """Add an event, a span of events, or `*` (all events) to the current event list.

    step: the number of the step, which says which of the three to add. token: the index of the
    token after the step.
    """
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
        fail(columns, Reason.OUT_OF_RANGE, at, low)
    elif step == c.EVENT_SPAN and high <= low:
        fail(columns, Reason.BAD_SPAN, at, high)
    elif high >= state[c.NUM_EVENTS_HERE]:
        fail(columns, Reason.OUT_OF_RANGE, token - 1, high)
    if state[c.EVERY] or (step == c.ALL_EVENTS and state[c.SPANS]):
        note(columns, Note.EVERY_EVENT, token - 1, 0, 0)
    if step == c.ALL_EVENTS:
        state[c.EVERY] = 1
    columns.lows[state[c.SPANS]] = low
    columns.highs[state[c.SPANS]] = high
    state[c.SPANS] += 1


@inline_kernel
def end_events(columns: Columns) -> None:
    """End the current event list. Its events get the inputs and targets that follow in the text.

    An empty list means all events.
    """
    state = columns.state
    end_header(columns)
    if not state[c.LISTING]:
        state[c.LISTING] = 1
        state[c.SPANS] = 1
        columns.lows[0] = 0
        columns.highs[0] = state[c.NUM_EVENTS_HERE] - 1
    state[c.FIRST_LISTED] = columns.lows[0]
    for span in range(1, state[c.SPANS]):
        state[c.FIRST_LISTED] = min(state[c.FIRST_LISTED], columns.lows[span])
    state[c.SEEN_FIELDS] = 0  # from here on for this event list
    columns.state[c.SEEN] = columns.state[c.SEEN + 1] = 0


@inline_kernel
def end_example(columns: Columns, token: int) -> None:
    """End an example, and prepare the state for the next one.

    token: the token after the example.
    """
    state = columns.state
    columns.lists[state[c.NUM_LISTS]] = state[c.NUM_RANGES]
    if not in_order(columns):
        state[c.UNORDERED] = 1
    state[c.FIRST_LIST] = state[c.NUM_LISTS]
    if not state[c.ANYTHING]:
        note(columns, Note.EMPTY_EXAMPLE, token - 1, 0, 0)
    state[c.EXAMPLES_DONE] += 1
    state[c.BASE] += state[c.NUM_EVENTS_HERE]
    if state[c.EXAMPLES_DONE] < len(columns.event_offsets) - 1:
        following = columns.event_offsets[state[c.EXAMPLES_DONE] + 1]
        state[c.NUM_EVENTS_HERE] = following - state[c.BASE]
    state[c.IN_HEADER] = 0
    state[c.SEEN_FIELDS] = 0
    state[c.ANYTHING] = 0
    state[c.SPANS] = 0
    columns.state[c.SEEN] = columns.state[c.SEEN + 1] = 1
    columns.state[c.NEXT] = columns.state[c.NEXT + 1] = 0


@inline_kernel
def in_order(columns: Columns) -> bool:
    """Return whether the lists of the current example already have the order of the normal form.

    In this order, the lists of inputs come before the lists of targets, both are sorted by their
    first event, and no list is unused.
    """
    state = columns.state
    low, high = state[c.BASE], state[c.BASE] + state[c.NUM_EVENTS_HERE]
    following = state[c.FIRST_LIST]
    for side in range(2):
        for event in range(low, high):
            if columns.uses[side, event] > following:
                return False
            following += columns.uses[side, event] == following
    return bool(following == state[c.NUM_LISTS])


def event_offsets(tokens: Tokens, count: Ints) -> Ints:
    """Return the events of each example, as offsets among all events: int64[examples + 1].

    If an example states its number of events several times, the last number counts; the default is
    1. count: the number of steps of each kind in the chunk.
    """
    if not count[c.NUM_EVENTS]:
        return np.arange(count[c.EXAMPLE] + 1)
    ends = np.flatnonzero(tokens.steps == c.EXAMPLE)
    counts = np.ones(len(ends), np.int64)
    at = np.flatnonzero(tokens.steps == c.NUM_EVENTS)
    counts[np.searchsorted(ends, at)] = tokens.ints[tokens.before[at] - 1]
    return offsets_of(counts)
