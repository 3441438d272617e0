"""Make the arrays of etl objects in advance, for all records, if the elements are in memory."""

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

    slots: the arrays, [records, ...]. left: for each record, whether it was not written.
    """

    slots: Sequence[Slot]
    left: Flags


class Tables:
    """The arrays of all records, for each etl object whose elements are in memory.

    Blobs of a cache that are too large for a table are copied from the blocks of the cache.
    """

    def __init__(self, etl: Sequence[Etl], elements: ElementSource, records: int) -> None:
        """Prepare to make the tables of etl objects when they are needed first.

        elements: where the elements are read. records: how many there are.
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
        """Write the arrays of etl object `number` for the records `rows` into its slots; return
        which records were written.
        """
        table = self._made.get(number)
        if table is not None:
            for slot, made in zip(slots, table.slots, strict=True):
                slot[...] = made[rows]
            return ~table.left[rows]
        if isinstance(self._etl[number], Blob):
            return self._elements.read_into(number, rows, rows_of(slots[0]))
        return np.zeros(rows.size, np.bool_)
