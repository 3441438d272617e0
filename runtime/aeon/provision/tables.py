"""The arrays of etl objects whose elements are in memory, made once for all records."""

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
"""The bytes of all tables of a loader."""


@dataclass(frozen=True)
class Table:
    """The arrays of an etl object. slots: [records, ...]; left: the records that they lack."""

    slots: Sequence[Slot]
    left: Flags


class Tables:
    """Tables for the etl objects of a loader, by their numbers; others provide each record."""

    def __init__(self, etl: Sequence[Etl], elements: ElementSource, records: int) -> None:
        """Take the etl objects, and where their elements are; nothing is made yet."""
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
        """Write some records of an etl object, if it has a table."""
        table = self._made.get(number)
        if table is not None:
            for slot, made in zip(slots, table.slots, strict=True):
                slot[...] = made[rows]

    def has(self, row: int, number: int) -> bool:
        """Return whether a record of an etl object is in a table."""
        table = self._made.get(number)
        return table is not None and not table.left[row]

    def lacking(self, rows: Longs) -> Longs:
        """Return the indices of those of some records that are not completely in tables."""
        if len(self._made) < len(self._etl):
            return np.arange(rows.size)
        return np.flatnonzero(self._left[rows])

    @cached_property
    def _left(self) -> Flags:
        """Which records lack something in some table."""
        left: Flags = np.any([each.left for each in self._made.values()], axis=0)
        return left
