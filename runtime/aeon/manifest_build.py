"""New manifests: of a folder that has a folder for each class, and of a CSV table."""

import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from exset.core.errors import FormatError, Place
from exset.core.text import counted
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType

CLASS = "CLASS"
"""What stands for a type where a table has names of classes: they are numbered."""


@dataclass(frozen=True)
class Built:
    """A manifest, and the names of the classes that its labels number, if it numbers any."""

    manifest: Manifest
    classes: tuple[str, ...] = ()


def from_folder(
    folder: str, *, suffixes: Sequence[str] = (), label: ElementType = ElementType.ASCII_INT
) -> Built:
    """A manifest of the files in the folders of a folder, each of which is a class.

    Classes are numbered in the order of their names, files are in the order of theirs, at any
    depth; paths count from the folder, which is to be aeon's manifest_root. suffixes: of the files
    to take, in lower case, by default of all; what begins with a dot is left out. label: ASCII_INT
    or STRING. Raises OSError, and FormatError where there are no classes or no files.
    """
    with os.scandir(folder) as found:
        names = sorted(each.name for each in found if each.is_dir() and not _is_hidden(each.name))
    if not names:
        raise _nothing(folder, "there are no folders in it", "each class needs a folder of its own")
    records = [
        (path, number)
        for number, name in enumerate(names)
        for path in _files(folder, name, tuple(suffixes))
    ]
    if not records:
        wanted = " ".join(suffixes) or "any name"
        raise _nothing(folder, f"there are no files of {wanted} in its folders", None)
    return Built(Manifest.of((ElementType.FILE, label), records), tuple(names))


def from_table(
    path: str, types: Sequence[tuple[str | None, str]], *, delimiter: str = ","
) -> Built:
    """A manifest of columns of a CSV table.

    types: for each element the name of a column and its type; where all names are None, columns
    are taken as they come, and the table has no line of names. The type CLASS numbers the
    different fields of a column, in the order of the alphabet. Raises OSError, FormatError for
    what is no such table, and ValueError for types that there are not.
    """
    for _, kind in types:
        if kind not in (*ElementType, CLASS):
            there = ", ".join((*ElementType, CLASS))
            raise ValueError(f"no element is of type {kind!r}; there are {there}")
    kinds = [ElementType.ASCII_INT if kind == CLASS else ElementType(kind) for _, kind in types]
    numbered = [i for i, (_, kind) in enumerate(types) if kind == CLASS]
    if len(numbered) > 1:
        raise ValueError(f"one column may be of {CLASS}, not {len(numbered)}")
    names = [name for name, _ in types]
    if any(name is None for name in names) != all(name is None for name in names):
        raise ValueError("name all columns, or none")
    rows = [list(row) for row in _rows(path, names, delimiter)]
    classes: tuple[str, ...] = ()
    for column in numbered:
        classes = tuple(sorted({row[column] for row in rows}))
        number = {name: str(i) for i, name in enumerate(classes)}
        for row in rows:
            row[column] = number[row[column]]
    return Built(Manifest.of(kinds, rows), classes)


def _rows(path: str, names: Sequence[str | None], delimiter: str) -> Iterator[Sequence[str]]:
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            chosen = range(len(names))
            if names and names[0] is not None:
                head = next(reader, [])
                for name in names:
                    if name not in head:
                        there = ", ".join(head) or "none"
                        message = f"there is no column called {name}; there are {there}"
                        raise _bad(path, 1, message, _delimiter_hint(head))
                chosen = [head.index(name) for name in names]  # type: ignore[assignment,arg-type]
            for row in reader:
                if row and len(row) <= max(chosen, default=0):
                    has, wanted = counted(len(row), "column"), f"column {max(chosen)}, from 0,"
                    raise _bad(path, reader.line_num, f"the line has {has}: {wanted} is wanted")
                if row:
                    yield [row[i] for i in chosen]
        except csv.Error as error:
            raise _bad(path, reader.line_num, f"this is no CSV: {error}") from None


def _files(folder: str, name: str, suffixes: tuple[str, ...]) -> Iterable[str]:
    for inside, folders, files in os.walk(os.path.join(folder, name), onerror=_raise):
        folders[:] = sorted(each for each in folders if not _is_hidden(each))
        for each in sorted(files):
            if not _is_hidden(each) and each.lower().endswith(suffixes or ("",)):
                path = os.path.relpath(os.path.join(inside, each), folder)
                yield path.replace(os.sep, "/")


def _raise(error: OSError) -> NoReturn:
    """Refuse to take what cannot be looked into for empty."""
    raise error


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _nothing(folder: str, message: str, hint: str | None) -> FormatError:
    return FormatError(message, place=Place.of(folder), hint=hint, code="aeon-nothing-to-build")


def _delimiter_hint(head: list[str]) -> str | None:
    """What may help where a line has one column only."""
    marks = [mark for mark in ";\t|" if mark in head[0]] if len(head) == 1 else []
    return f"--delimiter says what separates columns: {marks[0]!r}?" if marks else None


def _bad(path: str, line: int, message: str, hint: str | None = None) -> FormatError:
    return FormatError(message, place=Place(path, line=line), hint=hint, code="aeon-table")
