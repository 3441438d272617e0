"""Read and write archives of Kaldi in binary form; their matrices may be compressed."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any, BinaryIO, Final

import numpy as np

from exset.codecs.custom.columns import Columns
from exset.codecs.custom.layout import Layout
from exset.codecs.siblings.ark_layout import ARCHIVE, OBJECT, Form, Format, Kind
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Floats, Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.archive import Archive
from exset.grammars.siblings.findings import ARK
from exset.grammars.tables.coalesce import coalesced
from exset.grammars.tables.columns import Lists, Numbers
from exset.grammars.tables.table import Table

_ARCHIVE: Final = Layout(ARCHIVE)
_OBJECT: Final = Layout(OBJECT)
_OBJECTS: Final = "objects"
_INTEGERS: Final = "objects.body.int32.items"
_COMPRESSED: Final = "body.compressed"
_KEY: Final = re.compile(rb"\n*+([^\s\0]++)([ \t])")
_TOPS: Final = MappingProxyType({"CM": 65535, "CM2": 65535, "CM3": 255})
"""The code of the greatest number in each kind of compressed matrices; for CM, of a percentile."""
_WEIGHTS: Final = np.array(
    [np.interp(np.arange(256), (0, 64, 192, 255), row) for row in np.eye(4)], np.float32
)
"""CM: the weight of each of a column's four percentiles in the numbers of the 256 codes."""
_AHEAD: Final = 1 << 20
"""How many bytes of an archive are read at once, if only some of its objects are needed."""
_COLUMNS: Final = 1 << 12
"""How many columns are decoded at once; each needs a table of 256 numbers."""


