"""Find errors in a Lens text that the grammar cannot detect."""

from typing import Final

import numpy as np

from exset.core.errors import FormatError
from exset.core.limits import Limits
from exset.core.lookalikes import foreign
from exset.core.text import counted
from exset.parsers.engine.errors import shown
from exset.parsers.lens import steps as c
from exset.parsers.lens.steps import Columns, Ints, Reason, Tokens
from exset.parsers.lens.string_kernels import DEEP, LONG
from exset.parsers.lens.tokens import Quoted, Text

_CLOSERS: Final = {b"{": b"}", b"[": b"]", b"(": b")", b'"': b'"'}
_DELIMITERS: Final = ("LBRACE", "RBRACE", "LSQB", "RSQB", "LPAR", "RPAR", "QUOTE")


def check_integers(text: Text, ints: Ints) -> None:
    """Raise FormatError for an integer that does not fit in 32 bits.

    ints: the value of each token that is an integer.
    """
    if ints.max(initial=0) > c.MAX_INT or ints.min(initial=0) < -c.MAX_INT - 1:
        wrong = int(np.argmax((ints > c.MAX_INT) | (ints < -c.MAX_INT - 1)))
        message = f"{shown(text.raw(wrong))} does not fit in 32 bits"
        advice = None if text.source.start else foreign(text.source.data)
        raise text.error(wrong, "lens-integer", message, advice)


def check_event_counts(
    text: Text, tokens: Tokens, counts: Ints, before: int, limits: Limits
) -> None:
    """Raise FormatError for an example without events, and LimitError for too many events.

    This is called only if an example states its number of events. tokens: the tokens that state
    these numbers. counts: the number of events of each example. before: the number of events in
    earlier chunks.
    """
    stated = tokens.before[tokens.steps == c.NUM_EVENTS] - 1
    zero = stated[tokens.ints[stated] == 0]
    if len(zero):
        raise text.error(zero[0], "lens-num-events", "the number of events must be 1 or more")
    last = tokens.before[tokens.steps == c.EXAMPLE] - 1
    many = before + np.cumsum(counts) > text.ends[last] + limits.max_events
    if many.any():
        after = stated[stated < last[many.argmax()]]
        message = (
            f"too many events: the limit here is {limits.max_events:,}"
            " plus one for each byte before this position"
        )
        raise text.limit_error(int(after[-1]), "max_events", message)


def check_strings(text: Text, quoted: Quoted, limits: Limits) -> None:
    """Raise LimitError for delimiters that are nested too deeply, and for a string that is too
    long.
    """
    if quoted.found & LONG:
        lengths = quoted.spans[:, 1] - quoted.spans[:, 0]
        long = np.flatnonzero(lengths > limits.max_name)
        if len(long):
            message = f"the string is longer than {limits.max_name:,} bytes"
            raise text.limit_error(quoted.pairs[long[0], 0], "max_name", message)
    if not quoted.found & DEEP:
        return
    for first, after in quoted.pairs[(quoted.flags & DEEP) != 0].tolist():
        stack: list[bytes] = []
        tokens = np.arange(first, after)
        for token in tokens[text.is_a(*_DELIMITERS, among=tokens)].tolist():
            mark = text.raw(token)
            if stack and mark == _CLOSERS[stack[-1]]:
                stack.pop()
                continue
            stack.append(mark)
            if len(stack) > limits.max_depth:
                message = f"brackets are nested more than {limits.max_depth} levels deep"
                raise text.limit_error(token, "max_depth", message)


def impossible(text: Text, columns: Columns, limits: Limits) -> FormatError:
    """Return the error for the step at which the actions stopped."""
    state = columns.state
    advice: str | None
    token, number = int(state[c.CULPRIT]), state[c.NUMBER]
    events = counted(int(state[c.NUM_EVENTS_HERE]), "event")
    example = f"example {state[c.BEFORE] + state[c.EXAMPLES_DONE]}"
    match Reason(int(state[c.REASON])):
        case Reason.OUT_OF_RANGE:
            message = f"event {number} is out of range: {example} has {events}"
            return text.error(token, "lens-event-range", message, _count_hint(text, columns))
        case Reason.BAD_SPAN:
            advice = "write the lower event first, such as 0-2; write one event as its number"
            message = f"this span ends at event {number}, which is not after its first event"
            return text.error(token, "lens-event-order", message, advice)
        case Reason.NO_EVENT_LEFT:
            message = f"these data would be for event {number}, but {example} has {events}"
            return text.error(token, "lens-no-event-left", message, _count_hint(text, columns))
        case Reason.INPUTS_TWICE | Reason.TARGETS_TWICE as reason:
            role = "inputs" if reason is Reason.INPUTS_TWICE else "targets"
            advice = f"put an event list such as `[0]` before the {role} to choose their events"
            message = f"event {number} of {example} already has {role}"
            return text.error(token, "lens-given-twice", message, advice)
        case Reason.NO_UNIT_BEFORE | Reason.UNIT_SPAN_DOWN as reason:
            why = f"its first unit is {number}"
            if reason is Reason.NO_UNIT_BEFORE:
                why = "the span has no first unit"
            message = f"{shown(text.raw(token))} ends a span of units, but {why}"
            advice = "write a span from the lower to the higher unit, such as 4-6"
            return text.error(token, "lens-unit-order", message, advice)
        case Reason.TOO_MANY:
            message = f"the event lists name more than {counted(limits.max_expand, 'event')} in all"
            return text.limit_error(token, "max_expand", message)


def _count_hint(text: Text, columns: Columns) -> str:
    if (
        not columns.state[c.BEFORE] + columns.state[c.EXAMPLES_DONE]
        and text.is_a("COUNT", among=np.zeros(1, np.int64))[0]
    ):
        return (
            f"Lens ignores {shown(text.raw(0))} at the start of the file;"
            " if this is the number of events, put `;` before it"
        )
    return (
        "events count from 0; write the number of events before the data of an example,"
        " and `;` at its end"
    )
