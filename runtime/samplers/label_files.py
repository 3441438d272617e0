"""Read labels from files: a column of a CSV file, a NumPy array, an HDF5 dataset."""

import csv
import io
import shlex
import warnings
from typing import TYPE_CHECKING, Final, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from exset.core import supervised
from exset.core.errors import Findings, FormatError, Place
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.columns.findings import Rules
from exset.parsers.shared.header_line import SAMPLE, is_header_likely
from exset.runtime.samplers.grouping import Labels

if TYPE_CHECKING:
    import h5py

NAMES = ("label", "labels")
"""The default names of the column or dataset."""

finding_at: Final = Rules("exset.core:general.findings").finding
"""Make a finding from its code, its place, and the values that fill in its message."""

_NPY = b"\x93NUMPY"
_HDF5 = b"\x89HDF\r\n\x1a\n"
_KINDS = "biufSU"
_REAL = 4 << 30
_RATIO = 1000


def labels_in(
    source: Source, column: str | None = None, *, findings: Findings | None = None
) -> Labels:
    """Return the labels in a file, one for each item.

    `column`: for a CSV file whose first line has names, the name of the column. If the first line
    is already an item, `column` is the number of the column, from 0. If a name consists of digits,
    write it in quotation marks, '"1"'. For an HDF5 file, `column` is the path of the dataset. By
    default it is `label` or `labels`, or the only dataset. `findings`: gets a warning if `column`
    is a number, but the first line of the CSV file probably has names. Raises FormatError for a
    file without labels.
    """
    if source.data.startswith(_NPY):
        return _npy(source)
    if source.data.startswith(_HDF5):
        return _hdf5(source, column)
    return _csv(source, column, findings)


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
        _refuse(source, f"not a valid NumPy array: {error}")
    if len(shape) != 1 or dtype.kind not in _KINDS or not dtype.itemsize:
        _refuse(source, f"labels must be in one dimension, not of shape {shape} and type {dtype}")
    begin = file.tell()
    if not 0 <= shape[0] * dtype.itemsize <= len(source.data) - begin:
        _refuse(source, f"truncated: the header declares {shape[0]} labels")
    return np.frombuffer(source.data, dtype, shape[0], begin)


def _csv(source: Source, column: str | None, findings: Findings | None) -> list[str]:
    if b"\0" in source.data:
        _refuse(source, "not a file of labels: neither CSV nor HDF5 nor NumPy (.npy)")
    text = source.data.decode("utf-8-sig", "surrogateescape")
    tabbed = any(part in ("tsv", "tab") for part in source.name.lower().split(".")[-2:])
    lines = io.StringIO(text, newline="")
    # Without `strict`, all text after an open quote would become one label.
    rows = csv.reader(lines, delimiter="\t" if tabbed else ",", strict=True)
    labels: list[str] = []
    first_rows: list[list[str]] = []
    first_line = 0
    at = None
    try:
        for row in rows:
            if not row:
                continue
            if at is None:
                at, has_names = _column(source, row, column)
                if has_names:
                    continue
                first_line = rows.line_num
            if at >= len(row) or not row[at]:
                _refuse(source, f"the label is empty (column {column or at})", line=rows.line_num)
            labels.append(row[at])
            if first_line and len(first_rows) < SAMPLE:
                first_rows.append(row)
    except csv.Error as error:
        _refuse(source, f"invalid CSV: {error}", line=rows.line_num)
    if findings is not None and is_header_likely(first_rows, labels):
        place = Place(source.name, line=first_line)
        name = f'"{labels[0]}"' if labels[0].isdecimal() else labels[0]
        words = {"shown": safe(shlex.quote(name)), "quoted": safe(repr(name))}
        findings.add(finding_at("labels-header", place, **words))
    return labels


def _column(source: Source, row: list[str], column: str | None) -> tuple[int, bool]:
    """Return the number of the column with the labels, and whether the first line has names.

    row: the first line. column: the column that the caller names.
    """
    if column is None:
        named = [name for name in NAMES if name in row]
        if named:
            return row.index(named[0]), True
    elif column.isdecimal() and column.isascii() and int(column) < len(row):
        return int(column), False  # before names: the first line may be an item with this label
    elif column in row:
        return row.index(column), True
    elif column[:1] == column[-1:] == '"' and column[1:-1] in row:
        return row.index(column[1:-1]), True
    hint = "; if line 1 has no names, give the number of the column, from 0"
    if any(name.isdecimal() for name in row):
        hint += "; put a name that consists of digits in quotation marks"
    _choose(source, column, row, hint)


def _hdf5(source: Source, column: str | None) -> NDArray[np.generic]:
    import h5py

    try:
        with (
            supervised.reading(source.name),
            supervised.CALL,
            h5py.File(io.BytesIO(source.data), "r") as file,
        ):
            if column is None:
                links = [name for name in file if _is_hard_link(file, name)]
                root = [name for name in links if isinstance(file[name], h5py.Dataset)]
                named = [name for name in NAMES if name in root]
                if not named and len(root) != 1:
                    _choose(source, None, root)
                column = (named or root)[0]
            dataset = _dataset(source, file, column)
            text = h5py.check_string_dtype(dataset.dtype) is not None
            if not text and dataset.dtype.kind not in _KINDS:
                _refuse(
                    source, f"dataset {column!r} must contain text or numbers, not {dataset.dtype}"
                )
            array = (dataset.asstr(errors="surrogateescape") if text else dataset)[...]
    except FormatError:
        raise
    except Exception as error:  # h5py has no common class of errors for damaged files
        _refuse(source, f"the HDF5 library: {error}")
    return cast("NDArray[np.generic]", array)


def _is_hard_link(group: "h5py.Group", name: str) -> bool:
    """Return whether the member `name` of a group is a hard link. Other links are not followed."""
    import h5py

    return isinstance(group.get(name, getlink=True), h5py.HardLink)


def _dataset(source: Source, file: "h5py.File", path: str) -> "h5py.Dataset":
    import h5py

    found: object = file
    for part in filter(None, path.split("/")):
        if not isinstance(found, h5py.Group) or not _is_hard_link(found, part):
            _refuse(source, f"unknown dataset {path!r}: links are not followed")
        found = found[part]
    if not isinstance(found, h5py.Dataset) or found.ndim != 1:
        _refuse(source, f"{path!r} must be a dataset with one dimension")
    if found.external or found.is_virtual:
        _refuse(
            source, f"dataset {path!r} stores its data in other files, which exset does not open"
        )
    stored = max(found.id.get_storage_size(), 1)
    if found.nbytes > _REAL and found.nbytes > _RATIO * stored:
        size = f"{found.nbytes:,} bytes, but the file stores {stored:,}"
        _refuse(source, f"dataset {path!r} declares {size}")
    return found


def _choose(source: Source, column: str | None, names: list[str], hint: str = "") -> NoReturn:
    what = "exset cannot tell which column has the labels"
    if column is not None:
        what = f"unknown column {column!r}"
    shown = ", ".join(names[:20]) or "none"
    if len(names) == 1 and (marks := [mark for mark in ";\t|" if mark in names[0]]):
        hint += f"; separate columns by commas, not {marks[0]!r}"
    _refuse(source, f"{what}: the columns are {shown}", f"choose a column with --column{hint}")


def _refuse(
    source: Source, message: str, hint: str | None = None, line: int | None = None
) -> NoReturn:
    raise FormatError(message, place=Place(source.name, line=line), hint=hint, code="labels")
