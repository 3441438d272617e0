"""Read datasets as arrays or columns, if they have a type that tables can store."""

from typing import Any, Final, TypeAlias

import h5py
import numpy as np
from h5py import h5t
from numpy.typing import NDArray

from exset.core.errors import FormatError, LimitError, Place
from exset.core.limits import Limits, limit_hint
from exset.core.text import safe
from exset.grammars.columns.arrays import compact
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, text_or_bytes
from exset.runtime.hdf5.file import File

Array: TypeAlias = NDArray[Any]

UNSUPPORTED: Final = "hdf5-type"
"""The code of the error for a dataset of a type that tables do not have."""

_FREE: Final = 1 << 25
"""The number of bytes that the datasets of even a very small file may declare."""
_WIDEST: Final = 8


class Claims:
    """Counts the bytes that datasets declare, so that a small file cannot fill the memory."""

    def __init__(self, limits: Limits) -> None:
        self._ratio = limits.max_ratio
        self._left = _FREE

    def add_file(self, size: int) -> None:
        """Allow more bytes, because another file of `size` bytes is read."""
        self._left += self._ratio * size

    def add(self, file: File, size: int, path: str) -> None:
        """Add the `size` bytes that the dataset at `path` declares.

        Raises LimitError if the sum is too large for the size of the files.
        """
        self._take(size, "the datasets declare far more bytes than the file has", file.place(path))

    def add_absent(self, size: int, name: str) -> None:
        """Add the `size` bytes that the column `name` takes in rows without a value.

        Raises LimitError as `add` does.
        """
        message = f"without values, {safe(name)!r} takes far more bytes than the files have"
        self._take(size, message, Place("samples"))

    def _take(self, size: int, message: str, place: Place) -> None:
        self._left -= size
        if self._left < 0:
            raise LimitError(message, place=place, hint=limit_hint("max_ratio"))


def values_of(
    file: File, dataset: Any, path: str, claims: Claims, *, plain: bool = False
) -> Array | TableColumn:
    """Return the values of a dataset as an array. If it has text or lists, return a column.

    Numbers get native byte order, enumerations become integers, and records become a structured
    array. A dataset without dimensions becomes a column with a single row. plain: accept only
    numbers, bool and text. Raises FormatError with the code UNSUPPORTED for any other type, and the
    errors of `File`.
    """
    kind, shape = file.checked(dataset, path)
    count = int(np.prod(shape, dtype=object))
    with file.guarded(path):
        claims.add(file, count * kind.get_size(), path)
        category = kind.get_class()
        if category == h5t.STRING:
            return _text(file, dataset, path, shape)
        if category == h5t.VLEN and not plain:
            return _lists(file, dataset, path, shape)
        dtype = _dtype(file, kind, path)
        if plain and category not in (h5t.INTEGER, h5t.FLOAT) and dtype != np.bool_:
            raise unsupported(file, f"values of type {dtype}", path)
        if category in (h5t.INTEGER, h5t.FLOAT):
            values = np.empty(shape, dtype)
            file.read(dataset, values, path)
            return values
        if category in (h5t.ENUM, h5t.ARRAY, h5t.COMPOUND):
            return _native(np.asarray(h5py.Dataset(dataset)[()]))
    raise unsupported(file, f"values of type {dtype}", path)


RowType: TypeAlias = tuple[np.dtype[Any] | None, tuple[int, ...]]
"""The dtype of a dataset, None for text, and its shape."""


def type_of_rows(file: File, dataset: Any, path: str, claims: Claims) -> RowType | None:
    """Return the type of a dataset that `rows_in` can read. Return None if only `values_of` can
    read it.

    Raises the errors of `values_of`.
    """
    kind, shape = file.checked(dataset, path)
    if not shape or not file.is_plain(dataset, path):
        return None
    with file.guarded(path):
        claims.add(file, int(np.prod(shape, dtype=object)) * kind.get_size(), path)
        category = kind.get_class()
        if category == h5t.STRING and len(shape) == 1:
            file.check_strings(dataset, path)
            return None, shape
        if category in (h5t.INTEGER, h5t.FLOAT, h5t.ENUM):
            return _dtype(file, kind, path), shape
    return None


