"""Parse CSV and TSV (RFC 4180) into tables; `csv_write` writes them.

Source: RFC 4180; Python's csv module, whose strict reader gives the same cells.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from os import path
from types import MappingProxyType
from typing import Final, cast

import numpy as np

from exset import grammars
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source, Span
from exset.core.text import counted, invalid_utf8, safe
from exset.grammars.columns.arrays import Bytes, Flags, Longs, offsets_of
from exset.grammars.tables import csv_findings, sidecar
from exset.grammars.tables.columns import TableColumn, Text
from exset.grammars.tables.table import Table
from exset.grammars.tables.unit_columns import join_units
from exset.parsers.engine.driver import TOKENS
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.recovery import Records
from exset.parsers.engine.stream import ParseStream
from exset.parsers.tables.csv_header import BOM, delimiter_of, is_number
from exset.parsers.tables.csv_kernels import KERNELS
from exset.parsers.tables.csv_numbers import numbers_of
from exset.parsers.tables.csv_types import typed

_QUOTE: Final = ord('"')
_SHORTEST: Final = 4  # bytes of a cell; unused room for shorter ones takes no memory
_HINT: Final = "end the cell with a quotation mark; write a quotation mark within it twice"


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table of a CSV file; the first row decides the delimiter: comma, semicolon or tab.

    A column of integers is int64, or uint64 beyond it; one of numbers is float64; all others are
    text. A column whose cells are all in quotation marks is text, too, unless all cells of the file
    are in quotation marks. An empty cell is absent; in quotation marks it is an empty text.
    `NAME:0` to `NAME:K` are one column of arrays. A sidecar that belongs to the file gives other
    types, and the metadata. Raises FormatError for other syntax, for rows with another number of
    cells than names, and for bytes that are not UTF-8.
    """
    findings = Findings() if findings is None else findings
    if (at := invalid_utf8(source.data)) is not None:
        raise FormatError(
            f"the byte 0x{source.data[at]:02x} is not UTF-8",
            source=source,
            span=Span(at, at + 1),
            hint="convert the file to UTF-8, for example with iconv -f latin1 -t utf-8",
            code="table-text",
        )
    grammar = grammar_of(delimiter_of(source.data))
    begin = len(BOM) if source.data.startswith(BOM) else 0
    tokens = max(TOKENS, len(source.data) // _SHORTEST)
    [stream] = grammar.parse(source, engine, hint=lambda _: _HINT, begin=begin, tokens=tokens)
    compiled = KERNELS.use_compiled(len(source.data), engine)
    return _Cells.of(grammar, source, stream, compiled).table(findings)


@cache
def grammar_of(delimiter: bytes) -> Grammar:
    """Return the grammar of files with a delimiter."""
    with open(path.join(*grammars.__path__, "csv.lark"), encoding="ascii") as file:
        rules = [line for line in file if not line.startswith("//")]
    mark = {b"\t": r"\t"}.get(delimiter, delimiter.decode())
    return Grammar(
        file="csv.lark",
        start="csv",
        steps=("row",),
        words=MappingProxyType(
            {
                "FIRST": "a cell",
                "FIRST_QUOTED": "a cell in quotation marks",
                "CELL": f"`{mark}`",
                "CELL_QUOTED": f"`{mark}`",
                "BREAK": "the end of the row",
            }
        ),
        records=Records((0,), begin=b"\n"),
        text="".join(rules).replace(",", mark),
    )


@dataclass(frozen=True)
class _Cells:
    """The cells of a file: rows of `width` cells each, of which the first one has the names.

    starts, ends: int64 [cells], without quotation marks; is_quoted: bool [cells].
    """

    source: Source
    starts: Longs
    ends: Longs
    is_quoted: Flags
    width: int
    compiled: bool

    @classmethod
    def of(cls, grammar: Grammar, source: Source, stream: ParseStream, compiled: bool) -> "_Cells":
        """Return the cells of a parsed file. Raises FormatError for a row of another width."""
        kinds = stream.kinds
        first, first_quoted, cell, cell_quoted, line = (
            grammar.terminal(name)
            for name in ("FIRST", "FIRST_QUOTED", "CELL", "CELL_QUOTED", "BREAK")
        )
        is_quoted = (kinds == first_quoted) | (kinds == cell_quoted)
        starts = stream.starts + ((kinds == cell) | (kinds == cell_quoted)) + is_quoted
        ends = stream.ends - is_quoted
        # A row that begins with a delimiter has an empty cell before it.
        breaks = np.flatnonzero(kinds == line)
        after = kinds[breaks[:-1] + 1]
        is_open = (after != first) & (after != first_quoted)
        sizes = np.diff(breaks) - 1 + is_open
        kept = kinds != line
        if is_open.any():  # the line break before the row becomes its first cell
            opening = breaks[:-1][is_open]
            kept[opening] = True
            starts[opening] = ends[opening] = stream.ends[opening]
        width = int(sizes[0])
        if (wrong := np.flatnonzero(sizes != width)).size:
            raise _wrong_width(source, stream, breaks, int(wrong[0]), sizes)
        return cls(source, starts[kept], ends[kept], is_quoted[kept], width, compiled)

    @cached_property
    def buffer(self) -> Bytes:
        """The bytes of the file."""
        return np.frombuffer(self.source.data, np.uint8)

    def table(self, findings: Findings) -> Table:
        """Return the table, with findings about its columns."""
        names = list(self.text(0, slice(0, self.width)))
        rows = self.starts.size // self.width - 1
        if len(set(names)) < len(names):
            twice = next(i for i, name in enumerate(names) if name in names[:i])
            raise FormatError(
                f"two columns have the name {safe(names[twice] or '')!r}",
                source=self.source,
                span=self.span(twice),
                hint="rename one of them",
                code="table-names",
            )
        for i, name in enumerate(names):
            if is_number((name or "").encode()):
                place = Place.in_text(self.source, self.span(i))
                findings.add(csv_findings.finding_at("csv-no-names", place, name=safe(name or "")))
                break
        cells = slice(self.width, None)
        found = numbers_of(
            self.buffer,
            self.starts[cells],
            self.ends[cells],
            self.is_text(),
            compiled=self.compiled,
        )
        columns: dict[str, TableColumn] = {}
        for i, (name, column) in enumerate(zip(names, found, strict=True)):
            columns[name or ""] = self.checked_text(i, findings) if column is None else column
        if (value := sidecar.value_of(self.source, findings)) is not None:
            try:
                return typed(columns, rows, value)
            except ValueError as error:
                sidecar.report(self.source, error, findings)
        return Table(join_units(columns), rows, {})

    def is_text(self) -> Flags:
        """Return which columns are text: all their filled cells are in quotation marks.

        If all cells of the file are in quotation marks, the marks mean nothing.
        """
        if not self.is_quoted.any() or self.is_quoted.all():
            return np.zeros(self.width, np.bool_)
        cells = slice(self.width, None)
        is_plain = (self.ends[cells] > self.starts[cells]) & ~self.is_quoted[cells]
        return cast(Flags, ~is_plain.reshape(-1, self.width).any(axis=0))

    def checked_text(self, column: int, findings: Findings) -> Text:
        """Return a column of text, without its name, with findings about its cells."""
        text = self.text(column, slice(self.width + column, None, self.width))

        def place(row: int) -> Place:
            return Place.in_text(self.source, self.span(self.width * (row + 1) + column))

        changed = csv_findings.ChangedCells()
        changed.add(text)
        changed.report(findings, place)
        return text

    def text(self, column: int, cells: slice) -> Text:
        """Return some cells as text; an empty cell without quotation marks is absent."""
        starts, ends, is_quoted = self.starts[cells], self.ends[cells], self.is_quoted[cells]
        is_name = cells.step is None
        present = (ends > starts) | is_quoted | is_name
        found = Text.from_spans(self.buffer, starts, ends, present)
        marks = np.flatnonzero(found.data == _QUOTE)
        if not marks.size or not is_quoted.any():
            return found
        # Marks in quoted cells are in pairs, of which the first ones stay.
        lengths = found.lengths
        marks = marks[np.repeat(is_quoted, lengths)[marks]]
        kept = np.ones(found.data.size, np.bool_)
        kept[marks[1::2]] = False
        left = offsets_of(kept)[found.offsets]
        return Text.unchecked(data=found.data[kept], offsets=left, present=found.present)

    def span(self, cell: int) -> Span:
        """Return the span of a cell, with its quotation marks."""
        quoted = int(self.is_quoted[cell])
        return Span(int(self.starts[cell]) - quoted, int(self.ends[cell]) + quoted)


def _wrong_width(
    source: Source, stream: ParseStream, breaks: Longs, row: int, sizes: Longs
) -> FormatError:
    """Return the error for a row that has another number of cells than there are names."""
    begin, end = int(stream.ends[breaks[row]]), int(stream.starts[breaks[row + 1]])
    message = f"the row has {counted(int(sizes[row]), 'cell')}, but there are {int(sizes[0])} names"
    return FormatError(
        message,
        source=source,
        span=Span(begin, end),
        hint="put a cell with a delimiter or a line break in quotation marks",
        code="csv-row",
    )
