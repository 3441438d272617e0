"""Write tables of files as a folder that has a folder for each class, or metadata.jsonl."""

import os
from collections.abc import Collection, Iterator
from itertools import pairwise

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.text import safe
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import text_or_bytes
from exset.grammars.tables.labels import CLASS, is_redundant, label_column, path_column
from exset.grammars.tables.list_findings import finding_at
from exset.grammars.tables.listed_files import ListedFiles
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.io.folders import NewFolder
from exset.parsers.tables import jsonl_write
from exset.runtime.tables.folder_files import FolderFiles, name_in, raw_strings
from exset.runtime.tables.folder_metadata import FILE_NAME, NAMES


def write(
    models: Iterator[Table],
    folder: NewFolder,
    /,
    *,
    findings: Findings,
    base: str = "",
    root: str = "",
    lossy: bool = False,
) -> None:
    """Copy the files of a table into the folders of their classes.

    The labels must number the classes, sorted by name, from 0 without a gap. A file keeps its path
    if this begins with its class; otherwise it keeps only its name. A number is added to the name
    of a second file with the same name. The rows must be sorted by class, then by name, because a
    reader of the folder returns them in this order. If the table has more columns than paths and
    labels, files keep their paths, and metadata.jsonl has all columns. If the table has the bytes
    of the files, such as `file` with `file.path`, these bytes are written. base: the folder in
    which relative paths start, by default the folder from which the table was made. root: the
    folder that must contain all files.

    Raises FormatError for a table without files, for files that cannot be read, and for columns
    that such a folder cannot hold; with `lossy` these columns are dropped. Raises OSError.
    """
    table = Table.concat([*models])
    given = table.columns
    losses = Losses(lossy, findings)
    base = base or str(table.metadata.get("base") or "")
    files = FolderFiles(table, folder, losses, base, root)
    table, path = files.table, path_column(files.table)
    if path is None or not table.rows:
        message = "a folder of classes needs files: the table has no paths and no bytes"
        raise FormatError(message, place=Place("table"), code="table-holds")
    label = label_column(table)
    known = {path, label, CLASS}
    others = [name for name in table.names if name not in known and not is_redundant(table, name)]
    if label is None or others:
        _with_metadata(table, path, files, losses)
    else:
        listed = ListedFiles.of(table, losses, "an image folder")
        _by_class(listed, (path, label), given, files, losses)


def _by_class(
    listed: ListedFiles,
    columns: tuple[str, str],
    given: Collection[str],
    files: FolderFiles,
    losses: Losses,
) -> None:
    """Copy each file into the folder of its class.

    columns: the names of the columns of paths and of labels. given: the names of the columns that
    the caller's table had, before others were added.
    """
    labels, names = _numbered(listed, columns[1], losses)
    prefixes = [names[number] + b"/" for number in labels.tolist()]
    paths = [path or b"" for path in listed.path]
    new = [name_in(path, prefix) for path, prefix in zip(paths, prefixes, strict=True)]
    places = ((each.partition(b"/")[0], each.rpartition(b"/")[::2]) for each in new)
    if any(one >= other for one, other in pairwise(places)):
        problem = "a folder lists files by class and name: it cannot store the order of the rows"
        losses.report(columns[0], problem, hint="sort the rows by class and name")
    if columns[0] in given:
        losses.findings.add_each(
            [pair for pair in zip(paths, new, strict=True) if pair[0] != pair[1]],
            lambda pair: finding_at("folder-renamed", Place("table"), **_shown(*pair)),
        )
    for name in names:
        files.make(name)
    for row, path, prefix in zip(listed.rows.tolist(), paths, prefixes, strict=True):
        files.put(row, path, prefix)


def _shown(path: bytes, name: bytes) -> dict[str, str]:
    return {"path": safe(os.fsdecode(path)), "name": safe(os.fsdecode(name))}


def _numbered(listed: ListedFiles, label: str, losses: Losses) -> tuple[Longs, tuple[bytes, ...]]:
    """Return the label of each file and the names of the classes, numbered as a reader of the
    folder will number them.

    label: the column of labels. A class without a name gets its number as its name, with
    leading zeros, so that sorting keeps the order.
    """
    names = listed.classes
    distinct = np.unique(listed.label)
    if not names:
        width = len(str(distinct[-1])) if distinct.size else 1
        is_dense = np.array_equal(distinct, np.arange(distinct.size))
        names = tuple(b"%0*d" % (width, each) for each in distinct.tolist())
        if is_dense:
            return listed.label, names
        losses.report(label, "the labels of an image folder must count from 0 without a gap")
        return np.searchsorted(distinct, listed.label), names
    if (distinct < 0).any() or (distinct >= len(names)).any():
        problem = "a label is not the number of one of the classes"
        raise FormatError(
            problem, place=Place("table", field=f"columns[{label!r}]"), code="table-holds"
        )
    if names == tuple(sorted(names)):
        return listed.label, names
    problem = "in an image folder, the labels must number the classes in the order of their names"
    losses.report(label, problem)
    ranks = np.argsort(np.argsort(np.array(names, "O"), kind="stable"), kind="stable")
    return ranks[listed.label], tuple(sorted(names))


def _with_metadata(table: Table, path: str, files: FolderFiles, losses: Losses) -> None:
    """Copy the files under their own names, and write metadata.jsonl with all columns.

    path: the column with the paths.
    """
    column = table.columns[path]
    names: list[bytes | None] = []
    for row, each in enumerate(raw_strings(column)):
        names.append(None if each is None else files.put(row, each, b""))
        if each is None:
            losses.report(path, "the row has no path", row)
    rows = np.array([row for row, name in enumerate(names) if name is not None], np.int64)
    named = text_or_bytes(Strings.of(names).take(rows))
    others = table.without_columns(path).take(rows).columns
    described = Table({FILE_NAME: named, **others}, rows.size, {})
    files.folder.write(NAMES[1], jsonl_write.lines(described, losses, NAMES[1]))
