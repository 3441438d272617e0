"""Gather columns from the bytes of a file, or scatter columns to a file.

The interpreter has found the offsets. Compiled kernels or NumPy move the data. Every NaN becomes
the quiet NaN.
"""

from dataclasses import dataclass
from typing import Final, cast

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from exset.codecs.engine import gather_kernels as kernels
from exset.codecs.engine.fields import quiet_nans
from exset.codecs.engine.gather_kernels import Offsets
from exset.codecs.engine.program import Leaf
from exset.core import threads
from exset.core.kernels import Kernels
from exset.grammars.columns.arrays import Bytes, Longs, compact, frozen, offsets_of
from exset.grammars.columns.ragged import Strings

Numbers = NDArray[np.generic]

_HERE: Final = "exset.codecs.engine"
_LARGE: Final = 1 << 22  # bytes that several threads copy
KERNELS: Final = Kernels(
    *(
        f"{_HERE}.{each}"
        for each in ("opcodes", "arithmetic", "interpreter", "template_kernels", "gather_kernels")
    ),
    # In bytes: plain Python reads 7 MB/s of many small fields.
    load_from=1 << 19,
    use_from=1 << 13,
    compile_from=1 << 23,
)


@dataclass(frozen=True)
class Mover:
    """Copies columns from the bytes of a file to arrays, and back.

    compiled: whether to use compiled kernels.
    """

    compiled: bool

    def numbers(self, data: Bytes, leaf: Leaf, starts: Offsets, shift: int) -> Numbers:
        """Return the number of the field `leaf` at each offset `starts[i]` + `shift` of `data`."""
        if self.compiled and _is_word(leaf):
            out = np.empty(starts.size, np.uint32)
            gather = KERNELS.compiled(kernels.gather_words)
            gather(data, starts, shift, _is_big(leaf), leaf.is_real, out)
            return out.view(leaf.native)
        if self.compiled:
            raw = np.empty(starts.size * leaf.dtype.itemsize, np.uint8)
            gather_any = KERNELS.compiled(kernels.gather_numbers)
            gather_any(data, starts, shift, leaf.dtype.itemsize, _swaps(leaf), raw)
            return _numbers(raw, leaf)
        return _gathered(data, leaf, starts + np.int64(shift))

    def rows(self, data: Bytes, leaf: Leaf, starts: Offsets, lengths: Offsets) -> Numbers:
        """Return the numbers of an array of numbers, for all its occurrences in the file, joined.

        Occurrence i has `lengths[i]` numbers from offset `starts[i]` of `data` on.
        """
        if self.compiled and _is_word(leaf):
            offsets = offsets_of(cast(Longs, compact(lengths)))
            out = np.empty(int(offsets[-1]), np.uint32)
            gather = KERNELS.compiled(kernels.gather_rows)

            def copy(low: int, high: int) -> None:
                part, some = out[offsets[low] : offsets[high]], slice(low, high)
                gather(data, starts[some], lengths[some], _is_big(leaf), leaf.is_real, part)

            threads.divided(copy, starts.size, out.nbytes >= _LARGE)
            return out.view(leaf.native)
        if self.compiled:
            size = leaf.dtype.itemsize
            raw = np.empty(int(lengths.sum(dtype=np.int64)) * size, np.uint8)
            gather_any = KERNELS.compiled(kernels.gather_number_rows)
            gather_any(data, starts, lengths, size, _swaps(leaf), raw)
            return _numbers(raw, leaf)
        return _gathered(data, leaf, _places(starts, lengths, leaf.dtype.itemsize))

    def strings(self, data: Bytes, starts: Offsets, lengths: Offsets) -> Strings:
        """Return strings: string i has `lengths[i]` bytes from offset `starts[i]` of `data` on."""
        offsets = offsets_of(cast(Longs, compact(lengths)))
        if self.compiled:
            out = np.empty(int(offsets[-1]), np.uint8)
            KERNELS.compiled(kernels.gather_bytes)(data, starts, lengths, out)
        else:
            out = data[_places(starts, lengths)]
        present = np.broadcast_to(np.True_, lengths.shape)
        return Strings.unchecked(data=frozen(out), offsets=offsets, present=present)

    def put_numbers(
        self, out: Bytes, leaf: Leaf, column: Numbers, starts: Offsets, shift: int
    ) -> None:
        """Write the numbers of `column` to `out`: number i at offset `starts[i]` + `shift`."""
        if self.compiled and _is_word(leaf):
            scatter = KERNELS.compiled(kernels.scatter_words)
            scatter(_words(column), starts, shift, _is_big(leaf), leaf.is_real, out)
        elif self.compiled:
            scatter_any = KERNELS.compiled(kernels.scatter_numbers)
            scatter_any(_raw(column), starts, shift, leaf.dtype.itemsize, _swaps(leaf), out)
        else:
            _scatter(out, leaf, column, starts + np.int64(shift))

    def put_rows(
        self, out: Bytes, leaf: Leaf, column: Numbers, starts: Offsets, lengths: Offsets
    ) -> None:
        """Write arrays of numbers to `out`: array i has `lengths[i]` numbers from `starts[i]` on.

        column: the numbers of all arrays, joined.
        """
        if self.compiled and _is_word(leaf):
            scatter = KERNELS.compiled(kernels.scatter_rows)
            scatter(_words(column), starts, lengths, _is_big(leaf), leaf.is_real, out)
        elif self.compiled:
            scatter_any = KERNELS.compiled(kernels.scatter_number_rows)
            scatter_any(_raw(column), starts, lengths, leaf.dtype.itemsize, _swaps(leaf), out)
        else:
            _scatter(out, leaf, column, _places(starts, lengths, leaf.dtype.itemsize))

    def put_strings(self, out: Bytes, strings: Strings, starts: Offsets) -> None:
        """Write the bytes of each string to `out`: string i from offset `starts[i]` on."""
        if strings.data.size == 0:
            return
        if self.compiled:
            data = frozen(np.ascontiguousarray(strings.data))
            KERNELS.compiled(kernels.scatter_bytes)(data, starts, strings.lengths, out)
        else:
            out[_places(starts, strings.lengths)] = strings.data

    def order(self, a: Offsets, b: Offsets) -> Longs:
        """Return the indices that sort the joined array of `a` and `b`: int64 [a.size + b.size].

        Both `a` and `b` are sorted. An index into `b` has `a.size` added.
        """
        number = np.arange(a.size + b.size)
        order = self.interleaved(a, b, number[: a.size], number[a.size :])[1]
        return cast(Longs, order)

    def interleaved(
        self, a: Offsets, b: Offsets, a_values: Offsets, b_values: Offsets
    ) -> tuple[Offsets, Offsets]:
        """Merge two sorted arrays of offsets. Return the merged offsets, and their values in this
        order.

        a_values, b_values: a value for each offset in `a` and in `b`.
        """
        if not (a.size and b.size):
            return (a, a_values) if a.size else (b, b_values)
        if not self.compiled:
            order = np.argsort(np.concatenate([a, b]), kind="stable")
            return np.concatenate([a, b])[order], np.concatenate([a_values, b_values])[order]
        starts = np.empty(a.size + b.size, a.dtype)
        values = np.empty(starts.size, a_values.dtype)
        KERNELS.compiled(kernels.interleave)(a, b, a_values, b_values, starts, values)
        return starts, values


