"""Read and write metadata.csv and metadata.jsonl, which describe the files of a folder.

Source: Hugging Face `datasets`, "ImageFolder with metadata": the column `file_name` has the paths.
"""

import csv
import io
import json
import math
import re
from typing import Any, Final

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.limits import Limits
from exset.core.source import Source
from exset.core.text import counted, safe
from exset.grammars.tables.build import column_of
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text, type_of
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table

FILE_NAME: Final = "file_name"
NAMES: Final = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
"""The names of metadata files."""

_INTEGER: Final = re.compile(r"-?+(?:0|[1-9][0-9]{0,17}+)")


def parsed(source: Source, limits: Limits, findings: Findings) -> Table:
    """Return the table of a metadata file, whose name ends in `.csv`, `.jsonl` or `.parquet`.

    A column of a CSV file becomes integers or floats if all its cells are such numbers, otherwise
    text. An empty cell in a column of numbers is absent. Raises FormatError for an invalid file.
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
    text = source.data.decode("utf-8-sig")
    return _csv_columns(text) if source.name.endswith(".csv") else _json_columns(text)


def json_lines(table: Table, losses: Losses) -> bytes:
    """Return a table as JSON, with a line for each row: absent values are null, arrays are lists.

    JSON has no bytes and no NaN: both are losses.
    """
    values: dict[str, list[object]] = {}
    for name, column in table.columns.items():
        if not _is_json(column):
            losses.report(name, f"metadata.jsonl cannot store {type_of(column)}")
            continue
        values[name] = [_value(column[row]) for row in range(len(column))]
        for row, each in enumerate(values[name]):
            if isinstance(each, float) and not math.isfinite(each):
                losses.report(name, "JSON has no NaN and no infinity", row)
                values[name][row] = None
    lines = (
        json.dumps(dict(zip(values, row, strict=True)), ensure_ascii=False)
        for row in zip(*values.values(), strict=True)
    )
    return "".join(f"{line}\n" for line in lines).encode()


def _is_json(column: TableColumn) -> bool:
    """Return whether JSON can store a column: text, finite numbers, and lists of them."""
    if isinstance(column, Lists):
        items = column.items
        is_finite = not isinstance(items, Numbers) or bool(np.isfinite(items.values).all())
        return _is_json(items) and is_finite
    if isinstance(column, Numbers):
        is_finite = not column.shape or bool(np.isfinite(column.values).all())
        return column.values.dtype.kind in "biuf" and is_finite
    return isinstance(column, Text)


def _value(value: object) -> object:
    """Convert a value of a table to JSON; a binary32 number becomes its shortest decimal."""
    if isinstance(value, np.ndarray | Numbers | Text | Lists):
        return [_value(value[i]) for i in range(len(value))]
    if isinstance(value, np.generic):
        return float(str(value)) if isinstance(value, np.float32) else value.item()
    return value


def _csv_columns(text: str) -> dict[str, TableColumn]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    names = next(rows, [])
    if len(set(names)) < len(names):
        raise ValueError("two columns have the same name")
    cells: list[list[str]] = []
    for row in rows:
        if row and len(row) != len(names):
            found = counted(len(row), "cell")
            raise ValueError(f"line {rows.line_num} has {found}, the first line {len(names)}")
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


def _json_columns(text: str) -> dict[str, TableColumn]:
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        row = json.loads(line)
        if not isinstance(row, dict):
            raise ValueError(f"line {number} is no JSON object")
        rows.append(row)
    names = dict.fromkeys(key for row in rows for key in row)
    return {name: column_of(name, [row.get(name) for row in rows]) for name in names}
