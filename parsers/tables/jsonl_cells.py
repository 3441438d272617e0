"""Write the rows of a column as JSON, and join columns to objects."""

import json
from collections.abc import Mapping
from math import prod
from typing import Final

import numpy as np

from exset.grammars.columns.arrays import Bytes, Flags, Longs, constant
from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn, Text
from exset.parsers.tables import jsonl_kernels as k
from exset.parsers.tables.csv_cells import Cells, number_cells

_END: Final = b"}"


def cells_of(column: TableColumn) -> Cells:
    """Return the rows of a column as JSON: text, numbers, lists or records of these.

    The cell of a row without a value is empty, and so is that of NaN and of infinity.
    """
    if isinstance(column, Lists):
        return _lists(cells_of(column.items), column.offsets, column.present)
    if isinstance(column, Records):
        cells = {name: cells_of(each) for name, each in column.fields.items()}
        return objects(cells, column.present)
    if isinstance(column, Text):
        return _strings(column)
    assert isinstance(column, Numbers), "JSON stores no other column"
    return _numbers(column)


def objects(cells: Mapping[str, Cells], present: Flags, end: bytes = _END) -> Cells:
    """Return objects with the given cells by name; `end`: the last bytes of each object."""
    if not cells:
        empty = b"{" + end
        ends = np.cumsum(present * len(empty))
        return Cells(np.frombuffer(empty * int(present.sum()), np.uint8), ends)
    names = [json.dumps(name, ensure_ascii=False).encode() for name in cells]
    befores = [(b", " if i else b"{") + name + b": " for i, name in enumerate(names)]
    sizes = np.full(len(present), sum(map(len, befores)) + len(end), np.int64)
    for each in cells.values():
        lengths = np.diff(each.ends, prepend=0)
        sizes += np.where(lengths == 0, k.NULL, lengths)
    sizes *= present
    ends = np.cumsum(sizes)
    out: Bytes = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    at: Longs = ends - sizes
    put = k.KERNELS.choose(k.put_members, k.KERNELS.use_compiled(out.size))
    rows = np.ascontiguousarray(present)
    for i, (before, each) in enumerate(zip(befores, cells.values(), strict=True)):
        after = end if i == len(befores) - 1 else b""
        put(_bytes(before), each.data, each.ends, _bytes(after), rows, out, at)
    return Cells(out, ends)


def _bytes(data: bytes) -> Bytes:
    return np.frombuffer(data, np.uint8)


def _strings(text: Text) -> Cells:
    data, offsets, present = map(np.ascontiguousarray, (text.data, text.offsets, text.present))
    more = int(k.MORE[data].sum(dtype=np.int64))
    out = np.empty(data.size + more + 2 * len(text), np.uint8)
    ends = np.empty(len(text), np.int64)
    put = k.KERNELS.choose(k.put_strings, k.KERNELS.use_compiled(out.size))
    put(data, offsets, present, out, ends)
    return Cells(out, ends)


def _numbers(column: Numbers) -> Cells:
    """Return the cells of numbers, or of arrays, which become lists of lists."""
    values, present = column.values, column.present
    if not column.shape:
        if values.dtype.kind == "f":
            present = present & np.isfinite(values)
        if values.dtype == np.float16:  # the kernels write the decimals of longer numbers
            values = values.astype(np.str_).astype(np.float64)
        return number_cells(Numbers.unchecked(values=values, present=present), b",", is_alone=False)
    cells = _numbers(Numbers.of(values.reshape(-1)))
    for axis in range(values.ndim - 1, 0, -1):
        rows = prod(values.shape[:axis])
        offsets = np.arange(rows + 1) * values.shape[axis]
        cells = _lists(cells, offsets, present if axis == 1 else constant(True, rows, np.bool_))
    return cells


def _lists(items: Cells, offsets: Longs, present: Flags) -> Cells:
    """Return lists of the items; row i has the items offsets[i]:offsets[i + 1]."""
    count, rows = len(items.ends), len(present)
    used = int(items.ends[-1]) if count else 0
    out = np.empty(used + (k.NULL + k.LIST_ROOM) * count + k.LIST_ROOM * rows, np.uint8)
    ends = np.empty(rows, np.int64)
    put = k.KERNELS.choose(k.put_lists, k.KERNELS.use_compiled(out.size))
    put(*items, np.ascontiguousarray(offsets), np.ascontiguousarray(present), out, ends)
    return Cells(out, ends)
