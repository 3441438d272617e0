"""The steps into which the grammar divides a Lens text: their numbers, and the arrays of a chunk.

`exset.parsers.lens.actions` runs the action of each step. An action reads the arrays of tokens, and
fills the arrays of columns.
"""

from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import inline_kernel
from exset.grammars.columns.arrays import LongRows
from exset.grammars.lens.columns import REAL_FIELDS

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

# The steps that have actions, in the order of their numbers. Steps for reals come first, so that
# the number of the step is also the number of the field.
STEPS: Final = (
    *REAL_FIELDS,
    *(f"missing_{field}" for field in REAL_FIELDS),
    *("header", "eaten_count", "eaten_counts"),
    *("name", "proc", "empty_proc", "frequency", "missing_frequency", "num_events", "example"),
    *("event", "event_span", "all_events", "events", "event_list"),
    *("inputs", "targets", "both", "dense_values", "units", "all_units"),
    *("dense_range", "sparse_range", "first_unit", "value", "group", "string"),
)

NUM_REALS: Final = len(REAL_FIELDS)
ACTIVE_INPUT: Final = REAL_FIELDS.index("active_input")
ACTIVE_TARGET: Final = REAL_FIELDS.index("active_target")

# The numbers of the other steps. A test checks that the names agree with `STEPS`.
(HEADER, EATEN_COUNT, EATEN_COUNTS, NAME, PROC, EMPTY_PROC, FREQUENCY, MISSING_FREQUENCY,
 NUM_EVENTS, EXAMPLE, EVENT, EVENT_SPAN, ALL_EVENTS, EVENTS, EVENT_LIST, INPUTS, TARGETS, BOTH,
 DENSE_VALUES, UNITS, ALL_UNITS, DENSE_RANGE, SPARSE_RANGE, FIRST_UNIT, VALUE, GROUP, STRING,
) = range(2 * NUM_REALS, len(STEPS))  # fmt: skip

MAX_INT: Final = 2**31 - 1

_HEADER: Final = (1, 0, 0, 0, 1, 0, 1)  # the defaults of the real fields
KEPT: Final = 100  # the most notes of each kind whose places are stored

# The state of the actions: numbers in one array, so that the actions can stop and resume. Plain
# Python compares them too slowly if they are members of an `IntEnum`.
(REASON, CULPRIT, NUMBER, LEFT, IN_HEADER, EXAMPLES_DONE, BASE, NUM_EVENTS_HERE, SEEN_FIELDS,
 ANYTHING, STRING_START, LISTING, SPANS, EVERY, FIRST_LISTED, PENDING, PENDING_TOKEN, NUM_LISTS,
 LIST_START, NUM_RANGES, RUN_START, EXPLICIT, GROUP_START, GROUP_END, FIRST, NUMBERS_SEEN,
 NUM_VALUES, NUM_UNITS, BEFORE, FIRST_LIST, UNORDERED, SIDES,
) = range(32)  # fmt: skip

# The state of inputs; add 1 for targets: whether the event list has had its data, the next event,
# the event that gets the list being read, and whether the listed events get this list.
(SEEN, NEXT, FOR_EVENT, LISTED, STATE_SIZE) = range(SIDES, SIDES + 10, 2)


class Reason(IntEnum):
    """Why the action of a step can fail."""

    OUT_OF_RANGE = 1
    BAD_SPAN = 2
    NO_EVENT_LEFT = 3
    INPUTS_TWICE = 4
    TARGETS_TWICE = 5
    TOO_MANY = 6
    NO_UNIT_BEFORE = 7
    UNIT_SPAN_DOWN = 8


class Note(IntEnum):
    """The kinds of findings that the actions store, for a later report."""

    REPEATED_FIELD = 0
    MISSING_VALUE = 1
    VALUE_TWICE = 2
    GROUP_TWICE = 3
    EVERY_EVENT = 4
    LATE_ACTIVE = 5
    SHARED_ACTIVE = 6
    BOTH_APART = 7
    BOTH_ACTIVE = 8
    NO_RANGES = 9
    EMPTY_RANGE = 10
    EMPTY_EXAMPLE = 11
    ZERO_SPAN = 12
    BLANK_SPAN = 13
    SPAN_CHAIN = 14
    NEGATIVE_FIRST = 15
    GLUED_NUMBERS = 16
    NEGATIVE_FREQUENCY = 17

    @property
    def code(self) -> str:
        """The finding code for notes of this kind."""
        return f"lens-{self.name.lower().replace('_', '-')}"


