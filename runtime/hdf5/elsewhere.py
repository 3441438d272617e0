"""Read HDF5 datasets whose data are in other files: external storage, and virtual datasets.

HDF5 looks for such files in several folders, some of them from the environment, and reads fill
values if a file is missing or too short. So exset opens each file itself. A relative path starts at
the folder of the HDF5 file that names the data file, and the file must be where links may lead. A
missing file is an error.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import numpy as np
from h5py import h5d, h5g, h5i, h5s, h5t
from numpy.typing import NDArray

from exset.io.blocks import size_of
from exset.runtime.hdf5.objects import Objects, is_group, text_of

CODE: Final = "hdf5-elsewhere"

_LONGEST_NAME: Final = 255
"""The longest name of an external file; h5py cuts longer names."""


def is_virtual(made: Any) -> bool:
    """Return whether a dataset is virtual. made: h5py's creation properties of the dataset."""
    return bool(made.get_layout() == h5d.VIRTUAL)


def is_external(made: Any) -> bool:
    """Return whether a dataset's data are in external storage, that is, in other files.

    made: h5py's creation properties of the dataset.
    """
    return bool(made.get_layout() == h5d.CONTIGUOUS and made.get_external_count())


def check_links(file: Objects, made: Any, path: str) -> None:
    """Refuse a virtual dataset without a fixed size. Refuse data in other files, unless links may
    be followed.

    made: the dataset's creation properties. Call this before any other use of the dataset: to find
    the size of a virtual dataset, HDF5 may open other files.
    """
    if not (is_virtual(made) or is_external(made)):
        return
    if not file.access.links:
        what = "the dataset is virtual: its data are in other files"
        if not is_virtual(made):
            what = "the data of this dataset are in another file"
        hint = "if you trust the file, use <--follow-links or Access(links=True)>"
        file.refuse(path, what, CODE, hint)
    for index in range(made.get_virtual_count() if is_virtual(made) else 0):
        space = made.get_virtual_vspace(index)
        if _is_unlimited(space) or "%b" in made.get_virtual_filename(index):
            hint = "write it again with a fixed size, or copy the data into the file"
            file.refuse(path, "the virtual dataset has no fixed size", CODE, hint)


def _is_unlimited(space: Any) -> bool:
    if space.get_select_type() != h5s.SEL_HYPERSLABS or not space.is_regular_hyperslab():
        return False
    return any(h5s.UNLIMITED in numbers for numbers in space.get_regular_hyperslab())


@dataclass(frozen=True)
class Source:
    """A part of a virtual dataset, and the source dataset that stores its values.

    dataset: the source dataset. path: its path. chosen: the selection of values in it. target: the
    selection in the virtual dataset to which these values belong.
    """

    dataset: Any
    path: str
    chosen: Any
    target: Any


def sources(file: Objects, dataset: Any, path: str) -> Iterator[Source]:
    """Yield the sources of a virtual dataset. `check_links` must accept the dataset.

    The caller checks the types of the sources. Raises FormatError for a source that does not exist,
    does not fit, or has its data in other files, and for sources with more values than the virtual
    dataset.
    """
    with file.guarded(path):
        made, shape = dataset.get_create_plist(), dataset.get_space().get_simple_extent_dims()
        count = made.get_virtual_count()
    left = math.prod(shape)
    for index in range(count):
        with file.guarded(path):
            name = made.get_virtual_filename(index).replace("%%", "%")
            inner = made.get_virtual_dsetname(index).replace("%%", "%")
            target, chosen = made.get_virtual_vspace(index), made.get_virtual_srcspace(index).copy()
        found = file.find(inner, _root(file, dataset, name, path), path)
        if found is None or is_group(found):
            file.refuse(path, f"the file {name} has no dataset {inner}", CODE)
        with file.guarded(path):
            where = found.get_create_plist()
            if is_virtual(where) or is_external(where):
                what = f"the data of its source {inner} are in another file, too"
                file.refuse(path, what, CODE, "copy the data into one of the files")
            left -= target.get_select_npoints()
            fits = left >= 0 and target.get_simple_extent_dims() == shape and _fits(chosen, found)
            if not fits or chosen.get_select_npoints() != target.get_select_npoints():
                what = f"the virtual dataset does not fit its source, {inner} of {name}"
                file.refuse(path, what, CODE, "write it again")
        yield Source(found, f"{path} ({inner} of {name})", chosen, target)


