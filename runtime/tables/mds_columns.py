"""Encode the columns of a table for MDS, and decode them.

Source: mosaicml-streaming, `base/format/mds/encodings.py`.
"""

import re
from math import prod
from typing import Final

import numpy as np

from exset.grammars.columns.arrays import Bytes, Longs, compact, offsets_of, row_indices
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text, text_or_bytes, type_of
from exset.grammars.tables.shard_findings import cannot_hold
from exset.runtime.tables.decimal_columns import integers

_KINDS: Final = (
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
)
_CODES: Final = {
    **{8: "uint8", 9: "int8", 16: "uint16", 17: "int16", 18: "float16"},
    **{32: "uint32", 33: "int32", 34: "float32", 64: "uint64", 65: "int64", 66: "float64"},
}
"""The dtype for each byte that stores a dtype, in arrays whose encoding names no dtype."""
_TEXTS: Final = ("str", "str_float", "str_decimal", "json")
_BLOBS: Final = ("bytes", "pil", "jpeg", "jpeg_array", "png")
_ARRAY: Final = re.compile(r"ndarray(?::([a-z]+\d+)(?::(\d+(?:,\d+)*))?)?")
_LIST: Final = re.compile(r"list\[.+\]", re.DOTALL)
_MOST: Final = 1 << 31


def size_of(encoding: str) -> int | None:
    """Return the bytes of each value of an encoding, None if they vary.

    Raises ValueError for an encoding that exset does not read.
    """
    if encoding == "int":
        return 8
    if encoding in _KINDS:
        return np.dtype(encoding).itemsize
    if encoding in (*_TEXTS, *_BLOBS, "str_int") or _LIST.fullmatch(encoding):
        return None
    if encoding == "pkl" or encoding.startswith("pkl:"):
        raise ValueError("the encoding pkl is that of pickles, which exset never loads")
    if (match := _ARRAY.fullmatch(encoding)) is None or (match[1] and match[1] not in _KINDS):
        raise ValueError(f"unknown encoding {encoding!r}")
    if match[2] is None:
        return None
    size = prod(_shape(match[2])) * np.dtype(match[1]).itemsize
    if size > _MOST:
        raise ValueError(f"the arrays of {encoding!r} are too large")
    return size


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(","))


def decoded(encoding: str, data: Strings) -> TableColumn | None:
    """Decode the values of a column; return None if they are arrays that differ in dtype or
    number of dimensions.

    encoding: the name of the encoding in MDS, such as `int32`. data: the bytes of each value.
    """
    if encoding == "int" or encoding in _KINDS:
        dtype = np.dtype("int64" if encoding == "int" else encoding)
        return Numbers.of(data.data.view(dtype.newbyteorder("<")).astype(dtype, copy=False))
    if encoding == "str_int":
        numbers = integers(data)
        return text_or_bytes(data) if numbers is None else numbers
    if encoding in _TEXTS:
        return text_or_bytes(data)
    match = _ARRAY.fullmatch(encoding)
    if match is None:
        return data
    if match[2] is not None:
        dtype = np.dtype(match[1])
        values = data.data.view(dtype.newbyteorder("<")).astype(dtype, copy=False)
        return Numbers.of(values.reshape(len(data), *_shape(match[2])))
    return _arrays(data, match[1])


