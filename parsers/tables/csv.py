"""Parse CSV and TSV (RFC 4180) into tables; `csv_write` writes them, `csv_stream` reads in chunks.

Source: RFC 4180, and Python's csv module, whose strict reader gives the same cells.
"""

from functools import cache
from os import path
from types import MappingProxyType
from typing import Final

from exset import grammars
from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.tables import sidecar
from exset.grammars.tables.cells import Room
from exset.grammars.tables.table import Table
from exset.grammars.tables.unit_columns import join_units
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.recovery import Records
from exset.parsers.tables.csv_columns import Reading
from exset.parsers.tables.csv_header import BOM, delimiter_of
from exset.parsers.tables.csv_kernels import KERNELS
from exset.parsers.tables.csv_rows import Cells, parts_of
from exset.parsers.tables.csv_types import typed

HINT: Final = "end the cell with a quotation mark; write a quotation mark within it twice"
"""The advice on a syntax error."""


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table of a CSV file; the first row decides the delimiter: comma, semicolon or tab.

    A column of integers becomes int64, or uint64 if they are too large for it; a column of other
    numbers becomes float64; all other columns become text. A column whose cells are all in
    quotation marks becomes text, too, unless all cells of the file are in quotation marks. An
    empty cell gives its row no value; in quotation marks it is an empty text. `NAME:0` to `NAME:K`
    become one column of arrays. A sidecar that belongs to the file gives other types, and the
    metadata. Raises FormatError for a syntax error, for rows with more or fewer cells than there
    are names, and for bytes that are not UTF-8; LimitError for columns that take much more memory
    than the file.
    """
    findings = Findings() if findings is None else findings
    grammar = grammar_of(delimiter_of(source.data))
    begin = len(BOM) if source.data.startswith(BOM) else 0
    parts: list[Cells] = []
    reading: Reading | None = None
    room = Room(source.name, len(source.content), limits)
    for cells in parts_of(grammar, source, engine, HINT, begin):
        reading = reading or Reading.of(cells, findings, room)
        cells.check()
        parts.append(cells)
    assert reading is not None, "the grammar has at least one row"
    rows = Cells.joined(parts).after_names()
    numbers = reading.add(rows, KERNELS.use_compiled(len(source.data), engine))
    columns = reading.columns(rows, numbers)
    reading.report(findings)
    if (value := sidecar.value_of(source, findings)) is not None:
        try:
            return typed(columns, len(rows), value)
        except ValueError as error:
            sidecar.report(source, error, findings)
    return Table(join_units(columns), len(rows), {})


@cache
def grammar_of(delimiter: bytes, name: str = "csv") -> Grammar:
    """Return the grammar of files with this delimiter, made of `NAME.lark`, where it is a comma."""
    with open(path.join(*grammars.__path__, f"{name}.lark"), encoding="ascii") as file:
        rules = [line for line in file if not line.startswith("//")]
    mark = {b"\t": r"\t"}.get(delimiter, delimiter.decode())
    word = "a tab" if delimiter == b"\t" else f"`{mark}`"
    words = {"FIRST": "a cell", "FIRST_QUOTED": "a cell in quotation marks", "CELL": word}
    words |= {"CELL_QUOTED": word, "BREAK": "the end of the row"}
    return Grammar(
        file=f"{name}.lark",
        start=name,
        steps=("row",),
        words=MappingProxyType(words),
        records=Records((0,), begin=b"\n"),
        text="".join(rules).replace(",", mark),
    )
