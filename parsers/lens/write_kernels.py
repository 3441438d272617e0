"""Kernels that write Lens examples as bytes.

They write the layout of `exset.parsers.lens.render`, in the order of a script
(`exset.parsers.lens.write_plan`), into a buffer that has room. Columns are arrays for compiled
kernels, and lists for kernels in plain Python, where lists are faster.
"""

from typing import Final, NamedTuple, TypeAlias

import numpy as np

from exset.core.kernels import entry_kernel, inline_kernel, kernel
from exset.grammars.columns.arrays import Bytes, Flags, Ints, Longs
from exset.parsers.lens.write_plan import NOTHING, ROLE_BOTH, ROLE_TARGETS, SETTINGS, Chains, Script
from exset.parsers.shared.shortest import (
    INTEGER_ROOM,
    REAL_ROOM,
    put_integer,
    put_real,
    put_reals,
)

_BLANK: Final = ord(" ")
_BREAK: Final = ord("\n")
_DASH: Final = ord("-")
_END: Final = ord(";")
_ALL: Final = ord("*")
_BRACE: Final = ord("}")
_SMALL: Final = ord("a") - ord("A")
_ONE: Final = int(np.float32(1).view(np.int32))
_NO_BITS: Final = 1 << 32

# Enough bytes for the words and single numbers of an example's head, of an event (which is in few
# event lists and has few range lists), and of a range; the most bytes of a unit with a space.
_HEAD_ROOM: Final = 96
_EVENT_ROOM: Final = 12 * INTEGER_ROOM
_RANGE_ROOM: Final = 3 * INTEGER_ROOM
_UNIT_ROOM: Final = 12

Word: TypeAlias = tuple[int, ...]  # of bytes: plain Python indexes tuples faster than arrays
_NAME: Final = tuple(b"name:")
_PROC: Final = tuple(b"proc:")
_FREQUENCY: Final = tuple(b"freq:")


class Texts(NamedTuple):
    """All strings of the examples, as bytes to write, and where each begins.

    An absent string has no bytes, and no string of an example has its braces. Each array of offsets
    is int64 [k + 1]. names, procs: the names and procs of examples. fields: the distinct texts of
    fields that events do not inherit. groups: the names of the groups.
    """

    data: Bytes
    names: Longs
    procs: Longs
    fields: Longs
    groups: Longs


class Heads(NamedTuple):
    """What the kernel needs of each of n examples.

    name_in_braces, proc_in_braces: whether the string needs braces. frequency: the bits of the
    number. events, step: int64 [n + 1], the first event and the first step of each example. is_set:
    whether the fields that events do not inherit are written before the data.
    """

    name_in_braces: Flags
    proc_in_braces: Flags
    frequency: Ints
    events: Longs
    step: Longs
    is_set: Flags


class ActiveValues(NamedTuple):
    """The active values of each event, and then of the set, as bits: int32 [m + 1]."""

    inputs: Ints
    targets: Ints


class Lists(NamedTuple):
    """The range lists and their ranges: list k has the ranges offsets[k]:offsets[k + 1].

    group: the number of the group's name, or -1. first: the first unit of a dense range. value:
    bits of the value of a sparse range. value_begins, unit_begins: int64 [ranges + 1], where the
    values (as bits) and the units of each range begin.
    """

    offsets: Longs
    group: Ints
    first: Ints
    value: Ints
    value_begins: Longs
    unit_begins: Longs
    values: Ints
    units: Ints


