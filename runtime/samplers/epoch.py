"""One epoch of a plan: any of its batches, from what is kept of each class.

A batch is a column of the layout (see `exset.runtime.samplers.layout`), or one of those that deal
out the rest; which of them it is, a keyed order says. The last is always the one that is filled.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.runtime.arrays import namespace_of, to_host
from exset.runtime.samplers.grouping import Grouping
from exset.runtime.samplers.layout import Layout
from exset.runtime.samplers.rows import Row, borders, rows
from exset.runtime.samplers.runs import Runs
from exset.runtime.samplers.slot_items import Drawing
from exset.runtime.training.generator import number, numbers, places, words

Words: TypeAlias = NDArray[np.uint64]

# What the numbers of an epoch's key are the keys of.
ORDER, BATCHES, ITEMS, ROWS = range(4)

_MOST = 4
"""One part in so many of an epoch is had faster by way of the whole."""


@dataclass(frozen=True)
class Epoch:
    """The batches of an epoch; `key` is the epoch's, `slots` is how many each class has, int64."""

    grouping: Grouping
    slots: NDArray[np.int64]
    layout: Layout
    samples: int
    key: int
    shuffle: bool

    def __len__(self) -> int:
        return self.layout.batches

    def items(self, batches: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the items of some batches, by their numbers: a row of N slots of M for each."""
        cells = self._cells(batches)
        if len(batches) * _MOST >= len(self):
            items = self.drawing.fill(*self.runs.slots).take(cells, axis=0)
        else:
            items = self.drawing.fill(*self.runs.at(cells.reshape(-1)))
        rows: NDArray[np.int64] = items.reshape(len(batches), self.layout.wide * self.samples)
        return rows

    def classes(self, batches: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the classes of some batches, by their numbers: a row of N for each."""
        return self.runs.at(self._cells(batches))[0]

    @cached_property
    def drawing(self) -> Drawing:
        """Which items the slots have."""
        return Drawing(self.grouping, self.samples, number(self.key, ITEMS), self.shuffle)

    @cached_property
    def runs(self) -> Runs:
        """The layout's cells, class after class; then the rest, class after class; then the filled.

        The classes are in the epoch's order, but those that are in all distinct batches come last.
        """
        xp = namespace_of(self.slots)
        layout, many = self.layout, len(self.slots)
        classes = xp.arange(many)
        if self.shuffle:
            key = words(xp, number(self.key, ORDER))
            # The numbers of a key all differ, so that no two classes are level.
            classes = xp.argsort(numbers(key, classes.astype(np.uint64)))
        placed = layout.lowered(self.slots[classes])
        always = placed == layout.distinct
        moved = xp.concatenate([xp.flatnonzero(~always), xp.flatnonzero(always)])
        classes, placed = classes[moved], placed[moved]
        parts = [(classes, xp.zeros(many, np.int64), placed)]
        if layout.others:
            parts.append((classes, placed, self.slots[classes] - placed))
        if layout.short:
            filled = classes[: layout.short]
            parts.append((filled, self.slots[filled], xp.ones(layout.short, np.int64)))
        joined = (xp.concatenate(each) for each in zip(*parts, strict=True))
        return Runs.of(*joined)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the layout."""
        xp = namespace_of(self.slots)
        firsts = borders(self.layout.wide, self.layout.distinct, self.layout.short)
        begins = xp.asarray(firsts[:-1])
        at = xp.searchsorted(self.runs.ends, begins, side="right")
        before = to_host(begins - self.runs.begins[at])
        after = to_host(self.runs.ends[at] - begins)
        after[before == 0] = 0
        key = number(self.key, ROWS) if self.shuffle else None
        return tuple(rows(firsts, before, after, key))

    def _cells(self, batches: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which of the cells of `runs` batches have: a row of N for each."""
        xp = namespace_of(self.slots)
        layout = self.layout
        distinct, placed = np.uint64(layout.distinct), np.uint64(layout.placed)
        columns, last = self._columns(xp.asarray(batches, np.uint64))
        cells = xp.empty((layout.wide, len(batches)), np.uint64)
        rest = columns >= distinct
        at = columns
        for index, row in enumerate(self.rows):
            if layout.short and index == layout.short:
                at = xp.where(last, np.uint64(0), at + np.uint64(1))
            at = row.under(at)
            cells[index] = at + np.uint64(row.first)
        if layout.others:
            deals = xp.arange(layout.wide, dtype=np.uint64)[:, None] * np.uint64(layout.others)
            cells = xp.where(rest, columns - distinct + placed + deals, cells)
        if layout.short:
            end = np.uint64(layout.slots)
            filled = xp.arange(layout.short, dtype=np.uint64)[:, None] + end
            cells[: layout.short] = xp.where(last, filled, cells[: layout.short])
        result: NDArray[np.int64] = cells.T.astype(np.int64, order="C")
        return result

    def _columns(self, batches: Words) -> tuple[Words, NDArray[np.bool_]]:
        """Which columns batches are, and which is the one that is filled.

        The distinct columns come first, and the filled one is the last of them.
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
