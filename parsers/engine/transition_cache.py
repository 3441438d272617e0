"""What a token does to the stack of parser states: worked out once, then remembered.

The tokens of most files do the same things to the same few stacks again and again. So each stack
that occurs gets a row, and what a token of a kind did there - the rules that it had reduced, the
stack that it left - is an edge of that row: the next time it takes one look. Rows are made as
stacks occur. Those of deep stacks are not kept; when there is no room, all is forgotten.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import bare_kernel
from exset.parsers.engine.output import (
    DEEP,
    DEPTH,
    DONE,
    EXTRA,
    FULL,
    KEPT,
    NEEDED,
    REJECTED,
    ROW,
    ROWS,
    STEPS,
    TOKENS,
    Output,
    Shortcuts,
)
from exset.parsers.engine.tables import (
    COLUMNS,
    LAST_STATE,
    LOOPS,
    NONTERMINALS,
    ORIGIN,
    PART,
    STEP,
    Tables,
)

SHIFTED: Final = -1
"""The token can be taken."""

DEEPEST: Final = 60
"""The depth from which on a stack has no row; there must be room for as many rows."""

# Where the parts of an edge begin: where its row begins in the edges, where its lexer starts in the
# moves, how many steps are reduced.
(LEXER, COUNT) = (24, 48)
OFFSET = (1 << 24) - 1
MANY = 255


@bare_kernel
def advance(tables: Tables, kind: int, shortcuts: Shortcuts, output: Output) -> int:
    """Reduce as long as a token asks for it, shift it, and remember that.

    Returns SHIFTED, or why not; then stack and steps are as they were. The end is not shifted:
    there it returns DONE.
    """
    stack, state, reduced = output.stack, output.state, output.steps
    action, goto, rules = tables.action, tables.goto, tables.rules
    columns, nonterminals = tables.sizes[COLUMNS], tables.sizes[NONTERMINALS]
    unwind(shortcuts, output)
    # The stack is left alone up to `low`; `height` states that come above it are kept above the
    # whole stack until all is well.
    depth, steps = state[DEPTH], state[STEPS]
    low, height = depth, 0
    top = stack[depth]
    move = action[top * columns + kind]
    done = False
    while move < 0:
        rule = rules[-move - 1]
        step, length = (rule >> STEP) & PART, rule & PART
        if step > 0:
            if steps < len(reduced):
                reduced[steps] = step - 1
                output.before[steps] = state[TOKENS]
            steps += 1
        loops = (rule >> LOOPS) & 1
        # The state of a loop's own origin stays where it is.
        popped = length - loops
        if popped <= height:
            height -= popped
        else:
            low -= popped - height
            height = 0
        if not loops:
            if depth + height + 1 >= len(stack):
                return DEEP
            below = stack[depth + height] if height > 0 else stack[low]
            height += 1
            stack[depth + height] = goto[below * nonterminals + (rule >> ORIGIN)]
        top = stack[depth + height] if height > 0 else stack[low]
        if kind == columns - 1 and top == tables.sizes[LAST_STATE]:
            done = True
            break
        move = action[top * columns + kind]
    if move == 0:
        return REJECTED
    if steps > len(reduced):
        state[NEEDED] = steps - state[STEPS]
        return FULL
    if depth + height + 1 >= len(stack):
        return DEEP
    if not done:
        height += 1
        stack[depth + height] = move - 1
    for above in range(1, height + 1):
        stack[low + above] = stack[depth + above]
    state[DEPTH] = low + height
    before = state[STEPS]
    state[STEPS] = steps
    if done:
        state[ROW] = 0
        return DONE
    _remember(tables, kind, before, low, shortcuts, output)
    return SHIFTED


@bare_kernel
def unwind(shortcuts: Shortcuts, output: Output) -> None:
    """Write the stack that a row stands for."""
    state, row = output.state, output.state[ROW]
    if row > 0:
        state[DEPTH] = shortcuts.depths[row]
        for at in range(state[DEPTH], -1, -1):
            output.stack[at] = shortcuts.states[row]
            row = shortcuts.below[row]


@bare_kernel
def _remember(
    tables: Tables, kind: int, before: int, low: int, shortcuts: Shortcuts, output: Output
) -> None:
    """Find the row of the new stack, which is the old one up to `low`, and draw the edge to it.

    before: how many steps there were before those of the edge.
    """
    stack, state, depths = output.stack, output.state, shortcuts.depths
    edges, columns = shortcuts.edges, tables.sizes[COLUMNS]
    wide = columns + EXTRA
    old, depth, count = state[ROW], state[DEPTH], state[STEPS] - before
    state[ROW] = 0
    if depth > DEEPEST:
        return
    has_room = state[ROWS] + depth <= len(depths)
    if not has_room or state[KEPT] + min(count, MANY) > len(shortcuts.kept):
        for at in range(state[ROWS] * wide):
            edges[at] = 0
        for at in range(len(shortcuts.child)):
            shortcuts.child[at] = 0
        state[ROWS], state[KEPT] = 2, 0
        old = 0
    row = old if old > 0 else 1
    while depths[row] > low:
        row = shortcuts.below[row]
    while depths[row] < depth:
        row = _child(row, stack[depths[row] + 1], shortcuts, state)
    state[ROW] = row
    if old > 0 and count <= MANY:
        edge = old * wide + kind
        shortcuts.programs[edge] = state[KEPT]
        for at in range(count):
            shortcuts.kept[state[KEPT] + at] = output.steps[before + at]
        state[KEPT] += count
        edges[edge] = row * wide | tables.lexer[stack[depth]] << LEXER | count << COUNT
        usual = old * wide + columns
        if edges[usual + 1] == 0:
            edges[usual], edges[usual + 1] = kind, edges[edge]


@bare_kernel
def _child(row: int, top: int, shortcuts: Shortcuts, state: NDArray[np.int64]) -> int:
    """The row of a stack with one state more; made if there is none."""
    child, sibling = shortcuts.child, shortcuts.sibling
    found: int = child[row]
    while found > 0 and shortcuts.states[found] != top:
        found = sibling[found]
    if found == 0:
        found = state[ROWS]
        state[ROWS] += 1
        shortcuts.states[found] = top
        shortcuts.below[found] = row
        shortcuts.depths[found] = shortcuts.depths[row] + 1
        shortcuts.child[found], sibling[found] = 0, child[row]
        child[row] = found
    return found
