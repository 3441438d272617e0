"""Make the arrays of etl objects once for all records, if the elements are in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Final

import numpy as np

from exset.grammars.columns.arrays import Flags, Longs
from exset.runtime.aeon.provision.columns import ColumnEtl
from exset.runtime.aeon.provision.elements import ElementSource
from exset.runtime.aeon.provision.etl import Etl, Slot
from exset.runtime.aeon.provision.layout import DTYPES

_MOST: Final = 1 << 26
"""The most bytes of all tables of a loader together."""


@dataclass(frozen=True)
class Table:
    """The arrays of an etl object. slots: [records, ...]; left: a mask of records left out."""

    slots: Sequence[Slot]
    left: Flags


class Tables:
    """The tables of a loader, by number of etl object; other etl objects have none."""

    def __init__(self, etl: Sequence[Etl], elements: ElementSource, records: int) -> None:
        """Take the etl objects and the source of their elements; make the tables later."""
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

    def fill(self, rows: Longs, number: int, slots: Sequence[Slot]) -> None:
        """Copy some records of an etl object from its table, if it has one."""
        table = self._made.get(number)
        if table is not None:
            for slot, made in zip(slots, table.slots, strict=True):
                slot[...] = made[rows]

    def has(self, row: int, number: int) -> bool:
        """Return whether a record of an etl object is in a table."""
        table = self._made.get(number)
        return table is not None and not table.left[row]

    def lacking(self, rows: Longs) -> Longs:
        """Return the indices in `rows` of the records that some etl object has in no table."""
        if len(self._made) < len(self._etl):
            return np.arange(rows.size)
        return np.flatnonzero(self._left[rows])

    @cached_property
    def _left(self) -> Flags:
        """A mask of the records that some table lacks."""
        left: Flags = np.any([each.left for each in self._made.values()], axis=0)
        return left
