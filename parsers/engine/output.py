"""The arrays that the kernel fills, and the state that it keeps between calls."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Why the kernel stopped.
(DONE, MORE, FULL, DEEP, REJECTED) = range(5)

# The numbers in the state: the offset of the next byte in the buffer; the counts of tokens and
# steps; the kind (or -1) and the end of a token that is lexed but not shifted yet; the number of
# steps that need room; the depth of the stack; the row of the stack in the transition cache, or
# 0; the counts of rows and of kept steps.
(POSITION, TOKENS, STEPS, KIND, END, NEEDED, DEPTH, ROW, ROWS, KEPT, STATE_SIZE) = range(11)

NO_KIND: Final = -1


class Output(NamedTuple):
    """What the kernel fills: the arrays of a `ParseStream`, the parser's stack, and the kernel's
    state.
    """

    kinds: NDArray[np.int16]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    steps: NDArray[np.int16]
    before: NDArray[np.int64]
    stack: NDArray[np.int32]
    state: NDArray[np.int64]
