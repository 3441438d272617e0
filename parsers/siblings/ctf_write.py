"""Write tables in the text format of CNTK."""

import math
import re
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from exset.core.errors import Findings
from exset.grammars.columns.arrays import Flags, as_singles
from exset.grammars.siblings.patterns import Patterns, is_vector
from exset.grammars.siblings.sparse import Sparse, is_single
from exset.grammars.tables.columns import Numbers, TableColumn
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.grammars.tables.unit_columns import join_units
from exset.parsers.siblings.ctf import EXAMPLE, INDEX, VALUE
from exset.parsers.siblings.decimals import decimals, joined, sparse_rows

_INFINITE: Final = MappingProxyType({"inf": b"1e39", "-inf": b"-1e39"})
_NAME: Final = re.compile(rb"[^\0-\x20|#][^\0-\x20|]*+")


def render(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return a table as text: a line for each row, a dense stream for each column of numbers.

    `NAME.index` and `NAME.value` become a sparse stream. Numbers are rounded to 32 bits. `example`
    gives the ids, unless it is just the number of each row. Raises FormatError for columns and
    values that the format cannot store; with `lossy`, samples with NaN are left out.
    """
    losses = Losses(lossy, Findings() if findings is None else findings)
    patterns = Patterns.of(table, losses, "CTF")
    columns = join_units(table.columns)
    kept = [EXAMPLE]
    ids = _ids(patterns)
    lines = [[each] if each else [] for each in ids]
    for name, column in sorted(columns.items(), key=_first_row):
        stem = name.removesuffix(INDEX)
        sparse = None
        if stem != name:
            values = columns.get(stem + VALUE)
            sparse = Sparse.of_columns(column, values, name, patterns)
        if sparse is not None:
            sparse = replace(sparse, values=as_singles(sparse.values))
            texts, present = sparse_rows(sparse, 0, _INFINITE), column.present
            has_nan = np.isnan(sparse.values)
            rows = np.searchsorted(sparse.offsets, np.flatnonzero(has_nan), "right") - 1
            wrong = np.isin(np.arange(table.rows), rows)
            kept += [name, stem + VALUE]
        elif is_vector(column) and len(column.shape) < 2 and not _says_nothing(patterns, name):
            assert isinstance(column, Numbers)
            width = math.prod(column.shape)
            offsets = np.arange(table.rows + 1) * width
            texts = [
                b" " + each if each else b""
                for each in joined(decimals(as_singles(column.values), _INFINITE), offsets)
            ]
            wrong, stem = np.isnan(column.values.reshape(table.rows, width)).any(axis=1), name
            present = column.present
            kept.append(name)
        else:
            continue
        _add(lines, stem, texts, present, wrong, name, losses)
    patterns.drop_others([*kept, *(each.column for each in (*patterns.inputs, *patterns.targets))])
    for row, line in enumerate(lines):
        if len(line) == (ids[row] != b""):
            problem = "CTF cannot store a row without numbers"
            losses.report(next(iter(columns), "inputs"), problem, row)
            line.clear()
    if not any(lines):
        patterns.refuse("inputs", "CTF needs a row with numbers")
    return b"".join(b" ".join(line) + b"\n" for line in lines if line)


def _add(
    lines: list[list[bytes]],
    stream: str,
    texts: list[bytes],
    present: Flags,
    wrong: Any,
    column: str,
    losses: Losses,
) -> None:
    """Add the text of a stream to each line that has a sample of it.

    texts: the numbers of each row. wrong: which rows have NaN. column: the name of the column in
    errors.
    """
    raw = stream.encode("utf-8", "surrogateescape")
    if not _NAME.fullmatch(raw):
        losses.report(column, "CTF has no streams with blanks, `|` or an empty name")
        return
    for row in np.flatnonzero(present).tolist():
        if wrong[row]:
            losses.report(column, "CTF cannot store the sample: it has no value for NaN", row)
        else:
            lines[row].append(b"|%b%b" % (raw, texts[row]))


def _first_row(named: tuple[str, TableColumn]) -> int:
    """Return the index of the first row in which a column has numbers.

    Streams are sorted by it, because a reader finds them in this order.
    """
    column = named[1]
    has_number = column.present
    if is_vector(column) and len(column):
        has_number = has_number & ~np.isnan(column.values.reshape(len(column), -1)).any(axis=1)
    return int(has_number.argmax()) if has_number.any() else len(column)


def _says_nothing(patterns: Patterns, name: str) -> bool:
    return name == EXAMPLE or (name in patterns.others and patterns.says_nothing(name))


def _ids(patterns: Patterns) -> list[bytes]:
    """Return the id that each line begins with; it is empty if each line is a separate sequence."""
    column = patterns.others.get(EXAMPLE)
    if column is None or patterns.says_nothing(EXAMPLE):
        return [b""] * patterns.rows
    is_whole = isinstance(column, Numbers) and is_single(column, "iu") and column.present.all()
    if not is_whole or not isinstance(column, Numbers) or (column.values < 0).any():
        patterns.losses.report(EXAMPLE, "CTF numbers sequences from 0")
        return [b""] * patterns.rows
    return [b"%d" % number for number in column.values.tolist()]
