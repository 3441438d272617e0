"""Parse tables of emergent as ReadCSV of emer/etable does.

Indices in the header say where in a tensor a cell belongs.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from os import path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from exset import grammars
from exset.core.errors import Findings, FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import counted, safe
from exset.grammars.columns.arrays import Flags, Longs, as_singles, constant
from exset.grammars.siblings.findings import EMERGENT
from exset.grammars.siblings.layers import as_patterns
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text
from exset.grammars.tables.table import Table
from exset.parsers.engine.errors import shown
from exset.parsers.engine.grammar import Grammar
from exset.parsers.siblings.conversion import KERNELS, reals
from exset.parsers.tables.csv_rows import Cells

HEADER, DATA = "_H:", b"_D:"
TYPES: Final = MappingProxyType(
    {"$": "", "&": "", "%": "float32", "#": "float64", "|": "int64", "@": "uint8", "^": "bool"}
)
"""The dtype of each type character; "" for text."""
_HINT: Final = "a cell with quotation marks begins and ends with one"
_CELL: Final = re.compile(r"(.+)\[\d:([\d,]{1,99})\](?:<(\d:[\d,]{1,99})>)?", re.DOTALL)
_NUMBER: Final = re.compile(
    rb"[-+]?(?:\d(?:_?\d)*+\.?(?:\d(?:_?\d)*+)?|\.\d(?:_?\d)*+)(?:[eE][-+]?\d++)?"
    rb"|[-+]?(?i:inf(?:inity)?)|(?i:nan)|(?P<hex>[-+]?0[xX](?=\.?[\da-fA-F])[\da-fA-F]*+\.?"
    rb"[\da-fA-F]*+[pP][-+]?\d{1,5})"
)
_FLAGS: Final = (b"f", b"F", b"false", b"False", b"FALSE", b"t", b"T", b"true", b"True", b"TRUE")
_ABSENT: Final = (b"", b"NaN", b"-NaN")
_EXACT: Final = 1 << 53


@dataclass(frozen=True)
class _Column:
    """A column that the header declares; a tensor takes several cells of a row.

    places: which cells of a row, in the order of the tensor.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    places: Longs


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    as_go: bool = False,
) -> Table:
    """Return the table of a file: tensors become arrays, and `as_patterns` changes the names.

    An empty cell of a number becomes a row without a value; in an array it becomes NaN. as_go:
    ignore the indices of a tensor's cells and read the cells in order, as emergent in Go does.
    Raises FormatError for a file that emergent cannot read.
    """
    first = source.data[: max(source.data.find(b"\n", 2), 0) or None]
    grammar, tokens = grammar_of(b"\t" in first or b"," not in first), len(source.data) // 4
    [stream] = grammar.parse(source, engine, hint=lambda _: _HINT, tokens=tokens)
    if stream.kinds.size < 2:
        return Table({}, 0, {})
    cells = Cells.of(grammar, source, stream)
    cells.check()
    names = cells.names()
    reading = _Rows(cells.after_names(), Findings() if findings is None else findings)
    compiled = KERNELS.use_compiled(len(source.data), engine)
    columns: dict[str, TableColumn] = {}
    marked = reading.marked(names[0] == HEADER)
    for each in _columns(names, cells, reading.findings, as_go=as_go):
        columns[each.name] = reading.column(each, marked, compiled=compiled)
    return as_patterns(Table(columns, len(reading.cells), {}))


@cache
def grammar_of(has_tabs: bool) -> Grammar:
    """Return the grammar of files whose cells are separated by tabs, or by commas."""
    with open(path.join(*grammars.__path__, "emergent.lark"), encoding="ascii") as file:
        rules = "".join(line for line in file if not line.startswith("//"))
    words = dict.fromkeys(("CELL", "CELL_QUOTED"), "a tab" if has_tabs else "`,`")
    words |= {"FIRST": "a cell", "FIRST_QUOTED": "a cell in quotation marks"}
    words |= {"BREAK": "the end of the row"}
    text = rules if has_tabs else rules.replace("\\t", ",")
    return Grammar("emergent.lark", "emergent", (), MappingProxyType(words), text=text)


