"""What the kernel fills, and what it keeps between calls."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Why it stopped.
(DONE, MORE, FULL, DEEP, REJECTED) = range(5)

# What is in the state: the place of the next byte in the buffer, how many tokens and steps there
# are, a token that is lexed but not shifted yet (its kind, or -1, and its end), how many steps it
# needs room for, the depth of the stack, the shortcut's row that stands for the stack, or 0, and
# how many rows and remembered steps there are.
(POSITION, TOKENS, STEPS, KIND, END, NEEDED, DEPTH, ROW, ROWS, KEPT, STATE_SIZE) = range(11)

NO_KIND: Final = -1

EXTRA: Final = 2
"""What there is in a row of shortcuts beyond an edge for each kind of token."""

_ROWS: Final = 1024
_KEPT: Final = 1 << 14


class Output(NamedTuple):
    """What is filled: the parse stream (`ParseStream`), the stack of parser states, the state."""

    kinds: NDArray[np.int16]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    steps: NDArray[np.int16]
    before: NDArray[np.int64]
    stack: NDArray[np.int32]
    state: NDArray[np.int64]


class Shortcuts(NamedTuple):
    """What tokens did to stacks, remembered (`exset.parsers.engine.transition_cache`).

    There is a row for each stack that is remembered; row 0 is that of all others, row 1 the bottom
    of the stack. below: int32[rows], the stack without its top. states: int32[rows], its top.
    depths: int32[rows]. child, sibling: int32[rows], the first stack that is higher by one, and the
    next that differs in its top alone; 0 if there is none. edges: int64[rows, terminals + 3], what
    a token of each kind does, packed, 0 if that is not known; then the usual kind, and what it
    does. programs: int32 of that shape, where in `kept` the steps begin that it reduces. kept:
    int16.
    """

    below: NDArray[np.int32]
    states: NDArray[np.int32]
    depths: NDArray[np.int32]
    child: NDArray[np.int32]
    sibling: NDArray[np.int32]
    edges: NDArray[np.int64]
    programs: NDArray[np.int32]
    kept: NDArray[np.int16]


def no_shortcuts(columns: int) -> Shortcuts:
    """What is remembered at first: nothing but the bottom of the stack, whose state is to be set.

    columns: terminals + 1.
    """
    return Shortcuts(
        below=np.zeros(_ROWS, np.int32),
        states=np.zeros(_ROWS, np.int32),
        depths=np.zeros(_ROWS, np.int32),
        child=np.zeros(_ROWS, np.int32),
        sibling=np.zeros(_ROWS, np.int32),
        edges=np.zeros(_ROWS * (columns + EXTRA), np.int64),
        programs=np.zeros(_ROWS * (columns + EXTRA), np.int32),
        kept=np.zeros(_KEPT, np.int16),
    )
