"""Split tables into rows, and join tables, for streams and writers."""

from collections.abc import Iterable
from typing import Any

from exset.grammars.tables.table import Table


def of(model: Table, /) -> Iterable[object]:
    """Return the rows of a table, each as a dict."""
    return iter(model)


def header(model: Table, /) -> Table:
    """Return a table without rows, with the columns and the metadata of `model`."""
    return model[:0]


def no_header() -> Table:
    """Return the header to use if there is no table from which to take it: a table without
    columns.
    """
    return Table.of({})


def model(units: object, header: object, /) -> Table:
    """Return a table of the one row in `units`; return `units` unchanged if it is a table.

    `units`: a row as a dict, or a table; else raises TypeError. `header`: a table with the columns
    of the file being written, or None before the first write.
    """
    if isinstance(units, Table):
        return units
    if isinstance(units, dict):
        columns: dict[str, Any] = {name: [value] for name, value in units.items()}
        return Table.of(columns, header.metadata if isinstance(header, Table) else {})
    raise TypeError(f"write takes a row (a dict) or a Table, not {type(units).__name__}")


def joined(models: Iterable[Table], /) -> Table:
    """Join one or more tables: return a table with all their rows in order."""
    chunks = [*models]
    return chunks[0].concat(chunks)
