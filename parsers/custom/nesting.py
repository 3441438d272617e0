"""The kernel that nests the nodes of a parse: it finds the table and the row of each node and
token.

A node or token that has no parent yet is an item. Items are in the order of the text. The last
items belong to the symbol on top of the parser's stack, so the items are a stack, too. A new node
removes the items of its symbols from this stack, and the kernel writes an event for each removed
item. The kernel can stop anywhere, and continue later.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import entry_kernel
from exset.grammars.columns.arrays import Bytes, Longs

# The columns of `Rules.rules`: how many symbols the rule has; what it becomes; where the flags of
# its symbols begin in `kept`; how many children it lacks, which Lark counts, as placeholders; its
# table; whether it makes a longer list of a list; and whether it has symbols that are not kept.
(LENGTH, MODE, FIRST, LACKS, TABLE, REPEATS, DROPS, RULE_SIZE) = range(8)

# Modes, as in `exset.parsers.custom.shape.Mode`.
(CHILDREN, NODE, NODE_OR_CHILD) = range(3)

# The numbers of each symbol on the stack: how many items it has; how many children, also with
# placeholders; its first byte, and the byte after its last one, or -1 without tokens; how many
# lists there are up to it.
(ITEMS, FULL, START, END, LISTS, SYMBOL_SIZE) = range(6)

# The numbers in the state: the next token and step; how many symbols, items, events and marks there
# are; tokens since the last cut; and how many of the items at the last cut are still there.
(TOKEN, STEP, DEPTH, COUNT, EVENTS, OPEN, SINCE, LOW, STATE_SIZE) = range(9)

# Why the kernel stopped: all is done, an array is too short, the log has no room, a cut, or a rule
# that has symbols of the text before a part.
(DONE, SHORT, FULL_LOG, CUT, BELOW) = range(5)

HOLE: Final = -1
"""An item that is no child, such as a token that the grammar leaves out."""

FIRST_TABLE: Final = -2
"""An item below HOLE is a node: FIRST_TABLE - n for a node of table n."""

UNSIGNED: Final = (1 << 62) - 1
"""A mask which shows the compiler that an index is not negative: this makes look-ups faster."""

_FEW: Final = 8
"""How many items are moved to close a hole. Holes before more items stay."""


class Rules(NamedTuple):
    """A grammar, as arrays that the kernel reads.

    - rules: the numbers that describe each rule, in the order of LENGTH, MODE and so on.
    - kept: for each symbol of each rule, whether the symbol can become a child in the tree.
    - columns: int64 [tables * terminals], the number of the event for a token, or -1. The numbers
      of events for tokens come first, then the numbers for nodes, then the numbers for parents.
    - marks: the bracket that each terminal is, or 0.
    - closing: the bracket that closes each bracket.
    - sizes: the numbers of terminals, tables and columns.
    """

    rules: Longs
    kept: Bytes
    columns: Longs
    marks: Bytes
    closing: Bytes
    sizes: Longs


(TERMINALS, TABLES, COLUMNS, SIZES) = range(4)


class Work(NamedTuple):
    """What the kernel changes: its stacks, and the log of the events that it has written.

    - kinds: int64, for each item the terminal, HOLE, or the table.
    - starts, ends: the bytes of an item that is a token. For a node, `starts` is its row.
    - rows: int64 [tables], the number of rows.
    - marks, places: the open brackets and their offsets.
    - events, first, second, third: the log. The event of a token or a node has its bytes and its
      row. The event of a parent has the row of the child, the row of the parent, and the parent's
      table.
    - counts: int64 [events], how often each event is in the log.
    """

    stack: Longs
    kinds: Longs
    starts: Longs
    ends: Longs
    rows: Longs
    marks: Bytes
    places: Longs
    events: NDArray[np.int32]
    first: Longs
    second: Longs
    third: Longs
    counts: Longs
    state: Longs


@entry_kernel
def nest(
    grammar: Rules,
    work: Work,
    kinds: NDArray[np.int16],
    starts: Longs,
    ends: Longs,
    steps: NDArray[np.int16],
    before: Longs,
    end: int,
    cut_from: int,
    record: int,
    floor: int,
) -> int:
    """Nest the nodes of the next tokens and steps, and return why the kernel stopped.

    kinds, starts, ends, steps, before: a parse stream (`ParseStream`). `end`: the first byte of the
    token after the stream; a node without tokens has this place. `record`: the table of the
    records; -1 if the records are the items of the outermost list. The kernel stops with CUT after
    a record, if at least `cut_from` tokens have come since the last cut.

    `floor`: the number of symbols on the stack that come from an earlier part. The kernel stops
    with BELOW before a rule that takes one of these symbols from the stack. But it does not stop if
    the last of them is a list, and the rule only adds an item to this list.
    """
    rules, kept, columns = grammar.rules, grammar.kept, grammar.columns
    terminals, tables = grammar.sizes[TERMINALS], grammar.sizes[TABLES]
    first_parent = grammar.sizes[COLUMNS] + tables
    stack, items, begins, finals = work.stack, work.kinds, work.starts, work.ends
    events, first, second, third = work.events, work.first, work.second, work.third
    counts, rows, state = work.counts, work.rows, work.state
    token, step, depth = state[TOKEN], state[STEP], state[DEPTH]
    count, written, marks = state[COUNT], state[EVENTS], state[OPEN]
    since, low = state[SINCE] - token, state[LOW]
    deepest, most, widest = len(stack) // SYMBOL_SIZE, len(items), len(work.places)
    why = DONE
    while True:
        stop = before[step] if step < len(steps) else len(kinds)
        while token < stop and depth < deepest and count < most and marks < widest:
            token &= UNSIGNED
            kind = kinds[token] & UNSIGNED
            mark = grammar.marks[kind]
            if mark != 0:
                if marks > 0 and grammar.closing[work.marks[marks - 1]] == mark:
                    marks -= 1
                else:
                    work.marks[marks], work.places[marks] = mark, starts[token]
                    marks += 1
            at = depth * SYMBOL_SIZE & UNSIGNED
            count &= UNSIGNED
            stack[at + ITEMS], stack[at + FULL] = 1, 1
            stack[at + START], stack[at + END] = starts[token], ends[token]
            stack[at + LISTS] = stack[at - SYMBOL_SIZE + LISTS] if depth > 0 else 0
            items[count], begins[count], finals[count] = kind, starts[token], ends[token]
            depth += 1
            count += 1
            token += 1
        if token < stop or depth >= deepest or count >= most:
            why = SHORT
            break
        if step == len(steps):
            break
        rule = steps[step] * RULE_SIZE & UNSIGNED
        length, mode = rules[rule + LENGTH], rules[rule + MODE]
        flags = rules[rule + FIRST] & UNSIGNED
        bottom = depth - length
        if bottom < floor and (rules[rule + REPEATS] == 0 or bottom < floor - 1):
            why = BELOW
            break
        own, full, start, final = 0, rules[rule + LACKS], -1, -1
        for symbol in range(length):
            at = (bottom + symbol) * SYMBOL_SIZE & UNSIGNED
            own += stack[at + ITEMS]
            if kept[flags + symbol] != 0:
                full += stack[at + FULL]
            if start < 0:
                start = stack[at + START]
            if stack[at + END] >= 0:
                final = stack[at + END]
        base = count - own & UNSIGNED
        is_node = mode == NODE or (mode == NODE_OR_CHILD and full != 1)
        if is_node and written + own + 1 > len(events):
            why = FULL_LOG
            break
        if rules[rule + DROPS] != 0:
            item = base
            for symbol in range(length):
                if kept[flags + symbol] == 0:
                    items[item & UNSIGNED] = HOLE
                item += stack[((bottom + symbol) * SYMBOL_SIZE & UNSIGNED) + ITEMS]
        if is_node:
            table = rules[rule + TABLE] & UNSIGNED
            row = rows[table]
            rows[table] += 1
            following = starts[token] if token < len(starts) else end
            event = grammar.sizes[COLUMNS] + table & UNSIGNED
            written &= UNSIGNED
            counts[event] += 1
            events[written], third[written] = event, row
            first[written] = start if start >= 0 else following
            second[written] = final if start >= 0 else following
            written += 1
            for item in range(base, count):
                written &= UNSIGNED
                what = items[item]
                if what >= 0:
                    event = columns[table * terminals + what & UNSIGNED]
                    second[written], third[written] = finals[item], row
                else:
                    event = first_parent + FIRST_TABLE - what if what != HOLE else -1
                    second[written], third[written] = row, table
                if event >= 0:
                    events[written], first[written] = event, begins[item]
                    counts[event & UNSIGNED] += 1
                    written += 1
            items[base], begins[base] = FIRST_TABLE - table, row
            count, own, full = base + 1, 1, 1
        else:
            item = base
            if length > 0:
                item += stack[(bottom * SYMBOL_SIZE & UNSIGNED) + ITEMS]
            if item - base <= _FEW:
                item = base
            if rules[rule + DROPS] != 0 and count - item <= _FEW:
                item &= UNSIGNED
                place = item
                while item < count:
                    if items[item] != HOLE:
                        items[place], begins[place] = items[item], begins[item]
                        finals[place] = finals[item]
                        place += 1
                    item += 1
                own -= count - place
                count = place
        low = min(low, base)
        at = bottom * SYMBOL_SIZE & UNSIGNED
        repeats = rules[rule + REPEATS]
        lists = stack[at - SYMBOL_SIZE + LISTS] if bottom > 0 else 0
        stack[at + ITEMS], stack[at + FULL] = own, full
        stack[at + START], stack[at + END], stack[at + LISTS] = start, final, lists + repeats
        depth = bottom + 1
        step += 1
        if repeats != 0 and since + token >= cut_from:
            is_record = count > base and items[count - 1] == FIRST_TABLE - record
            if is_record if record >= 0 else lists == 0:
                why = CUT
                break
    state[TOKEN], state[STEP], state[DEPTH] = token, step, depth
    state[COUNT], state[EVENTS], state[OPEN] = count, written, marks
    state[SINCE], state[LOW] = since + token, low
    return why


@entry_kernel
def arrange(work: Work, at: Longs, first: Longs, second: Longs, third: Longs) -> int:
    """Copy the log to `first`, `second` and `third`, sorted by the number of the event.

    at: int64, the index at which the first event of each number goes; this function changes the
    array.
    """
    for index in range(work.state[EVENTS]):
        event = work.events[index]
        place = at[event]
        at[event] = place + 1
        first[place], second[place] = work.first[index], work.second[index]
        third[place] = work.third[index]
    return len(first)


@entry_kernel
def copy_spans(buffer: Bytes, starts: Longs, ends: Longs, copied: Bytes) -> int:
    """Copy the spans buffer[start:end] to `copied`, one after another."""
    at = 0
    for span in range(len(starts)):
        for index in range(starts[span], ends[span]):
            copied[at] = buffer[index]
            at += 1
    return at
