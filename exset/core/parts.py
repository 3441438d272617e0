"""Divide the work on large files into parts, and join the results of the parts of each file.

How a file is divided depends only on the file, so every run has the same units of work.
"""

import os
from array import array
from bisect import bisect_right
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice
from typing import Any, overload

from exset.core.errors import FormatError
from exset.core.outcome import Item, Outcome, Value, outcome_of


@dataclass(frozen=True)
class FilePart(os.PathLike[str]):
    """One of the `count` parts of a file; `rank` counts from 0."""

    path: str
    rank: int
    count: int

    @classmethod
    def of_file(cls, path: str | os.PathLike[str], rank: int, count: int) -> "FilePart":
        """Make part `rank`, from 0, of the file at a path, which is divided into `count` parts."""
        return cls(os.fsdecode(path), rank, count)

    @property
    def part(self) -> str:
        """The part as plans and journals name it: `2/8`, counted from 1."""
        return f"{self.rank + 1}/{self.count}"

    def __fspath__(self) -> str:
        return self.path

    def of(self, size: int) -> slice:
        """Return the slice of `size` items that belongs to this part of the file.

        The slices of two parts differ in length by at most one item.
        """
        return slice(size * self.rank // self.count, size * (self.rank + 1) // self.count)


@dataclass(frozen=True)
class PartState:
    """What joining the parts of a file needs to know about one part, besides its findings.

    - is_certain: if False, the file must be read as a whole.
    - start: the byte offset of the part.
    - lines: how many line ends the part has.
    - expanded: how many bytes the part adds to the sum that the limit `max_expand` restricts.
    - names: names that matter for the whole file.
    - width: how many elements each record of the part has.
    """

    is_certain: bool
    start: int = 0
    lines: int = 0
    expanded: int = 0
    names: tuple[bytes, ...] = ()
    width: int = 0


class Parts(Sequence[Item]):
    """The units of work for some files. A small file is one unit; a large file is several.

    Each unit is made on access.
    """

    def __init__(
        self,
        items: Sequence[Item],
        counts: Sequence[int],
        part: Callable[[Item, int, int], Item],
        ranks: range | None = None,
    ) -> None:
        """Take the files `items`; `counts` has the number of parts of each file.

        `part` makes one part from a file, the index of the part, and the number of parts. A file
        with one part is a unit itself. `ranks`: the indices of the units to take, by default all.
        """
        self.items = items
        self.counts = counts
        self._part = part
        self._ends = array("q", accumulate(counts))
        self._ranks = range(self._ends[-1] if self._ends else 0) if ranks is None else ranks

    def __len__(self) -> int:
        return len(self._ranks)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        if isinstance(index, slice):
            return Parts(self.items, self.counts, self._part, self._ranks[index])
        rank = self._ranks[index]
        file = bisect_right(self._ends, rank)
        item, count = self.items[file], self.counts[file]
        return item if count == 1 else self._part(item, rank - self._ends[file] + count, count)


def divided(
    items: Sequence[Item], counts: Sequence[int], part: Callable[[Item, int, int], Item]
) -> Sequence[Item]:
    """Return the units of work for some files: the files, or `Parts` if a file has several parts.

    The arguments are those of `Parts`.
    """
    return items if all(count == 1 for count in counts) else Parts(items, counts, part)


def whole(
    outcomes: Generator[Outcome[Any, Value], None, None],
    items: Sequence[Item],
    units: Sequence[object],
    join: Callable[[Item, Sequence[Value]], Value],
) -> Generator[Outcome[Item, Value], None, None]:
    """Join the outcomes of parts, and yield one outcome for each file.

    outcomes: one outcome for each unit. items: the files. units: what `divided` returned for the
    files. join: a function that makes the value of a file from the values of its parts, in order;
    it may raise the same errors as the work. If some parts of a file have errors, the first of
    these errors is the outcome of the file.
    """
    with closing(outcomes):
        if not isinstance(units, Parts):
            yield from outcomes
            return
        for item, count in zip(items, units.counts, strict=True):
            parts = [*islice(outcomes, count)]
            errors = [each.error for each in parts if each.error is not None]
            if count == 1:
                yield Outcome(item, parts[0].value, parts[0].error)
            elif errors:
                yield Outcome(item, error=errors[0])
            else:
                yield outcome_of(item, partial(join, item, [each.result() for each in parts]))


def parts_of(count: int, size: int) -> int:
    """Return into how many parts to divide a file of `count` samples: none has more than `size`."""
    return max(1, -(-count // size))


def changed(path: str) -> FormatError:
    """Return the error for a file that has changed since it was divided."""
    from exset.core.errors import Place

    message = "the file changed while exset worked on it"
    hint = "try again when no program writes it"
    return FormatError(message, place=Place(path), hint=hint, code="file-changed")
