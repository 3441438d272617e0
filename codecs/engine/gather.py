"""Gather columns from the bytes of a file, and scatter them into it, at the offsets of a run.

Kernels move numbers of four bytes or one, and raw bytes; NumPy moves all else, and everything where
kernels are not compiled. Every NaN becomes the quiet one. The kernels work on slices, whose indices
are plainly in bounds: only then does the compiler vectorise them.
"""

from dataclasses import dataclass
from typing import Final, cast

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from exset.codecs.engine.fields import quiet_numbers
from exset.codecs.engine.program import Leaf
from exset.core.kernels import Kernels, kernel
from exset.grammars.columns.arrays import Bytes, Ints, Longs, compact, frozen, offsets_of
from exset.grammars.columns.ragged import Strings

Numbers = NDArray[np.generic]
Offsets = Ints | Longs
Words = NDArray[np.uint32]

_HERE: Final = "exset.codecs.engine"
KERNELS: Final = Kernels(
    *(f"{_HERE}.{each}" for each in ("program", "arithmetic", "interpreter", "gather")),
    # In bytes: plain Python reads 7 MB/s of many small fields, and loading Numba takes about 0.4 s.
    compile_from=1 << 21,
    use_from=1 << 13,
)

_8: Final = np.uint32(8)
_16: Final = np.uint32(16)
_24: Final = np.uint32(24)
_ABSOLUTE: Final = np.uint32(0x7FFFFFFF)
_INFINITY: Final = np.uint32(0x7F800000)
_NAN: Final = np.uint32(0x7FC00000)


@dataclass(frozen=True)
class Mover:
    """Moves columns. compiled: whether compiled kernels do it."""

    compiled: bool

    def numbers(self, data: Bytes, leaf: Leaf, starts: Offsets, shift: int) -> Numbers:
        """Gather the numbers at `starts` + `shift`."""
        if self.compiled and _is_word(leaf):
            out = np.empty(starts.size, np.uint32)
            gather = KERNELS.compiled(gather_words)
            gather(data, starts, shift, _is_big(leaf), leaf.is_real, out)
            return out.view(leaf.native)
        if self.compiled and leaf.dtype.itemsize == 1:
            octets = np.empty(starts.size, np.uint8)
            KERNELS.compiled(gather_octets)(data, starts, shift, octets)
            return octets != 0 if leaf.dtype.kind == "b" else octets.view(leaf.dtype)
        return _gathered(data, leaf, starts + np.int64(shift))

    def rows(self, data: Bytes, leaf: Leaf, starts: Offsets, lengths: Offsets) -> Numbers:
        """Gather rows of numbers: `lengths` of them at `starts`."""
        if self.compiled and _is_word(leaf):
            out = np.empty(int(lengths.sum(dtype=np.int64)), np.uint32)
            gather = KERNELS.compiled(gather_rows)
            gather(data, starts, lengths, _is_big(leaf), leaf.is_real, out)
            return out.view(leaf.native)
        return _gathered(data, leaf, _elements(leaf, starts, lengths))

    def strings(self, data: Bytes, starts: Offsets, lengths: Offsets) -> Strings:
        """Gather the strings of `lengths` bytes at `starts`."""
        offsets = offsets_of(cast(Longs, compact(lengths)))
        if self.compiled:
            out = np.empty(int(offsets[-1]), np.uint8)
            KERNELS.compiled(gather_bytes)(data, starts, lengths, out)
        else:
            out = data[_places(starts, lengths)]
        present = np.broadcast_to(np.True_, lengths.shape)
        return Strings.unchecked(data=frozen(out), offsets=offsets, present=present)

    def put_numbers(
        self, out: Bytes, leaf: Leaf, column: Numbers, starts: Offsets, shift: int
    ) -> None:
        """The inverse of `numbers`."""
        if self.compiled and _is_word(leaf):
            scatter = KERNELS.compiled(scatter_words)
            scatter(_words(column), starts, shift, _is_big(leaf), leaf.is_real, out)
        elif self.compiled and leaf.dtype.itemsize == 1:
            octets = frozen(np.ascontiguousarray(column).view(np.uint8))
            KERNELS.compiled(scatter_octets)(octets, starts, shift, out)
        else:
            _scatter(out, leaf, column, starts + np.int64(shift))

    def put_rows(
        self,
        out: Bytes,
        leaf: Leaf,
        column: Numbers,
        starts: Offsets,
        lengths: Offsets,
    ) -> None:
        """The inverse of `rows`."""
        if self.compiled and _is_word(leaf):
            scatter = KERNELS.compiled(scatter_rows)
            scatter(_words(column), starts, lengths, _is_big(leaf), leaf.is_real, out)
        else:
            _scatter(out, leaf, column, _elements(leaf, starts, lengths))

    def put_strings(self, out: Bytes, strings: Strings, starts: Offsets) -> None:
        """The inverse of `strings`."""
        if strings.data.size == 0:
            return
        if self.compiled:
            data = frozen(np.ascontiguousarray(strings.data))
            KERNELS.compiled(scatter_bytes)(data, starts, strings.lengths, out)
        else:
            out[_places(starts, strings.lengths)] = strings.data

    def merged(self, a: Offsets, b: Offsets) -> Longs:
        """Return the order that sorts a and b, which are sorted, as one: int64 [a + b]."""
        if not self.compiled:
            return np.argsort(np.concatenate([a, b]), kind="stable")
        if not (a.size and b.size):
            return np.arange(a.size + b.size)
        order = np.empty(a.size + b.size, np.int64)
        KERNELS.compiled(merge)(a, b, order)
        return order

    def interleaved(
        self, a: Offsets, b: Offsets, a_lengths: Offsets, b_lengths: Offsets
    ) -> tuple[Offsets, Offsets]:
        """Merge two sorted arrays of starts, and the lengths that belong to them."""
        if not (a.size and b.size):
            return (a, a_lengths) if a.size else (b, b_lengths)
        if not self.compiled:
            order = self.merged(a, b)
            lengths = np.concatenate([a_lengths, b_lengths])
            return np.concatenate([a, b])[order], lengths[order]
        starts = np.empty(a.size + b.size, a.dtype)
        lengths = np.empty_like(starts)
        KERNELS.compiled(interleave)(a, b, a_lengths, b_lengths, starts, lengths)
        return starts, lengths


