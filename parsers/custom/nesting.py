"""The kernel that finds the nodes of a parse, and the parent of each token and each node."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import entry_kernel
from exset.grammars.columns.arrays import Bytes, Longs

# The columns of `rules`: how many symbols the rule has, what it becomes, and where the flags of its
# symbols begin in `kept`, and how many children it lacks: Lark counts them, as placeholders.
(LENGTH, MODE, FIRST, LACKS, RULE_SIZE) = range(5)

# Modes, as in `exset.parsers.custom.shape.Mode`.
(CHILDREN, NODE, NODE_OR_CHILD) = range(3)

# The numbers in the state: how many tokens and steps are done, the depth of the stack, nodes.
(TOKENS, STEPS, DEPTH, NODES, STATE_SIZE) = range(5)

# The numbers of each symbol on the stack: its first and last child, how many children it has, also
# with placeholders, and the token with which it begins.
(HEAD, TAIL, COUNT, FULL_COUNT, BEGIN, SYMBOL_SIZE) = range(6)


class Nesting(NamedTuple):
    """The arrays that the kernel fills. Node i is the item `tokens + i`.

    parents: the node above each item, -1 without one. following: the next child, a work space.
    rules, begins, ends: the rule of each node, its first token, and the token after its last one.
    """

    parents: Longs
    following: Longs
    rules: Longs
    begins: Longs
    ends: Longs


@entry_kernel
def nest(
    rules: Longs,
    kept: Bytes,
    steps: NDArray[np.int16],
    before: Longs,
    tokens: int,
    stack: Longs,
    state: Longs,
    nesting: Nesting,
) -> bool:
    """Continue until all steps are done; False if the stack is full.

    rules: flat, see `RULE_SIZE`. kept: whether each symbol of the rules can give children. steps,
    before: the rule of each step, and the number of tokens before it. tokens: their number.
    """
    parents, following = nesting.parents, nesting.following
    token, depth, count = state[TOKENS], state[DEPTH], state[NODES]
    room = len(stack) // SYMBOL_SIZE
    for step in range(state[STEPS], len(steps)):
        state[STEPS] = step
        while token < before[step]:
            if depth + 1 >= room:
                state[TOKENS], state[DEPTH], state[NODES] = token, depth, count
                return False
            at = depth * SYMBOL_SIZE
            stack[at + HEAD], stack[at + TAIL] = token, token
            stack[at + COUNT], stack[at + FULL_COUNT], stack[at + BEGIN] = 1, 1, token
            depth += 1
            token += 1
        if depth + 1 >= room:
            state[TOKENS], state[DEPTH], state[NODES] = token, depth, count
            return False
        rule = steps[step] * RULE_SIZE
        length, mode, first = rules[rule + LENGTH], rules[rule + MODE], rules[rule + FIRST]
        depth -= length
        begin = stack[depth * SYMBOL_SIZE + BEGIN] if length > 0 else token
        head, tail, children, full = -1, -1, 0, rules[rule + LACKS]
        for symbol in range(length):
            at = (depth + symbol) * SYMBOL_SIZE
            if kept[first + symbol] != 0:
                full += stack[at + FULL_COUNT]
            if kept[first + symbol] != 0 and stack[at + COUNT] > 0:
                if children == 0:
                    head = stack[at + HEAD]
                else:
                    following[tail] = stack[at + HEAD]
                tail = stack[at + TAIL]
                children += stack[at + COUNT]
        if mode == NODE or (mode == NODE_OR_CHILD and full != 1):
            nesting.rules[count], nesting.begins[count] = steps[step], begin
            nesting.ends[count] = token
            child = head
            for _ in range(children):
                parents[child] = count
                child = following[child]
            head = tokens + count
            tail, children, full = head, 1, 1
            count += 1
        at = depth * SYMBOL_SIZE
        stack[at + HEAD], stack[at + TAIL] = head, tail
        stack[at + COUNT], stack[at + FULL_COUNT], stack[at + BEGIN] = children, full, begin
        depth += 1
    state[TOKENS], state[STEPS] = token, len(steps)
    state[DEPTH], state[NODES] = depth, count
    return True
