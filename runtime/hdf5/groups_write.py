"""Write a table as an HDF5 file with a group for each row, as LBANN reads it.

This module calls the functions of HDF5 directly, because h5py needs four times as long per dataset.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

import h5py
import numpy as np
from h5py import h5d, h5f, h5g, h5p, h5s, h5t

from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text
from exset.grammars.tables.table import Table
from exset.runtime.hdf5.metadata import DEPTH, HAS_IDS, NAMES, STORED, write_metadata
from exset.runtime.hdf5.names import name_of, paths_of
from exset.runtime.hdf5.stored_types import stored_dtype

RUN: Final = "RUN_ID"
"""The name of the outer group, if the table has no paths for the samples."""

_BLANKS: Final = frozenset(" \t\n\v\f\r\0")

_Put: TypeAlias = Callable[[Any, bytes, int], None]
"""A function that writes a row of a column into a group, as a dataset with a name."""


@dataclass(frozen=True)
class Rows:
    """The paths of the groups to write, one for each row of a table.

    has_ids: whether the paths are the values of the table's column `id`.
    """

    paths: Sequence[str]
    has_ids: bool

    @property
    def depth(self) -> int:
        """The number of names in each path."""
        return self.paths[0].count("/") + 1 if self.paths else 1


def rows_of(table: Table) -> Rows:
    """Return the paths of the groups for a table.

    If the column `id` is text and its values are valid paths, they are the paths. Otherwise the
    paths are `RUN_ID/000000000` and so on.
    """
    column = table.columns.get("id")
    if isinstance(column, Text) and len(column) and column.present.all():
        paths = [str(each) for each in column]
        if _are_paths(paths):
            return Rows(paths, True)
    return Rows([f"{RUN}/{row:09d}" for row in range(table.rows)], False)


def _are_paths(paths: list[str]) -> bool:
    """Return whether groups can have these paths, in this order.

    The paths must be unique, of the same depth, and without blanks. Paths in the same parent group
    must be adjacent.
    """
    if len(set(paths)) < len(paths) or len({path.count("/") for path in paths}) > 1:
        return False
    seen: set[str] = set()
    last: list[str] = []
    for path in paths:
        parts = path.split("/")
        if any(part in ("", ".", "..") or not _BLANKS.isdisjoint(part) for part in parts):
            return False
        above = parts[:-1]
        for depth in range(1, len(parts)):
            group = "/".join(parts[:depth])
            if above[:depth] != last[:depth] and group in seen:
                return False
            seen.add(group)
        last = above
    return True


def why_not(column: TableColumn) -> str:
    """Return why a file with a group for each row cannot store a column. Return "" if it can."""
    if isinstance(column, Numbers | Strings):
        return ""
    if isinstance(column, Lists):
        items = column.items
        is_flat = isinstance(items, Text) or (isinstance(items, Numbers) and not items.shape)
        if not is_flat:
            return "has lists of values other than numbers and text"
        if isinstance(items, Text) and not items.data.all():
            return "has lists of text with a NUL"
        return "" if items.present.all() else "has lists whose items have no value"
    return "has rows without a record"


def write_groups(table: Table, rows: Rows) -> bytes:
    """Return the bytes of an HDF5 file with a group for each row of a table.

    rows: the path of each row's group. For each column, `why_not` must return "".
    """
    fields = {n: each for n, each in table.columns.items() if n != "id" or not rows.has_ids}
    paths = paths_of(fields)
    puts = [
        ([part.encode() for part in paths[name].split("/")], column.present, _put(column))
        for name, column in fields.items()
    ]
    renamed = {name_of(path): name for name, path in paths.items() if name_of(path) != name}
    own = {DEPTH: rows.depth, HAS_IDS: rows.has_ids, NAMES: renamed}
    out = io.BytesIO()
    with h5py.File(_created(out)) as file:
        write_metadata(file, {**table.metadata, "columns": table.types, STORED: own})
        ordered = _ordered(h5p.GROUP_CREATE)
        above: list[bytes] = []
        groups = [h5g.open(file.id, b"/")]
        for row, path in enumerate(rows.paths):
            *parents, last = path.encode().split(b"/")
            if parents != above:
                groups = _opened(groups, above, parents, ordered)
                above = parents
            sample = h5g.create(groups[-1], last, gcpl=_timeless(h5p.GROUP_CREATE))
            inside: dict[bytes, Any] = {}
            for (*outer, name), present, put in puts:
                if present[row]:
                    put(_below(sample, outer, inside) if outer else sample, name, row)
    return out.getvalue()


def _created(out: io.BytesIO) -> Any:
    """Return a new HDF5 file that is written to `out`. Its root keeps the order of the groups in
    it.
    """
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fileobj_driver(h5py.h5fd.fileobj_driver, out)
    return h5f.create(b"table", h5f.ACC_TRUNC, _ordered(h5p.FILE_CREATE), access)


def _ordered(kind: Any) -> Any:
    """Return HDF5's properties for a group or file that keeps the order of its members, but no
    times.
    """
    made = h5p.create(kind)
    made.set_link_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
    made.set_obj_track_times(False)
    return made


def _opened(groups: list[Any], above: list[bytes], parents: list[bytes], ordered: Any) -> list[Any]:
    """Return the open groups on the path to a sample, from the root to the sample's parent.

    groups: the open groups on the path to the previous sample. above: the names of these groups.
    parents: the names of the groups on the path to this sample. Missing groups are created with the
    properties `ordered`.
    """
    shared = 0
    while shared < min(len(above), len(parents)) and above[shared] == parents[shared]:
        shared += 1
    groups = groups[: shared + 1]
    for name in parents[shared:]:
        groups.append(h5g.create(groups[-1], name, gcpl=ordered))
    return groups


def _below(sample: Any, outer: list[bytes], inside: dict[bytes, Any]) -> Any:
    """Return the group in which a field of a row is stored. The group is inside the row's group
    `sample`.

    outer: the names of the groups on the path. inside: the groups that exist already, {path:
    group}. A missing group is created.
    """
    group, path = sample, b""
    for name in outer:
        path += b"/" + name
        if path not in inside:
            inside[path] = h5g.create(group, name, gcpl=_timeless(h5p.GROUP_CREATE))
        group = inside[path]
    return group


@cache
def _timeless(kind: Any) -> Any:
    """Return the HDF5 properties of groups or datasets that do not store the time of writing."""
    made = h5p.create(kind)
    made.set_obj_track_times(False)
    return made


def _put(column: TableColumn) -> _Put:
    """Return a function that writes the value of any row of this column."""
    if isinstance(column, Numbers):
        return _put_numbers(column)
    if isinstance(column, Text) and column.data.all():
        return _put_text(column)
    if isinstance(column, Strings):
        return _put_lists(Numbers.of(column.data), column.offsets)
    assert isinstance(column, Lists)
    if isinstance(column.items, Numbers):
        return _put_lists(column.items, column.offsets)
    assert isinstance(column.items, Text)
    return _put_text(column.items, column.offsets)


def _put_numbers(column: Numbers) -> _Put:
    values, kind = _stored(column)
    space = h5s.create_simple(column.shape) if column.shape else h5s.create(h5s.SCALAR)

    def put(group: Any, name: bytes, row: int) -> None:
        dataset = h5d.create(group, name, kind, space, _timeless(h5p.DATASET_CREATE))
        if values.size:
            dataset.write(h5s.ALL, h5s.ALL, values[row, ...], kind)

    return put


def _put_lists(items: Numbers, offsets: Any) -> _Put:
    values, kind = _stored(items)
    ends = offsets.tolist()

    def put(group: Any, name: bytes, row: int) -> None:
        part = values[ends[row] : ends[row + 1]]
        dataset = h5d.create(
            group, name, kind, h5s.create_simple(part.shape), _timeless(h5p.DATASET_CREATE)
        )
        if part.size:
            dataset.write(h5s.ALL, h5s.ALL, part, kind)

    return put


def _put_text(items: Text, offsets: Any = None) -> _Put:
    dtype = h5py.string_dtype()
    kind, objects = h5t.py_create(dtype, logical=True), h5t.py_create(dtype)
    texts = [each or "" for each in items]
    ends = None if offsets is None else offsets.tolist()

    def put(group: Any, name: bytes, row: int) -> None:
        if ends is None:
            part = np.array(texts[row], dtype)
        else:
            part = np.array(texts[ends[row] : ends[row + 1]], dtype)
        space = h5s.create_simple(part.shape) if part.ndim else h5s.create(h5s.SCALAR)
        dataset = h5d.create(group, name, kind, space, _timeless(h5p.DATASET_CREATE))
        if part.size:
            dataset.write(h5s.ALL, h5s.ALL, part, objects)

    return put


def _stored(column: Numbers) -> tuple[Any, Any]:
    """Return the numbers of a column as HDF5 stores them, and their HDF5 type."""
    dtype = stored_dtype(column.values.dtype)
    values = column.values
    values = values.view(dtype) if values.dtype.kind in "mM" else values.astype(dtype, copy=False)
    return np.ascontiguousarray(values), h5t.py_create(dtype)