class Tokens(NamedTuple):
    """The steps and tokens of a chunk, the values of the tokens, and the text.

    - steps: the number of each step.
    - before: the number of tokens before each step.
    - starts, ends: where each token is in the source.
    - reals: float32[tokens], the value of each token that is a real. Every NaN is the quiet NaN.
    - ints: int64[tokens], the value of each token that is an integer.
    - base: the offset of the buffer's first byte.

    The elements of `reals` and `ints` for other tokens are undefined.
    """

    steps: NDArray[np.int16]
    before: Ints
    starts: Ints
    ends: Ints
    ints: Ints
    reals: Floats
    buffer: NDArray[np.uint8]
    base: int


class Columns(NamedTuple):
    """The columns that the actions fill. A column that no step sets has size 0.

    A string is a pair: its first token, and the token after its last. An absent string is (-1, -1).
    Lists and ranges are in normal form, but the lists are not sorted if the state has `UNORDERED`.
    """

    # Of the set
    header: Floats
    header_proc: LongRows  # one string
    # Of each example
    name: LongRows
    proc: LongRows
    frequency: Floats
    event_offsets: Ints
    # Of each event: its proc; its own fields, a row for each; its lists, a row for each side, or -1
    event_proc: LongRows
    reals: np.ndarray[tuple[int, int], np.dtype[np.float32]]
    present: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
    uses: LongRows
    # The first range of each list
    lists: Ints
    # Of each range; value_ends, unit_ends: the ends of its numbers in values and in units
    group: LongRows
    first: NDArray[np.int32]
    value: Floats
    value_ends: Ints
    unit_ends: Ints
    values: Floats
    units: NDArray[np.int32]
    # The spans of events of the last event list
    lows: Ints
    highs: Ints
    # The active value of the list being read, and the value of the range being read
    active: Floats
    # The token and two numbers of each note, by kind, and the number of notes of each kind
    notes: np.ndarray[tuple[int, int, int], np.dtype[np.int64]]
    noted: Ints
    # The numbers of the state, as named above
    state: Ints


class Before(NamedTuple):
    """Facts about the text before a chunk, which the chunk's actions need.

    left: the number of events that event lists may still name before a limit is reached. examples,
    events: the number of examples and events before the chunk, including examples with an error.
    header: the real fields of the set; None if the chunk may begin with these fields.
    """

    left: int
    examples: int = 0
    events: int = 0
    header: Floats | None = None


def empty_columns(
    count: Ints, event_offsets: Ints, values: int, units: int, before: Before
) -> Columns:
    """Return columns with room for everything that the steps may store, filled with defaults.

    count: the number of steps of each kind. values, units: the largest possible numbers of tokens
    that are values, and of tokens that are units. before: facts about the text before the chunk.
    """
    examples, events = len(event_offsets) - 1, int(event_offsets[-1])
    lists = int(count[[INPUTS, TARGETS, BOTH]].sum())
    ranges = lists + int(count[[DENSE_RANGE, SPARSE_RANGE]].sum())
    spans = int(count[[EVENT, EVENT_SPAN, ALL_EVENTS]].sum()) + 1
    own = events if count[EVENTS] and count[: 2 * NUM_REALS].any() else 0
    event_procs = events if count[EVENTS] and count[[PROC, EMPTY_PROC]].any() else 0
    frequencies = examples if count[[FREQUENCY, MISSING_FREQUENCY]].any() else 0
    state = np.zeros(STATE_SIZE, np.int64)
    state[[SEEN, SEEN + 1]] = 1
    state[IN_HEADER] = before.header is None and not before.examples
    state[[LEFT, BEFORE]] = before.left, before.examples
    state[[STRING_START, GROUP_START, GROUP_END]] = -1
    state[NUM_EVENTS_HERE] = event_offsets[1] if examples else 0
    header = _HEADER if before.header is None else before.header
    return Columns(
        header=np.array(header, np.float32),
        header_proc=_absent(1),
        name=_absent(examples if count[NAME] else 0),
        proc=_absent(examples if count[PROC] else 0),
        frequency=np.ones(frequencies, np.float32),
        event_offsets=event_offsets,
        event_proc=_absent(event_procs),
        reals=np.zeros((NUM_REALS, own), np.float32),
        present=np.zeros((NUM_REALS, own), np.bool_),
        uses=np.full((2, events), -1, np.int64),
        lists=np.zeros(lists + 1, np.int64),
        group=_absent(ranges if count[GROUP] else 0),
        first=np.empty(ranges if count[FIRST_UNIT] else 0, np.int32),
        value=np.empty(ranges, np.float32),
        value_ends=np.zeros(ranges + 1, np.int64),
        unit_ends=np.zeros(ranges + 1, np.int64),
        values=np.empty(values, np.float32),
        units=np.empty(units, np.int32),
        lows=np.zeros(spans, np.int64),
        highs=np.zeros(spans, np.int64),
        active=np.zeros(2, np.float32),
        notes=np.zeros((len(Note), KEPT, 3), np.int64),
        noted=np.zeros(len(Note), np.int64),
        state=state,
    )


