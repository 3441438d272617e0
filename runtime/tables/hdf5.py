"""Write HDF5 files with rows on the first axis: each column is a dataset.

A dataset `inputs/onset` is the column `inputs.onset`. Text is stored as text of variable length.
Other columns that are not arrays of one shape are flattened as in NPZ: `x.values` and `x.offsets`,
and `x.present` if some rows have no value. The attribute `exset` of the root has the metadata. The
axes have dimension scales, so that xarray opens the file.

Source: the HDF5 file format; for scales the NetCDF-4 conventions.
"""

from collections.abc import Iterable
from typing import Any, BinaryIO, Final

import h5py
import numpy as np

from exset.core.errors import Findings
from exset.grammars.tables import flat
from exset.grammars.tables.columns import Text
from exset.grammars.tables.table import Table
from exset.runtime.hdf5.metadata import DTYPES, NAMES, STORED, write_metadata
from exset.runtime.hdf5.names import name_of, paths_of
from exset.runtime.hdf5.sink import Sink
from exset.runtime.tables.chunks import in_any_order
from exset.runtime.tables.flat_chunks import FlatTables

_MOST_SCALES: Final = 1000
"""The most datasets with scales: a scale lists its datasets in an attribute of up to 64 KiB."""
_SCALE: Final = "This is a netCDF dimension but not a netCDF variable. %9d"
_CHUNK: Final = 1 << 20
"""The bytes of a chunk of a compressed dataset."""


def write_chunks(
    tables: Iterable[Table], out: BinaryIO, /, *, findings: Findings, compress: bool = False
) -> None:
    """Write a table that comes in chunks as one HDF5 file; the same table gives the same bytes.

    compress: compress each dataset with the filters shuffle and gzip, in chunks of several rows.
    Raises FormatError for a table that such a file cannot hold, and OSError.
    """
    with in_any_order(out) as file:
        _write(tables, file, findings=findings, compress=compress)


def _write(
    tables: Iterable[Table], out: BinaryIO, /, *, findings: Findings, compress: bool
) -> None:
    """Write a table that comes in chunks as one HDF5 file.

    `out` must allow reading and seeking.
    """
    with_nul: set[str] = set()

    def survey(table: Table) -> None:
        with_nul.update(name for name, column in table.columns.items() if _has_nul(column))

    data = FlatTables.of(tables, survey)
    texts = _texts(data, with_nul)
    names = [*dict.fromkeys(texts.get(name, name) for name in data.arrays)]
    dates = {name: str(each.dtype) for name, each in data.arrays.items() if each.dtype.kind in "mM"}
    paths = paths_of(names)
    renamed = {name_of(path): name for name, path in paths.items() if name_of(path) != name}
    stored = {**data.stored, STORED: {DTYPES: dates, NAMES: renamed}}
    sink = Sink(out)
    with h5py.File(sink, "w") as file:
        write_metadata(file, stored)
        rows = data.survey.rows
        scales = _Scales(file, rows, {path.partition("/")[0] for path in paths.values()})
        datasets: dict[str, Any] = {}
        for name in names:
            shape, array = data.shapes.get(name, (rows,)), data.arrays.get(name)
            datasets[name] = _created(file, paths[name], shape, array, compress)
            if len(names) <= _MOST_SCALES:
                scales.attach(datasets[name])
        begin = 0
        for table, parts in data.parts():
            for name in texts.values():
                words = [each or "" for each in table.columns[name]]
                datasets[name][begin : begin + table.rows] = np.array(words, object)
            for name, (first, array) in parts.items():
                if name not in texts and array.size:
                    datasets[name][first : first + len(array)] = _stored(array)
            begin += table.rows
            sink.check()
    sink.check()


def _has_nul(column: object) -> bool:
    """Return whether a column is text with a NUL, which HDF5 would take for the text's end."""
    return isinstance(column, Text) and not column.data.all()


def _texts(data: FlatTables, with_nul: set[str]) -> dict[str, str]:
    """Return the columns that are stored as text of HDF5, by the names of the arrays that they
    replace.

    For example, the column `x` replaces `x.offsets` and `x.values`. with_nul: columns that HDF5
    cannot store as text.
    """
    return {
        f"{name}.{part}": name
        for name, column in data.survey.first.columns.items()
        if isinstance(column, Text) and name not in with_nul and name not in data.arrays
        for part in ("offsets", "values")
    }


def _stored(array: flat.Array) -> flat.Array:
    """Return an array as HDF5 stores it: dates as integers."""
    array = np.ascontiguousarray(array)
    return array.view(np.int64) if array.dtype.kind in "mM" else array


def _created(
    file: Any, path: str, shape: tuple[int, ...], array: flat.Array | None, compress: bool
) -> Any:
    """Create a dataset at `path` of an HDF5 file with the dtype of `array`, or for text if
    `array` is None.

    shape: of the dataset. compress: whether to compress it.
    """
    kind = h5py.string_dtype() if array is None else _stored(array).dtype
    options: dict[str, Any] = {}
    if compress and all(shape):
        row = max(int(np.prod(shape[1:])) * kind.itemsize, 1)
        chunks = (min(shape[0], max(_CHUNK // row, 1)), *shape[1:])
        options = {"chunks": chunks, "shuffle": True, "compression": "gzip"}
    return file.create_dataset(path, shape, kind, **options)


class _Scales:
    """The dimension scales of a file: `row` for its rows, and `dim_LENGTH` for any other axis."""

    def __init__(self, file: Any, rows: int, taken: set[str]) -> None:
        """Prepare scales for a file with `rows` rows; taken: the names that they must not have."""
        self._file = file
        self._rows = rows
        self._taken = taken
        self._made: dict[str, Any] = {}

    def attach(self, dataset: Any) -> None:
        """Attach a scale to each axis of a dataset."""
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
