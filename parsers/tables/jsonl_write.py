"""Write tables as JSON Lines: an object on each line, in UTF-8; a row without a value is null."""

import json
import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from exset.core.errors import Findings
from exset.core.text import has_surrogates
from exset.grammars.tables import sidecar
from exset.grammars.tables.build import column_of
from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn, Text, type_of
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table


def write(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return a table as JSON Lines.

    Raises FormatError for bytes, dates, NaN and infinity, which JSON does not have; `lossy` drops
    these columns, and writes null for these numbers.
    """
    losses = Losses(lossy, Findings() if findings is None else findings)
    return lines(table, losses, "JSON")


def sidecar_of(table: Table, data: bytes, /, *, lossy: bool = False) -> bytes | None:
    """Return the sidecar for `data`, the file of a table; None if the file needs none."""
    values = _values(table, Losses(lossy, Findings()), "JSON")
    kept = table.with_unchecked(columns={name: table.columns[name] for name in values})
    if not table.metadata and _is_plain(values, kept.columns):
        return None
    return sidecar.text_of(kept, sidecar.Fingerprint().add(data).value())


def lines(table: Table, losses: Losses, target: str) -> bytes:
    """Return a table as JSON Lines; `target`: the name of the format in messages about losses."""
    values = _values(table, losses, target)
    rows = zip(*values.values(), strict=True) if values else iter([()] * table.rows)
    text = (
        json.dumps(dict(zip(values, row, strict=True)), ensure_ascii=False, separators=(", ", ": "))
        for row in rows
    )
    return "".join(f"{line}\n" for line in text).encode()


def _values(table: Table, losses: Losses, target: str) -> dict[str, list[Any]]:
    """Return the columns that JSON can store, as values; report each other column as a loss.

    `target`: the name of the format in messages about losses.
    """
    values: dict[str, list[Any]] = {}
    for name, column in table.columns.items():
        if has_surrogates(name):
            losses.report(name, "the name of the column is not UTF-8")
        elif not _is_json(column):
            losses.report(name, f"{target} cannot store {type_of(column)}")
        else:
            values[name] = _rows(column)
            for row, each in enumerate(values[name]):
                if isinstance(each, float) and not math.isfinite(each):
                    losses.report(name, "JSON has no NaN and no infinity", row)
                    values[name][row] = None
    return values


def _is_json(column: TableColumn) -> bool:
    """Return whether JSON can store a column: text, numbers, lists of these, and plain records."""
    if isinstance(column, Lists):
        return _is_finite(column.items) and _is_json(column.items)
    if isinstance(column, Records):
        is_json = all(_is_finite(each) and _is_json(each) for each in column.fields.values())
        return is_json and type_of(column_of("", _rows(column))) == type_of(column)
    if isinstance(column, Numbers):
        return column.values.dtype.kind in "biuf" and (not column.shape or _is_finite(column))
    return isinstance(column, Text)


def _is_finite(column: TableColumn) -> bool:
    return not isinstance(column, Numbers) or (
        column.values.dtype.kind != "f" or bool(np.isfinite(column.values).all())
    )


def _is_plain(values: dict[str, list[Any]], columns: dict[str, TableColumn]) -> bool:
    """Return whether a reader, without a sidecar, gets these columns from the values for certain.

    values: those written for each column.
    """
    try:
        return all(
            any(each is not None for each in values[name])
            and type_of(column_of(name, values[name])) == type_of(column)
            for name, column in columns.items()
        )
    except ValueError:
        return False


def _rows(column: TableColumn) -> list[Any]:
    """Return the rows of a column as values for JSON; a float32 becomes its shortest decimal."""
    rows: Iterable[Any]
    if isinstance(column, Numbers):
        values = column.values
        if values.dtype.kind == "f":
            values = values.astype(np.str_).astype(np.float64)
        rows = values.tolist()
    elif isinstance(column, Lists):
        items = _rows(column.items)
        rows = (items[begin:end] for begin, end in pairwise(column.offsets.tolist()))
    elif isinstance(column, Records):
        fields = column.fields
        rows = (
            dict(zip(fields, row, strict=True))
            for row in zip(*map(_rows, fields.values()), strict=True)
        )
    else:
        return list(column)
    return [row if has else None for row, has in zip(rows, column.present.tolist(), strict=True)]
