"""Convert columns of integers to decimal digits, a text for each row, and back."""

from typing import Final

import numpy as np

from exset.codecs.tables.tar_write import padded
from exset.grammars.columns.arrays import offsets_of
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Numbers

_MOST_DIGITS: Final = 20


def integers(texts: Strings) -> Numbers | None:
    """Return the int64 numbers in texts; None if a text is not a number of 64 bits."""
    longest = int(texts.lengths.max(initial=0))
    if longest > _MOST_DIGITS or not texts.data.all() or (texts.lengths[texts.present] == 0).any():
        return None
    if (texts.data == ord("_")).any():
        return None
    values = np.zeros(len(texts), np.int64)
    rows = texts.take(np.flatnonzero(texts.present))
    try:
        if longest:
            fields = padded(rows, longest).view(f"S{longest}").reshape(-1)
            values[texts.present] = fields.astype(np.int64)
    except (ValueError, OverflowError):
        return None
    return Numbers.of(values, texts.present)


def integers_of(column: Numbers) -> Strings:
    """Return whole numbers as decimal texts."""
    digits = column.values.astype(f"S{_MOST_DIGITS}").view(np.uint8).reshape(-1, _MOST_DIGITS)
    digits = np.where(column.present[:, np.newaxis], digits, np.uint8(0))
    offsets = offsets_of(np.count_nonzero(digits, axis=1))
    return Strings(digits[digits != 0], offsets, column.present)
