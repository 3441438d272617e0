"""Find the nodes of a parse: their rules, tokens and parents, as arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs
from exset.parsers.custom import nesting as k
from exset.parsers.custom.doubles import KERNELS
from exset.parsers.custom.shape import Shape
from exset.parsers.engine.stream import ParseStream

_ROOM = 1 << 10


@dataclass(frozen=True)
class Nodes:
    """The nodes of a parse, children before parents, and left before right.

    rules: int64 [nodes], the number of the rule. begins, ends: int64 [nodes], the first token, and
    the token after the last one. parents: int64 [nodes], the node above, or -1. token_parents:
    int64 [tokens], the same for tokens; -1 also for a token that the grammar leaves out.
    """

    rules: Longs
    begins: Longs
    ends: Longs
    parents: Longs
    token_parents: Longs


def nodes_of(shape: Shape, stream: ParseStream, *, compiled: bool) -> Nodes:
    """Return the nodes of a parse whose steps are the rules of the grammar."""
    tokens, steps = len(stream.kinds), len(stream.steps)
    rules, kept = _tables(shape)
    found = k.Nesting(
        parents=np.full(tokens + steps, -1, np.int64),
        following=np.empty(tokens + steps, np.int64),
        rules=np.empty(steps, np.int64),
        begins=np.empty(steps, np.int64),
        ends=np.empty(steps, np.int64),
    )
    stack, state = np.empty(_ROOM * k.SYMBOL_SIZE, np.int64), np.zeros(k.STATE_SIZE, np.int64)
    nest = KERNELS.choose(k.nest, compiled)
    names, before = np.ascontiguousarray(stream.steps), np.ascontiguousarray(stream.tokens_before)
    while not nest(rules, kept, names, before, tokens, stack, state, found):
        stack = np.concatenate([stack, np.empty_like(stack)])
    count = int(state[k.NODES])
    return Nodes(
        rules=found.rules[:count],
        begins=found.begins[:count],
        ends=found.ends[:count],
        parents=found.parents[tokens : tokens + count],
        token_parents=found.parents[:tokens],
    )


def _tables(shape: Shape) -> tuple[Longs, NDArray[np.uint8]]:
    """Return the tables of the kernel: the rules, and the flags of their symbols."""
    rules, kept = list[int](), list[bool]()
    for rule in shape.rules:
        rules += [len(rule.expansion), shape.mode(rule), len(kept), shape.lacks(rule)]
        kept += [shape.is_kept(rule, symbol) for symbol in rule.expansion]
    return np.array(rules, np.int64), np.array(kept, np.uint8)
