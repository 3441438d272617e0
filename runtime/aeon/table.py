"""Make a table of a manifest, with a column for each element. aeon's types decide the dtypes."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import Finding, Findings, Place
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Level
from exset.core.text import counted
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import NUMBER_DTYPES, ElementType
from exset.grammars.aeon.table_findings import finding_at
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.origin import origin
from exset.grammars.tables.table import Table
from exset.io.access import DEFAULT_ACCESS, Access
from exset.io.files import FilePath
from exset.runtime.aeon.elements import ElementError, elements
from exset.runtime.aeon.elements import contents as contents_of
from exset.runtime.aeon.table_text import as_text
from exset.runtime.training.dataset import checked_names

"""The version of the metadata."""

_SPELLED: Final = (*NUMBER_DTYPES, ElementType.BINARY)
"""The types for which different fields can mean the same value."""


def to_table(
    manifest: Manifest,
    /,
    *,
    level: Level,
    findings: Findings,
    limits: Limits = DEFAULT,
    names: Iterable[str] | None = None,
    contents: bool = False,
    base: FilePath = "",
    access: Access = DEFAULT_ACCESS,
) -> Table:
    """Return the table of a manifest, with a row for each record and a column for each element.

    ASCII_INT becomes int32, ASCII_FLOAT float32, and BINARY bytes. STRING and FILE (the path)
    become text, or bytes if not all values are UTF-8. names: the names of the columns, by default
    `0`, `1` and so on. contents: whether to read the files. If so, a column of type FILE has their
    bytes, and a further column `NAME.path` has the paths. base: aeon's manifest_root, for relative
    paths. access: its roots are the folders that must contain all files. An element that cannot be
    made has no value, and a finding reports it.

    With the level "said", a column `NAME.text` keeps the text of fields that exset would write in
    another way, and fields without a type have columns, too. Raises ValueError for invalid names,
    and LimitError for files of more than `max_batch` bytes.
    """
    return Making(level, names, contents, base, access).table(manifest, findings, limits)


@dataclass(frozen=True)
class Making:
    """How a table is made of a manifest. The attributes are arguments of `to_table`."""

    level: Level
    names: Iterable[str] | None = None
    contents: bool = False
    base: FilePath = ""
    access: Access = DEFAULT_ACCESS

    def table(
        self, manifest: Manifest, findings: Findings, limits: Limits, first: int = 0
    ) -> Table:
        """Return the table of some records. first: the number of records before them in the whole
        manifest.

        Raises the errors of `to_table`.
        """
        chosen = self.names_for(manifest)
        made: list[tuple[str, TableColumn]] = []
        for index, name in enumerate(chosen):
            if index >= len(manifest.types):
                made.append((name, text_or_bytes(manifest.column(index))))
                continue
            kind, (column, failed) = manifest.types[index], _element(manifest, index)
            if kind is ElementType.FILE and self.contents:
                paths = elements(manifest, index, base=self.base).strings
                made.append((f"{name}.path", column))
                column, failed = _files(manifest, index, paths, self.access, limits)
            made.append((name, column))
            _report(failed, findings, first)
            if self.level == "said" and kind in _SPELLED:
                said = _otherwise(manifest.column(index), as_text(column, kind))
                if said is not None:
                    made.append((f"{name}.text", said))
        if len(dict(made)) < len(made):
            raise ValueError("names: two columns would have the same name")
        metadata = metadata_of("manifest", self.level, manifest.types, chosen)
        metadata["dialect"] = str(manifest.dialect)
        files = [chosen[index] for index in manifest.columns(ElementType.FILE)]
        if files:
            metadata["files"] = [f"{name}.path" if self.contents else name for name in files]
        if files and self.base:
            metadata["base"] = os.fsdecode(self.base)
        return Table(dict(made), len(manifest), metadata)

    def names_for(self, manifest: Manifest) -> tuple[str, ...]:
        """Return the names of the elements. Raises ValueError for invalid names."""
        width = manifest.width if self.level == "said" else len(manifest.types)
        if self.names is None:
            return tuple(map(str, range(width)))
        chosen = checked_names("names", self.names)
        if len(chosen) != width:
            expected = f"{counted(width, 'name')}, one for each column"
            raise ValueError(f"names: expected {expected}, not {len(chosen)}")
        return chosen


def metadata_of(
    kind: str, level: Level, types: Iterable[ElementType], names: Iterable[str]
) -> dict[str, object]:
    """Return the metadata of a table.

    kind: "manifest" or "block". level: the option with which the table was made. types: the types
    of the elements. names: the names of the columns; columns with types come first.
    """
    head = {**origin("aeon", level), "kind": kind}
    return {**head, "types": [str(each) for each in types], "names": [*names]}


def numbers_column(
    values: NDArray[np.int32] | NDArray[np.float32], absent: Iterable[int] = ()
) -> Numbers:
    """Return a column of numbers; absent: the rows without a value."""
    present = np.ones(values.size, np.bool_)
    present[[*absent]] = False
    return Numbers.of(values, present)


def element_column(manifest: Manifest, index: int) -> Numbers | Strings:
    """Return the table's column for the element `index`. For FILE, the column has the paths."""
    return _element(manifest, index)[0]


def _element(manifest: Manifest, index: int) -> tuple[Numbers | Strings, Sequence[ElementError]]:
    """Return the table's column for the elements in column `index` of a manifest.

    Also return the errors of elements that cannot be made.
    """
    found = elements(manifest, index)
    if not isinstance(found.values, Strings):
        rows = (error.record for error in found.errors)
        return numbers_column(found.values, rows), found.errors
    column = found.values if found.kind is ElementType.BINARY else text_or_bytes(found.values)
    return column, found.errors


def _files(
    manifest: Manifest, index: int, paths: Strings, access: Access, limits: Limits
) -> tuple[Strings, list[ElementError]]:
    """Return the contents of the files at `paths`, and the errors of files that cannot be read.

    index: the column of the manifest that has the paths. The contents of a failed file are missing.
    """
    read: list[bytes | None] = []
    failed: list[ElementError] = []
    left = limits.max_batch
    for row, path in enumerate(paths):
        found = contents_of(manifest, row, index, path or b"", access, left)
        if isinstance(found, ElementError):
            failed.append(found)
            read.append(None)
        else:
            left -= len(found)
            read.append(found)
    return Strings.of(read), failed


def _report(failed: Sequence[ElementError], findings: Findings, first: int) -> None:
    def finding(error: ElementError) -> Finding:
        record = first + error.record
        place = Place("manifest", line=error.line or None, field=f"[{record}][{error.column}]")
        words = {"record": record, "column": error.column, "why": error.message}
        return finding_at("aeon-absent", place, **words)

    findings.add_each(failed, finding)


def _otherwise(fields: Strings, usual: Strings) -> Strings | None:
    """Return a column of the fields that differ from `usual`. Rows with equal fields have no value.

    Return None if no field differs.
    """
    pairs = zip(fields, usual, strict=True)
    differing = [None if field == expected else field for field, expected in pairs]
    if all(each is None for each in differing):
        return None
    return text_or_bytes(Strings.of(differing))
