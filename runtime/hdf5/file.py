"""Read datasets of HDF5 files that may be hostile. The base class `Objects` finds the datasets.

Refused by default: data in other files (external storage, virtual datasets), and filters that are
plugins. Always refused: datasets that declare far more bytes than the file has, and types other
than numbers and text.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias

import h5py
import numpy as np
from h5py import h5d, h5i, h5s, h5t
from numpy.typing import NDArray

from exset.core.errors import LimitError
from exset.core.limits import limit_hint
from exset.runtime.hdf5 import elsewhere
from exset.runtime.hdf5.objects import Objects, text_of

Kind: TypeAlias = Literal["number", "text"]

_BUILT_IN: Final = frozenset((1, 2, 3, 4, 5, 6, 32000))
"""Filters in HDF5 and h5py. For any other filter, HDF5 would load a plugin, which is code."""
_CHECKED: Final = 1 << 16
"""How many lengths of strings are checked at once."""
_OBJECTS: Final = h5t.py_create(h5py.string_dtype())
"""The type in memory of text of any length."""


@dataclass(frozen=True)
class DataType:
    """The type and the shape of a dataset. The type is text, or the numbers' dtype in native byte
    order.
    """

    kind: Kind
    dtype: str
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of values."""
        return math.prod(self.shape)

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}" if self.shape else self.dtype


