"""Build a message of Protocol Buffers for each row, from pieces of bytes that are joined at the
end.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.codecs.tables.spans import gathered
from exset.grammars.columns.arrays import Flags, Longs, compact, constant, is_constant, offsets_of
from exset.grammars.columns.strings import Strings

_BITS: Final = 7
_MOST: Final = 10  # bytes of a varint


@dataclass(frozen=True)
class Rope:
    """The bytes of each row, in pieces that are not joined yet.

    pieces: a column of the first pieces of all rows, a column of the second pieces, and so on.
    lengths: int64 [n], the total length of each row.
    """

    pieces: tuple[Strings, ...]
    lengths: Longs

    @classmethod
    def of(cls, strings: Strings) -> "Rope":
        """Return rows that have one piece each."""
        return cls((strings,), compact(strings.lengths))

    def __add__(self, other: "Rope") -> "Rope":
        return Rope((*self.pieces, *other.pieces), compact(self.lengths + other.lengths))

    def within(self, before: bytes, present: Flags) -> "Rope":
        """Return the rows, each preceded by the bytes `before` and then by its own length.

        `before` is, for example, the tag of a field. present: bool [n], which rows to change. All
        other rows must be empty, and stay empty.
        """
        if is_constant(self.lengths) and present.size and present.all():
            return _repeated(before + varints(self.lengths[:1]).data.tobytes(), present) + self
        return _repeated(before, present) + Rope.of(varints(self.lengths, present)) + self

    def joined(self) -> Strings:
        """Return the rows as one column of byte strings."""
        pieces = [each for each in self.pieces if each.data.size]
        if not pieces:
            return _repeated(b"", np.ones(self.lengths.size, np.bool_)).pieces[0]
        if len(pieces) == 1:
            return pieces[0]
        present = constant(True, self.lengths.size, np.bool_)
        if all(is_constant(compact(each.lengths)) for each in pieces):
            rows = [each.data.reshape(len(each), -1) for each in pieces]
            data: NDArray[np.uint8] = np.concatenate(rows, axis=1).reshape(-1)
            return Strings.unchecked(data=data, offsets=offsets_of(self.lengths), present=present)
        begins = np.cumsum([0, *(each.data.size for each in pieces[:-1])])
        starts = np.stack([each.offsets[:-1] for each in pieces], axis=1) + begins
        lengths = np.stack([each.lengths for each in pieces], axis=1)
        joined = gathered(
            np.concatenate([each.data for each in pieces]), starts.reshape(-1), lengths.reshape(-1)
        )
        offsets = joined.offsets[:: len(pieces)]
        return Strings.unchecked(data=joined.data, offsets=offsets, present=present)


def _repeated(value: bytes, present: Flags) -> Rope:
    """Return a column that has the bytes `value` in each present row, and no bytes in other
    rows.
    """
    rows = int(np.count_nonzero(present))
    data = np.frombuffer(value * rows, np.uint8)
    offsets = offsets_of(compact(present * np.int64(len(value))))
    every = constant(True, present.size, np.bool_)
    return Rope.of(Strings.unchecked(data=data, offsets=offsets, present=every))


def varints(numbers: Longs, present: Flags | None = None) -> Strings:
    """Return each of the numbers as a varint (an integer of variable length); a negative one
    as unsigned, in 64 bits.

    present: which rows are present; other rows get no bytes.
    """
    every = constant(True, numbers.size, np.bool_)
    unsigned = np.ascontiguousarray(numbers).view(np.uint64)
    longest = max(1, -(-int(unsigned.max(initial=0)).bit_length() // _BITS))
    digits = np.empty((numbers.size, longest), np.uint8)
    lengths = np.ones(numbers.size, np.int64)
    for i in range(longest):
        rest = unsigned >> np.uint64(_BITS * i)
        digits[:, i] = rest & np.uint64(127)
        if i + 1 < longest:
            has_more = rest > np.uint64(127)
            digits[:, i][has_more] |= 128
            lengths += has_more
    if present is not None:
        lengths = lengths * present
    if longest > 1 or not lengths.all():
        data = digits[np.arange(longest) < lengths[:, np.newaxis]]
    else:
        data = digits.reshape(-1)
    return Strings.unchecked(data=data, offsets=offsets_of(compact(lengths)), present=every)
