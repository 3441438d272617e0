"""Convert columns of arrays to NPY files, one for each row, and back.

Source: NumPy, "numpy.lib.format". Headers are compared and matched, never evaluated.
"""

import re
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs, compact, offsets_of, row_indices
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.cells import Room, absent_size
from exset.grammars.tables.columns import NUMBER_KINDS, Lists, Numbers, TableColumn

_MAGIC: Final = b"\x93NUMPY\x01\x00"
_START: Final = len(_MAGIC) + 2
_HEADER: Final = re.compile(
    rb"\{'descr': '([<>|=][a-zA-Z]\d{1,2}(?:\[\d{0,4}[a-zA-Z]{1,2}\])?)', "
    rb"'fortran_order': (False|True), 'shape': \(([\d, ]{0,600})\), \} *\n"
)
_MOST_DIMENSIONS: Final = 32
_MOST: Final = 1 << 31  # elements of one dimension


def arrays_of(column: Numbers | Lists) -> Strings:
    """Return each row of a column as an NPY file, as NumPy writes it."""
    if isinstance(column, Numbers):
        header = _header(column.values.dtype, column.shape)
        rows = column.take(np.flatnonzero(column.present)).values
        width = prod(column.shape) * rows.itemsize
        raw = np.ascontiguousarray(rows).reshape(-1).view(np.uint8).reshape(len(rows), width)
        begins = np.broadcast_to(np.frombuffer(header, np.uint8), (len(rows), len(header)))
        files = np.concatenate([begins, raw], axis=1)
        offsets = offsets_of(compact(column.present * np.int64(files.shape[1])))
        return Strings(files.reshape(-1), offsets, column.present)
    items = column.items
    assert isinstance(items, Numbers)
    lengths, which = np.unique(column.lengths, return_inverse=True)
    size = items.values.dtype.itemsize
    headers = [_header(items.values.dtype, (n,)) for n in lengths.tolist()]
    sizes = np.array([len(each) for each in headers], np.int64)[which]
    totals = np.where(column.present, sizes + column.lengths * size, 0)
    offsets = offsets_of(totals)
    data = np.empty(int(offsets[-1]), np.uint8)
    for number, header in enumerate(headers):
        rows_of = offsets[:-1][(which == number) & column.present]
        where = rows_of[:, np.newaxis] + np.arange(len(header))
        data[where] = np.frombuffer(header, np.uint8)
    contents = (offsets[:-1] + sizes)[column.present]
    places = row_indices(contents, column.lengths[column.present] * size)
    data[places] = np.ascontiguousarray(items.values).view(np.uint8)
    return Strings(data, offsets, column.present)


def arrays(files: Strings, room: Room) -> TableColumn | None:
    """Return the arrays in NPY files: rows of one shape, or lists if their lengths differ.

    room: the memory that is left for columns; a row without a file takes as much as an array.
    Return None if a file is not an array of numbers, or if arrays differ in dtype or dimensions.
    """
    rows = np.flatnonzero(files.present)
    if not rows.size:
        return None
    starts, lengths = files.offsets[:-1][rows], files.lengths[rows]
    headers = _headers(files.data, starts, lengths)
    if headers is None:
        return None
    texts, which = headers
    found = [_parsed(text) for text in texts]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    dtypes = {dtype for dtype, _, _ in known}
    shapes = [shape for _, shape, _ in known]
    dtype = known[0][0]
    begins = np.array([len(text) for text in texts], np.int64)[which]
    sizes = [min(prod(shape), 1 << 60) for shape in shapes]
    counts = np.array(sizes, np.int64)[which]
    if (
        len(dtypes) > 1
        or (counts > files.data.size).any()
        or (lengths - begins != counts * dtype.itemsize).any()
    ):
        return None
    raw = files.data[row_indices(starts + begins, counts * dtype.itemsize)]
    values = raw.view(dtype).astype(dtype.newbyteorder("="))
    if len(set(shapes)) == 1:
        room.take(1, len(files) - len(rows), absent_size(dtype, shapes[0]))
        full = _unfolded(values, len(rows), shapes[0], known[0][2])
        return _numbers(full, files)
    if any(len(shape) != 1 for shape in shapes):
        return None
    full_counts = np.zeros(len(files), np.int64)
    full_counts[rows] = counts
    if dtype.kind in "mM" and np.isnat(values).any():
        return None
    return Lists.of(Numbers.of(values), full_counts, files.present)


def _numbers(full: NDArray[Any], files: Strings) -> Numbers | None:
    """Return an array as a column with a row for each file; None if a value is NaT, which
    columns cannot have.

    full: the array of each file that is present, [present files, ...]. files: the contents of
    all files.
    """
    if full.dtype.kind in "mM" and np.isnat(full).any():
        return None
    values = np.zeros((len(files), *full.shape[1:]), full.dtype)
    values[files.present] = full
    return Numbers.of(values, files.present)


def _unfolded(
    values: NDArray[Any], rows: int, shape: tuple[int, ...], is_fortran: bool
) -> NDArray[Any]:
    if not is_fortran:
        return values.reshape(rows, *shape)
    whole = values.reshape(rows, *shape[::-1])
    return np.ascontiguousarray(whole.transpose(0, *range(len(shape), 0, -1)))


def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the header of an NPY file, version 1.0, as NumPy writes it for an array of this
    dtype and shape.
    """
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
    size = _START + len(text) + 1
    text += " " * (-size % 64) + "\n"
    return _MAGIC + len(text).to_bytes(2, "little") + text.encode()


def _headers(
    data: NDArray[np.uint8], starts: Longs, lengths: Longs
) -> tuple[list[bytes], Longs] | None:
    """Return the distinct headers of files, and the index of each file's header.

    starts, lengths: where each file is in `data`. Return None if a header is truncated.
    """
    if (lengths < _START).any():
        return None
    sizes = data[starts + _START - 2].astype(np.int64) + data[starts + _START - 1] * np.int64(256)
    sizes += _START
    if (sizes > lengths).any():
        return None
    seen: dict[bytes, int] = {}
    which = np.empty(starts.size, np.int64)
    for size in np.unique(sizes).tolist():
        rows = np.flatnonzero(sizes == size)
        block = data[starts[rows][:, np.newaxis] + np.arange(size)]
        texts = np.ascontiguousarray(block).view(f"V{size}").reshape(-1)
        if (block == block[:1]).all():
            which[rows] = seen.setdefault(texts[0].tobytes(), len(seen))
            continue
        which[rows] = [seen.setdefault(each.tobytes(), len(seen)) for each in texts]
    return list(seen), which


def _parsed(header: bytes) -> tuple[np.dtype[Any], tuple[int, ...], bool] | None:
    """Return the dtype, the shape and the order that a header gives.

    Return None for a dtype that columns cannot have.
    """
    match = _HEADER.fullmatch(header[_START:])
    if match is None or not header.startswith(_MAGIC):
        return None
    try:
        dtype = np.dtype(match[1].decode())
        shape = tuple(int(each) for each in match[3].replace(b" ", b"").split(b",") if each)
    except (TypeError, ValueError):
        return None
    is_number = dtype.kind in NUMBER_KINDS and 0 < dtype.itemsize <= 8
    if not is_number or len(shape) > _MOST_DIMENSIONS or max(shape, default=0) > _MOST:
        return None
    return dtype, shape, match[2] == b"True"
