"""Lens examples as bytes, many at a time: kernels.

They write what `exset.parsers.lens.render` describes, by a script (`write_plan_kernels`), into
a buffer that has room: how much an example needs at most is known before.
"""

from typing import Final

import numpy as np

from exset.core.kernels import bare_kernel
from exset.grammars.columns.arrays import Bytes, Ints, Longs
from exset.parsers.lens.write_plan import NOTHING
from exset.parsers.lens.write_plan_kernels import (
    EVENT,
    LISTED,
    NUMBER,
    ROLE,
    ROLE_BOTH,
    ROLE_TARGETS,
    SETTINGS,
)
from exset.parsers.lens.write_strings import BARE
from exset.parsers.shared.shortest import INTEGER_ROOM, put_integer, put_real, put_reals

_BLANK: Final = ord(" ")
_BREAK: Final = ord("\n")
_DASH: Final = ord("-")
_END: Final = ord(";")
_ALL: Final = ord("*")
_SMALL: Final = ord("a") - ord("A")
_ONE: Final = int(np.float32(1).view(np.int32))
_NO_BITS: Final = 1 << 32

# Bytes that are enough for the words and single numbers of an example's head, of an event, which is
# in few event lists and has few statements, and of a range.
HEAD_ROOM: Final = 96
EVENT_ROOM: Final = 12 * INTEGER_ROOM
RANGE_ROOM: Final = 3 * INTEGER_ROOM

_NAME: Final = np.frombuffer(b"name:", np.uint8)
_PROC: Final = np.frombuffer(b"proc:", np.uint8)
_FREQUENCY: Final = np.frombuffer(b"freq:", np.uint8)

# Which bytes a bare word may begin with, and go on with.
_BEGINS_BARE: Final = np.array([BARE.fullmatch(bytes([i])) is not None for i in range(256)])
_GOES_ON_BARE: Final = np.array([BARE.fullmatch(b"a%c" % i) is not None for i in range(256)])


# The rows of tables, all int64; strings are spans of one array of bytes, reals are their bits.
# Of each example: its strings (those not given begin at -1), frequency, events, whether the events'
# own fields are set before the data, the steps of its script, and the bytes it takes at most.
NAME_BEGIN: Final = 0
NAME_END: Final = 1
PROC_BEGIN: Final = 2
PROC_END: Final = 3
FREQUENCY: Final = 4
EVENTS_BEGIN: Final = 5
EVENTS_END: Final = 6
ARE_SET: Final = 7
STEPS_BEGIN: Final = 8
STEPS_END: Final = 9
ROOM: Final = 10
HEAD_ROWS: Final = 11

# Of each event: the text of its own fields, if it has any, and its active values. One column more
# is for what the set says.
OWN_BEGIN: Final = 0
OWN_END: Final = 1
ACTIVE_INPUT: Final = 2
ACTIVE_TARGET: Final = 3
FIELD_ROWS: Final = 4

# Of each range: its group as text, empty for none; its first unit and value; and where its values
# and units begin, which is where those of the range before end, so there is one column more.
GROUP_BEGIN: Final = 0
GROUP_END: Final = 1
FIRST: Final = 2
VALUE: Final = 3
VALUES: Final = 4
UNITS: Final = 5
RANGE_ROWS: Final = 6


