"""Read CSV files in chunks of rows: first to find the types of the columns, then to return the
rows.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from exset.core.errors import Findings, FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.columns.strings import Strings
from exset.grammars.tables import sidecar
from exset.grammars.tables.cells import Room
from exset.grammars.tables.column_types import absent
from exset.grammars.tables.columns import Numbers, TableColumn
from exset.grammars.tables.sidecar import check_rows
from exset.grammars.tables.table import Table
from exset.grammars.tables.unit_columns import join_units, unit_groups
from exset.io.blocks import Blocks
from exset.parsers.engine.window import Window
from exset.parsers.tables.csv import HINT, grammar_of, parse
from exset.parsers.tables.csv_columns import Reading
from exset.parsers.tables.csv_header import BOM, delimiter_of, first_row_ends
from exset.parsers.tables.csv_kernels import KERNELS
from exset.parsers.tables.csv_numbers import Shown
from exset.parsers.tables.csv_rows import ROW, Cells
from exset.parsers.tables.csv_types import typed

_HEAD: Final = 1 << 20
_BLOCK: Final = 1 << 21
_TOKENS: Final = 1 << 18
_NOTES: Final = "csv"

Make = Callable[[Mapping[str, TableColumn], int], Table]
"""Makes the table of the columns of a chunk with a number of rows; raises ValueError."""


def stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[Table]:
    """Yield the rows of a CSV file in tables; joined, they equal the result of `parse`.

    All rows decide the types of the columns, so the file is read two or three times. A file whose
    chunks would have different types is read whole. Raises the errors of `parse`; if there are
    several, the first error.
    """
    findings = Findings() if findings is None else findings
    file = _File(blocks, limits, engine)
    known = blocks.notes.get(_NOTES)
    if not isinstance(known, _Known) and first_row_ends(blocks.head(_HEAD)):
        blocks.notes[_NOTES] = known = _Known.of(file, findings)
    if not isinstance(known, _Known) or known.make is None:
        source = blocks.whole_again(limits)
        yield parse(source, limits=limits, findings=findings, engine=engine)
        return
    findings.add_all(known.before)
    reading = known.reading.again()
    yield from file.tables(reading, known.make)
    reading.report(findings)
    findings.add_all(known.after)


@dataclass
class _File:
    """A CSV file that is read several times."""

    blocks: Blocks
    limits: Limits
    engine: Engine

    def chunks(self, watch: Callable[[bytes], object] | None = None) -> Iterator[Cells]:
        """Yield all rows in chunks; the first row has the names.

        watch: a function that is called with all bytes of the file, piece by piece.
        """
        head = self.blocks.head(_HEAD)
        grammar = grammar_of(delimiter_of(head))
        begin = len(BOM) if head.startswith(BOM) else 0
        window = Window(self.blocks.again(self.limits, _BLOCK, watch), b"\n")
        width: int | None = None
        for each in grammar.parse(
            window, self.engine, hint=lambda _: HINT, begin=begin, boundary=ROW, tokens=_TOKENS
        ):
            if each.steps.size:
                cells = Cells.of(grammar, window.source, each, width)
                yield cells
                cells.check()
                width = cells.width
                window.release(int(each.ends[-1]))

    def rows(self) -> Iterator[Cells]:
        """Yield all rows in chunks, except the row of names."""
        is_first = True
        for cells in self.chunks():
            yield cells.after_names() if is_first else cells
            is_first = False

    def tables(self, reading: Reading, make: Make) -> Iterator[Table]:
        """Yield all rows in chunks, as tables.

        reading: what is known of the columns from all rows. make: makes a table of columns.
        """
        for cells in self.rows():
            numbers = reading.numbers(cells, self.compiled)
            yield make(reading.columns(cells, numbers), len(cells))

    def has_one_type(self, reading: Reading, make: Make) -> bool:
        """Return whether the tables that `make` makes of the chunks all have the same types."""
        kinds: set[str] = set()
        try:
            kinds.update(str(table.types) for table in self.tables(reading.again(), make))
        except ValueError as error:
            if isinstance(error, FormatError):
                raise
            return False
        return len(kinds) < 2

    @property
    def compiled(self) -> bool:
        """Whether to use the compiled kernels."""
        return KERNELS.use_compiled(self.blocks.size or 0, self.engine)


@dataclass(frozen=True)
class _Known:
    """What one pass over all rows of a file has shown.

    make: makes a table of columns; None if the file must be read whole. before: the findings about
    the names. after: the findings about the sidecar.
    """

    reading: Reading
    make: Make | None
    before: Findings
    after: Findings

    @classmethod
    def of(cls, file: _File, findings: Findings) -> "_Known":
        """Read all rows once, and return what they show.

        Raises the errors of `parse`, after adding the findings before the error.
        """
        before, after = Findings(), Findings()
        content = file.blocks.sidecar
        print_of_file = None if content is None else sidecar.Fingerprint()
        reading: Reading | None = None
        try:
            for cells in file.chunks(None if print_of_file is None else print_of_file.add):
                if reading is None:
                    room = Room(file.blocks.name, file.blocks.size or 0, file.limits)
                    reading = Reading.of(cells, before, room)
                    cells = cells.after_names()
                reading.add(cells, file.compiled)
        except FormatError:
            findings.add_all(before)
            raise
        assert reading is not None, "the grammar has at least one row"
        source = Source(file.blocks.name, b"", sidecar=content)
        value = sidecar.value_of(source, after, print_of_file)
        if value is not None:
            try:
                check_rows(value, reading.rows)
                if _fits(reading, value) or file.has_one_type(reading, _typed(value)):
                    return cls(reading, _typed(value), before, after)
            except ValueError as error:
                if isinstance(error, FormatError):
                    raise
            return cls(reading, None, before, after)
        if _are_plain(reading) or file.has_one_type(reading, _joined):
            return cls(reading, _joined, before, after)
        return cls(reading, None, before, after)


def _typed(value: Mapping[str, Any]) -> Make:
    """Return a function that makes tables with the types that a sidecar declares.

    value: the content of the sidecar.
    """
    return lambda columns, rows: typed(columns, rows, {**value, "rows": rows})


def _joined(columns: Mapping[str, TableColumn], rows: int) -> Table:
    return Table(join_units(columns), rows, {})


def _are_plain(reading: Reading) -> bool:
    """Return whether columns that become arrays have the same type in each chunk for certain."""
    known = dict(zip(reading.names, zip(reading.dtypes(), reading.shown, strict=True), strict=True))
    for names in unit_groups(reading.names).values():
        group = [known[name] for name in names]
        dtypes = {dtype for dtype, _ in group}
        if dtypes != {np.dtype(np.float64)} and (
            len(dtypes) > 1 or any(shown.has_empty for _, shown in group)
        ):
            return False
    return True


def _fits(reading: Reading, value: Mapping[str, Any]) -> bool:
    """Return whether the types in a sidecar fit all rows for certain. reading: what is known
    about the columns. value: the sidecar's JSON value.
    """
    known = dict(zip(reading.names, zip(reading.dtypes(), reading.shown, strict=True), strict=True))
    for name, kind in value["columns"].items():
        wanted = absent(kind, 0)
        names = [name]
        if isinstance(wanted, Numbers) and len(wanted.shape) == 1:
            names = [f"{name}:{unit}" for unit in range(wanted.shape[0])]
        for each in names:
            dtype, shown = known.pop(each, (np.dtype(np.void), Shown()))
            if not _holds(wanted, dtype, shown):
                return False
    return not known


def _holds(wanted: TableColumn, dtype: "np.dtype[Any] | None", shown: Shown) -> bool:
    """Return whether a type can store all cells of a column for certain.

    wanted: a column of the type. dtype, shown: the dtype of the cells, and what they look like.
    """
    if isinstance(wanted, Strings):
        return dtype is None
    if not isinstance(wanted, Numbers) or dtype is None:
        return False
    kind = wanted.values.dtype
    if kind.kind == "f":
        return dtype == np.float64
    if kind.kind in "iu" and dtype == np.int64:
        limits = np.iinfo(kind)
        return bool(limits.min <= shown.least and shown.most <= limits.max)
    return kind == dtype
