"""Make the arrays of etl objects for all records in advance, if the elements are in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Final

import numpy as np

from exset.grammars.columns.arrays import Flags, Longs
from exset.runtime.aeon.provision.columns import ColumnEtl, rows_of
from exset.runtime.aeon.provision.elements import ElementSource
from exset.runtime.aeon.provision.etl import Etl, Slot
from exset.runtime.aeon.provision.layout import DTYPES
from exset.runtime.aeon.provision.numbers import Blob

_MOST: Final = 1 << 26
"""The most bytes of all tables of a loader together."""


@dataclass(frozen=True)
class Table:
    """The arrays of an etl object for all records.

    slots: the arrays, [records, ...]. left: True for each record that was not written.
    """

    slots: Sequence[Slot]
    left: Flags


class Tables:
    """The arrays of all records, for each etl object whose elements are in memory.

    If the blobs of a cache are too large for a table, they are copied from the blocks of the cache.
    """

    def __init__(self, etl: Sequence[Etl], elements: ElementSource, records: int) -> None:
        """Prepare the tables of etl objects; they are made at the first call of `fill`.

        elements: from where the elements are read. records: the number of records.
        """
        self._etl, self._elements, self._records = etl, elements, records

    @cached_property
    def _made(self) -> dict[int, Table]:
        made, room = {}, _MOST
        for each in self._etl:
            shapes = [(each.shape, np.dtype(DTYPES[each.dtype])) for each in each.outputs]
            size = self._records * sum(prod(shape) * dtype.itemsize for shape, dtype in shapes)
            if not isinstance(each, ColumnEtl) or size > room:
                continue
            column = self._elements.column(each.number)
            if column is not None:
                slots = [np.zeros((self._records, *shape), dtype) for shape, dtype in shapes]
                left = np.zeros(self._records, np.bool_)
                left[each.provide_many(column.values, slots)] = True
                left[column.failed] = True
                made[each.number] = Table(slots, left)
                room -= size
        return made

    def fill(self, rows: Longs, number: int, slots: Sequence[Slot]) -> Flags:
        """Write the arrays of etl object `number` for the records `rows` into its slots.

        Return for each record whether it was written.
        """
        table = self._made.get(number)
        if table is not None:
            for slot, made in zip(slots, table.slots, strict=True):
                slot[...] = made[rows]
            return ~table.left[rows]
        if isinstance(self._etl[number], Blob):
            return self._elements.read_into(number, rows, rows_of(slots[0]))
        return np.zeros(rows.size, np.bool_)
