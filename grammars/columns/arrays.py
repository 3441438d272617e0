"""NumPy arrays as read-only columns: constants, comparison, gathering.

A constant column repeats one value. It has stride zero and needs no space. The functions copy only
if they must: constant columns stay constant, and consecutive rows become a view.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final, TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view
from numpy.typing import ArrayLike, NDArray

from exset.core import threads
from exset.core.text import counted, out_of_bounds

Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float32]
Indices = Longs | slice
"""Rows to take: their indices, or a slice with a start, a stop in bounds, and no step."""
LongRows = np.ndarray[tuple[int, int], np.dtype[np.int64]]

T = TypeVar("T", bound=np.generic)

_FEW: Final = 64  # codes for which to look one by one
_LARGE: Final = 1 << 20  # bytes that several threads copy

QUIET_NAN = np.uint32(0x7FC00000)


def frozen(array: NDArray[T]) -> NDArray[T]:
    """Return a read-only view of an array. If the array is read-only, return the array itself."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def constant(value: object, n: int, dtype: type[T]) -> NDArray[T]:
    """Return a read-only column [n] of one repeated value, of stride zero."""
    column: NDArray[T] = np.ndarray((n,), dtype, np.array(value, dtype), strides=(0,))
    column.flags.writeable = False
    return column  # the result of np.broadcast_to, five times as fast


def is_constant(array: NDArray[T]) -> bool:
    """Return whether a column is stored as one repeated value, or has at most one element.

    Elements are not compared.
    """
    return array.size <= 1 or array.strides[0] == 0


def bits(array: NDArray[T]) -> NDArray[np.generic]:
    """Return the elements for bitwise comparison. Floats become unsigned integers with the same
    bits.
    """
    return array.view(f"u{array.itemsize}") if array.dtype.kind == "f" else array


def as_singles(array: NDArray[Any]) -> Floats:
    """Return numbers as float32. Too large numbers become infinite, and each NaN becomes quiet."""
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(np.float32)


