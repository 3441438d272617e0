"""Write tables, whole or in chunks, as CSV or TSV: UTF-8, a row of names, LF after each row."""

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.text import has_surrogates, safe
from exset.grammars.columns.arrays import Bytes, Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables import csv_findings, sidecar
from exset.grammars.tables.columns import Numbers, TableColumn, Text, type_of
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.survey import small
from exset.grammars.tables.table import Table
from exset.grammars.tables.unit_columns import is_too_wide, is_unit, split_units
from exset.parsers.tables.csv_cells import Cells, number_cells, text_cells
from exset.parsers.tables.csv_header import DELIMITERS, is_table
from exset.parsers.tables.csv_kernels import KERNELS, place_cells
from exset.parsers.tables.csv_survey import ColumnSurvey, place_of, survey

_HEAD: Final = 4096
_MARK: Final = b'"'
_PLAIN: Final = (np.int64, np.uint64, np.float64)
_SPECIAL: Final = (*DELIMITERS, _MARK, b"\r", b"\n")


def write_chunks(
    tables: Iterable[Table], out: BinaryIO, /, *, findings: Findings, lossy: bool = False
) -> bytes | None:
    """Write a table that comes in chunks as CSV, with commas; return the sidecar, or None.

    Arrays are split into a column for each number, `NAME:0`. Raises FormatError for a table
    without columns, and for columns that CSV cannot store, which `lossy` drops: lists, records,
    bytes that are not UTF-8, and arrays of more dimensions.
    """
    return _write(tables, out, b",", findings, lossy)


def write_tab_chunks(
    tables: Iterable[Table], out: BinaryIO, /, *, findings: Findings, lossy: bool = False
) -> bytes | None:
    """Write a table that comes in chunks as CSV with tabs; otherwise like `write_chunks`."""
    return _write(tables, out, b"\t", findings, lossy)


def _write(
    tables: Iterable[Table], out: BinaryIO, delimiter: bytes, findings: Findings, lossy: bool
) -> bytes | None:
    first, surveys = survey(tables)
    kept = first.with_unchecked(columns=_kept(first, surveys, Losses(lossy, findings)))
    units = [*split_units(kept.columns)]
    if not units:
        message = "the table has no column that CSV could store"
        raise FormatError(message, place=Place("table"), code="table-holds")
    is_alone = len(units) == 1
    names = [_name(name, is_alone) for name in units]
    has_plain = not all(name.startswith(_MARK) for name in names)
    for name, column in kept.columns.items():
        if isinstance(column, Strings):
            if surveys[name].shown.dtype is not None and not has_plain:
                problem = (
                    "all cells are in quotation marks, so exset would read this text as numbers"
                )
                Losses(lossy, findings).report(name, problem)
            surveys[name].changed.report(findings)
    odd = [name for name in kept.names if surveys[name].has_odd_nan]
    findings.add_each(
        odd, lambda name: csv_findings.finding_at("csv-nan", place_of(name), name=safe(name))
    )
    head = delimiter.join(names) + b"\n"
    out.write(head)
    file = sidecar.Fingerprint().add(head)
    # Without a delimiter in the row of names, readers take another one.
    special = _SPECIAL if is_alone else (delimiter, _MARK, b"\r", b"\n")
    is_plain, rows = _is_plain(kept, surveys), 0
    for table in small(tables):
        cells = [*_cells(kept, surveys, table, delimiter, special, is_alone)]
        data = _rows(cells, table.rows, delimiter).data
        out.write(data)
        head += bytes(data[: max(0, _HEAD - len(head))])
        rows += table.rows
        file.add(data)
    if not is_table(head[:_HEAD]):
        findings.add(csv_findings.finding_at("csv-manifest", Place("table")))
        is_plain = False
    return None if is_plain else sidecar.text_of(kept, file.value(), rows)