@entry_kernel
def write(
    out: Bytes,
    example: int,
    compact: bool,
    items: list[bytes] | None,
    texts: Texts,
    heads: Heads,
    actives: ActiveValues,
    chains: Chains,
    script: Script,
    lists: Lists,
) -> tuple[int, int, int]:
    """Write examples, from the one with index `example` on, until `out` has no room for the next.

    items: the numbers of each range as text, with a space before each number; None if this kernel
    must convert them. Returns the index of the first example that is not written, the number of
    bytes written, and the room that this example needs.
    """
    at, room = 0, 0
    while example < len(heads.frequency):
        room = _room_of(example, texts, heads, script, lists)
        if at + room > len(out):
            break
        start = at
        at = _head(out, at, compact, texts, heads, example)
        step, end = heads.step[example], heads.step[example + 1]
        first = heads.events[example]
        count = heads.events[example + 1] - first
        in_rows = count > 1 and not compact
        rows, first_break, last = 0, at, -1
        may_end_in_word = count == 1 and heads.frequency[example] == _ONE and not compact
        if may_end_in_word and at > start and step == end and out[at - 1] != _BRACE:
            out[at] = _BLANK  # a bare word would take in the `;`
            at += 1
        for row in range(step, end):
            role, number = script.role[row], script.number[row]
            event, listed = script.event[row], script.listed[row]
            if in_rows and (listed != NOTHING or event > last):
                rows += 1
                out[at] = _BREAK
                at += 1
            else:
                at = _apart(out, start, at, compact, False)
            if listed != NOTHING:
                own = number if role == SETTINGS else NOTHING
                at = _event_list(out, at, compact, texts, own, chains, listed, event, first, count)
                if role == SETTINGS:
                    continue
                at = _apart(out, start, at, compact, False)
            last = event
            holds = event if heads.is_set[example] else len(actives.inputs) - 1
            of_input, of_target = actives.inputs[holds], actives.targets[holds]
            active = of_target if role == ROLE_TARGETS else of_input
            if role == ROLE_BOTH and of_input != of_target:
                active = _NO_BITS  # Lens would take the inputs' value: write the value instead
            begin, stop = 0, 0
            if number != NOTHING:
                begin, stop = lists.offsets[number], lists.offsets[number + 1]
            is_sparse = begin < stop and not _is_dense(lists.value_begins, begin)
            out[at] = role + _SMALL if is_sparse else role
            out[at + 1] = ord(":")
            at += 2
            for index in range(begin, stop):
                at = _bracket(out, at, compact, texts, lists, index, index == begin, active)
                if items is None:
                    at = _numbers(out, at, compact, lists, index)
                else:  # never compiled: Numba omits this branch if items is None
                    text = items[index][1:] if compact else items[index]
                    out[at : at + len(text)] = text
                    at += len(text)
        if rows == 1:
            out[first_break] = _BLANK
        out[at] = _END
        out[at + 1] = _BREAK
        at += 2
        example += 1
    return example, at, room


@inline_kernel
def _room_of(example: int, texts: Texts, heads: Heads, script: Script, lists: Lists) -> int:
    """Return the most bytes that the text of an example can take."""
    room: int = _HEAD_ROOM + _EVENT_ROOM * (heads.events[example + 1] - heads.events[example])
    room += texts.names[example + 1] - texts.names[example]
    room += texts.procs[example + 1] - texts.procs[example]
    for row in range(heads.step[example], heads.step[example + 1]):
        number = script.number[row]
        if number == NOTHING:
            continue
        if script.role[row] == SETTINGS:
            room += texts.fields[number + 1] - texts.fields[number]
            continue
        begin, stop = lists.offsets[number], lists.offsets[number + 1]
        room += _RANGE_ROOM * (stop - begin)
        room += REAL_ROOM * (lists.value_begins[stop] - lists.value_begins[begin])
        room += _UNIT_ROOM * (lists.unit_begins[stop] - lists.unit_begins[begin])
        if len(texts.groups) > 1:
            for index in range(begin, stop):
                group = lists.group[index]
                if group >= 0:
                    room += texts.groups[group + 1] - texts.groups[group]
    return room


@inline_kernel
def _head(out: Bytes, at: int, compact: bool, texts: Texts, heads: Heads, example: int) -> int:
    start = at
    data, names, procs = texts.data, texts.names, texts.procs
    at = _string(out, start, at, compact, _NAME, data, names, example, heads.name_in_braces)
    at = _string(out, start, at, compact, _PROC, data, procs, example, heads.proc_in_braces)
    if heads.frequency[example] != _ONE:
        at = _apart(out, start, at, compact, False)
        at = _put(out, at, _FREQUENCY, 0, 5)
        out[at] = _BLANK
        at += not compact
        at = put_real(out, at, heads.frequency[example])
    count = heads.events[example + 1] - heads.events[example]
    if count > 1:
        at = _apart(out, start, at, compact, True)
        at = put_integer(out, at, count)
    return at


@inline_kernel
def _put(out: Bytes, at: int, data: Bytes | Word, begin: int, end: int) -> int:
    for i in range(begin, end):
        out[at] = data[i]
        at += 1
    return at


@kernel
def _apart(out: Bytes, start: int, at: int, compact: bool, is_digit: bool) -> int:
    """Write a space to `out` at `at`, if the text before it and the word after it need one;
    return where to write the word.

    start: where the text of the example begins. is_digit: whether the word begins with a
    digit. Compact text needs spaces only between numbers, and after `-` for NaN.
    """
    if at == start:
        return at
    if compact:
        before = out[at - 1]
        after_digit = ord("0") <= before <= ord("9")
        if before != _DASH and not (after_digit and is_digit):
            return at
    out[at] = _BLANK
    return at + 1