@bare_kernel
def write(
    out: Bytes,
    example: int,
    compact: bool,
    data: Bytes,
    heads: Longs,
    fields: Longs,
    following: Longs,
    script: Longs,
    lists: Longs,
    ranges: Longs,
    values: Ints,
    units: Ints,
) -> tuple[int, int]:
    """Write examples from this one on: as many as the buffer has room for.

    data: uint8, all strings. heads, fields, ranges: tables, see above. following and script: see
    `write_plan_kernels`. lists: int64 [L + 1], list k is ranges lists[k]:lists[k + 1].
    values: int32, bits. Gives the number of the first example that is not written, and how many
    bytes are.
    """
    at = 0
    while example < heads.shape[1] and at + heads[ROOM, example] <= out.size:
        start = at
        at = _head(out, at, compact, data, heads, example)
        steps, end = heads[STEPS_BEGIN, example], heads[STEPS_END, example]
        first, count = heads[EVENTS_BEGIN, example], heads[EVENTS_END, example]
        count -= first
        in_rows = count > 1 and not compact
        rows, first_break, last = 0, at, -1
        for step in range(steps, end):
            role, event, listed = script[ROLE, step], script[EVENT, step], script[LISTED, step]
            if in_rows and (listed != NOTHING or event > last):
                rows += 1
                out[at] = _BREAK
                at += 1
            elif at > start:
                at = _apart(out, at, compact, False)
            if listed != NOTHING:
                own, own_end = fields[OWN_BEGIN, event], fields[OWN_END, event]
                if role != SETTINGS:
                    own_end = own
                at = _event_list(
                    out, at, compact, data, own, own_end, following, listed, event, first, count
                )
            if role == SETTINGS:
                continue
            last = event
            if listed != NOTHING:
                at = _apart(out, at, compact, False)
            holds = event if heads[ARE_SET, example] else fields.shape[1] - 1
            of_input, of_target = fields[ACTIVE_INPUT, holds], fields[ACTIVE_TARGET, holds]
            active = of_target if role == ROLE_TARGETS else of_input
            if role == ROLE_BOTH and of_input != of_target:
                active = _NO_BITS  # Lens takes the inputs' value, easily mistaken: say it
            number = script[NUMBER, step]
            begin, stop = 0, 0
            if number != NOTHING:
                begin, stop = lists[number], lists[number + 1]
            at = _statement(
                out, at, compact, role, active, data, ranges, begin, stop, values, units
            )
        if rows == 1:
            out[first_break] = _BLANK
        if at > start and steps == end and not compact:
            out[at] = _BLANK  # the head may end in a bare word
            at += 1
        out[at] = _END
        out[at + 1] = _BREAK
        at += 2
        example += 1
    return example, at


@bare_kernel
def _head(out: Bytes, at: int, compact: bool, data: Bytes, heads: Longs, example: int) -> int:
    name, name_end = heads[NAME_BEGIN, example], heads[NAME_END, example]
    proc, proc_end = heads[PROC_BEGIN, example], heads[PROC_END, example]
    start = at
    if name >= 0:
        at = _put(out, at, _NAME, 0, _NAME.size)
        at = _string(out, at, compact, data, name, name_end)
    if proc >= 0:
        if at > start:
            at = _apart(out, at, compact, False)
        at = _put(out, at, _PROC, 0, _PROC.size)
        at = _string(out, at, compact, data, proc, proc_end)
    if heads[FREQUENCY, example] != _ONE:
        if at > start:
            at = _apart(out, at, compact, False)
        at = _put(out, at, _FREQUENCY, 0, _FREQUENCY.size)
        if not compact:
            out[at] = _BLANK
            at += 1
        at = put_real(out, at, heads[FREQUENCY, example])
    count = heads[EVENTS_END, example] - heads[EVENTS_BEGIN, example]
    if count > 1:
        if at > start:
            at = _apart(out, at, compact, True)
        at = put_integer(out, at, count)
    return at


@bare_kernel
def _put(out: Bytes, at: int, data: Bytes, begin: int, end: int) -> int:
    for i in range(begin, end):
        out[at] = data[i]
        at += 1
    return at


@bare_kernel
def _apart(out: Bytes, at: int, compact: bool, is_digit: bool) -> int:
    """Keep the next word, which begins with a digit or not, apart from what there is.

    Compact text has only the blanks that keep numbers apart, or follow a dash that is NaN.
    """
    if compact:
        before = out[at - 1]
        after_digit = ord("0") <= before <= ord("9")
        if before != _DASH and not (after_digit and is_digit):
            return at
    out[at] = _BLANK
    return at + 1


