"""Labels from files: a column of a CSV file, a NumPy array, an HDF5 dataset."""

import csv
import io
import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from exset.core.source import Source
from exset.runtime.samplers.grouping import Labels
from exset.runtime.samplers.label_hdf5 import KINDS, NAMES, choose, hdf5_labels, refuse

if TYPE_CHECKING:
    pass

_NPY = b"\x93NUMPY"
_HDF5 = b"\x89HDF\r\n\x1a\n"


def labels_in(source: Source, column: str | None = None) -> Labels:
    """Return the labels in a file, one for each item.

    `column`: for a CSV file, the name of the column in the first line, or its number, from 0, if
    the first line is an item; for an HDF5 file, the path of the dataset. By default it is `label`
    or `labels`, or the only dataset. Raises FormatError for a file without labels.
    """
    if source.data.startswith(_NPY):
        return _npy(source)
    if source.data.startswith(_HDF5):
        return hdf5_labels(source, column)
    return _csv(source, column)


def _npy(source: Source) -> NDArray[np.generic]:
    file = io.BytesIO(source.data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about headers that Python 2 wrote
            if np.lib.format.read_magic(file) == (1, 0):
                shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            else:
                shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    except Exception as error:  # NumPy's parser of headers raises errors of many kinds
        refuse(source, f"not a valid NumPy array: {error}")
    if len(shape) != 1 or dtype.kind not in KINDS or not dtype.itemsize:
        refuse(source, f"labels must be in one dimension, not of shape {shape} and type {dtype}")
    begin = file.tell()
    if not 0 <= shape[0] * dtype.itemsize <= len(source.data) - begin:
        refuse(source, f"truncated: the header declares {shape[0]} labels")
    return np.frombuffer(source.data, dtype, shape[0], begin)


def _csv(source: Source, column: str | None) -> list[str]:
    if b"\0" in source.data:
        refuse(source, "not a file of labels: neither CSV nor HDF5 nor NumPy (.npy)")
    text = source.data.decode("utf-8-sig", "surrogateescape")
    tabbed = any(part in ("tsv", "tab") for part in source.name.lower().split(".")[-2:])
    lines = io.StringIO(text, newline="")
    # Without `strict`, all text after an open quote would become one label.
    rows = csv.reader(lines, delimiter="\t" if tabbed else ",", strict=True)
    labels: list[str] = []
    at = None
    try:
        for row in rows:
            if not row:
                continue
            if at is None:
                at, first = _column(source, row, column)
                if first:
                    continue
            if at >= len(row) or not row[at]:
                refuse(source, f"no label in column {column or at}", line=rows.line_num)
            labels.append(row[at])
    except csv.Error as error:
        refuse(source, f"invalid CSV: {error}", line=rows.line_num)
    return labels


def _column(source: Source, row: list[str], column: str | None) -> tuple[int, bool]:
    """Return the number of the column, and whether the first line names the columns."""
    if column is None:
        named = [name for name in NAMES if name in row]
        if named:
            return row.index(named[0]), True
    elif column in row:
        return row.index(column), True
    elif column.isdecimal() and column.isascii() and int(column) < len(row):
        return int(column), False
    choose(source, column, row, ", or give its number, from 0, if line 1 is an item")
