"""Read HDF5 files with rows on the first axis in chunks of rows."""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from h5py import h5d

from exset.core.errors import Findings, FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.flat import Array, foreign_forms
from exset.grammars.tables.flat_parts import check_lengths, rows_of
from exset.grammars.tables.table import Table
from exset.io.access import Access
from exset.io.blocks import Blocks
from exset.runtime.hdf5 import groups
from exset.runtime.hdf5.arrays import Claims, RowType, rows_in, type_of_rows
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.metadata import DTYPES, NAMES, STORED, read_metadata
from exset.runtime.hdf5.names import name_of
from exset.runtime.tables import flat_stream
from exset.runtime.tables.hdf5_read import DATES, data_of, has_groups, read_open
from exset.runtime.tables.shard_stream import Part, streamed_file

SMALL_GROUPS: Final = 1 << 26
"""The bytes of a file with groups that is read at once: to read groups again takes long."""


def stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    layout: str = "",
) -> Iterator[Table]:
    """Yield the rows of an HDF5 file in tables; arguments, errors and findings are as for `read`.

    A file is read whole if its datasets are not columns of one length, or if the types of its
    groups differ between chunks.
    """
    found = Findings() if findings is None else findings
    assert blocks.file is not None and blocks.size is not None
    size = blocks.size
    with File(blocks.name, Access(locking=False), limits, blocks.file) as file:

        def whole() -> Table:
            return read_open(file, size, limits, found, layout)

        stored = read_metadata(file)
        datasets, is_grouped = None, False
        if size > flat_stream.SMALL:
            with suppress(FormatError):  # `whole` raises it, too
                is_grouped = has_groups(file, stored, layout)
                datasets = None if is_grouped else _Datasets.of(file, limits, size, stored)
        if is_grouped and size > SMALL_GROUPS:
            yield from _groups(blocks, file, stored, limits, whole, found)
        elif datasets is None:
            yield whole()
        else:
            yield from flat_stream.streamed(
                datasets, datasets.stored, datasets.size, blocks.notes, whole, datasets.least
            )


def stream_groups(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[Table]:
    """Yield the rows of an HDF5 file with a group for each row. Raises the errors of `stream`."""
    yield from stream(blocks, limits=limits, findings=findings, engine=engine, layout="groups")


def _groups(
    blocks: Blocks,
    file: File,
    stored: dict[str, Any],
    limits: Limits,
    whole: Callable[[], Table],
    findings: Findings,
) -> Iterator[Table]:
    """Yield the rows of a file with a group for each row, in tables; whole: returns one table."""

    def parts(findings: Findings, watch: object) -> Iterator[Part]:
        claims = Claims(limits)
        claims.add_file(blocks.size or 0)
        for each in groups.parts(file, stored, claims, findings, flat_stream.CHUNK):
            marks = {"id": each.has_id, "unchanged": each.is_unchanged}
            yield Part(each.table, marks=marks)

    yield from streamed_file(blocks, parts, whole, list, findings)


@dataclass
class _Datasets:
    """The datasets of a file, by the names of the flat arrays that they store.

    `least`: the number of rows to read at once, at least. `used`: the names of those read so far.
    """

    file: File
    stored: dict[str, Any] = field(default_factory=dict)
    size: int = 0
    least: int = 1
    used: set[str] = field(default_factory=set)
    _found: dict[str, tuple[Any, str, RowType]] = field(default_factory=dict)
    _dates: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, file: File, limits: Limits, size: int, stored: dict[str, Any]
    ) -> "_Datasets | None":
        """Return the datasets of a file of `size` bytes; None if it cannot be read in chunks.

        stored: the metadata in the file.
        """
        claims = Claims(limits)
        claims.add_file(size)
        own = stored.pop(STORED, None)
        names, dates = _texts(own, NAMES), _texts(own, DTYPES)
        made = cls(file, stored, _dates=dates)
        labels: dict[str, tuple[Any, str, RowType]] = {}
        for path, dataset, is_label in data_of(file):
            name = name_of(path)
            name = names.get(name, name)
            kind = type_of_rows(file, dataset, path, claims)
            if kind is None or name in made._found or name in labels:
                return None
            (labels if is_label else made._found)[name] = dataset, path, kind
            made._add_size(dataset, kind)
        return made if (made._is_restored() if own else made._has_forms(labels)) else None

    def _add_size(self, dataset: Any, kind: RowType) -> None:
        dtype, shape = kind
        stored = dataset.get_storage_size()
        self.size += stored if dtype is None else math.prod(shape) * dtype.itemsize
        made = dataset.get_create_plist()
        if made.get_layout() == h5d.CHUNKED:
            self.least = math.lcm(self.least, int(made.get_chunk()[0]))

    def _is_restored(self) -> bool:
        """Return whether exset wrote all datasets, for a file with its metadata."""
        try:
            check_lengths(self, self.stored)
            rows_of(self, self.stored, 0, 0)
        except (ValueError, TypeError, AttributeError):
            return False
        return self.used == self._found.keys()

    def _has_forms(self, labels: dict[str, tuple[Any, str, RowType]]) -> bool:
        """Find which column each dataset of another program belongs to; return whether this is
        clear.

        labels: the datasets that label axes.
        """
        self._found.update(labels)
        kinds = {name: kind for name, (_, _, kind) in self._found.items()}
        self.stored = {**self.stored, **(foreign_forms(kinds) or {"columns": None})}
        return self.stored["columns"] is not None

    def length(self, name: str) -> int | None:
        """Return the length of a dataset."""
        return self._found[name][2][1][0] if name in self._found else None

    def part(self, name: str, begin: int, end: int) -> Array:
        """Return rows `begin` to `end` - 1 of the dataset `name`, which has numbers.

        Raises ValueError for text, and FormatError.
        """
        self.used.add(name)
        dataset, path, kind = self._found[name]
        if kind[0] is None:
            raise ValueError(f"{name} is text")
        found = rows_in(self.file, dataset, path, kind, begin, min(end, kind[1][0]))
        assert isinstance(found, np.ndarray)
        date = self._dates.get(name, "")
        return found.view(date) if DATES.fullmatch(date) else found

    def strings(self, name: str, begin: int, end: int) -> Strings | None:
        """Return rows `begin` to `end` - 1 of the dataset `name`, which has text."""
        if name not in self._found or self._found[name][2][0] is not None:
            return None
        self.used.add(name)
        found = rows_in(self.file, *self._found[name], begin, end)
        assert isinstance(found, Strings)
        return found


def _texts(own: object, key: str) -> dict[str, str]:
    """Return the texts in the object `key` of the metadata, by name; empty without this object."""
    found = own.get(key) if isinstance(own, dict) else None
    pairs = found.items() if isinstance(found, dict) else ()
    return {name: text for name, text in pairs if isinstance(text, str)}
