"""The base class of etl objects that use no pictures and can write many elements at once."""

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
    """An etl object that can write many elements at once, for example a whole column."""

    @abstractmethod
    def provide_many(self, column: Column, slots: Sequence[Slot]) -> Longs:
        """Write the arrays of many elements. Return the indices of the elements that were not
        written.

        column: an array of numbers, or the joined bytes of all elements and their offsets. slots:
        one array for each output, [n, ...], contiguous and filled with 0. The returned indices are
        int64. For these elements, the caller must call `provide`, which raises their errors. Empty
        elements are never written.
        """


def spans_of(column: Column) -> Spans:
    """Return the joined bytes of elements, and the offsets of the elements. A number has four
    bytes.
    """
    if isinstance(column, tuple):
        return column
    words = np.ascontiguousarray(column.astype(column.dtype.newbyteorder("<"), copy=False))
    return words.view(np.uint8), cast(Longs, 4 * np.arange(column.size + 1))


def rows_of(slot: Slot) -> Bytes:
    """Return a batch's array as a view of bytes: uint8 [n, bytes of a record]."""
    return slot.reshape(len(slot), -1).view(np.uint8)
