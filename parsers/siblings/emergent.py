"""Parse tables of emergent as ReadCSV of emer/etable does, and write them.

Indices in the header say where in a tensor a cell belongs.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import Finding, Findings, FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import has_surrogates, safe
from exset.grammars.columns.arrays import Longs, as_singles, constant
from exset.grammars.siblings.findings import EMERGENT
from exset.grammars.siblings.layers import as_patterns, from_patterns
from exset.grammars.siblings.patterns import Patterns, is_vector
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text, type_of
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.grammars.tables.unit_columns import is_too_wide
from exset.parsers.engine.errors import shown
from exset.parsers.siblings.conversion import KERNELS, real_numbers
from exset.parsers.siblings.decimals import decimals, joined
from exset.parsers.tables.csv import grammar_of
from exset.parsers.tables.csv_rows import Cells, parts_of

_HEADER, _DATA = "_H:", b"_D:"
_TYPES: Final = MappingProxyType(
    {"$": "", "&": "", "%": "float32", "#": "float64", "|": "int64", "@": "uint8", "^": "bool"}
)
"""The dtype of each type character; "" for text."""
_LETTERS: Final = MappingProxyType({dtype: letter for letter, dtype in _TYPES.items()})
_HINT: Final = "a cell with quotation marks begins and ends with one"
_CELL: Final = re.compile(r"(.+)\[\d:([\d,]{1,99})\](?:<(\d):([\d,]{1,99})>)?", re.DOTALL)
_NUMBER: Final = re.compile(
    rb"[-+]?(?:\d(?:_?\d)*+\.?(?:\d(?:_?\d)*+)?|\.\d(?:_?\d)*+)(?:[eE][-+]?\d++)?"
    rb"|[-+]?(?i:inf(?:inity)?)|(?i:nan)|(?P<hex>[-+]?0[xX](?=\.?[\da-fA-F])[\da-fA-F]*+\.?"
    rb"[\da-fA-F]*+[pP][-+]?\d{1,5})"
)
_FLAGS: Final = (b"f", b"F", b"false", b"False", b"FALSE", b"t", b"T", b"true", b"True", b"TRUE")
_ABSENT: Final = MappingProxyType(
    dict.fromkeys((b"", b"NaN", b"-NaN"), "") | dict.fromkeys((b"Inf", b"-Inf"), "emergent-missing")
)
"""Cells without a number, and the codes of the findings about them."""
_EXACT: Final = 1 << 53
_MOST: Final = (1 << 63) - 1024
"""The largest real of 64 bits that is an integer of 64 bits."""
_WORDS: Final = MappingProxyType({"nan": b"NaN", "inf": b"+Inf"})
_SPECIAL: Final = frozenset(b'\t\r\n"')
_LENS: Final = frozenset(("example", "event", "frequency", "max_time", "min_time", "grace_time"))
"""Columns of every table of Lens examples: emergent gets only those that say something."""


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
    grammar = grammar_of(b"," if b"," in first and b"\t" not in first else b"\t", "emergent")
    parts = [*parts_of(grammar, source, engine, _HINT)]
    if not parts:
        return Table({}, 0, {})
    for part in parts:
        part.check()
    cells = Cells.joined(parts)
    compiled = KERNELS.use_compiled(len(source.data), engine)
    reading = _Reading(cells, Findings() if findings is None else findings, compiled)
    tensors, marked = reading.header(as_go=as_go), reading.marked()
    columns = {name: reading.column(each, marked) for name, each in tensors.items()}
    return as_patterns(Table(columns, marked.size, {}))


@dataclass
class _Tensor:
    """A column that the header declares; the shape of a single cell is ().

    places: its cells in a row. index: where each of them belongs in the tensor.
    """

    dtype: str
    shape: tuple[int, ...]
    places: list[int]
    index: list[tuple[int, ...]]

    def order(self) -> list[int]:
        """Return the rank of each cell in the flat tensor; [] unless the cells fill it."""
        shape = self.shape or (1,)
        if prod(shape) == len(self.index) == len({*self.index}):
            with suppress(ValueError, TypeError):  # of other dimensions, or out of bounds
                return [int(np.ravel_multi_index(unit, shape)) for unit in self.index]
        return []


@dataclass(frozen=True)
class _Reading:
    """A file: its cells, those of the header, too."""

    cells: Cells
    findings: Findings
    compiled: bool

    def header(self, *, as_go: bool) -> dict[str, _Tensor]:
        """Return the columns that the header declares, by name; see `parse` for `as_go`.

        Raises FormatError for a column that exset cannot read.
        """
        names, cells, found = self.cells.names(), self.cells, dict[str, _Tensor]()
        skip, tensor = int(names[0] == _HEADER), ""
        if not skip and any(name and name[0] not in _TYPES for name in names):
            raise FormatError.of(self.finding("emergent-header", cells, 0))
        for place, given in enumerate(names):
            if given in ("", _HEADER):
                continue
            title = given[given[0] in _TYPES :]
            match = _CELL.fullmatch(title)
            name, index, dimensions, sizes = match.groups() if match else (title, "0", "0", "")
            shape = _numbers_in(sizes)
            if name != tensor if sizes is None else int(dimensions) != len(shape):
                what = "has no shape" if sizes is None else "has not one size for each dimension"
                raise FormatError.of(self.finding("emergent-tensor", cells, place, what=what))
            if sizes is not None and name in found:
                raise FormatError.of(self.finding("emergent-twice", cells, place))
            tensor = name if match else ""
            each = found.setdefault(name, _Tensor(_TYPES.get(given[0], ""), shape, [], []))
            each.places.append(place - skip)
            each.index.append(_numbers_in(index))
        at = 0
        for each in found.values():
            begin, order = each.places[0] + skip, each.order()
            if as_go:
                size = min(prod(each.shape), cells.width)
                each.places, at = [*range(at, at + size)], min(at + size, cells.width)
            elif not order:
                what = "does not have a name for each of its cells"
                raise FormatError.of(self.finding("emergent-tensor", cells, begin, what=what))
            else:
                each.places = [place for _, place in sorted(zip(order, each.places, strict=True))]
                if order != sorted(order):
                    self.findings.add(self.finding("emergent-order", cells, begin))
        return found

    def marked(self) -> Longs:
        """Return for each row whether it begins with the cell `_D:`, as 1 or 0.

        A row that differs from the header gives a finding.
        """
        cells, expected = self.cells.after_names(), self.cells.names()[0] == _HEADER
        firsts, ends = cells.starts[:: cells.width], cells.ends[:: cells.width]
        at = np.minimum(firsts[:, np.newaxis] + np.arange(3), cells.buffer.size - 1)
        is_data = (cells.buffer[at] == np.frombuffer(_DATA, np.uint8)).all(axis=1)
        marked = np.asarray((ends - firsts == len(_DATA)) & is_data)
        for row in np.flatnonzero(marked != expected).tolist():
            what = "a mark `_D:`, but the header no `_H:`" if marked[row] else "no mark `_D:`"
            self.findings.add(self.finding("emergent-mark", cells, row * cells.width, found=what))
        return marked.astype(np.int64)

    def column(self, tensor: _Tensor, marked: Longs) -> TableColumn:
        """Return the values of a column; a row that is too short lacks values at its end.

        marked: which rows begin with `_D:`, as 1 or 0.
        """
        rows, size = marked.size, len(tensor.places)
        shift = marked[:, np.newaxis] if marked.any() != marked.all() else marked[:1]
        cells = self.cells.after_names().at(shift + np.array(tensor.places, np.int64))
        if not tensor.dtype:
            text = _text(cells)
            return Lists.of(text, np.full(rows, size, np.int64)) if tensor.shape else text
        values, missing = self.numbers(cells, tensor.dtype), cells.starts == cells.ends
        if tensor.dtype == "float32":
            values = as_singles(values)
        elif tensor.dtype != "float64":
            missing |= np.isnan(values)
            values = self.whole(np.where(missing, 0, values), cells, tensor.dtype)
        present = ~missing.reshape(rows, size).all(axis=1) if size else None
        shape = tensor.shape if size == prod(tensor.shape) else (size,)
        return Numbers.of(values.reshape(rows, *shape), present)

    def numbers(self, cells: Cells, dtype: str) -> NDArray[Any]:
        """Return cells as numbers: NaN for missing ones. dtype: that of the column."""
        starts, ends = cells.starts, cells.ends
        spans = cells.buffer, 0, starts, ends
        values, hard = real_numbers(spans, np.arange(len(cells)), self.compiled)
        for at in hard.tolist():
            values[at], code = _number(cells.source.data[starts[at] : ends[at]], dtype)
            if code:
                self.findings.add(self.finding(code, cells, at))
        return values

    def whole(self, values: NDArray[Any], cells: Cells, dtype: str) -> NDArray[Any]:
        """Convert numbers to integers or flags of a dtype. cells: where they are in the file."""
        if dtype == "bool":
            return np.asarray(values != 0)
        least, most = (0, 256) if dtype == "uint8" else (-(2.0**63), 2.0**63)
        found = np.trunc(values)
        for at in np.flatnonzero((found < least) | (found >= most))[:1].tolist():
            raise FormatError.of(self.finding("emergent-range", cells, at, dtype=dtype))
        for at in np.flatnonzero((found != values) | (np.abs(found) >= _EXACT)).tolist():
            self.findings.add(self.finding("emergent-rounded", cells, at, number=int(found[at])))
        return np.asarray(found.astype(dtype))

    def finding(self, code: str, cells: Cells, cell: int, **words: object) -> Finding:
        """Return a finding about a cell; words: values for its message, in addition to `raw`."""
        raw = shown(cells.source.data[cells.starts[cell] : cells.ends[cell]])
        return EMERGENT.finding(code, cells.place(*divmod(cell, cells.width)), raw=raw, **words)


def _numbers_in(text: str | None) -> tuple[int, ...]:
    """Return the numbers in a text such as `2,3`, in which one may be missing: it is 0."""
    return tuple(int(each or 0) for each in text.split(",")) if text else ()


def _text(cells: Cells) -> Text:
    """Return cells as text. As in Go, a line break in a cell loses its carriage return."""
    text = cells.text(0)
    if b"\r\n" in text.data.tobytes():
        text = Text.of((each or "").replace("\r\n", "\n") for each in text)
    return Text.unchecked(**{**vars(text), "present": constant(True, len(cells), np.bool_)})


def _number(raw: bytes, dtype: str) -> tuple[float, str]:
    """Return a number as emergent reads it, and the code of the finding about it, "" if none.

    Source: Go, ParseFloat.
    """
    if raw in _ABSENT:
        return np.nan, _ABSENT[raw]
    if dtype == "bool" and raw in _FLAGS:
        return float(_FLAGS.index(raw) > 4), ""
    if match := _NUMBER.fullmatch(raw):
        with suppress(OverflowError):
            number = float.fromhex(raw.decode()) if match["hex"] else float(raw)
            if not np.isinf(number) or b"i" in raw.lower():
                return number, ""
    return 0.0, "emergent-value"


def render(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return the rows of a table; arrays become tensors, and `from_patterns` changes the names.

    A row without a number becomes an empty cell. Raises FormatError for columns that emergent does
    not have, and for values that it would read differently; with `lossy` they are left out.
    """
    patterns = Patterns.of(table, "emergent", findings, lossy)
    kept = {name for name, column in table.columns.items() if getattr(column, "shape", ())}
    others = patterns.others if table.rows and table.columns.keys() >= _LENS else {}
    unused = [name for name in others if name not in kept and patterns.says_nothing(name)]
    header, parts = [b"_H:"], [[_DATA] * table.rows]
    for name, column in from_patterns(table.without_columns(*unused)).items():
        found = _cells(name, column, patterns.losses)
        if found is None:
            continue
        kind, shape, cells = found
        if "[" in name or has_surrogates(name):
            problem = "the name of a column of emergent must be UTF-8, and cannot contain `[`"
            patterns.losses.report(name, problem)
            continue
        units = [_index(unit) for unit in np.ndindex(*shape)] if shape else [""]
        units[0] += f"<{_index(shape)[1:-1]}>" if shape else ""
        header += [_quoted(f"{kind}{name}{unit}".encode()) for unit in units]
        parts.append(joined(cells, np.arange(table.rows + 1) * len(units), b"\t"))
    lines = map(b"\t".join, zip(*parts, strict=True))
    return b"\n".join([b"\t".join(header), *lines, b""])


