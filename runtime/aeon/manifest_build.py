"""Make manifests from a folder with one subfolder for each class, or from a CSV table."""

import csv
from collections.abc import Iterator, Sequence
from io import TextIOWrapper

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place
from exset.core.text import counted, safe
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_findings import finding_at
from exset.grammars.aeon.manifest_types import NUMBER_DTYPES, ElementType
from exset.io.class_folders import class_folders, files_below
from exset.io.named import open_named
from exset.parsers.aeon.manifest_checks import NUMBER_FINDINGS
from exset.parsers.aeon.manifest_columns import KERNELS
from exset.parsers.aeon.numbers import numbers
from exset.parsers.engine.errors import shown
from exset.parsers.shared.header_line import is_header_likely

CLASS = "CLASS"
"""The type for a table's column of class names, which exset replaces by numbers."""


def from_folder(
    folder: str, *, suffixes: Sequence[str] = (), label: ElementType = ElementType.ASCII_INT
) -> tuple[Manifest, tuple[str, ...]]:
    """Make a manifest of the files in a folder that has one subfolder for each class.

    Return the manifest, and the names of the classes in the order of the class numbers.

    Classes and files are sorted by name; files may be at any depth. Paths are relative to `folder`,
    which must become aeon's manifest_root. suffixes: include only files with these suffixes, in
    lower case; by default include all files. Hidden files are skipped. label: ASCII_INT or STRING.
    Raises OSError, and FormatError if there are no classes or no files.
    """
    names = class_folders(folder)
    if not names:
        raise _nothing(
            folder, "the folder has no subfolders", "each class needs a folder of its own"
        )
    records = [
        (path, number)
        for number, name in enumerate(names)
        for path in files_below(folder, name, suffixes)
    ]
    if not records:
        expected = f" with the suffix {' or '.join(suffixes)}" if suffixes else ""
        raise _nothing(folder, f"the class folders contain no files{expected}", None)
    return Manifest.of((ElementType.FILE, label), records), tuple(names)


def _nothing(folder: str, message: str, hint: str | None) -> FormatError:
    return FormatError(message, place=Place(folder), hint=hint, code="aeon-nothing-to-build")


def from_table(
    path: str,
    types: Sequence[tuple[str | None, str]],
    *,
    delimiter: str = ",",
    findings: Findings,
) -> tuple[Manifest, tuple[str, ...]]:
    """Make a manifest from columns of a CSV table.

    Return the manifest, and the names of the classes in the order of the class numbers.

    types: a pair (column name, type) for each element of a record. If all names are None, the table
    has no line of names, and its first columns are used in order. The type CLASS replaces each
    value of a column by the value's number in sorted order. findings: gets a finding for invalid
    numbers. If all names are None, it also gets a finding for columns of the table that `types`
    does not list, and a finding for a first line that is probably a line of names. Raises OSError.
    Raises FormatError for an invalid table or a missing column, and ValueError for unknown types.
    """
    for _, kind in types:
        if kind not in (*ElementType, CLASS):
            there = ", ".join((*ElementType, CLASS))
            raise ValueError(f"unknown type {kind!r}: the types are {there}")
    kinds = [ElementType.ASCII_INT if kind == CLASS else ElementType(kind) for _, kind in types]
    numbered = [i for i, (_, kind) in enumerate(types) if kind == CLASS]
    if len(numbered) > 1:
        raise ValueError(f"only one column may have the type {CLASS}, not {len(numbered)}")
    names = [name for name, _ in types]
    if any(name is None for name in names) != all(name is None for name in names):
        raise ValueError("name all columns or no column")
    lines: list[int] = []
    rows: list[list[str]] = []
    for line, row in _rows(path, names, delimiter, findings):
        lines.append(line)
        rows.append(row)
    labels = [row[column] for column in numbered for row in rows]
    if None in names and is_header_likely(rows, labels):
        words = zip(rows[0], types, strict=True)
        named = ",".join(f"{name}:{kind}" for name, (_, kind) in words)
        findings.add(finding_at("aeon-table-header", Place(path, line=lines[0]), types=safe(named)))
    classes = tuple(sorted(set(labels)))
    number = {name: str(i) for i, name in enumerate(classes)}
    for column in numbered:
        for row in rows:
            row[column] = number[row[column]]
    manifest = Manifest.of(kinds, rows)
    _check_numbers(manifest, path, lines, findings)
    return manifest, classes


def _check_numbers(manifest: Manifest, path: str, lines: list[int], findings: Findings) -> None:
    """Add a finding for each field of a number column that is not a number.

    path: of the table, for messages. lines: the line of each record in the table.
    """
    data = manifest.fields.data
    for index, kind in enumerate(manifest.types):
        if kind not in NUMBER_DTYPES:
            continue
        starts, ends = manifest.spans(index)
        issues = numbers(kind, data, starts, ends, KERNELS.use_compiled(data.size)).issues
        for issue, code in NUMBER_FINDINGS.items():

            def finding(record: int, code: str = code, index: int = index) -> Finding:
                place = Place(path, line=lines[record])
                return finding_at(code, place, raw=shown(manifest[record][index]))

            findings.add_each(np.flatnonzero(issues == issue).tolist(), finding)


def _rows(
    path: str, names: Sequence[str | None], delimiter: str, findings: Findings
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, fields) for each row of a CSV table: the number of its line, and its fields in
    the chosen columns.

    names: the names of the chosen columns; all None if the table has no line of names.
    """
    is_wider = False
    with TextIOWrapper(open_named(path, "rb"), "utf-8-sig", "surrogateescape", "") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            chosen = range(len(names))
            if names and names[0] is not None:
                head = next(reader, [])
                for name in names:
                    if name not in head:
                        there = ", ".join(head) or "none"
                        message = f"the table has no column {name}: its columns are {there}"
                        raise _bad(path, 1, message, _delimiter_hint(head))
                chosen = [head.index(name) for name in names]  # type: ignore[assignment,arg-type]
            for row in reader:
                if row and len(row) <= max(chosen, default=0):
                    has, needed = counted(len(row), "column"), max(chosen) + 1
                    raise _bad(
                        path, reader.line_num, f"the line has {has}, but {needed} are needed"
                    )
                if None in names and len(row) > len(names) and not is_wider:
                    is_wider = True
                    place = Place(path, line=reader.line_num)
                    words = {"columns": len(row), "types": len(names)}
                    findings.add(finding_at("aeon-table-columns", place, **words))
                if row:
                    yield reader.line_num, [row[i] for i in chosen]
        except csv.Error as error:
            raise _bad(path, reader.line_num, f"invalid CSV: {error}") from None


def _delimiter_hint(head: list[str]) -> str | None:
    marks = [mark for mark in ";\t|" if mark in head[0]] if len(head) == 1 else []
    return (
        f"is the delimiter {marks[0]!r}? Set it with <--delimiter or delimiter=...>"
        if marks
        else None
    )


def _bad(path: str, line: int, message: str, hint: str | None = None) -> FormatError:
    return FormatError(message, place=Place(path, line=line), hint=hint, code="aeon-table")
