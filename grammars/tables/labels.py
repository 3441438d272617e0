"""Tables of files with labels: find the column of paths, the column of labels, and the class
names.

The metadata of such a table has `files`, the names of the columns of paths, and `classes`, for
each column of labels the names of its classes: class 0 first. A column `class` repeats the name of
each row's class for human readers.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from exset.grammars.columns.arrays import Longs, as_doubles
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Numbers, TableColumn, Text, text_or_bytes
from exset.grammars.tables.table import Table

CLASS: Final = "class"
"""The column with the name of each row's class."""
LABEL: Final = "label"
PATH: Final = "path"
INDEX: Final = "index"

_PATHS: Final = (PATH, "file", "filename", "file_name", "image", "image.path", "audio.path")
_LABELS: Final = (LABEL, "labels", "target", "y")


def labelled(
    paths: Strings, labels: TableColumn | None, classes: Iterable[str] | None = None
) -> Table:
    """Return a table of files with the columns `path`, `label` and, if `classes` are given,
    `class`.

    classes: the names of the classes; each label must be an index into them, from 0. Raises
    ValueError for columns of different lengths.
    """
    columns: dict[str, TableColumn] = {PATH: paths}
    metadata: dict[str, Any] = {"files": [PATH]}
    if labels is not None:
        columns[LABEL] = labels
    if classes is not None and isinstance(labels, Numbers):
        names = list(classes)
        metadata["classes"] = {LABEL: names}
        columns[CLASS] = text_or_bytes(Strings.of(names)).take(labels.values.astype(np.int64))
    return Table(columns, len(paths), metadata)


def file_columns(table: Table) -> tuple[str, ...]:
    """Return the names of the columns of paths, as the metadata lists them."""
    names = table.metadata.get("files")
    if not isinstance(names, list):
        return ()
    return tuple(name for name in names if isinstance(table.columns.get(name), Strings))


def path_column(table: Table) -> str | None:
    """Return the name of the column of paths: the one in the metadata, or one with a usual
    name; None if there is none.
    """
    named = (name for name in _PATHS if isinstance(table.columns.get(name), Text))
    return next(iter((*file_columns(table), *named)), None)


def label_column(table: Table) -> str | None:
    """Return the name of the column of labels: the one in the metadata, one with a usual name
    such as `label`, or the only column of integers; None if there is none.
    """
    names = (*classes_by_column(table), *_LABELS)
    if (found := next((name for name in names if name in table.columns), None)) is not None:
        return found
    whole = [
        name
        for name, column in table.columns.items()
        if isinstance(column, Numbers) and not column.shape and column.values.dtype.kind in "iu"
        if not is_redundant(table, name)
    ]
    return whole[0] if len(whole) == 1 else None


def classes_by_column(table: Table) -> dict[str, tuple[str, ...]]:
    """Return the class names of each column of labels, as the metadata lists them."""
    found = table.metadata.get("classes")
    if not isinstance(found, Mapping):
        return {}
    return {
        name: tuple(names)
        for name, names in found.items()
        if isinstance(names, list) and all(isinstance(each, str) for each in names)
    }


def labels_of(column: TableColumn) -> Longs | None:
    """Return a column of whole numbers as labels, int64 [n]; None for another column, or if some
    row has no value.
    """
    if not isinstance(column, Numbers) or column.shape or not column.present.all():
        return None
    values = column.values
    if values.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            whole = values.astype(np.int64)
        return whole if np.array_equal(whole, as_doubles(values)) else None
    if values.dtype.kind not in "biu" or (values.dtype == np.uint64 and (values >> 63).any()):
        return None
    return values.astype(np.int64)


def class_names(table: Table) -> tuple[str, Strings] | None:
    """Return the name of the column of labels, and the name of each row's class; None if they
    are unknown.
    """
    name = label_column(table)
    if name is None or name not in (classes := classes_by_column(table)):
        return None
    labels, names = labels_of(table.columns[name]), classes[name]
    if labels is None or not names or labels.min(initial=0) < 0:
        return None
    if labels.max(initial=0) >= len(names):
        return None
    return name, text_or_bytes(Strings.of(names)).take(labels)


def is_redundant(table: Table, name: str) -> bool:
    """Return whether a column repeats what other columns or the metadata contain.

    Such columns are `class`, if it has the class names of the labels, and `index`, if it counts
    the rows.
    """
    if name == INDEX:
        index = labels_of(table.columns[name])
        return index is not None and np.array_equal(index, np.arange(table.rows))
    if name != CLASS or (found := class_names(table)) is None:
        return False
    return bool(table.columns[name] == found[1])