def _is_word(leaf: Leaf) -> bool:
    return leaf.dtype.itemsize == 4


def _is_big(leaf: Leaf) -> bool:
    return leaf.dtype.str[0] == ">"


def _words(column: Numbers) -> NDArray[np.uint32]:
    return frozen(np.ascontiguousarray(column).view(np.uint32))


def _places(starts: Offsets, lengths: Offsets, size: int = 1) -> Longs:
    """The offsets of the elements of rows, `size` bytes each."""
    offsets = offsets_of(lengths)
    places: Longs = np.repeat(starts - size * offsets[:-1], lengths)
    places += size * np.arange(offsets[-1])
    return places


def _elements(leaf: Leaf, starts: Offsets, lengths: Offsets) -> Longs:
    return _places(starts, lengths, leaf.dtype.itemsize)


def _gathered(data: Bytes, leaf: Leaf, starts: Longs) -> Numbers:
    if starts.size == 0:
        return np.empty(0, leaf.native)
    if leaf.dtype.itemsize == 1:
        raw = data[starts]
        return raw != 0 if leaf.dtype.kind == "b" else raw.view(leaf.dtype)
    raw = sliding_window_view(data, leaf.dtype.itemsize)[starts]
    numbers = raw.view(leaf.dtype).reshape(-1).astype(leaf.native, copy=False)
    return quiet_numbers(numbers)


def _scatter(out: Bytes, leaf: Leaf, column: Numbers, starts: Longs) -> None:
    if starts.size == 0:
        return
    size = leaf.dtype.itemsize
    raw = np.ascontiguousarray(quiet_numbers(column).astype(leaf.dtype)).view(np.uint8)
    if size == 1:
        out[starts] = raw
    else:
        sliding_window_view(out, size, writeable=True)[starts] = raw.reshape(-1, size)


@kernel
def gather_words(
    data: Bytes, starts: Ints | Longs, shift: int, big: bool, real: bool, out: Words
) -> None:
    """Gather numbers of four bytes at `starts` + `shift`."""
    for i in range(len(starts)):
        at = np.int64(starts[i]) + shift
        raw = data[at : at + 4]
        first, second, third, last = raw[0], raw[1], raw[2], raw[3]
        if not big:
            first, second, third, last = last, third, second, first
        value = (
            (np.uint32(first) << _24)
            | (np.uint32(second) << _16)
            | (np.uint32(third) << _8)
            | np.uint32(last)
        )
        if real and (value & _ABSOLUTE) > _INFINITY:
            value = _NAN
        out[i] = value


@kernel
def gather_octets(data: Bytes, starts: Ints | Longs, shift: int, out: Bytes) -> None:
    """Gather single bytes at `starts` + `shift`."""
    for i in range(len(starts)):
        out[i] = data[starts[i] + shift]


