"""Spans: integers stored as runs of consecutive integers, such as the ids of a sample list."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from exset.core.html import text
from exset.grammars.columns.arrays import Longs, check_column, frozen, row_indices
from exset.grammars.columns.rows import Column
from exset.grammars.columns.strings import Strings


@dataclass(frozen=True, eq=False, repr=False)
class Spans(Column[tuple[int, int]]):
    """A column of runs of consecutive numbers.

    first, last: int64 [n], the first and the last number of each run. Raises ValueError if a last
    number is smaller than the first.
    """

    first: Longs
    last: Longs

    def __post_init__(self) -> None:
        check_column("first", self.first, np.int64)
        check_column("last", self.last, np.int64, self.first.size)
        if (self.last < self.first).any():
            raise ValueError("last: a span must not go down")
        self._freeze()

    @classmethod
    def empty(cls) -> Self:
        """Return a column of spans without rows."""
        return cls.unchecked(first=np.empty(0, np.int64), last=np.empty(0, np.int64))

    def __len__(self) -> int:
        return self.first.size

    def _item(self, row: int) -> tuple[int, int]:
        return int(self.first[row]), int(self.last[row])

    @property
    def counts(self) -> Longs:
        """How many numbers each run has: int64 [n]."""
        return self.last - self.first + 1

    def numbers(self) -> Longs:
        """Return the numbers of all runs, run after run: int64."""
        return row_indices(self.first, self.counts)


def first_of(ids: Strings | Spans, begin: int, end: int) -> str:
    """Return the first four of the ids `begin` to `end` - 1 as text for a message.

    A run counts as one id. If there are more than four, the text ends with "…".
    """
    shown = range(begin, min(end, begin + 4))
    words = [
        text(ids[i]) if isinstance(ids, Strings) else " ... ".join(map(str, dict.fromkeys(ids[i])))
        for i in shown
    ]
    return ", ".join(words) + (", …" if end > shown.stop else "")


def normal_spans(numbers: Longs, offsets: Longs) -> tuple[Spans, Longs]:
    """Return the numbers of each row as runs that are as long as possible.

    Return the runs of all rows, and the offsets of each row's runs. numbers: the numbers of all
    rows, row by row. offsets: row i has the numbers offsets[i]:offsets[i + 1].
    """
    if numbers.size == 0:
        return Spans.empty(), frozen(np.zeros(offsets.size, np.int64))
    begins = np.ones(numbers.size, np.bool_)
    np.not_equal(numbers[1:], numbers[:-1] + 1, out=begins[1:])
    begins[offsets[:-1][offsets[:-1] < numbers.size]] = True
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], numbers.size) - 1
    return (
        Spans.unchecked(first=numbers[starts], last=numbers[ends]),
        frozen(np.searchsorted(starts, offsets)),
    )