def _cells(
    kept: Table,
    surveys: dict[str, ColumnSurvey],
    table: Table,
    delimiter: bytes,
    special: tuple[bytes, ...],
    is_alone: bool,
) -> Iterator[Cells]:
    """Yield, for each column in `kept`, its cells in the chunk `table`.

    surveys: what is known about all rows of each column. special: the bytes that need quotation
    marks. is_alone: whether there is only one column.
    """
    for name in kept.names:
        column = table.columns[name]
        if isinstance(column, Numbers):
            yield number_cells(column, delimiter, is_alone)
        elif isinstance(column, Strings):  # all in quotation marks if it looks like numbers
            text = Text.unchecked(**vars(column))
            yield text_cells(text, special, has_marks=surveys[name].shown.dtype is not None)


def _is_plain(kept: Table, surveys: dict[str, ColumnSurvey]) -> bool:
    """Return whether a reader gets the same table for certain, without a sidecar.

    kept: the columns that are written. surveys: what is known about their rows.
    """
    return not kept.metadata and all(
        _plain_type(name, column, surveys[name]) == type_of(column)
        for name, column in kept.columns.items()
    )


def _plain_type(name: str, column: TableColumn, found: ColumnSurvey) -> str | None:
    """Return the type that a reader without a sidecar gives to a column; None if that is not
    certain.

    name: of the column. found: what its values are, in all chunks.
    """
    if not isinstance(column, Numbers):
        return "text"
    if is_unit(name) or not found.has_rows or column.values.dtype not in _PLAIN:
        return None
    is_small = found.least is not None and found.least < 1 << 63
    return None if is_small else column.type


def _kept(table: Table, surveys: dict[str, ColumnSurvey], losses: Losses) -> dict[str, TableColumn]:
    """Return the columns of a table that CSV can store; report each other column as a loss.

    surveys: what the values of each column are, in all chunks.
    """
    kept: dict[str, TableColumn] = {}
    taken: set[str] = set()
    for name, column in table.columns.items():
        wrong = surveys[name].wrong_text
        if (problem := _problem(name, column, wrong)) is not None:
            losses.report(name, problem, wrong)
        elif taken.intersection(units := split_units({name: column})):
            losses.report(
                name, "CSV stores each number of an array in a column: two would have the same name"
            )
        else:
            kept[name] = column
            taken.update(units)
    if len(taken) == 1:
        [(name, only)] = kept.items()
        if isinstance(only, Strings) and surveys[name].has_absent:
            losses.report(name, "CSV with one column cannot store a row without text")
            return {}
    return kept


def _problem(name: str, column: TableColumn, wrong: int | None) -> str | None:
    """Return why CSV cannot store the column `name`, or None if it can.

    wrong: the first row that is not UTF-8, or None.
    """
    if has_surrogates(name):
        return "the name of the column is not UTF-8"
    if isinstance(column, Strings):
        return None if wrong is None else "CSV cannot store bytes that are not UTF-8"
    if not isinstance(column, Numbers):
        return f"CSV cannot store {'lists' if type_of(column).startswith('list') else 'records'}"
    if len(column.shape) > 1 or column.shape == (0,):
        return "CSV can store only arrays of one dimension with at least one number"
    if is_too_wide(column):
        return "the array is too wide for CSV, with a column for each number"
    return None


def _name(name: str, is_alone: bool) -> bytes:
    """Return the name of a column as a cell.

    It gets quotation marks if needed, also if it looks like the start of a manifest or a comment.
    is_alone: whether there is only one column.
    """
    raw = name.encode()
    is_like_other = raw.startswith((b"@", b"#", b"\xef\xbb\xbf")) or (is_alone and not raw)
    if is_like_other or any(byte in raw for byte in _SPECIAL):
        return _MARK + raw.replace(_MARK, 2 * _MARK) + _MARK
    return raw


def _rows(cells: list[Cells], rows: int, delimiter: bytes) -> Bytes:
    """Return the bytes of all rows, joined from the cells of the columns: uint8."""
    sizes = np.full(rows, len(cells), np.int64)
    for each in cells:
        sizes += np.diff(each.ends, prepend=0)
    ends = np.cumsum(sizes)
    out: Bytes = np.empty(int(ends[-1]) if rows else 0, np.uint8)
    at: Longs = ends - sizes
    place = KERNELS.choose(place_cells, KERNELS.use_compiled(out.size))
    for i, each in enumerate(cells):
        after = b"\n" if i == len(cells) - 1 else delimiter
        place(each.data, each.ends, out, at, after[0])
    return out