def _root(file: Objects, dataset: Any, name: str, path: str) -> Any:
    """Return the root group of a file from which a virtual dataset reads.

    name: the file's name in the dataset; "." is the file of the dataset itself. path: of the
    dataset.
    """
    if name == ".":
        with file.guarded(path):
            return h5g.open(h5i.get_file_id(dataset), b"/")
    try:
        return file.file_beside(dataset, name, path)
    except FileNotFoundError:
        _missing(file, name, path)


def _fits(chosen: Any, source: Any) -> bool:
    """Return whether a selection fits into the source dataset.

    Also set the extent of the selection, because files do not store it.
    """
    space = source.get_space()
    if space.get_simple_extent_type() == h5s.NULL:
        return False
    is_same_rank = chosen.get_simple_extent_ndims() == space.get_simple_extent_ndims()
    if chosen.get_select_type() != h5s.SEL_ALL and not is_same_rank:
        return False
    chosen.extent_copy(space)
    return bool(chosen.select_valid())


def read_virtual(file: Objects, dataset: Any, into: NDArray[Any], path: str) -> None:
    """Read all numbers of a virtual dataset into an array of the same shape."""
    made = dataset.get_create_plist()
    with file.guarded(path):
        fill = np.zeros((), into.dtype)
        if made.fill_value_defined() != h5d.FILL_VALUE_UNDEFINED:
            made.get_fill_value(fill)
    into[...] = fill
    for source in sources(file, dataset, path):
        with file.guarded(path):
            source.dataset.read(source.target, source.chosen, into)


@dataclass(frozen=True)
class Segment:
    """Some bytes of a file of external storage."""

    name: str
    begin: int
    size: int


def segments(file: Objects, dataset: Any, size: int, path: str) -> list[Segment]:
    """Return the segments of other files that together store the `size` bytes of a dataset.

    HDF5 itself refuses a dataset that is larger than its segments. Raises FormatError for a missing
    file, a file that is too short, and numbers of unusual layout.
    """
    with file.guarded(path):
        made, kind = dataset.get_create_plist(), dataset.get_type()
        if kind.get_class() == h5t.STRING or not kind.equal(h5t.py_create(kind.dtype)):
            what = f"external storage of {kind.dtype} is not supported"
            file.refuse(path, what, CODE, "copy the data into the file")
        parts = [made.get_external(index) for index in range(made.get_external_count())]
    found, left = [], size
    for raw, begin, most in parts:
        name, count = text_of(raw), min(most, left)
        if len(raw) >= _LONGEST_NAME:
            file.refuse(path, "the name of the external file is too long", CODE)
        try:
            with file.open_beside(dataset, name, path) as other:
                there = size_of(other) or 0
        except FileNotFoundError:
            _missing(file, name, path)
        if begin + count > there:
            what = f"the file {name} has {there:,} bytes, but the dataset needs {begin + count:,}"
            file.refuse(path, what, CODE)
        found.append(Segment(name, begin, count))
        left -= count
    return found


def read_external(file: Objects, dataset: Any, into: NDArray[Any], path: str) -> None:
    """Read all numbers of a dataset in external storage into an array of the same shape."""
    stored: NDArray[Any] = np.zeros(into.size, dataset.get_type().dtype)
    raw, at = stored.view(np.uint8), 0
    for segment in segments(file, dataset, stored.nbytes, path):
        with file.open_beside(dataset, segment.name, path) as other:
            other.seek(segment.begin)
            data = other.read(segment.size)
        if len(data) < segment.size:
            file.refuse(path, f"the file {segment.name} has become shorter", CODE)
        raw[at : at + len(data)] = np.frombuffer(data, np.uint8)
        at += len(data)
    into[...] = stored.reshape(into.shape)


def _missing(file: Objects, name: str, path: str) -> NoReturn:
    what = f"the data are in the file {name}, which does not exist"
    hint = "a relative path starts at the folder of the HDF5 file"
    file.refuse(path, what, CODE, hint)