@bare_kernel
def _string(out: Bytes, at: int, compact: bool, data: Bytes, begin: int, end: int) -> int:
    """The string of a field; in compact text a bare word brings the blank that must follow it."""
    if not compact:
        out[at] = _BLANK
        at += 1
    is_bare = end > begin and _BEGINS_BARE[data[begin]]
    for i in range(begin, end):
        is_bare = is_bare and _GOES_ON_BARE[data[i]]
    backslash = end
    while backslash > begin and data[backslash - 1] == ord("\\"):
        backslash -= 1
    if is_bare or (end - backslash) % 2 == 1:  # as `is_bare` has it
        at = _put(out, at, data, begin, end)
        if compact:
            out[at] = _BLANK
            at += 1
        return at
    out[at] = ord("{")
    at = _put(out, at + 1, data, begin, end)
    out[at] = ord("}")
    return at + 1


@bare_kernel
def _event_list(
    out: Bytes,
    at: int,
    compact: bool,
    data: Bytes,
    own: int,
    own_end: int,
    following: Longs,
    kind: int,
    event: int,
    base: int,
    count: int,
) -> int:
    """An event list of a chain; all events are `*`, or nothing where fields follow."""
    size, each = 0, event
    while each >= 0:
        size += 1
        each = following[kind, each]
    out[at] = ord("[")
    at += 1
    start = at
    first = event if size < count else -1
    while first >= 0:
        last, each = first, following[kind, first]
        while each == last + 1:
            last, each = each, following[kind, each]
        if at > start:
            at = _apart(out, at, compact, True)
        at = put_integer(out, at, first - base)
        if last > first:
            out[at] = _DASH
            at = put_integer(out, at + 1, last - base)
        first = each
    if own_end > own:
        if at > start:
            at = _apart(out, at, compact, False)
        at = _put(out, at, data, own, own_end)
    elif at == start:
        out[at] = _ALL
        at += 1
    out[at] = ord("]")
    return at + 1


@bare_kernel
def _statement(
    out: Bytes,
    at: int,
    compact: bool,
    role: int,
    active: int,
    data: Bytes,
    ranges: Longs,
    begin: int,
    end: int,
    values: Ints,
    units: Ints,
) -> int:
    """Ranges as inputs, targets or both; a value whose bits are `active` goes unsaid."""
    is_sparse = begin < end and ranges[VALUES, begin] == ranges[VALUES, begin + 1]
    out[at] = role + _SMALL if is_sparse else role
    out[at + 1] = ord(":")
    at += 2
    for index in range(begin, end):
        value, value_end = ranges[VALUES, index], ranges[VALUES, index + 1]
        unit, unit_end = ranges[UNITS, index], ranges[UNITS, index + 1]
        group, group_end = ranges[GROUP_BEGIN, index], ranges[GROUP_END, index]
        is_dense = value < value_end
        says = ranges[FIRST, index] != 0 if is_dense else ranges[VALUE, index] != active
        # Only the first range can do without brackets, if it is plain and not empty.
        if index > begin or says or group < group_end or not (is_dense or unit < unit_end):
            at = _apart(out, at, compact, False)
            out[at] = ord("(") if is_dense else ord("{")
            at = _put(out, at + 1, data, group, group_end)
            if says and group < group_end:
                out[at] = _BLANK
                at += 1
            if says and is_dense:
                at = put_integer(out, at, ranges[FIRST, index])
            elif says:
                at = put_real(out, at, ranges[VALUE, index])
            out[at] = ord(")") if is_dense else ord("}")
            at += 1
        if not compact and (is_dense or unit < unit_end):
            out[at] = _BLANK  # in compact text nothing, as there is a colon or a bracket before
            at += 1
        if is_dense:
            at = put_real(out, at, values[value])
            at = put_reals(out, at, values, value + 1, value_end)
        else:
            at = _units(out, at, units, unit, unit_end)
    return at


@bare_kernel
def _units(out: Bytes, at: int, units: Ints, begin: int, end: int) -> int:
    """Units, a blank between them but for the ends of spans; -1 alone is `*`."""
    if begin < end and units[begin] < 0:
        out[at] = _ALL
        return at + 1
    for i in range(begin, end):
        if i > begin and units[i] >= 0:
            out[at] = _BLANK
            at += 1
        at = put_integer(out, at, units[i])
    return at