def decode(source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Archive:
    """Return the objects of an archive. Raises FormatError for a damaged archive."""
    columns = _ARCHIVE.read(source.data, name=source.name, limits=limits, engine=engine)
    keys = _keys(columns, source, findings)
    if columns.stopped is not None:
        if not len(keys) or source.data.find(b"\0", columns.end) >= 0:
            raise columns.stopped
        place = Place.in_bytes(source, columns.end)
        findings.add(ARK.finding("ark-kaldiio", place, what="bytes after the last object"))
    table: Mapping[str, Any] = columns[_OBJECTS].columns
    lengths, items = table["body.int32.cols"], columns[_INTEGERS].columns["value"]
    lists = [_decompressed(table, kind) for kind in _TOPS]
    lists.append(Lists.of(items, lengths.values.astype(np.int64), lengths.present))
    rows, cols, plain = (columns.joined(_OBJECTS, name) for name in ("rows", "cols", "values"))
    values: Any = coalesced([plain, *lists])
    heights = np.where(rows.present, rows.values, -1)
    return Archive(keys, heights, cols.values.astype(np.int64), values.items.values)


def objects_at(
    file: BinaryIO, offset: int, name: str, limits: Limits, engine: Engine
) -> dict[int, bytes]:
    """Return the bytes of the object at an offset of an open archive, and of some that follow.

    Each is given by its offset. name: the name of the archive, for messages. Raises FormatError if
    the first object is damaged.
    """
    options: Any = {"name": name, "limits": limits, "engine": engine}
    file.seek(offset)
    data = b"0 " + file.read(_AHEAD)
    with suppress(FormatError):  # an error of the first object is raised below
        columns = _ARCHIVE.read(data, **options)
        starts = columns.starts(_OBJECTS).tolist()
        if starts:
            begins = [data.index(b"\0", start) for start in starts]  # each after its key
            spans = zip(begins, [*starts[1:], columns.end], strict=True)
            return {offset - 2 + begin: data[begin:end] for begin, end in spans}
    end = _OBJECT.read_at(file, offset, **options).end
    file.seek(offset)
    return {offset: file.read(end)}


def _keys(columns: Columns, source: Source, findings: Findings) -> Strings:
    """Return the keys of the objects, each without the blank that ends it in the file.

    Raises FormatError for an invalid key.
    """
    keys: Any = columns[_OBJECTS]["key"]
    matches = [_KEY.fullmatch(key) for key in keys]
    names = [match and match[1] for match in matches]
    blanks = [match and match[2] for match in matches]

    def place(row: int) -> Place:
        offset = int(columns.starts(_OBJECTS)[row])
        return Place.in_bytes(source, offset, f"{_OBJECTS}[{row}].key")

    if None in names:
        raise FormatError.of(ARK.finding("ark-key", place(names.index(None))))
    if b"\t" in blanks:
        tab = place(blanks.index(b"\t"))
        findings.add(ARK.finding("ark-kaldiio", tab, what="a tab after a key"))
    return Strings.of(names)


@np.errstate(all="ignore")
def _decompressed(table: Mapping[str, Any], kind: str) -> Any:
    """Return the numbers of the compressed matrices of one kind: CM, CM2 or CM3.

    Source: Kaldi, compressed-matrix.cc: CopyToMat.
    """
    names = (f"codes.{kind}", "percentiles", "min_value", "range")
    codes, points, least, span = (table[f"{_COMPRESSED}.{name}"] for name in names)
    coded = points if kind == "CM" else codes
    steps = np.repeat(span.values * np.float32(1 / _TOPS[kind]), coded.lengths)
    numbers = np.repeat(least.values, coded.lengths) + steps * coded.items.values
    if kind == "CM":
        numbers = _interpolated(codes, numbers.reshape(-1, 4), points.lengths // 4)
    return replace(codes, items=Numbers.of(numbers))


def _interpolated(codes: Any, levels: Floats, widths: Longs) -> Floats:
    """Return the numbers of matrices CM, row by row.

    codes: for each matrix, column by column. levels: [columns, 4], the percentiles of each column,
    between which codes interpolate. widths: how many columns each matrix has.
    """
    stored = codes.items.values
    numbers, last = np.empty(stored.size, np.float32), 0
    for (begin, end), width in zip(pairwise(codes.offsets.tolist()), widths.tolist(), strict=True):
        for first in range(0, width, _COLUMNS):
            some = slice(first, min(first + _COLUMNS, width))
            known = levels[last + first : last + some.stop] @ _WEIGHTS
            mine = stored[begin:end].reshape(width, -1)[some]
            found = numbers[begin:end].reshape(-1, width)[:, some]
            np.take(known, mine.T + np.arange(len(known)) * 256, out=found, mode="clip")
        last += width
    return numbers


def encode(archive: Archive, compress: str | None = None) -> bytes:
    """Return the bytes of an archive: matrices or vectors of reals, or vectors of int32.

    compress: "CM2" or "CM3", to store matrices with 16 or 8 bits for each number; then no matrix
    may be empty, and all numbers must be finite.
    """
    count, dtype, tables = len(archive.keys), archive.values.dtype.name, dict[str, Table]()
    kind, path, found = Kind[dtype], f"body.{dtype}", dict[str, Any]()
    if kind is Kind.int32:
        parents = np.repeat(np.arange(count), archive.cols)
        tables[_INTEGERS] = Table.of({"value": archive.values, "parent": parents})
    elif compress is not None:
        kind, path, found = Kind.compressed, _COMPRESSED, _compressed(archive, compress)
    else:
        form = Form.vector if archive.is_of_vectors else Form.matrix
        found[f"{path}.form"] = np.full(count, form)
        path = f"{path}.object.{form.name}"
        found[f"{path}.values"] = Lists.of(Numbers.of(archive.values), archive.sizes)
    found |= {f"{path}.rows": archive.rows, f"{path}.cols": archive.cols}
    found |= {"key": Strings.of([(key or b"") + b" " for key in archive.keys])}
    tables[_OBJECTS] = Table.of(found | {"kind": np.full(count, kind)})
    return _ARCHIVE.write(tables)


def _compressed(archive: Archive, kind: str) -> dict[str, Any]:
    """Return the columns of the layout for compressed matrices, with 8 or 16 bits a number.

    kind: "CM2" or "CM3". Source: Kaldi, compressed-matrix.cc: FloatToUint16.
    """
    sizes, values = archive.sizes, archive.values.astype(np.float32)
    begins = np.cumsum(sizes) - sizes
    least, most = (each.reduceat(values, begins) for each in (np.minimum, np.maximum))
    span = most - least
    span[span == 0] = 1 + np.abs(least[span == 0])
    parts = (values - np.repeat(least, sizes)) / np.repeat(span, sizes)
    codes = np.clip(parts, 0, 1) * np.float32(_TOPS[kind]) + np.float64(0.499)
    columns = {
        "format": np.full(sizes.size, Format[kind]),
        "min_value": least,
        "range": span,
        "percentiles": Lists.of(Numbers.of(np.zeros(0, np.uint16)), 0 * sizes),
        f"codes.{kind}": Lists.of(Numbers.of(codes.astype(np.uint16)), sizes),
    }
    return {f"{_COMPRESSED}.{name}": column for name, column in columns.items()}
