"""The kernel that lexes and parses: one function over bytes and tables, compiled or not.

The kernel can stop at any byte, or when its output is full, and continue later: `Output` and
`TransitionCache` have its whole state.

Two facts explain the form of the code. First, indexing is twice as fast if the compiler can prove
that the index is not negative; the comparisons `0 <=` and the masks prove it. Second, the processor
computes ahead, except when the next step needs a table entry that is still being loaded. So an
inner loop runs while the automaton stays in one state. And each row of the cache stores its most
likely token, which the kernel tries first.
"""

from typing import Final

from exset.core.kernels import entry_kernel, kernel
from exset.grammars.columns.arrays import Bytes
from exset.parsers.engine.output import (
    DEPTH,
    END,
    FULL,
    KIND,
    MORE,
    NEEDED,
    NO_KIND,
    POSITION,
    REJECTED,
    ROW,
    STEPS,
    TOKENS,
    Output,
)
from exset.parsers.engine.tables import CLASSES, COLUMNS, IGNORED, NOTHING, TERMINALS, Tables
from exset.parsers.engine.transition_cache import (
    COUNT,
    EXTRA,
    LEXER,
    OFFSET,
    SHIFTED,
    TransitionCache,
    advance,
    unwind,
)

UNSIGNED: Final = (1 << 62) - 1


@entry_kernel
def parse(
    tables: Tables, buffer: Bytes, final: bool, base: int, cache: TransitionCache, output: Output
) -> int:
    """Continue to parse with the bytes in `buffer`, and return why parsing stopped.

    `final`: True if nothing follows the buffer. If it is False, a token at the buffer's end may be
    incomplete, so it is left for the next call. `base`: the offset of the buffer's first byte in
    the source. `output`: the arrays to fill, and the state between calls. After an error, or if
    more bytes are needed, the stack is as it was before the current token.
    """
    moves, classes = tables.moves, tables.classes
    columns, labels = tables.sizes[COLUMNS], tables.sizes[CLASSES] & OFFSET
    wide = columns + EXTRA
    edges, programs, kept = cache.edges, cache.programs, cache.kept
    kinds, starts, ends = output.kinds, output.starts, output.ends
    reduced, before, state = output.steps, output.before, output.state
    position, tokens, steps = state[POSITION], state[TOKENS], state[STEPS]
    kind, end = state[KIND], state[END]
    state[NEEDED] = 0
    row = state[ROW] * wide & OFFSET
    unwind(cache, output)
    start = tables.lexer[output.stack[state[DEPTH]]] & OFFSET
    size = len(buffer)
    while True:
        if kind < 0:
            # White space that can be skipped leads back to the start.
            lexing = start
            while 0 <= position < size:
                lexing = moves[start + classes[buffer[position]]]
                if lexing != start:
                    break
                position += 1
            if position >= size:
                if not final:
                    why = MORE
                    break
                kind, end = columns - 1, size
            elif lexing == 0:
                why = REJECTED
                break
            else:
                end = position + 1
                following = lexing
                while 0 <= end < size:
                    while 0 <= end < size:
                        following = moves[lexing + classes[buffer[end]]]
                        if following != lexing:
                            break
                        end += 1
                    if following == 0 or end >= size:
                        break
                    lexing = following
                    end += 1
                if end >= size and not final:
                    why = MORE
                    break
                label = moves[lexing + labels]
                if label == NOTHING and moves[lexing + labels + 1] > 0:
                    follows = classes[buffer[end]] if end < size else labels
                    label = tables.ahead[moves[lexing + labels + 1] * (labels + 1) + follows]
                if label == NOTHING:
                    label, end = relex(tables, buffer, start, position)
                    if label == NOTHING:
                        why = REJECTED
                        break
                if label == IGNORED:
                    position = end
                    continue
                kind = label - TERMINALS
        if not 0 <= tokens < len(kinds):
            why = FULL
            break
        edge = edges[row + columns + 1] if edges[row + columns] == kind else edges[row + kind]
        count = edge >> COUNT
        if edge == 0 or steps + count > len(reduced):
            state[TOKENS], state[STEPS] = tokens, steps
            state[ROW] = row // wide
            why = advance(tables, kind, cache, output)
            steps = state[STEPS]
            if why != SHIFTED:
                break
            row = state[ROW] * wide & OFFSET
            start = tables.lexer[output.stack[state[DEPTH]]] & OFFSET
        else:
            if count > 0:
                program = programs[row + kind] & OFFSET
                steps &= UNSIGNED
                for at in range(count):
                    reduced[steps + at] = kept[program + at]
                    before[steps + at] = tokens
                steps += count
            row, start = edge & OFFSET, (edge >> LEXER) & OFFSET
        kinds[tokens] = kind
        starts[tokens] = base + position
        ends[tokens] = base + end
        tokens += 1
        position = end
        kind = NO_KIND
    state[POSITION], state[TOKENS], state[STEPS] = position, tokens, steps
    state[KIND], state[END], state[ROW] = kind, end, row // wide
    if why in (REJECTED, MORE):
        unwind(cache, output)
    return why


@kernel
def relex(tables: Tables, buffer: Bytes, start: int, position: int) -> tuple[int, int]:
    """Return the label and the end of the longest token that begins at index `position` of the
    buffer.

    The kernel calls this function if the automaton has read beyond the end of the token. start: the
    index in `tables.moves` at which the row of the lexer's first state begins.
    """
    moves, classes, labels = tables.moves, tables.classes, tables.sizes[CLASSES]
    found, end = NOTHING, position
    lexing = moves[start + classes[buffer[position]]]
    at = position + 1
    while lexing != 0:
        label = moves[lexing + labels]
        row = moves[lexing + labels + 1]
        if row > 0:
            follows = classes[buffer[at]] if at < len(buffer) else labels
            label = tables.ahead[row * (labels + 1) + follows]
        if label != NOTHING:
            found, end = label, at
        if at >= len(buffer):
            break
        lexing = moves[lexing + classes[buffer[at]]]
        at += 1
    return found, end
