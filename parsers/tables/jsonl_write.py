"""Write tables, whole or in chunks, as JSON Lines: an object on each line, in UTF-8; a row without
a value is null.
"""

from collections.abc import Iterable
from typing import BinaryIO

import numpy as np

from exset.core.errors import Findings
from exset.core.text import has_surrogates
from exset.grammars.columns.arrays import constant
from exset.grammars.tables import sidecar
from exset.grammars.tables.columns import TableColumn, type_of
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.survey import small
from exset.grammars.tables.table import Table
from exset.parsers.tables.jsonl_cells import cells_of, objects
from exset.parsers.tables.jsonl_survey import ColumnSurvey, survey


def write_chunks(
    tables: Iterable[Table], out: BinaryIO, /, *, findings: Findings, lossy: bool = False
) -> bytes | None:
    """Write a table that comes in chunks as JSON Lines; return the sidecar, or None.

    Raises FormatError for bytes, dates, NaN and infinity, which JSON does not have; `lossy` drops
    these columns, and writes null for these numbers.
    """
    first, surveys = survey(tables)
    kept = first.with_unchecked(columns=_kept(first, surveys, Losses(lossy, findings), "JSON"))
    is_plain, file, rows = _is_plain(kept, surveys), sidecar.Fingerprint(), 0
    for table in small(tables):
        data = _lines(table, kept.names)
        out.write(data)
        rows += table.rows
        if not is_plain:
            file.add(data)
    return None if is_plain else sidecar.text_of(kept, file.value(), rows)


def lines(table: Table, losses: Losses, target: str) -> bytes:
    """Return a table as JSON Lines; `target`: the name of the format in messages about losses."""
    names = _kept(*survey([table]), losses, target)
    return b"".join(_lines(each, names) for each in small([table]))


def _lines(table: Table, names: Iterable[str]) -> memoryview:
    """Return the rows of a table, with the columns of these names, as lines."""
    cells = {name: cells_of(table.columns[name]) for name in names}
    return objects(cells, constant(True, table.rows, np.bool_), b"}\n").data.data


def _kept(
    table: Table, surveys: dict[str, ColumnSurvey], losses: Losses, target: str
) -> dict[str, TableColumn]:
    """Return the columns that JSON can store; report each other column, and each number that JSON
    does not have, as a loss.

    surveys: what is known about all rows of each column. target: the name of the format in
    messages.
    """
    kept: dict[str, TableColumn] = {}
    for name, column in table.columns.items():
        found = surveys[name]
        if has_surrogates(name):
            losses.report(name, "the name of the column is not UTF-8")
        elif not found.is_stored(column):
            losses.report(name, f"{target} cannot store {type_of(column)}")
        else:
            kept[name] = column
            if found.odd:
                problem = "JSON has no NaN and no infinity"
                losses.report(name, problem, found.first_odd, times=found.odd)
    return kept


def _is_plain(kept: Table, surveys: dict[str, ColumnSurvey]) -> bool:
    """Return whether a reader gets the same table for certain, without a sidecar.

    kept: the columns that are written. surveys: what is known about their rows.
    """
    return not kept.metadata and all(
        surveys[name].has_values and surveys[name].read_type(column) == type_of(column)
        for name, column in kept.columns.items()
    )