def as_doubles(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers as float64; each NaN becomes quiet."""
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64, copy=False)


def as_flags(array: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return booleans that are stored as 0 or 1.

    In a file, any byte but 0 may mean True.
    """
    stored = array.view(np.uint8)
    return stored != 0 if stored.size and stored.max() > 1 else array


def same(a: NDArray[T], b: NDArray[T]) -> bool:
    """Return whether two columns have the same dtype, length and elements, bit for bit."""
    if a is b:
        return True
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if is_constant(a) and is_constant(b):
        a, b = a[:1], b[:1]
    return bool(np.array_equal(bits(a), bits(b)))


def compact(array: NDArray[T], default: object = None) -> NDArray[T]:
    """Return a column as a constant column if all its elements are equal bitwise.

    Otherwise return the column unchanged. default: the value that all elements must have; None
    means the value of the first element.
    """
    if array.size == 0 or array.strides[0] == 0:
        return frozen(array)
    value = array[:1] if default is None else np.array([default], array.dtype)
    if (bits(array[-1:]) == bits(value)).all() and (bits(array) == bits(value)).all():
        return np.broadcast_to(value.copy()[0], array.shape)
    return frozen(array)


def every(flags: Flags) -> bool:
    """Return whether all flags of a column are true; for a constant column, look only at one."""
    return bool((flags[:1] if is_constant(flags) else flags).all())


def canonical_nan(array: Floats) -> Floats:
    """Return the column with every NaN replaced by the quiet NaN 7FC00000.

    Copy it only if needed.
    """
    with np.errstate(invalid="ignore"):
        if array.size == 0 or not np.isnan(array.min()):  # the least is NaN if there is one
            return array
    wrong = np.isnan(array) & (array.view(np.uint32) != QUIET_NAN)
    if not wrong.any():
        return array
    array = array.copy()
    array.view(np.uint32)[wrong] = QUIET_NAN
    return array


def concat(arrays: Sequence[NDArray[T]]) -> NDArray[T]:
    """Join one or more columns. Constant columns of the same value stay constant."""
    parts = [array for array in arrays if len(array)] or list(arrays[:1])
    if len(parts) == 1:
        return frozen(parts[0])
    if all(is_constant(part) and same(part[:1], parts[0][:1]) for part in parts):
        rows = sum(map(len, parts))
        return np.broadcast_to(parts[0][0], (rows, *parts[0].shape[1:]))
    return frozen(_joined(parts))


def _joined(parts: Sequence[NDArray[T]]) -> NDArray[T]:
    ends = list(accumulate(map(len, parts), initial=0))
    joined = np.empty((ends[-1], *parts[0].shape[1:]), np.result_type(*parts))

    def copy(low: int, high: int) -> None:
        np.concatenate(parts[low:high], out=joined[ends[low] : ends[high]])

    threads.divided(copy, len(parts), joined.nbytes >= _LARGE)
    return joined


def side_by_side(arrays: Sequence[NDArray[T]]) -> NDArray[T]:
    """Return k columns [n] of the same dtype as one array [n, k].

    If the columns are already the columns of such an array in memory, nothing is copied.
    """
    first, size = arrays[0], len(arrays) * arrays[0].itemsize
    begin = first.ctypes.data
    is_one = all(
        each.base is first.base
        and each.strides == (size,)
        and each.ctypes.data == begin + i * first.itemsize
        for i, each in enumerate(arrays)
    )
    if first.base is None or first.size < 2 or not is_one:
        return np.stack(arrays, axis=1)
    return as_strided(first, (first.size, len(arrays)), (size, first.itemsize))


def offsets_of(lengths: NDArray[np.integer] | Flags) -> Longs:
    """Return the offsets of rows with these lengths: int64 [n + 1], beginning with 0."""
    if lengths.size and lengths.strides[0] == 0:
        step = int(lengths[0])
        n = lengths.size + 1
        return (
            constant(0, n, np.int64) if step == 0 else frozen(np.arange(n, dtype=np.int64) * step)
        )
    offsets = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return frozen(offsets)


def lengths_of(offsets: Longs) -> Longs:
    """Return the lengths of rows with these offsets: int64 [n]. This is faster than `np.diff`."""
    return offsets[1:] - offsets[:-1]


def concat_offsets(parts: Sequence[Longs]) -> Longs:
    """Return the offsets of several ragged columns after their rows are joined: int64 [n + 1].

    parts: the offsets of each column, beginning with 0. n is the number of all rows.
    """
    ends = list(accumulate((part.size - 1 for part in parts), initial=0))
    if not any(part[-1] for part in parts):
        return constant(0, ends[-1] + 1, np.int64)
    offsets = np.empty(ends[-1] + 1, np.int64)
    offsets[0] = 0
    above = list(accumulate((int(part[-1]) for part in parts), initial=0))

    def add(low: int, high: int) -> None:
        for rank in range(low, high):
            out = offsets[ends[rank] + 1 : ends[rank + 1] + 1]
            np.add(parts[rank][1:], above[rank], out=out)

    threads.divided(add, len(parts), offsets.nbytes >= _LARGE)
    return frozen(offsets)


def run_of(indices: Indices, n: int) -> slice | None:
    """Return indices as a slice if they are consecutive, such as 3, 4, 5. Return a slice unchanged.

    Return None if the indices are not consecutive, or are out of bounds. n: the length of the
    column that is indexed.
    """
    if isinstance(indices, slice):
        return indices
    if indices.size == 0:
        return slice(0, 0)
    first, last = int(indices[0]), int(indices[-1])
    if last - first != indices.size - 1 or first < 0 or last >= n:
        return None
    return slice(first, last + 1) if (indices[1:] - indices[:-1] == 1).all() else None


def take(array: NDArray[T], indices: Indices) -> NDArray[T]:
    """Return the elements at the indices. Raises IndexError for an index out of bounds.

    Consecutive indices return a view. A constant column stays a constant column.
    """
    n = len(array)
    run = run_of(indices, n)
    if run is not None:
        return frozen(array[run])
    assert not isinstance(indices, slice), "a slice is a run"
    if n and array.strides[0] == 0:
        if indices.min() < -n or indices.max() >= n:
            wrong = indices[(indices < -n) | (indices >= n)][0]
            raise IndexError(out_of_bounds("row", wrong, n))
        return np.broadcast_to(array[0], (*indices.shape, *array.shape[1:]))
    return frozen(array[indices])


def chosen_rows(which: ArrayLike | slice, n: int) -> Longs:
    """Return the indices, from 0 to n - 1, of the rows that a slice, a mask or indices choose.

    The indices in `which` may be negative. Raises IndexError for an index out of bounds, and
    ValueError if `which` is not a slice, a mask or a list of indices.
    """
    if isinstance(which, slice):
        return np.arange(*which.indices(n))
    array = np.asarray(which)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iub"):
        raise ValueError("expected a slice, a mask, or a list of indices")
    if array.dtype.kind == "b":
        if array.size != n:
            raise ValueError(f"the mask has {counted(array.size, 'row')}, not {n}")
        return np.flatnonzero(array)
    if array.size == 0:
        return np.empty(0, np.int64)
    lowest = array.min()
    if lowest < -n or array.max() >= n:
        wrong = (array < -n) | (array >= n)
        raise IndexError(out_of_bounds("row", array[wrong.argmax()], n))
    chosen: Longs = array.astype(np.int64)
    return chosen if lowest >= 0 else np.where(chosen < 0, chosen + n, chosen)


def groups_of(codes: Longs, count: int) -> Iterator[Longs]:
    """Yield for each code, from 0 to `count` - 1, the indices at which it is, in order: int64."""
    if count <= _FEW:  # faster than sorting
        for code in range(count):
            yield np.flatnonzero(codes == code)
        return
    order = np.argsort(codes, kind="stable")
    for begin, end in pairwise(offsets_of(np.bincount(codes, minlength=count)).tolist()):
        yield order[begin:end]


def row_indices(starts: Longs, lengths: Longs) -> Longs:
    """Return the indices of all elements of the given rows, row by row: int64.

    starts: the index of each row's first element. lengths: the number of each row's elements.
    """
    if lengths.size and lengths.strides[0] == 0 and lengths[0] == 1:
        return starts
    offsets = offsets_of(lengths)
    return np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])


