"""The kernel that converts numerals to binary64, and the kernels for the user's own grammars."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import Kernels, entry_kernel
from exset.grammars.columns.arrays import Bytes, Longs
from exset.parsers.engine.conversion import scientific

KERNELS: Final = Kernels(
    "exset.parsers.engine.conversion",
    "exset.parsers.custom.nesting",
    "exset.parsers.custom.doubles",
)
(_PLUS, _MINUS) = b"+-"


@entry_kernel
def doubles(
    buffer: Bytes, starts: Longs, ends: Longs, values: NDArray[np.float64], hard: Longs
) -> int:
    """Convert each span buffer[start:end] to a binary64 number, correctly rounded, in `values`.

    Fills `hard` with the indices of the spans that this kernel cannot convert, and returns the
    number of these spans.
    """
    left = 0
    for token in range(len(starts)):
        at, end = starts[token], ends[token]
        negative = at < end and buffer[at] == _MINUS
        if at < end and (negative or buffer[at] == _PLUS):
            at += 1
        is_digit = at < end and 48 <= buffer[at] <= 57
        value = scientific(buffer, at, end) if is_digit else -1.0
        if value < 0:
            hard[left] = token
            left += 1
        else:
            values[token] = -value if negative else value
    return left
