"""Divide one file of many samples into chunks of whole samples."""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Bytes
from exset.io.blocks import Blocks

_BLOCK: Final = 1 << 23

Watch = Callable[[bytes], object]
"""Called with all bytes of a file, in blocks."""

Cut = Callable[[Bytes], tuple[int, int] | None]
"""Returns where the whole samples in the beginning of a file end, and how many parts there are.

The parts are those that the reader counts, such as records. None: the file cannot be divided here.
"""


def sources(
    blocks: Blocks, limits: Limits, cut: Cut, watch: Watch | None
) -> Iterator[tuple[Source, int, bool]]:
    """Yield the chunks of a file, as sources that know where they begin in the file.

    With each, yield the number of samples or entries before it, and whether it is the last one.
    The last chunk has all bytes that cannot be divided. cut: finds where to divide. `blocks` must
    be readable again from the beginning. watch: called with each block of bytes.
    """
    waiting: list[bytes] = []
    size = start = count = 0
    needed, is_rest = 1, False
    for block in blocks.again(limits, _BLOCK, watch):
        waiting.append(block)
        size += len(block)
        if is_rest or size < needed:
            continue
        data = b"".join(waiting)
        found = cut(np.frombuffer(data, np.uint8))
        end, parts = found or (0, 0)
        if end:
            yield Source(blocks.name, data[:end], start), count, False
            start, count = start + end, count + parts
            data = data[end:]
        waiting, size = [data], len(data)
        is_rest = found is None
        needed = 2 * size  # a sample of any size is copied a few times only
    yield Source(blocks.name, b"".join(waiting), start), count, True
