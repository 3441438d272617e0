"""What is wrong in a Lens text beyond its grammar, and how it can be mended."""

from typing import Final

import numpy as np

from exset.errors import FormatError, LimitError
from exset.limits import Limits
from exset.parsers import lens_columns as c
from exset.parsers.engine.errors import shown
from exset.parsers.lens_columns import Columns, Ints, Tokens
from exset.parsers.lens_tokens import Text

_MAX_INT: Final = 2**31 - 1
_CLOSERS: Final = {b"{": b"}", b"[": b"]", b"(": b")", b'"': b'"'}
_DELIMITERS: Final = ("LBRACE", "RBRACE", "LSQB", "RSQB", "LPAR", "RPAR", "QUOTE")

_HINTS: Final = {
    b",": "numbers are separated by blanks alone",
    b"#": "a comment begins in the first column of its line",
    b"+": "numbers in lists have no plus sign",
    b"*": "`*` stands alone, first in a sparse range",
}
_KEYWORDS: Final = frozenset(
    b"name: freq: proc: max: min: grace: defI: actI: defT: actT: I: T: B: i: t: b:".split()
)


def hint(found: bytes, expected: frozenset[str]) -> str | None:
    """How to mend a text where `found` stands instead of the terminals expected."""
    if found[:1] in _HINTS:
        return _HINTS[found[:1]]
    if found in _KEYWORDS and "SEMICOLON" in expected:
        return "the header of the set, and that of an example, come before its data and end there"
    if found + b":" in _KEYWORDS:
        return "no blank may stand before the colon"
    for keyword in _KEYWORDS:
        if keyword.lower() == found.lower() and found not in _KEYWORDS:
            return f"capital and small letters differ: `{keyword.decode()}`"
    if not found and "SEMICOLON" in expected:
        return "every example ends with `;`"
    if not found and "CHARACTERS" in expected:
        return "delimiters must balance, also inside quotation marks"
    if found.startswith(b"-") and not expected.isdisjoint(("VALUE", "REAL")):
        return "a dash is NaN only where a blank, `;` or a closing delimiter follows"
    if "VALUE" in expected and found[:1].isalpha():
        return "an unknown value is written `-`; a group name stands in ( ) or { }"
    return None


def check_integers(text: Text, ints: Ints) -> None:
    """Integers are of 32 bits: FormatError."""
    wrong = np.flatnonzero((ints > _MAX_INT) | (ints < -_MAX_INT - 1)).tolist()
    if wrong:
        raise _error(text, wrong[0], f"{shown(text.raw(wrong[0]))} does not fit in 32 bits", None)


def check_event_counts(text: Text, tokens: Tokens, counts: Ints, limits: Limits) -> None:
    """An example has one event or more: FormatError; and not too many: LimitError."""
    given = tokens.tokens_before[tokens.steps == c.NUM_EVENTS] - 1
    zero = given[tokens.ints[given] == 0]
    if len(zero):
        raise _error(text, zero[0], "an example has one event or more", None)
    most = len(text.data) + limits.max_events
    if int(counts.sum()) > most:
        token = int(given[np.argmax(tokens.ints[given])])
        raise _limit(text, token, f"more than {most} events", "max_events")


def check_strings(text: Text, tokens: Tokens, pairs: Ints, limits: Limits) -> None:
    """Delimiters nest only so deep, and strings are only so long: LimitError.

    pairs: the first token of each string and the one after its last.
    """
    starts, ends = text.bounds(pairs)
    long = np.flatnonzero(ends - starts > limits.max_name)
    if len(long):
        message = f"a string longer than {limits.max_name} bytes"
        raise _limit(text, pairs[long[0], 0], message, "max_name")
    outermost = np.zeros(len(text), np.bool_)
    outermost[tokens.tokens_before[tokens.steps == c.STRING] - 1] = True
    stack: list[bytes] = []
    for token in np.flatnonzero(text.is_a(*_DELIMITERS)).tolist() if outermost.any() else ():
        mark = text.raw(token)
        if stack and mark == _CLOSERS[stack[-1]]:
            stack.pop()
        elif stack or outermost[token]:
            stack.append(mark)
            if len(stack) > limits.max_depth:
                message = f"delimiters nest deeper than {limits.max_depth}"
                raise _limit(text, token, message, "max_depth")


def check_units(text: Text, tokens: Tokens, run: Ints) -> None:
    """A negative unit ends a span that begins no higher (readEventRanges): FormatError.

    run: for each number of a sparse range, in order, the pair of its token and its range's first.
    """
    units, is_first = tokens.ints[run[:, 0]], run[:, 0] == run[:, 1]
    before = np.where(is_first, 0, np.roll(units, 1))
    wrong = (units < 0) & ~text.is_a("STAR")[run[:, 0]] & (is_first | (-units < before))
    if wrong.any():
        at = int(run[np.argmax(wrong), 0])
        message = f"{shown(text.raw(at))} would end a span of units, but "
        if is_first[np.argmax(wrong)]:
            message += "none has begun"
        else:
            message += f"the unit before it is {before[np.argmax(wrong)]}"
        raise _error(
            text, at, message, "a span is written from its lower unit to its higher, as 4-6"
        )


def impossible(text: Text, columns: Columns, limits: Limits) -> FormatError:
    """Why the actions stopped, as an error."""
    state = columns.state
    token, number, events = int(state[c.CULPRIT]), state[c.NUMBER], state[c.NUM_EVENTS_HERE]
    example = f"example {state[c.EXAMPLES_DONE]}"
    match state[c.REASON]:
        case c.OUT_OF_RANGE:
            message = f"event {number} is out of range: {example} has {_count(events)}"
            return _error(text, token, message, _count_hint(text, columns))
        case c.BAD_SPAN:
            advice = "a single event is written alone, a span from its lower number to its higher"
            return _error(text, token, f"a span of events cannot end at {number}", advice)
        case c.NO_EVENT_LEFT:
            message = f"these would be for event {number}, but {example} has {_count(events)}"
            return _error(text, token, message, _count_hint(text, columns))
        case c.INPUTS_GIVEN | c.TARGETS_GIVEN:
            role = "inputs" if state[c.REASON] == c.INPUTS_GIVEN else "targets"
            advice = f"an event list such as `[0]` says which events the next {role} are for"
            return _error(text, token, f"event {number} of {example} already has {role}", advice)
        case _:
            message = f"the event lists name more than {limits.max_expand} events in all"
            return _limit(text, token, message, "max_expand")


def _count(events: int) -> str:
    return "1 event" if events == 1 else f"{events} events"


def _count_hint(text: Text, columns: Columns) -> str:
    if columns.state[c.EXAMPLES_DONE] == 0 and len(text) and text.is_a("COUNT")[0]:
        return (
            f"{shown(text.raw(0))} at the start of the file was thrown away, as Lens does;"
            " put `;` before it to make it the number of events"
        )
    return "events count from 0; the number of events stands before an example's data"


def _error(text: Text, token: int, message: str, advice: str | None) -> FormatError:
    return FormatError(message, source=text.source, span=text.span(int(token)), hint=advice)


def _limit(text: Text, token: int, message: str, limit: str) -> LimitError:
    advice = f"a higher limit for {limit} lets it pass"
    return LimitError(message, source=text.source, span=text.span(int(token)), hint=advice)