def _arrays(data: Strings, kind: str | None) -> TableColumn | None:
    """Return the arrays that values store with their shapes; kind: their dtype.

    If `kind` is None, each value also stores its dtype.
    """
    at, lengths = data.offsets[:-1], data.lengths
    before = 2 if kind is None else 1
    if not lengths.size or (lengths < before).any():
        return None
    if kind is None:
        code = data.data[at]
        if (code != code[0]).any() or (kind := _CODES.get(int(code[0]))) is None:
            return None
    head = data.data[at + before - 1]
    dimensions = int(head[0]) >> 2
    if (head >> 2 != dimensions).any():
        return None
    widths = np.left_shift(1, head & 3).astype(np.int64)
    begins = before + dimensions * widths
    if (lengths < begins).any():
        return None
    shapes = np.empty((lengths.size, dimensions), np.int64)
    for width in (1, 2, 4, 8):
        rows = np.flatnonzero(widths == width)
        raw = data.data[(at[rows] + before)[:, np.newaxis] + np.arange(dimensions * width)]
        numbers = np.ascontiguousarray(raw).view(f"<u{width}").reshape(rows.size, dimensions)
        if numbers.size and int(numbers.max()) > _MOST:
            return None
        shapes[rows] = numbers
    dtype = np.dtype(kind)
    counts = (lengths - begins) // dtype.itemsize
    known = np.ones(lengths.size, np.float64)
    for i in range(dimensions):
        known *= shapes[:, i]
    if (known != counts).any() or (counts * dtype.itemsize != lengths - begins).any():
        return None
    raw = data.data[row_indices(at + begins, counts * dtype.itemsize)]
    values = raw.view(dtype.newbyteorder("<")).astype(dtype, copy=False)
    if (shapes == shapes[0]).all():
        return Numbers.of(values.reshape(lengths.size, *shapes[0].tolist()))
    return Lists.of(Numbers.of(values), counts) if dimensions == 1 else None


def encoded(name: str, column: TableColumn, first: int = 0) -> tuple[str, Strings]:
    """Return the encoding of a column, and each row encoded; a row without a value gets any value.

    first: the row of the first value in the whole column, if this is a chunk. Raises FormatError
    for a column that MDS cannot store.
    """
    if isinstance(column, Strings):
        every = np.ones(len(column), np.bool_)
        kind = "str" if isinstance(column, Text) else "bytes"
        return kind, Strings.unchecked(data=column.data, offsets=column.offsets, present=every)
    if isinstance(column, Numbers):
        kind = _kind(name, column)
        if 0 in column.shape:
            raise cannot_hold(name, "MDS cannot store empty arrays")
        raw = np.ascontiguousarray(column.values).view(np.uint8).reshape(-1)
        sizes = np.full(len(column), prod(column.shape) * column.values.itemsize)
        data = Strings(raw, offsets_of(compact(sizes)), np.ones(len(column), np.bool_))
        if not column.shape:
            return kind, data
        return f"ndarray:{kind}:{','.join(map(str, column.shape))}", data
    if isinstance(column, Lists) and isinstance(column.items, Numbers) and not column.items.shape:
        if not column.items.present.all():
            raise cannot_hold(name, "MDS cannot store arrays whose items have no value")
        kind = f"ndarray:{_kind(name, column.items)}"
        return kind, _with_lengths(name, column, column.items, first)
    raise cannot_hold(name, f"MDS cannot hold {type_of(column)}")


def _kind(name: str, column: Numbers) -> str:
    kind = "uint8" if column.values.dtype == np.bool_ else str(column.values.dtype)
    if kind not in _KINDS:
        raise cannot_hold(name, f"MDS cannot hold {column.type}")
    return kind


def _with_lengths(name: str, column: Lists, items: Numbers, first: int) -> Strings:
    """Encode lists as arrays of one dimension, preceded by a length of 32 bits; a missing list
    becomes [0].

    items: the numbers in the lists. first: the row of the first list in the whole column.
    """
    lengths = np.where(column.present, column.lengths, 1)
    if not lengths.all():
        row = int((lengths == 0).argmax())
        raise cannot_hold(name, "MDS cannot store empty arrays", first + row)
    size = items.values.itemsize
    offsets = offsets_of(compact(5 + lengths * size))
    out: Bytes = np.zeros(int(offsets[-1]), np.uint8)
    begins: Longs = offsets[:-1]
    out[begins] = 1 << 2 | 2
    out[begins[:, np.newaxis] + np.arange(1, 5)] = (
        lengths.astype("<u4").view(np.uint8).reshape(-1, 4)
    )
    present = column.present
    raw = np.ascontiguousarray(items.values).view(np.uint8).reshape(-1)
    out[row_indices(begins[present] + 5, lengths[present] * size)] = raw
    return Strings(out, offsets, np.ones(len(column), np.bool_))
