"""Labels in HDF5 files, and the errors of all files of labels."""

import io
from typing import TYPE_CHECKING, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import FormatError, Place
from exset.core.source import Source

if TYPE_CHECKING:
    import h5py

NAMES = ("label", "labels")
"""The default names of the column or dataset."""

KINDS = "biufSU"
"""The kinds of NumPy types that can be labels."""

_REAL = 4 << 30
_RATIO = 1000


def hdf5_labels(source: Source, column: str | None) -> NDArray[np.generic]:
    """Return the labels in a dataset, as `label_files.labels_in`."""
    import h5py

    try:
        with h5py.File(io.BytesIO(source.data), "r") as file:
            if column is None:
                links = [name for name in file if _is_hard_link(file, name)]
                root = [name for name in links if isinstance(file[name], h5py.Dataset)]
                named = [name for name in NAMES if name in root]
                if not named and len(root) != 1:
                    choose(source, None, root)
                column = (named or root)[0]
            dataset = _dataset(source, file, column)
            text = h5py.check_string_dtype(dataset.dtype) is not None
            if not text and dataset.dtype.kind not in KINDS:
                refuse(
                    source, f"dataset {column!r} must contain text or numbers, not {dataset.dtype}"
                )
            array = (dataset.asstr(errors="surrogateescape") if text else dataset)[...]
    except FormatError:
        raise
    except Exception as error:  # h5py has no common class of errors for damaged files
        refuse(source, f"the HDF5 library: {error}")
    return cast("NDArray[np.generic]", array)


def _is_hard_link(group: "h5py.Group", name: str) -> bool:
    """Return whether a name is in the file itself; soft and external links are not followed."""
    import h5py

    return isinstance(group.get(name, getlink=True), h5py.HardLink)


def _dataset(source: Source, file: "h5py.File", path: str) -> "h5py.Dataset":
    """Return the dataset at a path."""
    import h5py

    found: object = file
    for part in filter(None, path.split("/")):
        if not isinstance(found, h5py.Group) or not _is_hard_link(found, part):
            refuse(source, f"unknown dataset {path!r}: links are not followed")
        found = found[part]
    if not isinstance(found, h5py.Dataset) or found.ndim != 1:
        refuse(source, f"{path!r} must be a dataset in one dimension")
    if found.external or found.is_virtual:
        refuse(
            source, f"dataset {path!r} stores its data in other files, which exset does not open"
        )
    stored = max(found.id.get_storage_size(), 1)
    if found.nbytes > _REAL and found.nbytes > _RATIO * stored:
        size = f"{found.nbytes:,} bytes, of which the file has {stored:,}"
        refuse(source, f"dataset {path!r} is too large: {size}")
    return found


def choose(source: Source, column: str | None, names: list[str], hint: str = "") -> NoReturn:
    """Raise FormatError that asks for a column or a dataset."""
    what = "no column is chosen" if column is None else f"unknown column {column!r}"
    shown = ", ".join(names[:20]) or "none"
    if len(names) == 1 and (marks := [mark for mark in ";\t|" if mark in names[0]]):
        hint += f"; separate columns by commas, not {marks[0]!r}"
    refuse(source, f"{what}; the file has: {shown}", f"choose one with --column{hint}")


def refuse(
    source: Source, message: str, hint: str | None = None, line: int | None = None
) -> NoReturn:
    """Raise FormatError for a file without labels."""
    raise FormatError(message, place=Place(source.name, line=line), hint=hint, code="labels")
