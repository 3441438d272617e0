"""etl objects that write many elements at once: those that need no picture and no random draws."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import cast

import numpy as np

from exset.grammars.columns.arrays import Bytes, Longs
from exset.runtime.aeon.provision.etl import Etl, Slot
from exset.runtime.aeon.record_dataset import Column

Spans = tuple[Bytes, Longs]
"""The bytes of all elements, and their offsets: int64 [n + 1]."""


class ColumnEtl(Etl):
    """An etl object that writes many elements at once, as of a column of a manifest."""

    @abstractmethod
    def provide_many(self, column: Column, slots: Sequence[Slot]) -> Longs:
        """Write the arrays of many elements, and return the rows that it has left out: int64.

        column: numbers, or the bytes of all elements and their offsets. slots: one array for each
        output, [n, ...], contiguous and filled with 0. The rows left out need `provide`, which
        raises their errors; empty elements are among them.
        """


def spans_of(column: Column) -> Spans:
    """Return the elements as bytes: a number has four, in little-endian order."""
    if isinstance(column, tuple):
        return column
    words = np.ascontiguousarray(column.astype(column.dtype.newbyteorder("<"), copy=False))
    return words.view(np.uint8), cast(Longs, 4 * np.arange(column.size + 1))


def rows_of(slot: Slot) -> Bytes:
    """Return the bytes of the array of a batch: uint8 [n, bytes of a record], a view."""
    return slot.reshape(len(slot), -1).view(np.uint8)