@inline_kernel
def _string(
    out: Bytes,
    start: int,
    at: int,
    compact: bool,
    word: Word,
    data: Bytes,
    offsets: Longs,
    example: int,
    in_braces: Flags,
) -> int:
    """Write a field that is a string: its name `word`, and the string; return where it ends.

    data, offsets: the strings of all examples. start: where the text of the example begins. In
    compact text, a string without delimiters has a space after it.
    """
    begin, end = offsets[example], offsets[example + 1]
    if begin == end and not in_braces[example]:
        return at
    at = _put(out, _apart(out, start, at, compact, False), word, 0, 5)
    out[at] = _BLANK
    at += not compact
    out[at] = ord("{")  # or the first byte of the string
    at = _put(out, at + in_braces[example], data, begin, end)
    out[at] = _BRACE
    at += in_braces[example]
    out[at] = _BLANK
    return at + (compact and out[at - 1] != _BRACE)


@inline_kernel
def _event_list(
    out: Bytes,
    at: int,
    compact: bool,
    texts: Texts,
    own: int,
    chains: Chains,
    kind: int,
    event: int,
    base: int,
    count: int,
) -> int:
    """Write the events of a chain as an event list, and return where it ends.

    If it has all `count` events, it is `*`, or nothing if fields follow. kind, event: the kind of
    the chain, and its first event. base: the first event of the example. own: the number of the
    fields that follow, or NOTHING.
    """
    chain = kind * (len(chains.numbers) // 3)
    size, each = 0, event
    while each >= 0:
        size += 1
        each = chains.following[chain + each]
    out[at] = ord("[")
    at += 1
    start = at
    first = event if size < count else -1
    while first >= 0:
        last, each = first, chains.following[chain + first]
        while each == last + 1:
            last, each = each, chains.following[chain + each]
        at = _apart(out, start, at, compact, True)
        at = put_integer(out, at, first - base)
        if last > first:
            out[at] = _DASH
            at = put_integer(out, at + 1, last - base)
        first = each
    if own != NOTHING:
        at = _apart(out, start, at, compact, False)
        at = _put(out, at, texts.data, texts.fields[own], texts.fields[own + 1])
    elif at == start:
        out[at] = _ALL
        at += 1
    out[at] = ord("]")
    return at + 1


@kernel
def _is_dense(value_begins: Longs, index: int) -> bool:
    return bool(value_begins[index] < value_begins[index + 1])


@inline_kernel
def _bracket(
    out: Bytes,
    at: int,
    compact: bool,
    texts: Texts,
    lists: Lists,
    index: int,
    is_first: bool,
    active: int,
) -> int:
    """Write the brackets of range `index`: its group, and its first unit or its value.

    A value equal to `active` is left out. The first range of a list gets no brackets if they would
    be empty, unless the range is empty, too. Returns where the text ends.
    """
    group, is_named = lists.group[index], lists.group[index] >= 0
    is_dense = _is_dense(lists.value_begins, index)
    says = lists.first[index] != 0 if is_dense else lists.value[index] != active
    is_empty = not is_dense and lists.unit_begins[index] == lists.unit_begins[index + 1]
    if not is_first or says or is_named or is_empty:
        at = _apart(out, 0, at, compact, False)
        out[at] = ord("(") if is_dense else ord("{")
        at += 1
        if is_named:
            at = _put(out, at, texts.data, texts.groups[group], texts.groups[group + 1])
        out[at] = _BLANK
        at += is_named and says
        if says and is_dense:
            at = put_integer(out, at, lists.first[index])
        elif says:
            at = put_real(out, at, lists.value[index])
        out[at] = ord(")") if is_dense else ord("}")
        at += 1
    return at


@inline_kernel
def _numbers(out: Bytes, at: int, compact: bool, lists: Lists, index: int) -> int:
    """Write the values or units of range `index`; unless compact, a space precedes the first.

    Units are separated by spaces, except for the ends of spans; -1 alone is `*`. Returns where the
    text ends.
    """
    value, value_end = lists.value_begins[index], lists.value_begins[index + 1]
    unit, unit_end = lists.unit_begins[index], lists.unit_begins[index + 1]
    if compact and value < value_end:
        at = put_real(out, at, lists.values[value])
        value += 1
    at = put_reals(out, at, lists.values, value, value_end)
    if unit < unit_end:
        out[at] = _BLANK
        at += not compact
        if lists.units[unit] < 0:
            out[at] = _ALL
            at += 1
        else:
            at = put_integer(out, at, lists.units[unit])
        for i in range(unit + 1, unit_end):
            if lists.units[i] >= 0:
                out[at] = _BLANK
                at += 1
            at = put_integer(out, at, lists.units[i])
    return at
