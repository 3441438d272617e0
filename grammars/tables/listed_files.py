"""The files and labels in a table, for formats that are lists or folders of files."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from exset.core.errors import Finding, FormatError, Place
from exset.core.text import safe
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Text, type_of
from exset.grammars.tables.labels import (
    CLASS,
    classes_by_column,
    is_redundant,
    label_column,
    labels_of,
    path_column,
)
from exset.grammars.tables.list_findings import finding_at
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table

_SHOWN = 10


@dataclass(frozen=True)
class ListedFiles:
    """n files and their labels. path: byte strings [n]; label: int64 [n].

    classes: the name of each label from 0, as bytes; empty if unknown. rows: int64 [n], the row of
    each file in the table.
    """

    path: Strings
    label: Longs
    classes: tuple[bytes, ...]
    rows: Longs

    @classmethod
    def of(
        cls, table: Table, losses: Losses, target: str, more: Collection[str] = ()
    ) -> "ListedFiles":
        """Find the files and labels in a table. The metadata or the names of the columns say
        where they are.

        target: the format to write, for messages. more: other columns that the format can
        store.

        Labels are whole numbers, or text; the classes in text are numbered in the order of their
        bytes. Raises FormatError for a table without such columns; other columns and rows without a
        value are losses.
        """
        path = path_column(table)
        if path is None:
            raise _lacks(table, target, "paths", "path")
        label = label_column(table)
        if label is None and isinstance(table.columns.get(CLASS), Text):
            label = CLASS
        if label is None:
            raise _lacks(table, target, "labels", "label")
        for name in table.names:
            if name not in (path, label, CLASS, *more) and not is_redundant(table, name):
                losses.report(name, f"{target} has only paths and labels")
        rows = np.arange(table.rows)
        for name in dict.fromkeys((path, label)):
            present = table.columns[name].present
            for row in np.flatnonzero(~present[rows]).tolist():
                losses.report(name, "the row has no value", int(rows[row]))
            rows = rows[present[rows]]
        paths = table.columns[path].take(rows)
        assert isinstance(paths, Strings)
        labels, classes = _labels(table, label, rows)
        raw = Strings.unchecked(**vars(paths))
        return cls(raw, labels, classes or _by_folder(raw, labels), rows)

    def report_classes(self, report: Callable[[Finding], None]) -> None:
        """Report class names as lost, unless they are folders in the paths, as `cat` in
        `cat/1.jpg`.
        """
        if not self.classes or self.classes == _by_folder(self.path, self.label):
            return
        numbered = enumerate(self.classes[:_SHOWN])
        names = ", ".join(f"{label} is {_text(name)}" for label, name in numbered)
        report(finding_at("list-classes", Place("table"), classes=names))


def _labels(table: Table, name: str, rows: Longs) -> tuple[Longs, tuple[bytes, ...]]:
    """Return the labels in the column `name`, and the names of the classes.

    rows: the rows of the table that have a file. Raises FormatError for values that are not
    labels.
    """
    column = table.columns[name].take(rows)
    if isinstance(column, Text):
        distinct, codes = column.distinct()
        names = [each or b"" for each in Strings.unchecked(**vars(distinct))]
        ranks = np.argsort(np.argsort(np.array(names, "O"), kind="stable"), kind="stable")
        return ranks[codes], tuple(sorted(names))
    labels = labels_of(column)
    if labels is None:
        place = Place("table", field=f"columns[{name!r}]")
        message = f"the labels are {type_of(column)}, not whole numbers"
        raise FormatError(message, place=place, code="table-holds")
    return labels, _classes(table, name, labels, rows)


def _classes(table: Table, name: str, labels: Longs, rows: Longs) -> tuple[bytes, ...]:
    """Return the names of the classes in the order of their labels, from the metadata or the
    column `class`; () if they are unknown.

    name: the column of labels. labels: the labels in `rows` of the table.
    """
    if known := classes_by_column(table).get(name):
        return tuple(each.encode("utf-8", "surrogateescape") for each in known)
    column = table.columns.get(CLASS)
    if not isinstance(column, Text) or not column.present.all():
        return ()
    return _one_name_each(Strings.unchecked(**vars(column.take(rows))), labels)


def _by_folder(paths: Strings, labels: Longs) -> tuple[bytes, ...]:
    """Return for each label, from 0 on, the first folder in the paths of its files.

    Return () unless all files of a label have the same folder, and different labels have different
    folders.
    """
    folders = Strings.of((path or b"").rpartition(b"/")[0].partition(b"/")[0] for path in paths)
    return _one_name_each(folders, labels)


def _one_name_each(names: Strings, labels: Longs) -> tuple[bytes, ...]:
    """Return the name of each label, from 0 on.

    names, labels: the name and the label of each file. Return () unless all files of a label have
    the same name, and different labels have different names.
    """
    found: dict[int, bytes] = {}
    for label, name in zip(labels.tolist(), names, strict=True):
        if not name or name.startswith(b".") or found.setdefault(label, name) != name:
            return ()
    is_whole = sorted(found) == list(range(len(found)))
    is_unique = len(set(found.values())) == len(found)
    return tuple(found[label] for label in range(len(found))) if is_whole and is_unique else ()


def _lacks(table: Table, target: str, what: str, name: str) -> FormatError:
    there = ", ".join(map(safe, table.names)) or "none"
    message = f"{target} needs a column of {what}, but the table has only {there}"
    hint = f"give the column the name {name!r}"
    return FormatError(message, place=Place("table"), hint=hint, code="table-holds")


def _text(name: bytes) -> str:
    return safe(name.decode("utf-8", "surrogateescape"))
