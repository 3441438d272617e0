"""Write tables as NPZ and NPY files, from chunks, without pickles.

Source: NumPy, "numpy.lib.format".
"""

import json
import zipfile
from collections.abc import Iterable
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile
from typing import IO, BinaryIO, Final

import numpy as np
from numpy.lib import format as npy

from exset.core.errors import Findings, FormatError, Place
from exset.core.text import has_surrogates, safe
from exset.grammars.tables.columns import Numbers
from exset.grammars.tables.flat import Array
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.survey import Survey
from exset.grammars.tables.table import Table
from exset.runtime.tables.chunks import in_any_order, temporary
from exset.runtime.tables.flat_chunks import FlatTables
from exset.runtime.tables.npz import ARRAY, METADATA

_COPIED: Final = 1 << 20
_SPOOLED: Final = 1 << 25
"""The most bytes that wait in memory until all arrays are complete; more go to a file."""


def write_chunks(tables: Iterable[Table], out: BinaryIO, /, *, findings: Findings) -> None:
    """Write a table that comes in chunks as one NPZ file; the same table gives the same bytes.

    Raises FormatError for a table that such a file cannot hold, and OSError.
    """
    data = FlatTables.of(tables)
    if wrong := next((name for name in data.arrays if "\0" in name or has_surrogates(name)), None):
        message = (
            f"a ZIP archive cannot store the name {safe(wrong)!r}: it has a NUL or is not UTF-8"
        )
        raise FormatError(message, place=Place("table"), code="table-holds")
    text = np.frombuffer(json.dumps(data.stored, separators=(",", ":")).encode(), np.uint8)
    with ExitStack() as stack:
        spool = _Spool(stack.enter_context(SpooledTemporaryFile(max_size=_SPOOLED)))
        for _, parts in data.parts():
            for name, (_, array) in parts.items():
                spool.add(name, array)
        file = stack.enter_context(in_any_order(out))
        archive = stack.enter_context(zipfile.ZipFile(file, "w", zipfile.ZIP_STORED))
        for name, array in data.arrays.items():
            with _member(archive, name) as member:
                _write_header(member, array, data.shapes[name])
                spool.copy(name, member)
        with _member(archive, METADATA) as member:
            _write_header(member, text, text.shape)
            member.write(text.data)


def write_array_chunks(
    tables: Iterable[Table], out: BinaryIO, /, *, findings: Findings, lossy: bool = False
) -> None:
    """Write the only column of a table, which comes in chunks, as one NPY file, which does not
    store its name.

    Raises FormatError unless there is a column of numbers that has a value in each row. Also
    raises it for further columns, for metadata, and for a name other than `array`; with `lossy`
    these are dropped.
    """
    losses = Losses(lossy, findings)
    survey = Survey.of(tables)
    kept: tuple[str, Numbers] | None = None
    for name, column in survey.first.columns.items():
        if isinstance(column, Numbers) and (name,) not in survey.absent and kept is None:
            kept = name, column
            if name != ARRAY:
                losses.report(name, "an NPY file does not store the name of a column")
        else:
            losses.report(
                name, "an NPY file stores one column of numbers, with a value in each row"
            )
    if survey.first.metadata:
        losses.report_metadata("an NPY file stores no metadata")
    if kept is None:
        message = "the table has no column of numbers that an NPY file could store"
        raise FormatError(message, place=Place("table"), code="table-holds")
    name, first = kept
    _write_header(out, first.values, (survey.rows, *first.shape))
    for table in tables:
        column = table.columns[name]
        assert isinstance(column, Numbers)
        out.write(_bytes_of(column.values))


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    member = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
    return archive.open(member, "w", force_zip64=True)


def _write_header(file: IO[bytes], array: Array, shape: tuple[int, ...]) -> None:
    """Write the header of an NPY file with the dtype of `array`, but another shape."""
    header = npy.header_data_from_array_1_0(np.empty(0, array.dtype))
    npy.write_array_header_1_0(file, {**header, "shape": shape})


def _bytes_of(array: Array) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


class _Spool:
    """Collects parts of several arrays, which come in turns, in one temporary file."""

    def __init__(self, file: IO[bytes]) -> None:
        """Collect the parts in `file`, which must be empty."""
        self._file = file
        self._parts: dict[str, list[tuple[int, int]]] = {}

    def add(self, name: str, array: Array) -> None:
        """Add the next part of the array `name`."""
        begin = self._file.tell()
        with temporary():
            size = self._file.write(_bytes_of(array))
        self._parts.setdefault(name, []).append((begin, size))

    def copy(self, name: str, out: IO[bytes]) -> None:
        """Write all bytes of the array `name` to `out`."""
        for begin, size in self._parts.get(name, []):
            self._file.seek(begin)
            while size > 0:
                data = self._file.read(min(size, _COPIED))
                out.write(data)
                size -= _COPIED
