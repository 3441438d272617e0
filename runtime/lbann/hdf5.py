"""Read HDF5 files that may be hostile: each step of a path is checked before it is taken.

Refused by default: soft and external links, and filters that are plugins. Always refused: data in
other files (external storage, virtual datasets), datasets that claim far more bytes than the file
has, and types other than numbers and text. Errors of the HDF5 library are raised as FormatError. A
crash of the library ends the process, so `exset.core.jobs` can read files in other processes.
"""

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn, Self, TypeAlias

import h5py
import numpy as np
from h5py import h5d, h5f, h5g, h5i, h5l, h5o, h5s, h5t

from exset.core.errors import FormatError, LimitError, Place
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.io.access import DEFAULT_ACCESS, Access, check_regular_file, is_inside

Kind: TypeAlias = Literal["number", "text"]

_HOPS: Final = 16
"""The most links that one path may follow."""
DEEPEST: Final = 200
"""The greatest depth of nested groups."""
_MOST_COMPRESSED: Final = 1000
"""The most bytes that a dataset above `max_array` may claim for each stored byte."""
_BUILT_IN: Final = frozenset((1, 2, 3, 4, 5, 6, 32000))
"""Filters in HDF5 and h5py. For any other filter, HDF5 would load a plugin, which is code."""


@dataclass(frozen=True)
class DataType:
    """The type and shape of a dataset: numbers (dtype in native byte order) or text."""

    kind: Kind
    dtype: str
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of values."""
        return math.prod(self.shape)

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}" if self.shape else self.dtype


class File:
    """An HDF5 file, open for reading; a context manager.

    Raises OSError if it cannot be opened, FormatError if it is no HDF5 file or outside the roots.
    """

    def __init__(
        self, path: str, access: Access = DEFAULT_ACCESS, limits: Limits = DEFAULT
    ) -> None:
        self.path = path
        self._access = access
        self._limits = limits
        self._files: dict[str, Any] = {}
        self._stack = ExitStack()
        self._root = self._opened(path, access.roots, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with self._guarded("/"):
            self._stack.close()

    def find(self, path: str, start: Any = None, where: str = "") -> Any:
        """Return the group or dataset at a path below `start`, by default the root, or None.

        where: the path of `start`, for messages. Raises FormatError for a link that may not be
        followed, and for an object that is neither group nor dataset.
        """
        hops = [_HOPS]
        whole = f"{where}/{path}" if where else path
        return self._walk(self._root if start is None else start, path.split("/"), whole, hops)

    def data_type(self, dataset: Any, path: str) -> DataType:
        """Return the type of a dataset; FormatError if the dataset cannot be read safely."""
        with self._guarded(path):
            space, kind = dataset.get_space(), dataset.get_type()
            if space.get_simple_extent_type() == h5s.NULL:
                self._refuse(path, "the dataset is empty (a null dataspace)", "hdf5-type")
            shape = tuple(map(int, space.get_simple_extent_dims()))
            self._check_storage(dataset, kind, shape, path)
            if kind.get_class() == h5t.STRING:
                return DataType("text", "text", shape)
            dtype = kind.dtype
            if kind.get_class() not in (h5t.INTEGER, h5t.FLOAT) or dtype.itemsize > 8:
                hint = "fields are numbers of up to 64 bits, or text"
                self._refuse(path, f"values of type {dtype} are not supported", "hdf5-type", hint)
            return DataType("number", dtype.newbyteorder("=").name, shape)

    def read(self, dataset: Any, into: np.ndarray[Any, Any], path: str) -> None:
        """Read all numbers of a dataset into an array of the same size and dtype."""
        with self._guarded(path):
            dataset.read(h5s.ALL, h5s.ALL, into)

    def read_strings(self, dataset: Any, path: str) -> list[str]:
        """Return the strings of a dataset; bytes that are not UTF-8 become lone surrogates."""
        with self._guarded(path):
            self._check_lengths(dataset, path)
            values = np.asarray(h5py.Dataset(dataset)[()], object).reshape(-1).tolist()
            return [_text(each) if isinstance(each, bytes) else str(each) for each in values]

    def names(self, group: Any, path: str) -> list[str]:
        """Return the names in a group, in creation order if the file keeps it."""
        tracked = self.is_ordered(group, path)
        with self._guarded(path):
            names = list(h5py.Group(group)) if tracked else [_text(name) for name in group]
        if len(names) > self._limits.max_nodes:
            self._limit(path)
        return names

    def is_ordered(self, group: Any, path: str) -> bool:
        """Return whether a group keeps the creation order of its members."""
        with self._guarded(path):
            return bool(group.get_create_plist().get_link_creation_order() & 1)

    def has(self, group: Any, name: str, path: str) -> bool:
        """Return whether a group has a member with a name; links are refused as in `find`."""
        raw = name.encode("utf-8", "surrogateescape")
        with self._guarded(path):
            if b"\0" in raw or not group.links.exists(raw):
                return False
            if group.links.get_info(raw).type == h5l.TYPE_HARD:
                return True
        return self.find(name, group, path.rpartition("/")[0]) is not None

    def datasets(self, group: Any, path: str) -> Iterator[tuple[str, Any]]:
        """Yield the datasets below a group, depth first, with their paths relative to the group.

        An object with several hard links is yielded once, so that cycles end.
        """
        seen = {self._identity(group, path)}
        left = self._limits.max_nodes
        stack = [("", group)]
        while stack:
            above, here = stack.pop()
            if not is_group(here):
                yield above, here
                continue
            below = []
            for name in self.names(here, f"{path}/{above}"):
                inside = f"{above}/{name}" if above else name
                whole = f"{path}/{inside}"
                each = self.find(name, here, f"{path}/{above}" if above else path)
                left -= 1
                if each is None:
                    hint = "remove the link, or repair its target"
                    self._refuse(whole, "the target of this link does not exist", "hdf5-link", hint)
                if left < 0:
                    self._limit(path)
                if inside.count("/") > DEEPEST:
                    self._refuse(whole, f"groups are nested more than {DEEPEST} deep", "hdf5")
                if (identity := self._identity(each, whole)) not in seen:
                    seen.add(identity)
                    below.append((inside, each))
            stack += reversed(below)

    def _walk(self, start: Any, steps: Sequence[str], path: str, hops: list[int]) -> Any:
        here = start
        for step in steps:
            if step == "":
                continue
            if step in (".", "..") or "\0" in step:
                self._refuse(path, f"{step!r} cannot be the name of an object", "hdf5-path")
            if not is_group(here):
                return None
            name = step.encode("utf-8", "surrogateescape")
            with self._guarded(path):
                if not here.links.exists(name):
                    return None
                kind = here.links.get_info(name).type
                if kind == h5l.TYPE_HARD:
                    here = h5o.open(here, name)
                    continue
            here = self._followed(here, name, kind, path, hops)
            if here is None:
                return None
        if not is_group(here) and not isinstance(here, h5d.DatasetID):
            self._refuse(path, "the object is neither a group nor a dataset", "hdf5-type")
        return here

    def _followed(self, group: Any, name: bytes, kind: int, path: str, hops: list[int]) -> Any:
        if kind not in (h5l.TYPE_SOFT, h5l.TYPE_EXTERNAL):
            self._refuse(path, "user-defined links are not supported", "hdf5-link")
        word = "a soft link" if kind == h5l.TYPE_SOFT else "an external link"
        if not self._access.links:
            hint = "if you trust the file, use <--follow-links or Access(links=True)>"
            self._refuse(path, f"the path contains {word}", "hdf5-link", hint)
        hops[0] -= 1
        if hops[0] < 0:
            self._refuse(path, f"the path follows more than {_HOPS} links", "hdf5-link")
        with self._guarded(path):
            value = group.links.get_val(name)
        if kind == h5l.TYPE_SOFT:
            target = _text(value)
            with self._guarded(path):
                start = h5g.open(h5i.get_file_id(group), b"/") if target.startswith("/") else group
            return self._walk(start, target.split("/"), path, hops)
        other, target = _text(value[0]), _text(value[1])
        with self._guarded(path):
            folder = os.path.dirname(os.path.abspath(_text(h5f.get_name(group))))
        roots = self._access.roots or (os.path.dirname(os.path.abspath(self.path)),)
        root = self._opened(os.path.join(folder, other), roots, path)
        return self._walk(root, target.split("/"), path, hops)

    def _opened(self, path: str, roots: tuple[str, ...], link: str | None) -> Any:
        """Return the root group of a file, opened once. link: the path of the link to the file."""
        try:
            real = os.path.realpath(os.fsencode(path).decode("utf-8", "surrogateescape"))
        except ValueError:  # a NUL, or a lone surrogate
            self._refuse(link, "invalid file name", "file-name")
        if not is_inside(real, roots):
            hint = "if you trust it, add its folder with <--root or Access(roots=...)>"
            self._refuse(link, f"{path} is outside the allowed folders", "hdf5-roots", hint)
        if real in self._files:
            return self._files[real]
        check_regular_file(path)
        with self._guarded(link):
            try:
                file = h5py.File(path, "r", locking=self._access.locking)
            except OSError as error:
                if error.errno is not None:
                    raise OSError(error.errno, os.strerror(error.errno), path) from None
                hint = "write the file again, or remove it from the list"
                self._refuse(link, "not an HDF5 file, or a damaged one", "hdf5", hint, error)
            self._stack.callback(file.close)
            self._files[real] = h5g.open(file.id, b"/")
        return self._files[real]

    def _check_storage(self, dataset: Any, kind: Any, shape: tuple[int, ...], path: str) -> None:
        """Refuse data in other files, plugins, and claims far above the stored size."""
        made = dataset.get_create_plist()
        layout = made.get_layout()
        if layout == h5d.VIRTUAL:
            what = "the dataset is virtual: its data are in other files"
            self._refuse(path, what, "hdf5-elsewhere")
        if layout == h5d.CONTIGUOUS and made.get_external_count():
            self._refuse(path, "the data of this dataset are in another file", "hdf5-elsewhere")
        for index in range(made.get_nfilters()):
            filter_id = made.get_filter(index)[0]
            if filter_id not in _BUILT_IN and not self._access.plugins:
                what = f"the dataset needs the filter plugin {filter_id}"
                hint = "if you trust the installed plugins, use"
                hint += " <--allow-plugins or Access(plugins=True)>"
                self._refuse(path, what, "hdf5-filter", hint)
        claimed = math.prod(shape) * kind.get_size()
        if layout == h5d.CHUNKED:
            claimed = max(claimed, math.prod(map(int, made.get_chunk())) * kind.get_size())
        # A damaged or hostile file may claim more stored bytes than its own size.
        whole = int(h5i.get_file_id(dataset).get_filesize())
        stored = min(int(dataset.get_storage_size()), whole)
        self._check_claim(claimed, stored, path)

    def _check_claim(self, claimed: int, stored: int, path: str) -> None:
        """Refuse a dataset that claims far more bytes than are stored."""
        if claimed > self._limits.max_array and claimed > _MOST_COMPRESSED * stored:
            message = f"the dataset claims {claimed:,} bytes, but the file stores {stored:,}"
            raise LimitError(message, place=self._place(path), hint=limit_hint("max_array"))

    def _check_lengths(self, dataset: Any, path: str) -> None:
        """Refuse strings that claim more bytes than the file has: HDF5 would allocate them.

        HDF5 stores a string as its length (4 bytes) and its address. Strings in filtered chunks
        cannot be checked.
        """
        if not dataset.get_type().is_variable_str():
            return
        made, file = dataset.get_create_plist(), h5i.get_file_id(dataset)
        whole, size = int(file.get_filesize()), 8 + file.get_create_plist().get_sizes()[0]
        places = [(dataset.get_offset(), dataset.get_storage_size())]
        if made.get_layout() == h5d.CHUNKED:
            count = 0 if made.get_nfilters() else dataset.get_num_chunks()
            chunks = map(dataset.get_chunk_info, range(count))
            places = [(each.byte_offset, each.size) for each in chunks]
        claimed = 0
        with open(_text(h5f.get_name(dataset)), "rb") as raw:
            for offset, stored in places:
                if offset is None:
                    continue
                raw.seek(offset)
                count = min(stored, whole) // size
                found = np.frombuffer(raw.read(count * size), np.uint8)
                lengths = found[: found.size // size * size].reshape(-1, size)[:, :4].copy()
                sizes = lengths.view("<u4").astype(np.int64)
                if sizes.size and sizes.max() > whole:
                    what = f"a string claims {sizes.max():,} bytes, but the file has {whole:,}"
                    self._refuse(path, what, "hdf5")
                claimed += int(sizes.sum())
        self._check_claim(claimed, whole, path)

    def _identity(self, found: Any, path: str) -> tuple[int, int]:
        with self._guarded(path):
            info = h5o.get_info(found)
            return int(info.fileno), int(info.addr)

    @contextmanager
    def _guarded(self, path: str | None) -> Iterator[None]:
        """Raise errors of the library as FormatError; system errors stay OSError."""
        try:
            yield
        except (FormatError, MemoryError):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            self._refuse(path, "HDF5 cannot read it", "hdf5", cause=error)

    def _refuse(
        self,
        path: str | None,
        message: str,
        code: str,
        hint: str | None = None,
        cause: Exception | None = None,
    ) -> NoReturn:
        why = "" if cause is None else f": {' '.join(str(cause).split())[:200]}"
        raise FormatError(message + why, place=self._place(path), hint=hint, code=code) from cause

    def _limit(self, path: str) -> NoReturn:
        message = f"the group has more than {self._limits.max_nodes:,} objects"
        raise LimitError(message, place=self._place(path), hint=limit_hint("max_nodes"))

    def _place(self, path: str | None) -> Place:
        return Place(self.path, field=path or None)


def is_group(found: Any) -> bool:
    """Return whether an object that `File.find` returned is a group."""
    return isinstance(found, h5g.GroupID)


def numpy_type(dtype: str) -> np.dtype[Any]:
    """Return the dtype of the array for a `DataType.dtype`: text is an array of objects."""
    return np.dtype(object if dtype == "text" else dtype)


def _text(name: bytes | str) -> str:
    return name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
