"""Write tables in the text format of CNTK."""

import re
from dataclasses import replace
from typing import Final

import numpy as np

from exset.core.errors import Findings
from exset.core.text import has_bytes
from exset.grammars.columns.arrays import as_singles
from exset.grammars.siblings.patterns import Patterns, is_vector
from exset.grammars.siblings.rows import Rows
from exset.grammars.siblings.sparse import Sparse
from exset.grammars.tables.columns import TableColumn
from exset.grammars.tables.table import Table
from exset.grammars.tables.unit_columns import join_units
from exset.parsers.siblings.ctf import EXAMPLE, INDEX, VALUE
from exset.parsers.siblings.decimals import BEYOND, decimals, joined, sparse_rows

_NAME: Final = re.compile(rb"[^\0-\x20|#][^\0-\x20|]*+")


def render(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return a table as text: a line for each row, a dense stream for each column of numbers.

    `NAME.index` and `NAME.value` become a sparse stream. Numbers are rounded to 32 bits. The
    column `example` gives the ids of the sequences; no ids are written if it only numbers the
    rows. Raises FormatError for columns and values that the format cannot store; with `lossy`,
    samples with NaN are left out.
    """
    patterns, columns = Patterns.of(table, "CTF", findings, lossy), join_units(table.columns)
    ids = _ids(patterns)
    lines = [[each] if each else [] for each in ids]
    for name, column in sorted(columns.items(), key=_first_row):
        if name in patterns.stored or (name in patterns.others and patterns.says_nothing(name)):
            continue
        stem, rows = name.removesuffix(INDEX), Rows.of(column)
        sparse = Sparse.of_columns(patterns, name, stem + VALUE) if stem != name else None
        if sparse is not None:
            sparse = replace(sparse, values=as_singles(sparse.values))
            wrong = Rows(sparse.values, sparse.offsets).having(np.isnan(sparse.values))
            texts = sparse_rows(sparse, 0, BEYOND)
        elif is_vector(column) and len(column.shape) < 2 and rows is not None:
            wrong, parts = (
                rows.having(np.isnan(rows.values)),
                decimals(as_singles(rows.values), BEYOND),
            )
            texts = joined([b" " + part for part in parts], rows.offsets, b"")
            stem = name
            patterns.stored.add(name)
        else:
            continue
        raw = stem.encode("utf-8", "surrogateescape") if has_bytes(stem) else b""
        if not _NAME.fullmatch(raw):
            problem = "the name of a CTF stream cannot be empty or contain spaces or `|`"
            patterns.losses.report(name, problem)
            continue
        wrong = wrong[column.present[wrong]]
        patterns.lose(name, "CTF cannot store this sample, because it contains NaN", wrong)
        for row in np.setdiff1d(np.flatnonzero(column.present), wrong).tolist():
            lines[row].append(b"|%b%b" % (raw, texts[row]))
    patterns.drop_others()
    empty = [row for row, line in enumerate(lines) if len(line) == (ids[row] != b"")]
    first = next(iter(columns), "inputs")
    patterns.lose(first, "CTF cannot store a row without values", np.array(empty, np.int64))
    if len(empty) == len(lines):
        patterns.refuse("inputs", "CTF needs at least one row with values")
    for row in empty:
        lines[row].clear()
    return b"".join(b" ".join(line) + b"\n" for line in lines if line)


def _first_row(named: tuple[str, TableColumn]) -> int:
    """Return the index of the first row in which a column has numbers.

    The streams of a file are sorted by this index: a reader meets them in this order.
    """
    column = named[1]
    has_number = column.present
    if is_vector(column) and len(column):
        has_number = has_number & ~np.isnan(column.values.reshape(len(column), -1)).any(axis=1)
    return int(has_number.argmax()) if has_number.any() else len(column)


def _ids(patterns: Patterns) -> list[bytes]:
    """Return the id of each line; the ids are empty if each line is a separate sequence."""
    column = patterns.numbers(EXAMPLE, "iu")
    if EXAMPLE not in patterns.others or patterns.says_nothing(EXAMPLE):
        return [b""] * patterns.rows
    patterns.stored.add(EXAMPLE)
    if column is None or not column.present.all() or (column.values < 0).any():
        problem = "the number of a CTF sequence must be a whole number, 0 or more"
        patterns.losses.report(EXAMPLE, problem)
        return [b""] * patterns.rows
    return decimals(column.values)