def _columns(names: list[str], cells: Cells, findings: Findings, *, as_go: bool) -> list[_Column]:
    """Return the columns that the header declares.

    names: the cells of the header. as_go: ignore the indices of a tensor's cells. Raises
    FormatError for a column that exset cannot read.
    """

    def error(place: int, message: str, hint: str) -> FormatError:
        span, code = cells.span(place), "emergent-header"
        return FormatError(message, source=cells.source, span=span, hint=hint, code=code)

    skip = int(names[0] == HEADER)
    if not skip and any(name and name[0] not in TYPES for name in names):
        hint = "begin the first line with _H:, or read a plain table: <--from tsv or format='tsv'>"
        raise error(0, "the file has no typed names, such as %Input", hint)
    found: dict[str, tuple[int, str, tuple[int, ...], list[int], list[str]]] = {}
    tensor = ""
    for place, given in enumerate(names):
        if given in ("", HEADER):
            continue
        is_typed = given[0] in TYPES
        match = _CELL.fullmatch(given[is_typed:])
        name = match[1] if match else given[is_typed:]
        if match is not None and match[3] is None:
            if name != tensor:
                hint = "the first cell of a tensor has its shape, such as %In[1:0]<1:2>"
                raise error(place, f"no tensor begins before the cell {safe(given)!r}", hint)
            found[name][3].append(place)
            found[name][4].append(match[2])
            continue
        if name in found:
            raise error(place, f"two columns have the name {safe(name)!r}", "rename one of them")
        tensor = name if match else ""
        shape = tuple(int(size or 0) for size in match[3][2:].split(",")) if match else ()
        if match and int(match[3][0]) != len(shape):
            hint = "write the number of dimensions, a colon and their sizes, such as <2:5,4>"
            has, declared = counted(len(shape), "size"), counted(int(match[3][0]), "dimension")
            message = f"the shape of {safe(given)!r} has {has}, but declares {declared}"
            raise error(place, message, hint)
        dtype, index = TYPES.get(given[0], ""), [match[2]] if match else [""]
        found[name] = place, dtype, shape, [place], index
    columns, at = list[_Column](), 0
    for name, (place, dtype, shape, places, index) in found.items():
        size, given = prod(shape), names[place]
        if as_go:
            columns.append(_Column(name, dtype, shape, np.arange(at, at + min(size, cells.width))))
            at = min(at + size, cells.width)
            continue
        units = [[int(each or 0) for each in text.split(",")] for text in index] if shape else [[]]
        is_right = len(units) == size and all(len(unit) == len(shape) for unit in units)
        is_right = is_right and all(
            a < b for unit in units for a, b in zip(unit, shape, strict=True)
        )
        flat = [sum(a * prod(shape[i + 1 :]) for i, a in enumerate(unit)) for unit in units]
        if not is_right or len(set(flat)) < size:
            hint = "write a name for each cell, or read them in file order: <--as-go or as_go=True>"
            raise error(place, f"the cells of {safe(given)!r} do not fill its shape", hint)
        if flat != sorted(flat):
            where = cells.place(0, place)
            findings.add(EMERGENT.finding("emergent-order", where, name=safe(given)))
        columns.append(_Column(name, dtype, shape, np.array(places)[np.argsort(flat)] - skip))
    return columns


