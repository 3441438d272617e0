"""The kernel that lexes and parses: one function over bytes and tables, compiled or not.

It can stop at any byte, and when its output is full, and go on: everything that it needs to know is
in `Output.state` and the stack.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.kernels import bare_kernel
from exset.parsers.engine.tables import LOOPS, ORIGIN, PART, STEP, Tables

# Why it stopped.
(DONE, MORE, FULL, DEEP, REJECTED) = range(5)

# What is in the state: the place of the next byte in the buffer, the depth of the stack, how many
# tokens and steps there are, and a token that is lexed but not shifted yet (its kind, or -1).
(POSITION, DEPTH, TOKENS, STEPS, KIND, START, END, STATE_SIZE) = range(8)

NO_KIND: Final = -1


class Output(NamedTuple):
    """What is filled: the parse stream (`ParseStream`), the stack of parser states, the state."""

    kinds: NDArray[np.int16]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    steps: NDArray[np.int16]
    before: NDArray[np.int64]
    stack: NDArray[np.int32]
    state: NDArray[np.int64]


@bare_kernel
def parse(tables: Tables, buffer: NDArray[np.uint8], final: bool, base: int, output: Output) -> int:
    """Parse a buffer from the state on, and say why it stopped.

    final: whether nothing comes after the buffer; otherwise a token that the buffer's end may cut
    is left for the next call. base: what is added to places in the buffer, for those of the stream.
    """
    moves, ahead, row = tables.moves, tables.ahead, tables.row
    lexer, action, goto, ignored = tables.lexer, tables.action, tables.goto, tables.ignored
    columns, nonterminals, last = tables.sizes[0], tables.sizes[1], tables.sizes[3]
    rules = tables.rules
    stack, state = output.stack, output.state
    position, depth = state[POSITION], state[DEPTH]
    tokens, steps = state[TOKENS], state[STEPS]
    kind, end = state[KIND], state[END]
    size = len(buffer)
    while True:
        if kind < 0:
            if position >= size:
                if not final:
                    why = MORE
                    break
                kind = columns - 1
                end = position
            else:
                lexing = lexer[stack[depth]]
                at = position
                while at < size:
                    lexing = moves[(lexing & ~255) | buffer[at]]
                    if lexing == 0:
                        break
                    at += 1
                    code = lexing & 255
                    if code > 1:
                        kind = code - 2
                        end = at
                    elif code == 1 and at < size:
                        label = ahead[(row[lexing >> 8] << 8) | buffer[at]]
                        if label >= 0:
                            kind = label
                            end = at
                if lexing != 0 and not final:
                    kind = NO_KIND
                    why = MORE
                    break
                if kind < 0:
                    why = REJECTED
                    break
                if ignored[kind]:
                    kind = NO_KIND
                    position = end
                    continue
        if tokens >= len(output.kinds):
            why = FULL
            break
        # Reduce as long as the token asks for it, then shift it.
        move = action[stack[depth] * columns + kind]
        while move < 0:
            rule = rules[-move - 1]
            step, length = (rule >> STEP) & PART, rule & PART
            if step > 0:
                if steps >= len(output.steps):
                    break
                output.steps[steps] = step - 1
                output.before[steps] = tokens
                steps += 1
            if (rule >> LOOPS) & 1:
                # The state of the loop's own origin stays where it is.
                depth -= length - 1
            else:
                depth -= length
                if depth + 1 >= len(stack):
                    # Undo, for the rule is reduced again when there is room.
                    depth += length
                    steps -= step > 0
                    break
                stack[depth + 1] = goto[stack[depth] * nonterminals + (rule >> ORIGIN)]
                depth += 1
            if kind == columns - 1 and stack[depth] == last:
                state[POSITION], state[DEPTH] = position, depth
                state[TOKENS], state[STEPS], state[KIND] = tokens, steps, NO_KIND
                return DONE
            move = action[stack[depth] * columns + kind]
        if move == 0:
            why = REJECTED
            break
        if depth + 1 >= len(stack):
            why = DEEP
            break
        if move < 0:
            why = FULL
            break
        depth += 1
        stack[depth] = move - 1
        output.kinds[tokens] = kind
        output.starts[tokens] = base + position
        output.ends[tokens] = base + end
        tokens += 1
        position = end
        kind = NO_KIND
    state[POSITION], state[DEPTH], state[TOKENS], state[STEPS] = position, depth, tokens, steps
    state[KIND], state[START], state[END] = kind, position, end
    return why
