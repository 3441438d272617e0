"""Moving columns between a file and arrays: by the kernels of `moves`, or by NumPy alone."""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from exset.codecs.engine import gather as moves
from exset.codecs.engine.fields import quiet_numbers
from exset.codecs.engine.program import Leaf
from exset.core.kernels import Kernels
from exset.grammars.columns.arrays import Bytes, Ints, Longs, compact, frozen, offsets_of
from exset.grammars.columns.ragged import Strings

_HERE = "exset.codecs.engine"
KERNELS = Kernels(
    *(f"{_HERE}.{each}" for each in ("opcodes", "scalars", "arithmetic", "interpreter", "gather")),
    # Loading Numba and the kernels takes about 0.4 s; plain Python reads small fields at 7 MB/s.
    compile_from=1 << 21,
    use_from=1 << 13,
)

Numbers = NDArray[np.generic]
Offsets = Ints | Longs


@dataclass(frozen=True)
class Mover:
    """Moves columns; compiled: whether by kernels."""

    compiled: bool

    def numbers(self, data: Bytes, leaf: Leaf, starts: Offsets, shift: int) -> Numbers:
        """The numbers that begin at the starts and a shift."""
        if self.compiled and _is_word(leaf):
            out = np.empty(starts.size, np.uint32)
            gather = KERNELS.compiled(moves.gather_words)
            gather(data, starts, shift, _is_big(leaf), leaf.is_real, out)
            return out.view(leaf.native)
        if self.compiled and leaf.dtype.itemsize == 1:
            octets = np.empty(starts.size, np.uint8)
            KERNELS.compiled(moves.gather_octets)(data, starts, shift, octets)
            return octets != 0 if leaf.dtype.kind == "b" else octets.view(leaf.dtype)
        return _found(data, leaf, starts + np.int64(shift))

    def rows(self, data: Bytes, leaf: Leaf, starts: Offsets, lengths: Offsets) -> Numbers:
        """The numbers of rows that begin at the starts."""
        if self.compiled and _is_word(leaf):
            out = np.empty(int(lengths.sum(dtype=np.int64)), np.uint32)
            gather = KERNELS.compiled(moves.gather_rows)
            gather(data, starts, lengths, _is_big(leaf), leaf.is_real, out)
            return out.view(leaf.native)
        return _found(data, leaf, _elements(leaf, starts, lengths))

    def strings(self, data: Bytes, starts: Offsets, lengths: Offsets) -> Strings:
        """The strings of some lengths that begin at the starts."""
        offsets = offsets_of(cast(Longs, compact(lengths)))
        if self.compiled:
            out = np.empty(int(offsets[-1]), np.uint8)
            KERNELS.compiled(moves.gather_bytes)(data, starts, lengths, out)
        else:
            out = data[_places(starts, lengths)]
        given = np.broadcast_to(np.True_, lengths.shape)
        return Strings.unchecked(data=frozen(out), offsets=offsets, given=given)

    def put_numbers(
        self, out: Bytes, leaf: Leaf, column: Numbers, starts: Offsets, shift: int
    ) -> None:
        """The inverse of `numbers`."""
        if self.compiled and _is_word(leaf):
            scatter = KERNELS.compiled(moves.scatter_words)
            scatter(_words(column), starts, shift, _is_big(leaf), leaf.is_real, out)
        elif self.compiled and leaf.dtype.itemsize == 1:
            octets = frozen(np.ascontiguousarray(column).view(np.uint8))
            KERNELS.compiled(moves.scatter_octets)(octets, starts, shift, out)
        else:
            _put(out, leaf, column, starts + np.int64(shift))

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
            scatter = KERNELS.compiled(moves.scatter_rows)
            scatter(_words(column), starts, lengths, _is_big(leaf), leaf.is_real, out)
        else:
            _put(out, leaf, column, _elements(leaf, starts, lengths))

    def put_strings(self, out: Bytes, strings: Strings, starts: Offsets) -> None:
        """The inverse of `strings`."""
        if strings.data.size == 0:
            return
        if self.compiled:
            data = frozen(np.ascontiguousarray(strings.data))
            KERNELS.compiled(moves.scatter_bytes)(data, starts, strings.lengths, out)
        else:
            out[_places(starts, strings.lengths)] = strings.data

    def merged(self, a: Offsets, b: Offsets) -> Longs:
        """The order in which a, and b numbered after it, rise: both rise already."""
        if not self.compiled:
            return np.argsort(np.concatenate([a, b]), kind="stable")
        if not (a.size and b.size):
            return np.arange(a.size + b.size)
        order = np.empty(a.size + b.size, np.int64)
        KERNELS.compiled(moves.merge)(a, b, order)
        return order

    def interleaved(
        self, a: Offsets, b: Offsets, a_lengths: Offsets, b_lengths: Offsets
    ) -> tuple[Offsets, Offsets]:
        """Two rising lists of starts as one that rises, and the lengths that belong to them."""
        if not (a.size and b.size):
            return (a, a_lengths) if a.size else (b, b_lengths)
        if not self.compiled:
            order = self.merged(a, b)
            lengths = np.concatenate([a_lengths, b_lengths])
            return np.concatenate([a, b])[order], lengths[order]
        starts = np.empty(a.size + b.size, a.dtype)
        lengths = np.empty_like(starts)
        KERNELS.compiled(moves.interleave)(a, b, a_lengths, b_lengths, starts, lengths)
        return starts, lengths


def _is_word(leaf: Leaf) -> bool:
    return leaf.dtype.itemsize == 4


def _is_big(leaf: Leaf) -> bool:
    return leaf.dtype.str[0] == ">"


def _words(column: Numbers) -> NDArray[np.uint32]:
    return frozen(np.ascontiguousarray(column).view(np.uint32))


def _places(starts: Offsets, lengths: Offsets, size: int = 1) -> Longs:
    """Where the elements of rows begin, of a size each."""
    offsets = offsets_of(lengths)
    places: Longs = np.repeat(starts - size * offsets[:-1], lengths)
    places += size * np.arange(offsets[-1])
    return places


def _elements(leaf: Leaf, starts: Offsets, lengths: Offsets) -> Longs:
    return _places(starts, lengths, leaf.dtype.itemsize)


def _found(data: Bytes, leaf: Leaf, starts: Longs) -> Numbers:
    if starts.size == 0:
        return np.empty(0, leaf.native)
    if leaf.dtype.itemsize == 1:
        raw = data[starts]
        return raw != 0 if leaf.dtype.kind == "b" else raw.view(leaf.dtype)
    raw = sliding_window_view(data, leaf.dtype.itemsize)[starts]
    found = raw.view(leaf.dtype).reshape(-1).astype(leaf.native, copy=False)
    return quiet_numbers(found)


def _put(out: Bytes, leaf: Leaf, column: Numbers, starts: Longs) -> None:
    if starts.size == 0:
        return
    size = leaf.dtype.itemsize
    raw = np.ascontiguousarray(quiet_numbers(column).astype(leaf.dtype)).view(np.uint8)
    if size == 1:
        out[starts] = raw
    else:
        sliding_window_view(out, size, writeable=True)[starts] = raw.reshape(-1, size)