def _absent(n: int) -> Ints:
    return np.full((n, 2), -1, np.int64)


@inline_kernel
def note(columns: Columns, kind: int, token: int, first: int, second: int) -> None:
    """Count a note. Store it if it is one of the first `KEPT` notes of its kind.

    token: the token that the note is about. first, second: numbers for the note's message.
    """
    count = columns.noted[kind]
    if count < KEPT:
        columns.notes[kind, count, 0] = token
        columns.notes[kind, count, 1] = first
        columns.notes[kind, count, 2] = second
    columns.noted[kind] += 1


@inline_kernel
def fail(columns: Columns, reason: int, token: int, number: int) -> None:
    """Store a failure in the state: the reason, the token that causes it, and a number.

    The number becomes part of the message.
    """
    columns.state[REASON] = reason
    columns.state[CULPRIT] = token
    columns.state[NUMBER] = number


@inline_kernel
def note_repeated(columns: Columns, bit: int, token: int) -> None:
    """Add a note if the current header or event list already has a field.

    bit: the number of the field. token: the token that begins the field.
    """
    if columns.state[SEEN_FIELDS] & (1 << bit):
        note(columns, Note.REPEATED_FIELD, token, 0, 0)
    columns.state[SEEN_FIELDS] |= 1 << bit


@inline_kernel
def set_pair(pairs: LongRows, row: int, start: int, end: int) -> None:
    """Store a string in row `row` of `pairs`.

    start: the string's first token. end: the token after its last.
    """
    pairs[row, 0] = start
    pairs[row, 1] = end


@inline_kernel
def end_header(columns: Columns) -> None:
    """End the header of the set, if it has not ended. Record that the example is not empty."""
    if columns.state[IN_HEADER]:
        columns.state[IN_HEADER] = 0
        columns.state[SEEN_FIELDS] = 0
    columns.state[ANYTHING] = 1


@inline_kernel
def expand(columns: Columns, span: int, token: int) -> bool:
    """Count the events of one span in the current event list. Return False if there are too many.

    span: the index of the span. token: the place of the failure, if there are too many events.
    """
    columns.state[LEFT] -= columns.highs[span] + 1 - columns.lows[span]
    if columns.state[LEFT] >= 0:
        return True
    fail(columns, Reason.TOO_MANY, token, 0)
    return False


@inline_kernel
def has_any(uses: LongRows, side: int, low: int, high: int) -> bool:
    """Return whether an event from `low` to `high` - 1 already has a list.

    side: 0 for a list of inputs, 1 for a list of targets. uses: the number of each event's list, or
    -1.
    """
    # The compiled max() would make an array.
    return bool(uses[side, low + uses[side, low:high].argmax()] >= 0)


@inline_kernel
def other(uses: LongRows, side: int, low: int, high: int, newest: int) -> int:
    """Return the first event from `low` to `high` - 1 that has a list other than `newest`.

    Return -1 if there is no such event. uses: the number of each event's list, or -1. side: 0 for
    inputs, 1 for targets. newest: the number of the newest list, which is the highest number, or
    -1. There must be at least one event.
    """
    if not has_any(uses, side, low, high):
        return -1
    if newest >= 0 and uses[side, low + uses[side, low:high].argmin()] == newest:
        return -1
    for index in range(low, high):
        if uses[side, index] >= 0 and uses[side, index] != newest:
            return index
    return -1


@inline_kernel
def effective(columns: Columns, field: int, event: int) -> float:
    """Return the value of the real field `field` for an event.

    This is the event's own value. If the event has none, it is the value of the set.
    """
    if columns.present.shape[1] and columns.present[field, event]:
        return float(columns.reals[field, event])
    return float(columns.header[field])
