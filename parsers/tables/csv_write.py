"""Write tables as CSV or TSV: UTF-8, a row of names, LF after each row."""

from typing import Any, Final

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.text import has_surrogates, safe
from exset.grammars.columns.arrays import Bytes, Longs, bits
from exset.grammars.columns.strings import Strings
from exset.grammars.tables import csv_findings, sidecar
from exset.grammars.tables.columns import (
    Numbers,
    TableColumn,
    Text,
    first_wrong_text,
    type_of,
)
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.grammars.tables.unit_columns import is_unit, split_units
from exset.parsers.tables.csv_cells import Cells, number_cells, text_cells
from exset.parsers.tables.csv_header import DELIMITERS, is_table
from exset.parsers.tables.csv_kernels import KERNELS, place_cells
from exset.parsers.tables.csv_numbers import numbers_of

_HEAD: Final = 4096
_MARK: Final = b'"'
_PLAIN: Final = (np.int64, np.uint64, np.float64)
_SPECIAL: Final = (*DELIMITERS, _MARK, b"\r", b"\n")


def write(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return a table as CSV, with commas.

    Arrays are split into a column for each number, `NAME:0`. Raises FormatError for lists, records,
    bytes that are not UTF-8, and arrays of more dimensions, which `lossy` drops, and for a table
    without columns.
    """
    return _written(table, b",", Findings() if findings is None else findings, lossy)


def write_tabs(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return a table as CSV with tabs; all else is as in `write`."""
    return _written(table, b"\t", Findings() if findings is None else findings, lossy)


def sidecar_of(table: Table, data: bytes, /, *, lossy: bool = False) -> bytes | None:
    """Return the sidecar of a file, `data`, of a table; None if it holds all of it."""
    kept = table.with_unchecked(columns=_kept(table, Losses(lossy, Findings())))
    plain = (_plain_type(name, each) == type_of(each) for name, each in kept.columns.items())
    file = sidecar.Fingerprint().add(data).value()
    return None if not table.metadata and all(plain) else sidecar.text_of(kept, file)


def _plain_type(name: str, column: TableColumn) -> str | None:
    """Return the type that a column has for certain when it is read without its sidecar."""
    if not isinstance(column, Numbers):
        return "text"
    values: Any = column.values
    if is_unit(name) or not column.present.any() or values.dtype not in _PLAIN:
        return None
    is_small = values.dtype == np.uint64 and int(values.min()) < 1 << 63
    return None if is_small else column.type


def _written(table: Table, delimiter: bytes, findings: Findings, lossy: bool) -> bytes:
    kept = _kept(table, Losses(lossy, findings))
    units = [*split_units(kept)]
    if not units:
        message = "the table has no column that CSV could store"
        raise FormatError(message, place=Place("table"), code="table-holds")
    is_alone = len(units) == 1
    names = [_name(name, is_alone) for name in units]
    has_plain = not all(name.startswith(_MARK) for name in names)
    # Without a delimiter in the row of names, readers take another one.
    special = _SPECIAL if is_alone else (delimiter, _MARK, b"\r", b"\n")
    cells: list[Cells] = []
    for name, column in kept.items():
        if isinstance(column, Numbers):
            cells.append(number_cells(column, delimiter, is_alone))
        elif isinstance(column, Strings):
            text = Text.unchecked(**vars(column))
            cells.append(_text(name, text, special, has_plain, lossy, findings))
    data = delimiter.join(names) + b"\n" + _rows(cells, table.rows, delimiter)
    _report_nans(kept, findings)
    if not is_table(data[:_HEAD]):
        findings.add(csv_findings.finding_at("csv-manifest", Place("table")))
    return data


def _kept(table: Table, losses: Losses) -> dict[str, TableColumn]:
    """Return the columns that CSV can hold; report the others."""
    kept: dict[str, TableColumn] = {}
    taken: set[str] = set()
    for name, column in table.columns.items():
        if (problem := _problem(name, column)) is not None:
            row = None
            if isinstance(column, Strings) and not isinstance(column, Text):
                row = first_wrong_text(column)
            losses.report(name, problem, row)
        elif taken.intersection(units := split_units({name: column})):
            losses.report(name, "CSV needs another column with the name of one of its units")
        else:
            kept[name] = column
            taken.update(units)
    if len(taken) == 1:
        [(name, only)] = kept.items()
        if isinstance(only, Strings) and not only.present.all():
            losses.report(name, "CSV with one column cannot store absent text")
            return {}
    return kept


def _problem(name: str, column: TableColumn) -> str | None:
    """Return why CSV cannot hold a column, or None."""
    if has_surrogates(name):
        return "the name of the column is not UTF-8"
    if isinstance(column, Strings):
        if not isinstance(column, Text) and first_wrong_text(column) is not None:
            return "CSV cannot store bytes that are not UTF-8"
        return None
    if not isinstance(column, Numbers):
        return f"CSV cannot store {'lists' if type_of(column).startswith('list') else 'records'}"
    if len(column.shape) > 1 or column.shape == (0,):
        return "CSV stores arrays of one dimension, with at least one number"
    return None


def _name(name: str, is_alone: bool) -> bytes:
    """Return the name of a column as a cell, which does not begin like a manifest or a comment."""
    raw = name.encode()
    is_like_other = raw.startswith((b"@", b"#", b"\xef\xbb\xbf")) or (is_alone and not raw)
    if is_like_other or any(byte in raw for byte in _SPECIAL):
        return _MARK + raw.replace(_MARK, 2 * _MARK) + _MARK
    return raw


def _text(
    name: str,
    text: Text,
    special: tuple[bytes, ...],
    has_plain: bool,
    lossy: bool,
    findings: Findings,
) -> Cells:
    """Return the cells of text, all in quotation marks if they would be read as numbers."""
    compiled = KERNELS.use_compiled(text.data.size)
    starts, ends = text.offsets[:-1], text.offsets[1:]
    [numbers] = numbers_of(text.data, starts, ends, np.zeros(1, np.bool_), compiled=compiled)
    is_number = numbers is not None
    if is_number and not has_plain:
        problem = "CSV stores the text as numbers, where all names are in quotation marks"
        Losses(lossy, findings).report(name, problem)
    csv_findings.check_text(text, findings, lambda row: Place("table", field=_field(name, row)))
    return text_cells(text, special, has_marks=is_number)


def _field(name: str, row: int) -> str:
    return f"columns[{safe(name)!r}][{row}]"


def _rows(cells: list[Cells], rows: int, delimiter: bytes) -> bytes:
    """Return the rows of cells as text."""
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
    return out.tobytes()


def _report_nans(columns: dict[str, TableColumn], findings: Findings) -> None:
    """Add a finding for the columns with a NaN that CSV gives back with other bits."""
    odd = [
        name
        for name, column in columns.items()
        if isinstance(column, Numbers) and _has_odd_nan(column.values)
    ]
    findings.add_each(
        odd,
        lambda name: csv_findings.finding_at(
            "csv-nan", Place("table", field=f"columns[{safe(name)!r}]"), name=safe(name)
        ),
    )


def _has_odd_nan(values: Any) -> bool:
    if values.dtype.kind != "f" or not np.isnan(values.min(initial=0)):
        return False
    return bool((bits(values[np.isnan(values)]) != bits(np.full(1, np.nan, values.dtype))).any())
