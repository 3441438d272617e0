"""Read metadata.csv, metadata.jsonl and metadata.parquet, which describe the files of a folder.

Source: Hugging Face `datasets`, "ImageFolder with metadata": the column `file_name` has the paths.
"""

import csv
import io
import re
from typing import Final

from exset.core.errors import Findings, FormatError, Place
from exset.core.limits import Limits
from exset.core.source import Source
from exset.core.text import counted, safe
from exset.grammars.tables.build import column_of
from exset.grammars.tables.columns import TableColumn, Text
from exset.grammars.tables.table import Table
from exset.parsers.tables import jsonl

FILE_NAME: Final = "file_name"
NAMES: Final = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
"""The names of metadata files."""

_INTEGER: Final = re.compile(r"-?+(?:0|[1-9][0-9]{0,17}+)")


def parsed(source: Source, limits: Limits, findings: Findings) -> Table:
    """Return the table of a metadata file, whose name ends in `.csv`, `.jsonl` or `.parquet`.

    A column of a CSV file becomes integers or floats if all its cells are such numbers, otherwise
    text. In a column of numbers, an empty cell becomes a row without a value. Raises FormatError
    for an invalid file.
    """
    try:
        columns = _columns(source, limits, findings)
        if FILE_NAME not in columns:
            raise ValueError(f"the column {FILE_NAME} is missing")
        table = Table.of(columns, {"files": [FILE_NAME]})
    except FormatError:
        raise
    except (ValueError, csv.Error, RecursionError) as error:
        message = safe(str(error)) or "it is nested too deeply"
        raise FormatError(message, place=Place(source.name), code="folder-layout") from None
    path = table.columns[FILE_NAME]
    if not isinstance(path, Text) or not path.present.all():
        message = f"a row has no {FILE_NAME}"
        raise FormatError(message, place=Place(source.name), code="folder-layout")
    return table


def _columns(source: Source, limits: Limits, findings: Findings) -> dict[str, TableColumn]:
    if source.name.endswith(".parquet"):
        from exset.runtime.tables import parquet

        return dict(parquet.read(source, limits=limits, findings=findings).columns)
    if source.name.endswith(".jsonl"):
        return dict(jsonl.parse(source, limits=limits, findings=findings).columns)
    return _csv_columns(source.data.decode("utf-8-sig"))


def _csv_columns(text: str) -> dict[str, TableColumn]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    names = next(rows, [])
    if len(set(names)) < len(names):
        raise ValueError("two columns have the same name")
    cells: list[list[str]] = []
    for row in rows:
        if row and len(row) != len(names):
            found = counted(len(row), "cell")
            raise ValueError(
                f"line {rows.line_num} has {found}, but the first line has {len(names)}"
            )
        cells += [row] if row else []
    return {name: _typed(name, [row[i] for row in cells]) for i, name in enumerate(names)}


def _typed(name: str, cells: list[str]) -> TableColumn:
    """Return a column of integers or of floats if all cells are such numbers, otherwise of text."""
    if name == FILE_NAME or not any(cells):
        return Text.of(cells)
    if all(_INTEGER.fullmatch(cell) for cell in cells if cell):
        return column_of(name, [int(cell) if cell else None for cell in cells])
    try:
        return column_of(name, [float(cell) if cell else None for cell in cells])
    except ValueError:
        return Text.of(cells)
