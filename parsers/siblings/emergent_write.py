"""Write tables of emergent: tab-separated, with typed names and tensors row by row."""

from itertools import product
from math import prod
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from exset.core.errors import Findings
from exset.core.text import has_surrogates, safe
from exset.grammars.columns.arrays import as_singles
from exset.grammars.siblings.layers import from_patterns
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text, type_of
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.grammars.tables.unit_columns import is_too_wide
from exset.parsers.siblings.decimals import decimals, joined

_WORDS: Final = MappingProxyType({"nan": b"NaN", "inf": b"+Inf"})
_TYPES: Final = MappingProxyType({"uint8": "@", "bool": "^", "float32": "%", "float64": "#"})
_SPECIAL: Final = frozenset(b'\t\r\n"')
_EXACT: Final = 1 << 53
_LENS: Final = frozenset(("example", "event", "frequency", "max_time", "min_time", "grace_time"))
"""Columns of every table of Lens examples: emergent gets only those that say something."""
_MOST: Final = (1 << 63) - 1024
"""The largest real of 64 bits that is an integer of 64 bits."""


def render(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return the rows of a table; arrays become tensors, and `from_patterns` changes the names.

    A row without a number becomes an empty cell. Raises FormatError for columns that emergent does
    not have, and for values that it would read differently; with `lossy` they are left out.
    """
    patterns = Patterns.of(table, "emergent", findings, lossy)
    losses = patterns.losses
    kept = {name for name, column in table.columns.items() if getattr(column, "shape", ())}
    others = patterns.others if table.rows and table.columns.keys() >= _LENS else {}
    unused = [name for name in others if name not in kept and patterns.says_nothing(name)]
    header, parts = [b"_H:"], [[b"_D:"] * table.rows]
    for name, column in from_patterns(table.without_columns(*unused)).items():
        found = _cells(name, column, losses)
        if found is None:
            continue
        kind, shape, cells = found
        if "[" in name:
            losses.report(name, "the name of a column of emergent cannot contain `[`")
            continue
        if has_surrogates(name):
            losses.report(name, "the name of a column of emergent must be UTF-8")
            continue
        units = [*product(*map(range, shape))] if shape is not None else [()]
        for number, unit in enumerate(units):
            title = kind + name
            if shape is not None:
                title += f"[{len(shape)}:{','.join(map(str, unit))}]"
            if shape is not None and number == 0:
                title += f"<{len(shape)}:{','.join(map(str, shape))}>"
            header.append(_quoted(title.encode()))
        parts.append(joined(cells, np.arange(table.rows + 1) * len(units), b"\t"))
    lines = map(b"\t".join, zip(*parts, strict=True))
    return b"\n".join([b"\t".join(header), *lines, b""])


def _cells(
    name: str, column: TableColumn, losses: Losses
) -> tuple[str, tuple[int, ...] | None, list[bytes]] | None:
    """Return how to write a column: the character of its type, its shape, and the text of its
    cells.

    Return None if the format cannot store it, and it is dropped.
    """
    if isinstance(column, Numbers) and is_too_wide(column):
        losses.report(name, "the array is too wide for emergent, with a column for each number")
        return None
    if isinstance(column, Numbers) and column.values.dtype.kind in "biuf" and 0 not in column.shape:
        return _numbers(name, column, losses)
    lengths = column.lengths if isinstance(column, Lists) else np.ones(len(column), np.int64)
    is_tensor = isinstance(column, Lists) and lengths.size and (lengths == lengths[0]).all()
    text = column.items if isinstance(column, Lists) and is_tensor and lengths[0] else column
    if not isinstance(text, Text):
        problem = f"emergent cannot store the column {safe(name)!r} ({type_of(column)})"
        losses.report(name, problem)
        return None
    cells = [b"" if each is None else each.encode() for each in text]
    for at in np.flatnonzero(~text.present)[:1].tolist():
        losses.report(name, "emergent cannot store a cell without text", at // int(lengths[0]))
    for at, cell in enumerate(cells):
        if b"\r\n" in cell:
            problem = "emergent would read a Windows line ending in a text as one character"
            losses.report(name, problem, at // int(lengths[0]))
            break
    shape = (int(lengths[0]),) if text is not column else None
    return "$", shape, [_quoted(cell) for cell in cells]


def _numbers(
    name: str, column: Numbers, losses: Losses
) -> tuple[str, tuple[int, ...] | None, list[bytes]]:
    values: Any = column.values
    if values.dtype == np.float16:
        values = as_singles(values)
    if values.dtype.kind in "iu":
        wide = np.flatnonzero((values > _EXACT) | (values < -_EXACT))
        if wide.size:
            row = int(wide[0]) // prod(column.shape)
            losses.report(
                name, "emergent reads integers as 64-bit floats, which round this one", row
            )
            values = np.minimum(values, _MOST).astype(np.float64).astype(np.int64)
    if values.dtype.kind == "b":
        cells = [b"true" if value else b"false" for value in values.reshape(-1).tolist()]
    else:
        cells = decimals(values, _WORDS)
    for at in np.flatnonzero(np.repeat(~column.present, prod(column.shape))).tolist():
        cells[at] = b""
    return _TYPES.get(str(values.dtype), "|"), column.shape or None, cells


def _quoted(cell: bytes) -> bytes:
    return b'"%b"' % cell.replace(b'"', b'""') if _SPECIAL.intersection(cell) else cell
