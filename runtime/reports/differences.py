"""In what two models differ: where, and what each says there.

Units are compared one by one in their order, the columns of all at once: of two large sets that are
nearly the same, no more objects are made than differences are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import safe
from exset.core.protocols import Model
from exset.core.text import counted
from exset.grammars.columns.arrays import Flags, Longs, bits, row_indices
from exset.grammars.columns.ragged import Ragged
from exset.grammars.columns.strings import Strings

Numbers: TypeAlias = NDArray[Any]
Show: TypeAlias = Callable[[int], object]

_CHUNK: Final = 1 << 22
"""Elements of ragged rows that are compared at a time."""
_SHOWN: Final = 60
"""Characters of a value that are shown."""


@dataclass(frozen=True)
class Difference:
    """One place in which two models differ, and what each says there."""

    path: str
    one: str
    other: str

    def __str__(self) -> str:
        return f"{safe(self.path)}: {safe(self.one)} / {safe(self.other)}"


@dataclass(frozen=True)
class Differences:
    """In what two models differ; it is true if they do."""

    what: str
    """What was compared one by one, such as examples."""
    compared: int
    """How many of them; of two numbers the smaller."""
    differing: int
    """How many of them differ."""
    first: tuple[Difference, ...]
    """The first differences, in the order of the models."""

    def __bool__(self) -> bool:
        return bool(self.first)

    def to_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        return {
            "equal": not self,
            "what": self.what,
            "compared": self.compared,
            "differing": self.differing,
            "first": [{k: safe(v) for k, v in asdict(each).items()} for each in self.first],
        }


class Comparison(Protocol):
    """What compares the models of a family."""

    def __call__(self, one: Any, other: Any, tolerance: float, keep: int, /) -> Differences:
        """Return the first `keep` differences; numbers may be apart as `unequal` says."""
        ...


def as_they_are(one: Model, other: Model, tolerance: float, keep: int, /) -> Differences:
    """Compare models of which nothing more is known than whether they are equal."""
    first = () if one == other else (Difference("", _short(repr(one)), _short(repr(other))),)
    return Differences("models", 1, len(first), first[:keep])


def unequal(one: Numbers, other: Numbers, tolerance: float) -> Flags:
    """Tell which numbers are further apart than tolerance * max(1, |one|, |other|).

    NaN is equal to NaN; with a tolerance of 0, -0.0 is not equal to 0.0.
    """
    if not tolerance or one.dtype.kind not in "fiu":
        different: Flags = bits(one) != bits(other)
        return different
    a, b = one.astype(np.float64), other.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.maximum(np.maximum(np.abs(a), np.abs(b)), 1)
        near = (np.abs(a - b) <= tolerance * size) & np.isfinite(a) & np.isfinite(b)
        alike: Flags = near | (a == b) | (np.isnan(a) & np.isnan(b))
    return ~alike


@dataclass(frozen=True)
class Pairs:
    """Rows of one table and rows of another that stand in the same place.

    one, other: int64 [k]. words, trail: the path of the place, such as examples[i].events[j].
    """

    one: Longs
    other: Longs
    words: tuple[str, ...]
    trail: tuple[Longs, ...]

    @classmethod
    def of(cls, word: str, count: int) -> Pairs:
        """The first rows of two tables, each with that of the same number."""
        rows = np.arange(count)
        return cls(rows, rows, (word,), (rows,))

    def where(self, mask: Flags) -> Pairs:
        """Some of the pairs."""
        if mask.all():
            return self
        return Pairs(
            self.one[mask], self.other[mask], self.words, tuple(each[mask] for each in self.trail)
        )

    def on(self, one: Longs, other: Longs) -> Pairs:
        """The same places in other tables: the rows there of each row here."""
        return replace(self, one=one[self.one], other=other[self.other])

    def place(self, row: int) -> tuple[int, ...]:
        """The numbers in the path of one pair."""
        return tuple(int(each[row]) for each in self.trail)

    def path(self, row: int) -> str:
        """The path of one pair."""
        numbers = zip(self.words, self.place(row), strict=True)
        return ".".join(f"{word}[{number}]" for word, number in numbers)


class Comparer:
    """Compares columns, and collects the first differences and which units differ."""

    def __init__(self, word: str, one: int, other: int, tolerance: float, keep: int) -> None:
        """Compare so many units with so many."""
        self.units = Pairs.of(word, min(one, other))
        self.tolerance = tolerance
        self.keep = keep
        self._word = word
        self._differs = np.zeros(min(one, other), np.bool_)
        self._found: list[tuple[tuple[int, ...], int, Difference]] = []
        if one != other:
            self.differ(f"{word}", f"{one:,}", f"{other:,}")

    def differ(self, path: str, one: object, other: object) -> None:
        """Take in a difference that is none of one unit."""
        found = Difference(path, _short(str(one)), _short(str(other)))
        self._found.append(((-1,), len(self._found), found))

    def at(self, pairs: Pairs, mask: Flags, field: str, one: Show, other: Show) -> None:
        """Take in differences of a field; one, other: what a row has there."""
        rows = np.flatnonzero(mask)
        self._differs[pairs.trail[0][rows]] = True
        for row in rows[: self.keep].tolist():
            found = Difference(
                f"{pairs.path(row)}{field}",
                _short(str(one(int(pairs.one[row])))),
                _short(str(other(int(pairs.other[row])))),
            )
            self._found.append((pairs.place(row), len(self._found), found))

    def numbers(self, pairs: Pairs, field: str, one: Numbers, other: Numbers) -> None:
        """Compare columns of numbers."""
        mask = unequal(one[pairs.one], other[pairs.other], self.tolerance)
        self.at(
            pairs, mask, f".{field}", lambda row: _number(one[row]), lambda row: _number(other[row])
        )

    def strings(self, pairs: Pairs, field: str, one: Strings, other: Strings) -> Flags:
        """Compare columns of strings, and return which differ."""
        mask = unequal_strings(pairs, one, other)
        self.at(
            pairs,
            mask,
            f".{field}" if field else "",
            lambda row: quoted(one.text(row)),
            lambda row: quoted(other.text(row)),
        )
        return mask

    def rows(self, pairs: Pairs, word: str, one: Longs, other: Longs, noun: str) -> Pairs:
        """Compare how many rows of other tables belong to each row; return these, in pairs.

        one, other: where the rows begin and end.
        """
        a, b = (np.diff(offsets) for offsets in (one, other))
        mask = a[pairs.one] != b[pairs.other]
        self.at(
            pairs,
            mask,
            f".{word}",
            lambda row: counted(a[row], noun),
            lambda row: counted(b[row], noun),
        )
        same = pairs.where(~mask)
        lengths = a[same.one]
        begin = np.repeat(np.cumsum(lengths) - lengths, lengths)
        return Pairs(
            row_indices(one[:-1][same.one], lengths),
            row_indices(other[:-1][same.other], lengths),
            (*same.words, word),
            (*(np.repeat(each, lengths) for each in same.trail), np.arange(begin.size) - begin),
        )

    def ragged(self, pairs: Pairs, field: str, one: Ragged[Any], other: Ragged[Any]) -> None:
        """Compare columns of rows of numbers."""
        a, b = one.lengths, other.lengths
        mask = a[pairs.one] != b[pairs.other]
        self.at(
            pairs,
            mask,
            f".{field}",
            lambda row: counted(a[row], "number"),
            lambda row: counted(b[row], "number"),
        )
        same = pairs.where(~mask)
        lengths = a[same.one]
        starts = one.offsets[:-1][same.one], other.offsets[:-1][same.other]
        mask = np.zeros(lengths.size, np.bool_)
        for low, high in _chunks(lengths):
            size = lengths[low:high]
            x, y = (
                column.values[row_indices(start[low:high], size)]
                for column, start in zip((one, other), starts, strict=True)
            )
            apart = unequal(x, y, self.tolerance)
            if apart.any():
                mask[low:high] = np.bincount(
                    np.repeat(np.arange(high - low), size)[apart], minlength=high - low
                ).astype(np.bool_)
        rows = np.flatnonzero(mask)
        self._differs[same.trail[0][rows]] = True
        for row in rows[: self.keep].tolist():
            left, right = one[int(same.one[row])], other[int(same.other[row])]
            each = int(unequal(left, right, self.tolerance).argmax())
            found = Difference(
                f"{same.path(row)}.{field}[{each}]", _number(left[each]), _number(right[each])
            )
            self._found.append((same.place(row), len(self._found), found))

    def done(self) -> Differences:
        """What was found."""
        first = tuple(found for _, _, found in sorted(self._found, key=lambda each: each[:2]))
        differing = int(self._differs.sum())
        return Differences(self._word, self._differs.size, differing, first[: self.keep])


def unequal_strings(pairs: Pairs, one: Strings, other: Strings) -> Flags:
    """Tell which strings of pairs differ."""
    a, b = one.lengths[pairs.one], other.lengths[pairs.other]
    mask: Flags = (a != b) | (one.given[pairs.one] != other.given[pairs.other])
    same = np.flatnonzero(~mask)
    lengths = a[same]
    starts = one.offsets[:-1][pairs.one[same]], other.offsets[:-1][pairs.other[same]]
    for low, high in _chunks(lengths):
        size = lengths[low:high]
        x, y = (
            column.data[row_indices(start[low:high], size)]
            for column, start in zip((one, other), starts, strict=True)
        )
        apart = x != y
        if apart.any():
            rows = np.repeat(np.arange(low, high), size)[apart]
            mask[same[rows]] = True
    return mask


def _chunks(lengths: Longs) -> Iterator[tuple[int, int]]:
    """Yield from where to where rows have some millions of elements, one row at least."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    marks = np.searchsorted(ends, np.arange(_CHUNK, total, _CHUNK), side="left") + 1
    yield from pairwise(dict.fromkeys([0, *marks.tolist(), lengths.size]))


def _number(number: Any) -> str:
    """A number as short as it reads back."""
    return str(number)


def quoted(text: str | None) -> str:
    """A text in quotation marks; None is nothing."""
    return "nothing" if text is None else repr(text)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def shown(values: Sequence[object]) -> str:
    """Some values as text."""
    return " ".join(map(str, values))