def _is_word(leaf: Leaf) -> bool:
    return leaf.dtype.itemsize == 4


def _is_big(leaf: Leaf) -> bool:
    return leaf.dtype.str[0] == ">"


def _swaps(leaf: Leaf) -> bool:
    return not leaf.dtype.isnative


def _raw(column: Numbers) -> Bytes:
    """Return the bytes of the numbers of a column, in which every NaN becomes the quiet NaN."""
    return frozen(np.ascontiguousarray(quiet_nans(column)).view(np.uint8))


def _numbers(raw: Bytes, leaf: Leaf) -> Numbers:
    """Convert bytes that were copied from a file, `raw`, to the numbers of the field `leaf`."""
    if leaf.dtype.kind == "b":
        return cast(Numbers, raw != 0)
    return quiet_nans(raw.view(leaf.native))


def _words(column: Numbers) -> NDArray[np.uint32]:
    return frozen(np.ascontiguousarray(column).view(np.uint32))


def _places(starts: Offsets, lengths: Offsets, size: int = 1) -> Longs:
    """Return the offset of each element: row i has `lengths[i]` elements from `starts[i]` on.

    size: the number of bytes of an element.
    """
    offsets = offsets_of(lengths)
    places: Longs = np.repeat(starts - size * offsets[:-1], lengths)
    places += size * np.arange(offsets[-1])
    return places


def _gathered(data: Bytes, leaf: Leaf, starts: Longs) -> Numbers:
    if starts.size == 0:
        return np.empty(0, leaf.native)
    if leaf.dtype.itemsize == 1:
        raw = data[starts]
        return raw != 0 if leaf.dtype.kind == "b" else raw.view(leaf.dtype)
    raw = sliding_window_view(data, leaf.dtype.itemsize)[starts]
    numbers = raw.view(leaf.dtype).reshape(-1).astype(leaf.native, copy=False)
    return quiet_nans(numbers)


def _scatter(out: Bytes, leaf: Leaf, column: Numbers, starts: Longs) -> None:
    if starts.size == 0:
        return
    size = leaf.dtype.itemsize
    raw = np.ascontiguousarray(quiet_nans(column).astype(leaf.dtype)).view(np.uint8)
    if size == 1:
        out[starts] = raw
    else:
        sliding_window_view(out, size, writeable=True)[starts] = raw.reshape(-1, size)