def _index(numbers: tuple[int, ...]) -> str:
    return f"[{len(numbers)}:{','.join(map(str, numbers))}]"


def _cells(
    name: str, column: TableColumn, losses: Losses
) -> tuple[str, tuple[int, ...], list[bytes]] | None:
    """Return the type character of a column, the shape of its rows, and the text of its cells.

    Return None if the format cannot store it, and it is dropped.
    """
    if isinstance(column, Numbers) and is_too_wide(column):
        losses.report(name, "the array is too wide for emergent, with a column for each number")
        return None
    if is_vector(column) and 0 not in column.shape:
        return _numbers(name, column, losses)
    text, size = column, 1
    if isinstance(column, Lists) and len(column) and column.lengths[0] == column.lengths.max() > 0:
        size = int(column.lengths[0])
        text = column.items if len(column.items) == size * len(column) else column
    if not isinstance(text, Text):
        problem = f"emergent cannot store the column {safe(name)!r} ({type_of(column)})"
        losses.report(name, problem)
        return None
    cells = [b"" if each is None else each.encode() for each in text]
    is_wrong = ~text.present | np.array([b"\r\n" in cell for cell in cells], np.bool_)
    for at in np.flatnonzero(is_wrong)[:1].tolist():
        problem = "emergent has no cells without text, and no Windows line endings within text"
        losses.report(name, problem, at // size)
    return "$", (size,) if text is not column else (), [_quoted(cell) for cell in cells]


def _numbers(
    name: str, column: Numbers, losses: Losses
) -> tuple[str, tuple[int, ...], list[bytes]]:
    values: Any = column.values
    if values.dtype == np.float16:
        values = as_singles(values)
    if values.dtype.kind in "iu":
        for at in np.flatnonzero((values > _EXACT) | (values < -_EXACT))[:1].tolist():
            problem = "emergent reads integers as 64-bit floats, which round this one"
            losses.report(name, problem, at // prod(column.shape))
            values = np.minimum(values, _MOST).astype(np.float64).astype(np.int64)
    flags = np.where(values, b"true", b"false") if values.dtype.kind == "b" else None
    cells = decimals(values, _WORDS) if flags is None else flags.ravel().tolist()
    for at in np.flatnonzero(np.repeat(~column.present, prod(column.shape))).tolist():
        cells[at] = b""
    return _LETTERS.get(str(values.dtype), "|"), column.shape, cells


def _quoted(cell: bytes) -> bytes:
    return b'"%b"' % cell.replace(b'"', b'""') if _SPECIAL.intersection(cell) else cell
