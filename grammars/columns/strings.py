"""Strings: a column of byte strings. Rows may have no value."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Self, SupportsIndex

import numpy as np

from exset.grammars.columns.arrays import (
    Bytes,
    Flags,
    Indices,
    Longs,
    check_column,
    check_offsets,
    compact,
    concat,
    concat_offsets,
    constant,
    gather_ragged,
    offsets_of,
    row_indices,
    same,
    take,
)
from exset.grammars.columns.inputs import items_of, raw
from exset.grammars.columns.rows import Column

_BLOCK: Final = 1 << 16
_COMPARED: Final = 1 << 12
_TURNS: Final = 1 << 8


@dataclass(frozen=True, eq=False, repr=False)
class Strings(Column[bytes | None]):
    """A column of byte strings. Rows may have no value.

    data: uint8, the bytes of all strings. offsets: int64 [n + 1]. present: bool [n]. A row without
    a value has no bytes, but is not an empty string. Raises ValueError for arrays that do not fit
    together.
    """

    data: Bytes
    offsets: Longs
    present: Flags

    def __post_init__(self) -> None:
        check_column("data", self.data, np.uint8)
        check_offsets("offsets", self.offsets, self.data.size)
        check_column("present", self.present, np.bool_, self.offsets.size - 1)
        if self.data.size and (~self.present & (self.offsets[1:] > self.offsets[:-1])).any():
            raise ValueError("present: a string that is not present has bytes")
        self._freeze()

    @classmethod
    def of(cls, strings: Iterable[bytes | str | None]) -> Self:
        """Return a column of the given strings. None becomes a row without a value.

        Text is encoded as UTF-8. Lone surrogates become the bytes that they represent. Raises
        ValueError for other items.
        """
        return cls.listed("strings", strings)

    @classmethod
    def listed(cls, what: str, items: object) -> Self:
        """Make a column of a list of strings. None becomes a row without a value.

        Raises ValueError for other items. what: the column's name, with which the message begins.
        """
        rows = [
            row if row is None or type(row) is bytes else raw(f"{what}[{i}]", row)
            for i, row in enumerate(items_of(what, items, "strings"))
        ]
        lengths = np.array([len(row or b"") for row in rows], np.int64)
        present = np.array([row is not None for row in rows], np.bool_)
        data = np.frombuffer(b"".join(row or b"" for row in rows), np.uint8)
        return cls(data, offsets_of(compact(lengths)), compact(present))

    @classmethod
    def empty(cls, n: int) -> Self:
        """Return a column of n rows without a value."""
        data, offsets = np.empty(0, np.uint8), constant(0, n + 1, np.int64)
        return cls.unchecked(data=data, offsets=offsets, present=constant(False, n, np.bool_))

    @classmethod
    def concat(cls, columns: Sequence[Self]) -> Self:
        """Join the strings of one or more columns."""
        return cls.unchecked(
            data=concat([column.data for column in columns]),
            offsets=concat_offsets([column.offsets for column in columns]),
            present=concat([column.present for column in columns]),
        )

    @classmethod
    def from_spans(
        cls, buffer: Bytes, starts: Longs, ends: Longs, present: Flags | None = None
    ) -> Self:
        """Make a column of copied spans of bytes. String i is buffer[starts[i]:ends[i]].

        Spans may overlap and be in any order. present: bool [n], by default all True. The spans of
        rows without a value are ignored. Raises ValueError for a span out of bounds.
        """
        present = constant(True, starts.size, np.bool_) if present is None else present
        if not present.any():
            return cls.empty(starts.size)
        starts, ends = np.where(present, starts, 0), np.where(present, ends, 0)
        if (starts < 0).any() or (ends < starts).any() or (ends > buffer.size).any():
            raise ValueError("from_spans: a span is out of bounds")
        lengths = compact(ends - starts)
        return cls(buffer[row_indices(starts, lengths)], offsets_of(lengths), compact(present))

    def __len__(self) -> int:
        return self.present.size

    def _item(self, row: int) -> bytes | None:
        begin, end = self.offsets[row], self.offsets[row + 1]
        return self.data[begin:end].tobytes() if self.present[row] else None

    def __iter__(self) -> Iterator[bytes | None]:
        data = self.data.tobytes()
        for first in range(0, len(self), _BLOCK):  # lists of all offsets would need much memory
            ends = self.offsets[first : first + _BLOCK + 1].tolist()
            for i, present in enumerate(self.present[first : first + _BLOCK].tolist()):
                yield data[ends[i] : ends[i + 1]] if present else None

    def __repr__(self) -> str:
        return f"Strings({np.count_nonzero(self.present)} of {len(self)} present)"

    @property
    def lengths(self) -> Longs:
        """The length of each string in bytes: int64 [n]."""
        return np.diff(self.offsets)

    def text(self, index: SupportsIndex) -> str | None:
        """Return one string as text, decoded as UTF-8. Invalid bytes become lone surrogates."""
        raw = self[index]
        return None if raw is None else raw.decode("utf-8", "surrogateescape")

    def take(self, indices: Indices) -> Self:
        """Return the strings at the indices, int64 [k]. Raises IndexError for an index out of
        bounds.
        """
        data, offsets = gather_ragged(self.data, self.offsets, indices)
        return self.unchecked(data=data, offsets=offsets, present=take(self.present, indices))

    def repeated(self, counts: Longs) -> Self:
        """Return a column in which string i occurs `counts[i]` times. This is faster than `take`.

        counts: int64 [n].
        """
        strings = Strings.__iter__(self)  # also for a column of text
        rows, lengths = zip(strings, counts.tolist(), strict=True), self.lengths
        data = np.frombuffer(b"".join((row or b"") * count for row, count in rows), np.uint8)
        offsets = offsets_of(compact(np.repeat(lengths, counts)))
        present = compact(np.repeat(self.present, counts))
        return self.unchecked(data=data, offsets=offsets, present=present)

    def tolist(self) -> list[bytes | None]:
        """Return the strings as a list."""
        return list(self)

    def changed(self, change: Callable[[str], str]) -> Self:
        """Return the strings after `change`, a function of text. Rows without a value still have
        none.

        Raises ValueError for a result that is not text.
        """
        return self.of(
            None if each is None else change(each.decode("utf-8", "surrogateescape"))
            for each in self
        )

    def distinct(self) -> tuple[Self, Longs]:
        """Return the distinct strings in order of first use, and the index of each row's string
        among them.

        The indices are int64 [n]. A row without a value counts as an empty string.
        """
        period = self._period()
        if period < len(self):
            some, codes = self[:period].distinct()
            return some, codes[np.arange(len(self)) % period]
        # Equal strings have equal hashes; collisions are detected below.
        hashes = np.fromiter((hash(row or b"") for row in self), np.int64, len(self))
        _, first, codes = np.unique(hashes, return_index=True, return_inverse=True)
        head = first[codes].astype(np.int64)
        if not self._rows_equal(head):
            seen: dict[bytes | None, int] = {}
            head = np.array(
                [seen.setdefault(row or b"", i) for i, row in enumerate(self)], np.int64
            )
        is_first = head == np.arange(len(self))
        return self.take(np.flatnonzero(is_first)), (np.cumsum(is_first) - 1)[head]

    def _period(self) -> int:
        """Return p if the strings repeat after every p rows, as the fields' names in a list of
        records do.

        Return the number of rows if there is no such p, or if it is large.
        """
        first = self[0] if len(self) else None
        for p in range(1, min(_TURNS, len(self))):
            if self[p] == first:
                lengths, size = self.lengths, int(self.offsets[p])
                if same(lengths[p:], lengths[:-p]) and same(
                    self.data[size:], self.data[: -size or None]
                ):
                    return p
                break
        return len(self)

    def _rows_equal(self, head: Longs) -> bool:
        """Return whether every row i equals row `head[i]` of the same column."""
        others = np.flatnonzero(head != np.arange(len(self)))
        for first in range(0, others.size, _COMPARED):  # indices of all bytes would need memory
            rows = others[first : first + _COMPARED]
            one, other = self.take(rows), self.take(head[rows])
            if not (np.array_equal(one.offsets, other.offsets) and same(one.data, other.data)):
                return False
        return True