def gather_ragged(values: NDArray[T], offsets: Longs, indices: Indices) -> tuple[NDArray[T], Longs]:
    """Return rows of a ragged column, in the order of `indices`, as a ragged column.

    A ragged column is the pair (values, offsets); its row i is values[offsets[i]:offsets[i + 1]].
    Consecutive rows are a view. Raises IndexError for an index out of bounds.
    """
    run = run_of(indices, offsets.size - 1)
    if run is not None:
        bounds = offsets[run.start : run.stop + 1]
        begin = bounds[0]
        return frozen(values[begin : bounds[-1]]), frozen(bounds - begin if begin else bounds)
    starts = offsets[:-1][indices]
    lengths = compact(offsets[1:][indices] - starts)
    new = offsets_of(lengths)
    if values.size and values.strides[0] == 0:
        return np.broadcast_to(values[0], (int(new[-1]),)), new
    width = int(lengths[0])
    if width and is_constant(lengths):
        return frozen(sliding_window_view(values, width)[starts].reshape(-1)), new
    return frozen(values[row_indices(starts, lengths)]), new


def check_column(
    what: str, array: NDArray[T], dtype: type[np.generic], n: int | None = None
) -> None:
    """Raise ValueError unless the column has one dimension and this dtype.

    n: if given, the column must also have n rows. what: the name of the column, for the message.
    """
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != np.dtype(dtype):
        found = (
            f"{array.dtype} {array.shape}"
            if isinstance(array, np.ndarray)
            else type(array).__name__
        )
        raise ValueError(f"{what}: expected a one-dimensional {np.dtype(dtype)} array, not {found}")
    if n is not None and array.size != n:
        raise ValueError(f"{what}: expected {counted(n, 'row')}, not {array.size}")


def check_offsets(what: str, offsets: Longs, total: int) -> None:
    """Raise ValueError unless the offsets begin with 0, end with `total` and never decrease.

    what: the name of the column, for the message.
    """
    check_column(what, offsets, np.int64)
    if offsets.size == 0 or offsets[0] != 0:
        raise ValueError(f"{what}: the first offset must be 0")
    if offsets[-1] != total:
        raise ValueError(f"{what}: the last offset must be {total}, not {offsets[-1]}")
    if (offsets[1:] < offsets[:-1]).any():
        raise ValueError(f"{what}: offsets must not decrease")
