"""The numbers of the steps of a Lens text, and the arrays that its actions read and fill."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import inline_kernel
from exset.grammars.lens.columns import REAL_FIELDS

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

# The steps that mean something, in the order of their numbers. The reals come first, so that such a
# step's number is the field's.
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

# Why a step is impossible.
(FINE, OUT_OF_RANGE, BAD_SPAN, NO_EVENT_LEFT, INPUTS_GIVEN, TARGETS_GIVEN, TOO_MANY,
 NO_UNIT_BEFORE, UNIT_SPAN_DOWN,
) = range(9)  # fmt: skip

MAX_INT: Final = 2**31 - 1

# The codes of the findings that the actions note.
NOTES: Final = (
    "lens-repeated-field",
    "lens-missing-value",
    "lens-value-twice",
    "lens-group-twice",
    "lens-every-event",
    "lens-late-active",
    "lens-shared-active",
    "lens-both-apart",
    "lens-both-active",
    "lens-no-ranges",
    "lens-empty-range",
    "lens-empty-example",
    "lens-zero-span",
    "lens-blank-span",
    "lens-span-chain",
    "lens-negative-first",
    "lens-glued-numbers",
    "lens-negative-frequency",
)
(REPEATED_FIELD, MISSING_VALUE, VALUE_TWICE, GROUP_TWICE, EVERY_EVENT, LATE_ACTIVE,
 SHARED_ACTIVE, BOTH_APART, BOTH_ACTIVE, NO_RANGES, EMPTY_RANGE, EMPTY_EXAMPLE,
 ZERO_SPAN, BLANK_SPAN, SPAN_CHAIN, NEGATIVE_FIRST, GLUED_NUMBERS, NEGATIVE_FREQUENCY,
) = range(len(NOTES))  # fmt: skip

KEPT: Final = 100  # notes of each kind that keep their place

# The state of the actions: numbers in one array, so that the actions can stop and resume.
(REASON, CULPRIT, NUMBER, EXPANDED, IN_HEADER, EXAMPLES_DONE, BASE, NUM_EVENTS_HERE, GIVEN_FIELDS,
 ANYTHING, STRING_START, LISTING, SPANS, EVERY, FIRST_LISTED, INPUTS_SEEN, TARGETS_SEEN,
 NEXT_INPUT, NEXT_TARGET, PENDING, PENDING_TOKEN, INPUT_EVENT, TARGET_EVENT, INPUTS_LISTED,
 TARGETS_LISTED, NUM_LISTS, LIST_START, NUM_RANGES, RUN_START, EXPLICIT, GROUP_START, GROUP_END,
 FIRST, NUMBERS_GIVEN, NUM_VALUES, NUM_UNITS, BEFORE, FIRST_LIST, UNORDERED, STATE_SIZE,
) = range(40)  # fmt: skip


class Tokens(NamedTuple):
    """A parse stream, the values of its tokens, and the text.

    reals: float32[tokens], the value of each token that is a real, every NaN the quiet one. ints:
    int64[tokens], of each integer. What is neither has any value. base: the place of the first byte
    of buffer.
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

    A string is a pair: its first token and the one after its last, or -1 twice for an absent one.
    Lists and ranges are in normal form, except that lists are out of order if the state has
    `UNORDERED`.

    header, header_proc: the set's reals, and a string
    name, proc, frequency: a row an example; event_offsets: the events of each example
    event_proc, reals, present: strings, and a row a field by a column an event
    inputs, targets: the list of each event, or -1; lists: the offsets of each list's ranges
    group, first, value: of each range; value_ends, unit_ends: where its numbers end in values and
        in units
    lows, highs: the spans of events of the last event list
    active: the active value of the list being read, and the value of the range being read
    notes: token and two numbers of each note, by kind; noted: how many there were of each
    state: the numbers above
    """

    header: Floats
    header_proc: Ints
    name: Ints
    proc: Ints
    frequency: Floats
    event_offsets: Ints
    event_proc: Ints
    reals: Floats
    present: NDArray[np.bool_]
    inputs: Ints
    targets: Ints
    lists: Ints
    group: Ints
    first: NDArray[np.int32]
    value: Floats
    value_ends: Ints
    unit_ends: Ints
    values: Floats
    units: NDArray[np.int32]
    lows: Ints
    highs: Ints
    active: Floats
    notes: Ints
    noted: Ints
    state: Ints


def empty_columns(count: Ints, event_offsets: Ints, values: int, units: int) -> Columns:
    """Return columns with room for all steps, filled with defaults.

    count: how many steps there are of each kind. values, units: how many tokens can be such.
    """
    examples, events = len(event_offsets) - 1, int(event_offsets[-1])
    lists = int(count[[INPUTS, TARGETS, BOTH]].sum())
    ranges = lists + int(count[[DENSE_RANGE, SPARSE_RANGE]].sum())
    spans = int(count[[EVENT, EVENT_SPAN, ALL_EVENTS]].sum()) + 1
    own = events if count[EVENTS] and count[: 2 * NUM_REALS].any() else 0
    event_procs = events if count[EVENTS] and count[[PROC, EMPTY_PROC]].any() else 0
    names = examples if count[NAME] else 0
    procs = examples if count[PROC] else 0
    frequencies = examples if count[[FREQUENCY, MISSING_FREQUENCY]].any() else 0
    groups = ranges if count[GROUP] else 0
    firsts = ranges if count[FIRST_UNIT] else 0
    state = np.zeros(STATE_SIZE, np.int64)
    state[[IN_HEADER, INPUTS_SEEN, TARGETS_SEEN]] = 1
    state[[STRING_START, GROUP_START, GROUP_END]] = -1
    state[NUM_EVENTS_HERE] = event_offsets[1] if examples else 0
    return Columns(
        header=np.array([1, 0, 0, 0, 1, 0, 1], np.float32),
        header_proc=np.full(2, -1, np.int64),
        name=np.full((names, 2), -1, np.int64),
        proc=np.full((procs, 2), -1, np.int64),
        frequency=np.ones(frequencies, np.float32),
        event_offsets=event_offsets,
        event_proc=np.full((event_procs, 2), -1, np.int64),
        reals=np.zeros((NUM_REALS, own), np.float32),
        present=np.zeros((NUM_REALS, own), np.bool_),
        inputs=np.full(events, -1, np.int64),
        targets=np.full(events, -1, np.int64),
        lists=np.zeros(lists + 1, np.int64),
        group=np.full((groups, 2), -1, np.int64),
        first=np.empty(firsts, np.int32),
        value=np.empty(ranges, np.float32),
        value_ends=np.zeros(ranges + 1, np.int64),
        unit_ends=np.zeros(ranges + 1, np.int64),
        values=np.empty(values, np.float32),
        units=np.empty(units, np.int32),
        lows=np.zeros(spans, np.int64),
        highs=np.zeros(spans, np.int64),
        active=np.zeros(2, np.float32),
        notes=np.zeros((len(NOTES), KEPT, 3), np.int64),
        noted=np.zeros(len(NOTES), np.int64),
        state=state,
    )


def resume(columns: Columns, done: Columns) -> None:
    """Let the actions of a chunk of a text resume after those of the chunk before."""
    columns.header[:] = done.header
    columns.state[[IN_HEADER, GIVEN_FIELDS]] = 0
    columns.state[EXPANDED] = done.state[EXPANDED]
    columns.state[BEFORE] = done.state[BEFORE] + done.state[EXAMPLES_DONE]


@inline_kernel
def note(columns: Columns, kind: int, token: int, first: int, second: int) -> None:
    """Count a note, and keep it if it is among the first of its kind."""
    count = columns.noted[kind]
    if count < KEPT:
        columns.notes[kind, count, 0] = token
        columns.notes[kind, count, 1] = first
        columns.notes[kind, count, 2] = second
    columns.noted[kind] += 1


@inline_kernel
def fail(columns: Columns, reason: int, token: int, number: int) -> int:
    """Keep the token to blame and a number for the message; return the reason."""
    columns.state[CULPRIT] = token
    columns.state[NUMBER] = number
    return reason


@inline_kernel
def note_repeated(columns: Columns, bit: int, token: int) -> None:
    """Note a field that the same header or event list already has."""
    mask = 1 << int(bit)  # NumPy would shift a step of 16 bits out
    if columns.state[GIVEN_FIELDS] & mask:
        note(columns, REPEATED_FIELD, token, 0, 0)
    columns.state[GIVEN_FIELDS] |= mask


@inline_kernel
def begin_examples(columns: Columns) -> None:
    """End the set's header; the example is not empty."""
    if columns.state[IN_HEADER]:
        columns.state[IN_HEADER] = 0
        columns.state[GIVEN_FIELDS] = 0
    columns.state[ANYTHING] = 1


@inline_kernel
def expand(columns: Columns, span: int, max_expand: int) -> bool:
    """Count the events of a listed span against the limit."""
    columns.state[EXPANDED] += columns.highs[span] + 1 - columns.lows[span]
    return bool(columns.state[EXPANDED] <= max_expand)


@inline_kernel
def has_any(lists: Ints, low: int, high: int) -> bool:
    """Whether an event of a span, which is not empty, has a list."""
    return bool(lists[low + lists[low:high].argmax()] >= 0)  # compiled, max() would make an array


@inline_kernel
def other(lists: Ints, low: int, high: int, newest: int) -> int:
    """The first event of a span, which is not empty, that has a list but the newest, or -1.

    newest: the number of the newest list, which is the highest; -1 for none.
    """
    if not has_any(lists, low, high):
        return -1
    if newest >= 0 and lists[low + lists[low:high].argmin()] == newest:
        return -1
    for index in range(low, high):
        if lists[index] >= 0 and lists[index] != newest:
            return index
    return -1


@inline_kernel
def effective(columns: Columns, field: int, event: int) -> float:
    """The value of a real field for an event: its own, or else the set's."""
    if columns.present.shape[1] and columns.present[field, event]:
        return float(columns.reals[field, event])
    return float(columns.header[field])