def rows_in(
    file: File, dataset: Any, path: str, kind: RowType, begin: int, end: int
) -> Array | Strings:
    """Return rows `begin` to `end` - 1 of a dataset. kind: the result of `type_of_rows`.

    Raises the errors of `File`.
    """
    dtype, shape = kind
    if dtype is None:
        return Strings.of(file.read_text_rows(dataset, begin, end - begin, path))
    if dtype != np.bool_:
        values = np.empty((end - begin, *shape[1:]), dtype)
        file.read_rows(dataset, begin, values, path)
        return values
    with file.guarded(path):
        return _native(np.asarray(h5py.Dataset(dataset)[begin:end]))


def _native(found: Array) -> Array:
    """Return values in native byte order. A bool becomes True if its byte is not 0."""
    if found.dtype == np.bool_:
        found = found.view(np.uint8) != 0
    return found.astype(found.dtype.newbyteorder("="), copy=False)


def unsupported(file: File, what: str, path: str) -> FormatError:
    """Return the error for values of a type that tables do not have.

    what: the type, for the message.
    """
    message = f"{what} are not supported"
    hint = "tables have numbers of up to 64 bits, text, bytes, and lists of them"
    return FormatError(message, place=file.place(path), hint=hint, code=UNSUPPORTED)


def _dtype(file: File, kind: Any, path: str) -> np.dtype[Any]:
    """Return the dtype of an HDF5 type of numbers, or of records of numbers.

    Raises FormatError for any other type. path: of the dataset, for the message.
    """
    try:
        dtype: np.dtype[Any] = kind.dtype
    except (TypeError, ValueError, NotImplementedError) as error:
        raise unsupported(file, f"these values ({error})", path) from None
    if not _is_supported(dtype):
        raise unsupported(file, f"values of type {dtype}", path)
    return dtype.newbyteorder("=")


def _is_supported(dtype: np.dtype[Any]) -> bool:
    if dtype.subdtype is not None:
        return _is_supported(dtype.subdtype[0])
    if dtype.names is not None:
        return all(_is_supported(dtype[name]) for name in dtype.names)
    return dtype.kind in "biufS" and (dtype.kind == "S" or dtype.itemsize <= _WIDEST)


def _text(file: File, dataset: Any, path: str, shape: tuple[int, ...]) -> TableColumn:
    """Read a dataset of strings as text. If a string is not UTF-8, all become bytes.

    A dataset of several dimensions becomes lists.
    """
    rows = text_or_bytes(Strings.of(file.read_strings(dataset, path)))
    return rows if len(shape) <= 1 else _split(rows, shape)


def _lists(file: File, dataset: Any, path: str, shape: tuple[int, ...]) -> TableColumn:
    item = dataset.get_type().get_super()
    if item.get_class() not in (h5t.INTEGER, h5t.FLOAT) or item.get_size() > _WIDEST:
        raise unsupported(file, "lists of other values than numbers", path)
    dtype = _dtype(file, item, path)
    rows = file.read_lists(dataset, path)
    lengths = compact(np.array([row.size for row in rows], np.int64))
    values = np.concatenate(rows) if rows else np.empty(0, dtype)
    lists = Lists.of(Numbers.of(values.astype(dtype, copy=False)), lengths)
    return lists if len(shape) <= 1 else _split(lists, shape)


def _split(items: TableColumn, shape: tuple[int, ...]) -> Lists:
    """Divide items into lists of equal length, one for each row along the first axis of `shape`."""
    each = int(np.prod(shape[1:], dtype=np.int64))
    return Lists.of(items, np.full(shape[0], each, np.int64))