@kernel
def gather_rows(
    data: Bytes, starts: Ints | Longs, lengths: Ints | Longs, big: bool, real: bool, out: Words
) -> None:
    """Gather rows of numbers of four bytes."""
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i])
        raw, row = data[at : at + 4 * n], out[k : k + n]
        if big:
            for j in range(n):
                value = (
                    (np.uint32(raw[4 * j]) << _24)
                    | (np.uint32(raw[4 * j + 1]) << _16)
                    | (np.uint32(raw[4 * j + 2]) << _8)
                    | np.uint32(raw[4 * j + 3])
                )
                if real and (value & _ABSOLUTE) > _INFINITY:
                    value = _NAN
                row[j] = value
        else:
            for j in range(n):
                value = (
                    (np.uint32(raw[4 * j + 3]) << _24)
                    | (np.uint32(raw[4 * j + 2]) << _16)
                    | (np.uint32(raw[4 * j + 1]) << _8)
                    | np.uint32(raw[4 * j])
                )
                if real and (value & _ABSOLUTE) > _INFINITY:
                    value = _NAN
                row[j] = value
        k += n


@kernel
def gather_bytes(data: Bytes, starts: Ints | Longs, lengths: Ints | Longs, out: Bytes) -> None:
    """Gather rows of bytes."""
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i])
        raw, row = data[at : at + n], out[k : k + n]
        for j in range(n):
            row[j] = raw[j]
        k += n


@kernel
def scatter_words(
    values: Words, starts: Ints | Longs, shift: int, big: bool, real: bool, out: Bytes
) -> None:
    """The inverse of `gather_words`."""
    for i in range(len(starts)):
        at = np.int64(starts[i]) + shift
        value, raw = values[i], out[at : at + 4]
        if real and (value & _ABSOLUTE) > _INFINITY:
            value = _NAN
        first, second = np.uint8(value >> _24), np.uint8(value >> _16)
        third, last = np.uint8(value >> _8), np.uint8(value)
        if not big:
            first, second, third, last = last, third, second, first
        raw[0], raw[1], raw[2], raw[3] = first, second, third, last


@kernel
def scatter_octets(values: Bytes, starts: Ints | Longs, shift: int, out: Bytes) -> None:
    """The inverse of `gather_octets`."""
    for i in range(len(starts)):
        out[starts[i] + shift] = values[i]


@kernel
def scatter_rows(
    values: Words, starts: Ints | Longs, lengths: Ints | Longs, big: bool, real: bool, out: Bytes
) -> None:
    """The inverse of `gather_rows`."""
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i])
        row, raw = values[k : k + n], out[at : at + 4 * n]
        for j in range(n):
            value = row[j]
            if real and (value & _ABSOLUTE) > _INFINITY:
                value = _NAN
            if not big:
                value = (
                    (value << _24)
                    | ((value & np.uint32(0xFF00)) << _8)
                    | ((value >> _8) & np.uint32(0xFF00))
                    | (value >> _24)
                )
            raw[4 * j] = np.uint8(value >> _24)
            raw[4 * j + 1] = np.uint8(value >> _16)
            raw[4 * j + 2] = np.uint8(value >> _8)
            raw[4 * j + 3] = np.uint8(value)
        k += n


@kernel
def scatter_bytes(values: Bytes, starts: Ints | Longs, lengths: Longs, out: Bytes) -> None:
    """The inverse of `gather_bytes`."""
    k = np.int64(0)
    for i in range(len(starts)):
        at, n = np.int64(starts[i]), np.int64(lengths[i])
        row, raw = values[k : k + n], out[at : at + n]
        for j in range(n):
            raw[j] = row[j]
        k += n


@kernel
def merge(a: Ints | Longs, b: Ints | Longs, order: Longs) -> None:
    """Compute the order that sorts a and b, which are sorted, as one."""
    i, j, n = 0, 0, len(a)
    for k in range(len(order)):
        if j == len(b) or (i < n and a[i] < b[j]):
            order[k] = i
            i += 1
        else:
            order[k] = n + j
            j += 1


@kernel
def interleave(
    a: Ints | Longs,
    b: Ints | Longs,
    a_lengths: Ints | Longs,
    b_lengths: Ints | Longs,
    starts: Ints | Longs,
    lengths: Ints | Longs,
) -> None:
    """Merge two sorted arrays of starts, and the lengths that belong to them."""
    i, j = 0, 0
    for k in range(len(starts)):
        if j == len(b) or (i < len(a) and a[i] < b[j]):
            starts[k] = a[i]
            lengths[k] = a_lengths[i]
            i += 1
        else:
            starts[k] = b[j]
            lengths[k] = b_lengths[j]
            j += 1