class File(Objects):
    """An HDF5 file with the data of its datasets."""

    def data_type(self, dataset: Any, path: str) -> DataType:
        """Return the type of a dataset. Raises FormatError if the dataset cannot be read safely."""
        with self.guarded(path):
            kind, shape = self.checked(dataset, path)
            if kind.get_class() == h5t.STRING:
                return DataType("text", "text", shape)
            dtype = kind.dtype
            if kind.get_class() not in (h5t.INTEGER, h5t.FLOAT) or dtype.itemsize > 8:
                hint = "fields are numbers of up to 64 bits, or text"
                self.refuse(path, f"values of type {dtype} are not supported", "hdf5-type", hint)
            return DataType("number", _native_name(dtype), shape)

    def checked(self, dataset: Any, path: str) -> tuple[Any, tuple[int, ...]]:
        """Return the HDF5 type of a dataset, and its shape.

        Raises FormatError if the dataset cannot be read safely, or has no values.
        """
        with self.guarded(path):
            made = dataset.get_create_plist()
            elsewhere.check_links(self, made, path)  # before the size: HDF5 may open files for it
            space, kind = dataset.get_space(), dataset.get_type()
            if space.get_simple_extent_type() == h5s.NULL:
                self.refuse(path, "the dataset is empty (a null dataspace)", "hdf5-type")
            shape = tuple(map(int, space.get_simple_extent_dims()))
            self._check_storage(dataset, made, kind, shape, path)
            return kind, shape

    def read(self, dataset: Any, into: NDArray[Any], path: str) -> None:
        """Read all numbers of a dataset into an array of the same shape and dtype."""
        with self.guarded(path):
            made = dataset.get_create_plist()
            if elsewhere.is_virtual(made):
                elsewhere.read_virtual(self, dataset, into, path)
            elif elsewhere.is_external(made):
                elsewhere.read_external(self, dataset, into, path)
            else:
                dataset.read(h5s.ALL, h5s.ALL, into)

    def read_strings(self, dataset: Any, path: str) -> list[str]:
        """Return the strings of a dataset. Bytes that are not UTF-8 become lone surrogates."""
        with self.guarded(path):
            self.check_strings(dataset, path)
            if dataset.get_type().is_variable_str():
                found = np.empty(dataset.shape, object)
                if found.size:
                    dataset.read(h5s.ALL, h5s.ALL, found, _OBJECTS)
            else:
                found = np.asarray(h5py.Dataset(dataset)[()], object)
            return _texts(found)

    def is_plain(self, dataset: Any, path: str) -> bool:
        """Return whether all values of a dataset are in the file itself, and not in other files."""
        with self.guarded(path):
            made = dataset.get_create_plist()
            return not elsewhere.is_virtual(made) and not elsewhere.is_external(made)

    def read_rows(
        self, dataset: Any, begin: int, into: NDArray[Any], path: str, *kind: Any
    ) -> None:
        """Fill `into` with rows of a dataset, beginning with row `begin`.

        path: the path of the dataset. kind: the HDF5 type of the rows in memory.
        """
        with self.guarded(path):
            if into.size:
                space = dataset.get_space()
                space.select_hyperslab((begin, *(0 for _ in into.shape[1:])), into.shape)
                dataset.read(h5s.create_simple(into.shape), space, into, *kind)

    def read_text_rows(self, dataset: Any, begin: int, count: int, path: str) -> list[str]:
        """Return `count` (a number) rows of a dataset of strings, beginning with row `begin`.

        Call `check_strings` first.
        """
        if dataset.get_type().is_variable_str():
            found = np.empty((count,), object)
            self.read_rows(dataset, begin, found, path, _OBJECTS)
            return _texts(found)
        with self.guarded(path):
            return _texts(np.asarray(h5py.Dataset(dataset)[begin : begin + count], object))

    def read_lists(self, dataset: Any, path: str) -> list[NDArray[Any]]:
        """Return the elements of a dataset, which are arrays of any length."""
        with self.guarded(path):
            self.check_strings(dataset, path, dataset.get_type().get_super().get_size())
            found = np.asarray(h5py.Dataset(dataset)[()], object).reshape(-1)
            return [np.asarray(each) for each in found]

    def _check_storage(
        self, dataset: Any, made: Any, kind: Any, shape: tuple[int, ...], path: str
    ) -> None:
        """Refuse a dataset with a missing external file, with a filter that is a plugin, or with a
        far too large size.
        """
        layout, claimed = made.get_layout(), math.prod(shape) * kind.get_size()
        if elsewhere.is_virtual(made):
            if kind.get_class() == h5t.STRING:
                self.refuse(path, "a virtual dataset of text is not supported", elsewhere.CODE)
            stored = 0
            for source in elsewhere.sources(self, dataset, path):
                if self.data_type(source.dataset, source.path).kind == "text":
                    self.refuse(source.path, "the virtual dataset needs numbers", elsewhere.CODE)
                stored += _stored(source.dataset)
            self._check_claim(claimed, stored, path)
            return
        if elsewhere.is_external(made):
            elsewhere.segments(self, dataset, claimed, path)
            return
        for index in range(made.get_nfilters()):
            filter_id = made.get_filter(index)[0]
            if filter_id not in _BUILT_IN and not self.access.plugins:
                what = f"the dataset needs the filter plugin {filter_id}"
                hint = "if you trust the installed plugins, use"
                hint += " <--allow-plugins or Access(plugins=True)>"
                self.refuse(path, what, "hdf5-filter", hint)
        if layout == h5d.CHUNKED:
            claimed = max(claimed, math.prod(map(int, made.get_chunk())) * kind.get_size())
        # The stored size of chunks also shows whether HDF5 can find them.
        if layout == h5d.CHUNKED or claimed > self.limits.max_array:
            self._check_claim(claimed, _stored(dataset), path)

    def _check_claim(self, claimed: int, stored: int, path: str) -> None:
        """Refuse a dataset that declares far more bytes than the file stores for it.

        claimed: the bytes that the dataset declares. stored: the bytes in the file.
        """
        if claimed > self.limits.most_bytes(stored):
            message = f"the dataset declares {claimed:,} bytes, but the file stores {stored:,}"
            raise LimitError(message, place=self.place(path), hint=limit_hint("max_array"))

    def check_strings(self, dataset: Any, path: str, width: int = 1) -> None:
        """Refuse strings or lists that declare more bytes than the file has, because HDF5 would
        allocate these bytes.

        HDF5 stores a string or a list as its length (4 bytes) and its address. Lengths in
        compressed chunks cannot be checked. width: the number of bytes of an item of a list.
        """
        kind = dataset.get_type()
        if kind.get_class() == h5t.STRING and not kind.is_variable_str():
            return
        made, file = dataset.get_create_plist(), h5i.get_file_id(dataset)
        whole, size = int(file.get_filesize()), 8 + file.get_create_plist().get_sizes()[0]
        places = [(dataset.get_offset(), dataset.get_storage_size())]
        if made.get_layout() == h5d.CHUNKED:
            count = 0 if made.get_nfilters() else dataset.get_num_chunks()
            chunks = map(dataset.get_chunk_info, range(count))
            places = [(each.byte_offset, each.size) for each in chunks]
        claimed = 0
        raw = self.raw(dataset)
        for offset, stored in places:
            if offset is None:
                continue
            raw.seek(offset)
            left = min(stored, whole) // size
            while left > 0:
                found = np.frombuffer(raw.read(min(left, _CHECKED) * size), np.uint8)
                lengths = found[: found.size // size * size].reshape(-1, size)[:, :4].copy()
                sizes = lengths.view("<u4").astype(np.int64) * width
                if sizes.size and sizes.max() > whole:
                    what = f"a string declares {sizes.max():,} bytes, but the file has {whole:,}"
                    self.refuse(path, what, "hdf5")
                claimed += int(sizes.sum())
                left = left - _CHECKED if sizes.size else 0
        self._check_claim(claimed, whole, path)


def _texts(found: NDArray[Any]) -> list[str]:
    values = found.reshape(-1).tolist()
    return [text_of(each) if isinstance(each, bytes) else str(each) for each in values]


@cache
def _native_name(dtype: np.dtype[Any]) -> str:
    """Return the name of the number type `dtype` in native byte order."""
    return dtype.newbyteorder("=").name


def numpy_type(dtype: str) -> np.dtype[Any]:
    """Return the dtype for the name of a type in a `DataType`. For text it is object."""
    return np.dtype(object if dtype == "text" else dtype)


def _stored(dataset: Any) -> int:
    """Return how many bytes the file stores for a dataset, but no more than the size of the file.

    A damaged or hostile file may declare more.
    """
    return min(int(dataset.get_storage_size()), int(h5i.get_file_id(dataset).get_filesize()))
