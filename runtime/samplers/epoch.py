"""One epoch of a planned sampler. Any batch can be computed without the others.

A slot is M samples of one class. The layout (`exset.runtime.samplers.layout`) is a table of slots.
A batch is either a column of the layout, or one of the batches of the slots that are not in the
layout. A keyed order maps batch numbers to columns. If a batch must be filled up, it is always the
last batch.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs
from exset.runtime.arrays import namespace_of, to_host
from exset.runtime.samplers.epoch_rows import Affine, Row, Runs
from exset.runtime.samplers.grouping import Grouping
from exset.runtime.samplers.layout import Layout
from exset.runtime.samplers.slots import Drawing
from exset.runtime.training.generator import Words, number, ordered, places, words

# The purposes of keys: a key for each is made from the key of an epoch.
ORDER, BATCHES, ITEMS, ROWS = range(4)

_WHOLE_FROM = 4
"""It is faster to compute the whole epoch if at least one batch in four is needed."""


@dataclass(frozen=True)
class Epoch:
    """The batches of an epoch. Each batch can be computed without the others.

    slots: the number of slots of each class, int64 [classes]. samples: M, the number of items of a
    slot. key: the key of the epoch's random numbers.
    """

    grouping: Grouping
    slots: Longs
    layout: Layout
    samples: int
    key: int
    shuffle: bool

    def __len__(self) -> int:
        return self.layout.batches

    def items(self, batches: Longs) -> Longs:
        """Return the items of the batches with these numbers, int64 [batches, N*M]."""
        cells = self._cells(batches)
        if len(batches) * _WHOLE_FROM >= len(self):
            items = self.drawing.fill(*self.runs.slots).take(cells, axis=0)
        else:
            items = self.drawing.fill(*self.runs.at(cells.reshape(-1)))
        rows: Longs = items.reshape(len(batches), self.layout.width * self.samples)
        return rows

    @cached_property
    def drawing(self) -> Drawing:
        """The object that fills slots with items."""
        return Drawing(self.grouping, self.samples, number(self.key, ITEMS), self.shuffle)

    @cached_property
    def runs(self) -> Runs:
        """The slots of all batches. First come the slots in the layout, then the remaining slots,
        then the slots that fill up the last batch.

        Classes are in the order of the epoch, but a class with a slot in every distinct batch (a
        batch of N distinct classes) comes last.
        """
        xp = namespace_of(self.slots)
        layout, count = self.layout, len(self.slots)
        classes = xp.arange(count)
        if self.shuffle:
            classes = ordered(classes, number(self.key, ORDER))
        placed = layout.lowered(self.slots[classes])
        always = placed == layout.distinct
        moved = xp.concatenate([xp.flatnonzero(~always), xp.flatnonzero(always)])
        classes, placed = classes[moved], placed[moved]
        parts = [(classes, xp.zeros(count, np.int64), placed)]
        if layout.others:
            parts.append((classes, placed, self.slots[classes] - placed))
        if layout.short:
            filled = classes[: layout.short]
            parts.append((filled, self.slots[filled], xp.ones(layout.short, np.int64)))
        joined = (xp.concatenate(each) for each in zip(*parts, strict=True))
        return Runs.of(*joined)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the layout, each with its order of columns."""
        xp = namespace_of(self.slots)
        widths = np.full(self.layout.width, self.layout.distinct)
        widths[: self.layout.short] -= 1
        firsts = np.cumsum(widths) - widths
        rows = list(map(Row, firsts.tolist(), widths.tolist()))
        if not self.shuffle:
            return tuple(rows)
        # Of the class at the first cell of each row: the number of cells before the row, and after.
        begins = xp.asarray(firsts)
        at = xp.searchsorted(self.runs.ends, begins, side="right")
        before = to_host(begins - self.runs.begins[at])
        after = np.where(before == 0, 0, to_host(self.runs.ends[at] - begins))
        turned, skewed = (widths - before).tolist(), (widths - after).tolist()
        for index in range(1, len(rows)):
            key = number(number(self.key, ROWS), index)
            turn = Affine.drawn(turned[index], number(key, 0))
            skew = Affine.drawn(skewed[index], number(key, 1))
            rows[index] = replace(rows[index], turn=turn, skew=skew)
        return tuple(rows)

    def _cells(self, batches: Longs) -> Longs:
        """Return the positions of the slots of some batches, among the slots of `runs`.

        batches: the numbers of the batches. The result is int64 [batches, N].
        """
        xp = namespace_of(self.slots)
        layout = self.layout
        distinct, placed = np.uint64(layout.distinct), np.uint64(layout.placed)
        columns, last = self._columns(xp.asarray(batches, np.uint64))
        cells = xp.empty((layout.width, len(batches)), np.uint64)
        rest = columns >= distinct
        at = columns
        for index, row in enumerate(self.rows):
            if layout.short and index == layout.short:
                at = xp.where(last, np.uint64(0), at + np.uint64(1))
            at = row.under(at)
            cells[index] = at + np.uint64(row.first)
        if layout.others:
            deals = xp.arange(layout.width, dtype=np.uint64)[:, None] * np.uint64(layout.others)
            cells = xp.where(rest, columns - distinct + placed + deals, cells)
        if layout.short:
            end = np.uint64(layout.slots)
            filled = xp.arange(layout.short, dtype=np.uint64)[:, None] + end
            cells[: layout.short] = xp.where(last, filled, cells[: layout.short])
        result: Longs = cells.T.astype(np.int64, order="C")
        return result

    def _columns(self, batches: Words) -> tuple[Words, NDArray[np.bool_]]:
        """Return the column of each batch, and for each batch whether it is the one that is filled
        up.

        Columns of distinct batches come first. The last of these columns is the one to fill up.
        """
        xp = namespace_of(batches)
        size = len(self) - bool(self.layout.short)
        last = batches >= np.uint64(size)
        columns = xp.where(last, np.uint64(0), batches)
        if self.shuffle and size:
            key = words(xp, number(self.key, BATCHES))
            columns = places(key, words(xp, size), columns)
        if self.layout.short:
            end = np.uint64(self.layout.distinct - 1)
            columns = xp.where(last, end, columns + (columns >= end))
        return columns, last