@dataclass(frozen=True)
class _Rows:
    """The rows of a file below its header."""

    cells: Cells
    findings: Findings

    def report(self, code: str, cell: int, **words: object) -> None:
        """Add a finding about the cell with this index."""
        cells = self.cells
        place = cells.place(*divmod(cell, cells.width))
        raw = shown(cells.source.data[cells.starts[cell] : cells.ends[cell]])
        self.findings.add(EMERGENT.finding(code, place, raw=raw, **words))

    def marked(self, expected: bool) -> Longs:
        """Return for each row whether it begins with the cell `_D:`, as 1 or 0.

        expected: whether rows should begin with it; a row that differs gives a finding.
        """
        cells = self.cells
        firsts, ends = cells.starts[:: cells.width], cells.ends[:: cells.width]
        at = np.minimum(firsts[:, np.newaxis] + np.arange(3), cells.buffer.size - 1)
        marked = (ends - firsts == 3) & (cells.buffer[at] == np.frombuffer(DATA, np.uint8)).all(1)
        for row in np.flatnonzero(marked != expected).tolist():
            what = "a mark `_D:`, but the header no `_H:`" if marked[row] else "no mark `_D:`"
            self.report("emergent-mark", row * cells.width, found=what)
        found: Longs = marked.astype(np.int64)
        return found

    def column(self, column: _Column, marked: Longs, *, compiled: bool) -> TableColumn:
        """Return the values of a column; a row that is too short lacks values at its end.

        marked: which rows begin with `_D:`. compiled: whether to use compiled kernels.
        """
        rows, width = marked.size, self.cells.width
        places = marked[:, np.newaxis] + column.places
        which = (np.arange(rows)[:, np.newaxis] * width + np.minimum(places, width - 1)).ravel()
        is_there = (places < width).ravel()
        if not column.dtype:
            text = self.text(which, is_there)
            size = column.places.size
            return Lists.of(text, np.full(rows, size, np.int64)) if column.shape else text
        values, missing = self.numbers(which, ~is_there, column.dtype, compiled=compiled)
        shape = (rows, *column.shape) if column.places.size == prod(column.shape) else (rows, -1)
        present = np.asarray(~missing.reshape(rows, column.places.size).all(axis=1))
        if column.dtype == "float32":
            values = as_singles(values)
        elif column.dtype != "float64":
            values = self.whole(values, missing, which, column.dtype)
        return Numbers.of(values.reshape(shape), present if column.places.size else None)

    def text(self, which: Longs, is_there: Flags) -> Text:
        """Return the cells with the indices `which` as text.

        As in Go, a line break in a cell loses its carriage return. is_there: whether the row of
        each cell has the cell.
        """
        cells = self.cells
        spans = cells.starts[which], np.where(is_there, cells.ends[which], cells.starts[which])
        some = replace(
            cells, starts=spans[0], ends=spans[1], is_quoted=cells.is_quoted[which], width=1
        )
        text = some.text(0)
        if b"\r\n" in text.data.tobytes():
            text = Text.of((each or "").replace("\r\n", "\n") for each in text)
        present = constant(True, which.size, np.bool_)
        return Text.unchecked(data=text.data, offsets=text.offsets, present=present)

    def numbers(
        self, which: Longs, missing: Flags, dtype: str, *, compiled: bool
    ) -> tuple[Any, Flags]:
        """Return cells as float64, and which of them are missing or empty.

        which: the indices of the cells. missing: which of these cells are missing, because their
        rows are too short. dtype: the dtype of the column.
        """
        cells, values = self.cells, np.empty(which.size, np.float64)
        hard, run = np.empty(which.size, np.int64), KERNELS.choose(reals, compiled)
        left = run(cells.buffer, 0, cells.starts, cells.ends, which, 0, False, values, hard)
        for at in hard[:left].tolist():
            cell, values[at] = int(which[at]), np.nan
            raw = cells.source.data[cells.starts[cell] : cells.ends[cell]]
            match = _NUMBER.fullmatch(raw)
            if missing[at] or raw in _ABSENT:
                missing[at] |= not raw
            elif dtype == "bool" and raw in _FLAGS:
                values[at] = _FLAGS.index(raw) > 4
            elif raw in (b"Inf", b"-Inf"):
                self.report("emergent-missing", cell)
            else:
                number = match and _go_number(raw, is_hex=match["hex"] is not None)
                values[at] = number or 0.0
                if number is None:
                    self.report("emergent-value", cell)
        return values, missing

    def whole(self, values: Any, missing: Flags, which: Longs, dtype: str) -> Any:
        """Convert numbers to integers or flags of a dtype; NaN becomes 0, and its cell is missing.

        missing: which cells are missing; this array is changed. which: the indices of the cells.
        """
        missing |= np.isnan(values)
        values = np.where(missing, 0, values)
        if dtype == "bool":
            return values != 0
        least, most = (0, 256) if dtype == "uint8" else (-(2.0**63), 2.0**63)
        found = np.trunc(values)
        for at in np.flatnonzero((found < least) | (found >= most))[:1].tolist():
            span = self.cells.span(int(which[at]))
            hint = "correct the number, or choose another type for the column"
            raise FormatError(
                f"the number does not fit in {dtype}",
                source=self.cells.source,
                span=span,
                hint=hint,
                code="emergent-range",
            )
        for at in np.flatnonzero((found != values) | (np.abs(found) > _EXACT)).tolist():
            self.report("emergent-rounded", int(which[at]), number=int(found[at]))
        return found.astype(dtype)


def _go_number(raw: bytes, *, is_hex: bool) -> float | None:
    """Return a number as Go's ParseFloat reads it; None if it is out of range.

    is_hex: whether it is written with a hexadecimal mantissa.
    """
    try:
        number = float.fromhex(raw.decode()) if is_hex else float(raw)
    except OverflowError:
        return None
    return None if np.isinf(number) and b"i" not in raw.lower() else number
