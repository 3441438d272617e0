"""Copy spans of bytes into columns, with the engine's kernels if they are compiled."""

import numpy as np

from exset.codecs.engine.gather import KERNELS, Mover
from exset.grammars.columns.arrays import Bytes, Flags, Longs, compact
from exset.grammars.columns.strings import Strings


def gathered(data: Bytes, starts: Longs, lengths: Longs, present: Flags | None = None) -> Strings:
    """Return copies of spans of `data` as strings; all spans must be within the data.

    starts, lengths: where each span is. present: which rows are present; by default all.
    """
    compiled = KERNELS.use_compiled(int(lengths.sum()))
    strings = Mover(compiled).strings(np.ascontiguousarray(data), starts, lengths)
    return strings if present is None else strings.with_unchecked(present=compact(present))
