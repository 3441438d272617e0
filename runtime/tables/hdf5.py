"""HDF5 with rows on the first axis: each column is a dataset, written by h5py.

A dataset `inputs/onset` is the column `inputs.onset`. Text is stored as text of variable length;
other columns that are no arrays of one shape are flattened as in NPZ: `x.values` and `x.offsets`,
and `x.present` for absent rows. The attribute `exset` of the root has the metadata. The axes have
dimension scales, so that xarray opens the file.

Source: the HDF5 file format; for scales the NetCDF-4 conventions.
"""

import io
from typing import Any, Final, TypeAlias

import h5py
import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.grammars.tables import flat
from exset.grammars.tables.columns import Text
from exset.grammars.tables.table import Table
from exset.runtime.hdf5.metadata import DTYPES, NAMES, STORED, write_metadata
from exset.runtime.hdf5.names import name_of, paths_of

_MOST_SCALES: Final = 1000
"""The most datasets with scales: a scale lists its datasets in an attribute of up to 64 KiB."""
_SCALE: Final = "This is a netCDF dimension but not a netCDF variable. %9d"
_CHUNK: Final = 1 << 20
"""The bytes of a chunk of a compressed dataset."""

_Values: TypeAlias = flat.Array | Text


def write(table: Table, /, *, findings: Findings | None = None, compress: bool = False) -> bytes:
    """Return the table as an HDF5 file; the same table gives the same bytes. Raises FormatError.

    compress: compress each dataset by shuffle and gzip, in chunks of some rows.
    """
    try:
        arrays, stored = flat.flattened(table)
    except ValueError as error:
        raise FormatError(str(error), place=Place("table"), code="table-holds") from None
    content = _with_text(arrays, table)
    dates = {name: str(each.dtype) for name, each in arrays.items() if each.dtype.kind in "mM"}
    paths = paths_of(content)
    renamed = {name_of(path): name for name, path in paths.items() if name_of(path) != name}
    stored[STORED] = {DTYPES: dates, NAMES: renamed}
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        write_metadata(file, stored)
        scales = _Scales(file, table.rows, {path.partition("/")[0] for path in paths.values()})
        for name, values in content.items():
            dataset = _put(file, paths[name], values, compress)
            if len(content) <= _MOST_SCALES:
                scales.attach(dataset)
    return out.getvalue()


def _with_text(arrays: dict[str, flat.Array], table: Table) -> dict[str, _Values]:
    """Return the arrays, with columns of text instead of their arrays.

    Text with a NUL stays an array: in HDF5 a NUL ends it.
    """
    content: dict[str, _Values] = {}
    for name, array in arrays.items():
        stem, _, part = name.rpartition(".")
        column = table.columns.get(stem) if part in ("values", "offsets") else None
        if isinstance(column, Text) and stem not in arrays and column.data.all():
            content[stem] = column
        else:
            content[name] = array
    return content


def _put(file: Any, path: str, values: _Values, compress: bool) -> Any:
    """Write a dataset, and return it."""
    kind: Any = None
    if isinstance(values, Text):
        kind = h5py.string_dtype()
        data: Any = np.array([each or "" for each in values], object)
    else:
        data = np.ascontiguousarray(values)
        if data.dtype.kind in "mM":
            data = data.view(np.int64)
    options: dict[str, Any] = {}
    if compress and data.size:
        row = max(data.nbytes // len(data), 1)
        chunks = (min(len(data), max(_CHUNK // row, 1)), *data.shape[1:])
        options = {"chunks": chunks, "shuffle": True, "compression": "gzip"}
    return file.create_dataset(path, data=data, dtype=kind, **options)


class _Scales:
    """The dimension scales of a file: `row`, and for each other length `dim_LENGTH`."""

    def __init__(self, file: Any, rows: int, taken: set[str]) -> None:
        """Take the file, the number of rows, and the names that scales must not have."""
        self._file = file
        self._rows = rows
        self._taken = taken
        self._made: dict[str, Any] = {}

    def attach(self, dataset: Any) -> None:
        """Give each axis of a dataset its scale."""
        for axis, size in enumerate(dataset.shape):
            is_row = not axis and size == self._rows
            dataset.dims[axis].attach_scale(self._scale("row" if is_row else f"dim_{size}", size))

    def _scale(self, name: str, size: int) -> Any:
        while name in self._taken:
            name += "_"
        if name not in self._made:
            scale = self._file.create_dataset(name, (size,), ">f4")
            scale.make_scale(_SCALE % size)
            self._made[name] = scale
        return self._made[name]
