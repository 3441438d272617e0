"""A cache that stores how tokens change the stack of parser states.

In most files, the same tokens come with the same few stacks. So the cache adds a row for each stack
when the stack first occurs. A row has an edge for each kind of token. The edge stores the effect of
the token: the steps that the token reduces, and the stack after the token. When the same token
comes again with the same stack, one look-up is enough. Deep stacks get no row. A full cache is
emptied.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import kernel
from exset.parsers.engine.output import (
    DEEP,
    DEPTH,
    DONE,
    FULL,
    KEPT,
    NEEDED,
    REJECTED,
    ROW,
    ROWS,
    STEPS,
    TOKENS,
    Output,
)
from exset.parsers.engine.tables import (
    COLUMNS,
    LAST_STATE,
    LENGTH,
    LOOPS,
    NONTERMINALS,
    ORIGIN,
    RULE_SIZE,
    SILENT,
    STEP,
    Tables,
)

SHIFTED: Final = -1
"""The result of `advance` for a token that was shifted."""

DEEPEST: Final = 60
"""The depth from which stacks have no row. The cache must have room for this many rows."""

EXTRA: Final = 2
"""The number of columns of `edges` after those for the kinds of tokens."""

# The first bits of the fields of an edge: the index of the next row's first edge (from bit 0), of
# the next lexer's first move, and the number of reduced steps.
(LEXER, COUNT) = (24, 48)
OFFSET = (1 << 24) - 1
MANY = 255

_ROWS: Final = 1024
_KEPT: Final = 1 << 14


class TransitionCache(NamedTuple):
    """The arrays of the cache. Each row is for a stack of parser states.

    Row 0 is for all stacks without a row of their own. Row 1 is the stack with only the first
    state.

    - below: int32[rows], the row of the stack without its top state.
    - states: int32[rows], the top state of the stack.
    - depths: int32[rows], the depth of the stack.
    - child: int32[rows], the row of the first stack with one state more, 0 if there is none.
    - sibling: int32[rows], the row of the next stack that differs only in its top state, 0 if there
      is none.
    - edges: int64[rows, terminals + 3], the effect of each kind of token as one number, 0 if
      unknown. The last two columns are the most likely kind, and its effect.
    - programs: int32 of the same shape as `edges`, the index in `kept` of the first step that each
      effect reduces.
    - kept: int16, the steps of all effects.
    """

    below: NDArray[np.int32]
    states: NDArray[np.int32]
    depths: NDArray[np.int32]
    child: NDArray[np.int32]
    sibling: NDArray[np.int32]
    edges: NDArray[np.int64]
    programs: NDArray[np.int32]
    kept: NDArray[np.int16]


def empty_cache(columns: int, first_state: int) -> TransitionCache:
    """Return a cache with one row, for the stack that has only the parser's first state.

    columns: the number of terminals + 1.
    """
    edges = _ROWS * (columns + EXTRA)
    cache = TransitionCache(
        below=np.zeros(_ROWS, np.int32),
        states=np.zeros(_ROWS, np.int32),
        depths=np.zeros(_ROWS, np.int32),
        child=np.zeros(_ROWS, np.int32),
        sibling=np.zeros(_ROWS, np.int32),
        edges=np.zeros(edges, np.int64),
        programs=np.zeros(edges, np.int32),
        kept=np.zeros(_KEPT, np.int16),
    )
    cache.states[1] = first_state
    return cache


@kernel
def advance(tables: Tables, kind: int, cache: TransitionCache, output: Output) -> int:
    """Run the parser on one token: do all reductions, shift the token, and store the effect in the
    cache.

    kind: the terminal of the token. Returns SHIFTED, or DONE at the end of the text, which is not
    shifted. Otherwise returns the reason for a failure; the stack and the steps are then unchanged.
    """
    stack, state, reduced = output.stack, output.state, output.steps
    action, goto, rules = tables.action, tables.goto, tables.rules
    columns, nonterminals = tables.sizes[COLUMNS], tables.sizes[NONTERMINALS]
    unwind(cache, output)
    # The stack stays unchanged until the token is known to fit: up to `low` it is part of the new
    # stack, whose next `height` states are stored above the whole old stack.
    depth, steps = state[DEPTH], state[STEPS]
    low, height = depth, 0
    top = stack[depth]
    move = action[top * columns + kind]
    done = False
    while move < 0:
        rule = RULE_SIZE * (-move - 1)
        step, loops = rules[rule + STEP], rules[rule + LOOPS]
        if step != SILENT:
            if steps < len(reduced):
                reduced[steps] = step
                output.before[steps] = state[TOKENS]
            steps += 1
        # In a loop, the state of its own origin stays on the stack.
        popped = rules[rule + LENGTH] - loops
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
            stack[depth + height] = goto[below * nonterminals + rules[rule + ORIGIN]]
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
    _remember(tables, kind, before, low, cache, output)
    return SHIFTED


@kernel
def unwind(cache: TransitionCache, output: Output) -> None:
    """Write the stack that the current row represents to `output.stack`."""
    state, row = output.state, output.state[ROW]
    if row > 0:
        state[DEPTH] = cache.depths[row]
        for at in range(state[DEPTH], -1, -1):
            output.stack[at] = cache.states[row]
            row = cache.below[row]


@kernel
def _remember(
    tables: Tables, kind: int, before: int, low: int, cache: TransitionCache, output: Output
) -> None:
    """Store in the cache what a token did to the stack, as an edge of the old stack's row.

    The edge leads to the row of the new stack. kind: the terminal of the token. before: the number
    of steps before the token. low: the depth up to which the new stack equals the old stack.
    """
    stack, state, depths = output.stack, output.state, cache.depths
    edges, columns = cache.edges, tables.sizes[COLUMNS]
    wide = columns + EXTRA
    old, depth, count = state[ROW], state[DEPTH], state[STEPS] - before
    state[ROW] = 0
    if depth > DEEPEST:
        return
    has_room = state[ROWS] + depth <= len(depths)
    if not has_room or state[KEPT] + min(count, MANY) > len(cache.kept):
        for at in range(state[ROWS] * wide):
            edges[at] = 0
        for at in range(len(cache.child)):
            cache.child[at] = 0
        state[ROWS], state[KEPT] = 2, 0
        old = 0
    row = old if old > 0 else 1
    while depths[row] > low:
        row = cache.below[row]
    while depths[row] < depth:
        row = _child(row, stack[depths[row] + 1], cache, state)
    state[ROW] = row
    if old > 0 and count <= MANY:
        edge = old * wide + kind
        cache.programs[edge] = state[KEPT]
        for at in range(count):
            cache.kept[state[KEPT] + at] = output.steps[before + at]
        state[KEPT] += count
        edges[edge] = row * wide | tables.lexer[stack[depth]] << LEXER | count << COUNT
        usual = old * wide + columns
        if edges[usual + 1] == 0:
            edges[usual], edges[usual + 1] = kind, edges[edge]


@kernel
def _child(row: int, top: int, cache: TransitionCache, state: NDArray[np.int64]) -> int:
    """Return the row of the stack that has the state `top` above the stack of `row`.

    Add this row if it is missing.
    """
    child, sibling = cache.child, cache.sibling
    found: int = child[row]
    while found > 0 and cache.states[found] != top:
        found = sibling[found]
    if found == 0:
        found = state[ROWS]
        state[ROWS] += 1
        cache.states[found] = top
        cache.below[found] = row
        cache.depths[found] = cache.depths[row] + 1
        cache.child[found], sibling[found] = 0, child[row]
        child[row] = found
    return found
