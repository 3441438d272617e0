"""The cells of CSV: the rows of a file, or of a chunk of it, as spans of its bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import FormatError, Place
from exset.core.kernels import Engine
from exset.core.source import Source, Span
from exset.core.text import counted, invalid_utf8
from exset.grammars.columns.arrays import Bytes, Flags, Longs, offsets_of, run_of
from exset.grammars.tables.columns import Text
from exset.parsers.engine.driver import TOKENS
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.stream import ParseStream

T = TypeVar("T", bound=np.generic)

ROW: Final = 0
"""The step that completes a row."""

_QUOTE: Final = ord('"')
_PART: Final = 1 << 19  # bytes that a thread parses at once
_SHORTEST: Final = 4  # bytes of a cell; unused room for shorter ones takes no memory


@dataclass(frozen=True)
class Cells:
    """The cells of one or more rows of `width` cells each.

    `source`: the bytes that contain the cells. `starts`, `ends`: int64 [cells], where each cell
    begins and ends in `buffer`, the bytes of the source, without quotation marks. `is_quoted`:
    bool [cells], whether each cell has quotation marks. `error`: the error of the row after these,
    if that has a wrong number of cells.
    """

    source: Source
    starts: Longs
    ends: Longs
    is_quoted: Flags
    width: int
    error: FormatError | None = None

    @classmethod
    def of(
        cls, grammar: Grammar, source: Source, stream: ParseStream, width: int | None = None
    ) -> Self:
        """Return the cells of the rows in a parse stream, up to the first row with a wrong width.

        `width`: the number of cells that each row must have, by default that of the first row.
        """
        first, first_quoted, cell, cell_quoted, line = (
            grammar.terminal(name)
            for name in ("FIRST", "FIRST_QUOTED", "CELL", "CELL_QUOTED", "BREAK")
        )
        tokens = stream.kinds.size - int(stream.kinds[-1] == line)  # without the end of the file
        kinds, ends = stream.kinds[:tokens], stream.ends[:tokens]
        is_quoted = (kinds == first_quoted) | (kinds == cell_quoted)
        starts = stream.starts[:tokens] + ((kinds == cell) | (kinds == cell_quoted))
        stops = ends
        if is_quoted.any():
            starts, stops = starts + is_quoted, ends - is_quoted
        if source.start:
            starts, stops = starts - source.start, stops - source.start
        # A row that begins with a delimiter has an empty cell before it.
        breaks = np.flatnonzero(kinds == line)
        after = kinds[breaks + 1]
        is_open = (after != first) & (after != first_quoted)
        sizes = np.diff(breaks, append=tokens) - 1 + is_open
        width = int(sizes[0]) if width is None else width
        error, wrong = None, np.flatnonzero(sizes != width)
        if not wrong.size and not is_open.any():  # each row is a line break, and its cells
            rows = -1, 1 + width
            starts, stops = (each.reshape(rows)[:, 1:].flatten() for each in (starts, stops))
            return cls(source, starts, stops, is_quoted.reshape(rows)[:, 1:].flatten(), width)
        kept = kinds != line
        if is_open.any():  # the line break before the row becomes its first cell
            opening = breaks[is_open]
            kept[opening] = True
            starts[opening] = stops[opening]
        if wrong.size:
            row = int(wrong[0])
            after_row = [*breaks[row + 1 : row + 2].tolist(), tokens][0]
            span = Span(int(ends[breaks[row]]), int(ends[after_row - 1]))
            error = _wrong_width(source, span, int(sizes[row]), width)
            kept[int(breaks[row]) :] = False
        return cls(source, starts[kept], stops[kept], is_quoted[kept], width, error)

    def __len__(self) -> int:
        return self.starts.size // self.width

    @cached_property
    def buffer(self) -> Bytes:
        """The bytes of the source."""
        return np.frombuffer(self.source.data, np.uint8)

    def after_names(self) -> Self:
        """Return all rows but the first, which has the names of the columns."""
        cells = slice(self.width, None)
        each = (self.starts[cells], self.ends[cells], self.is_quoted[cells])
        return replace(self, starts=each[0], ends=each[1], is_quoted=each[2])

    def at(self, places: Longs) -> Self:
        """Return the cells of each row at `places`, as rows of one cell each.

        places: int64 [k], or [rows, k] if they are different in each row. The cell at a place
        beyond the row is empty.
        """
        within = np.minimum(places, self.width - 1)
        run = run_of(within, self.width) if within.ndim == 1 else None

        def chosen(array: NDArray[T]) -> NDArray[T]:
            rows = array.reshape(-1, self.width)
            if within.ndim > 1:
                return np.take_along_axis(rows, within, axis=1)
            return rows[:, within if run is None else run]

        starts = chosen(self.starts)
        ends = np.where(places < self.width, chosen(self.ends), starts)
        each = (starts.ravel(), ends.ravel(), chosen(self.is_quoted).ravel())
        return replace(self, starts=each[0], ends=each[1], is_quoted=each[2], width=1)

    def check(self) -> None:
        """Raise FormatError for bytes that are not UTF-8; else raise `error`, if there is one."""
        self._check_text()
        if self.error is not None:
            raise self.error

    def _check_text(self) -> None:
        if not self.starts.size:
            return
        begin, end = int(self.starts[0]), int(self.ends[-1])
        if (at := invalid_utf8(self.source.view[begin:end])) is not None:
            raise _not_utf8(self.source, self.source.start + begin + at)

    def has_plain(self) -> Flags:
        """Return for each column whether it has a filled cell without quotation marks."""
        is_plain = (self.ends > self.starts) & ~self.is_quoted
        return np.asarray(is_plain.reshape(-1, self.width).any(axis=0))

    def names(self) -> list[str]:
        """Return the cells of the first row. Raises FormatError for bytes that are not UTF-8."""
        cells = slice(0, self.width)
        each = (self.starts[cells], self.ends[cells])
        replace(self, starts=each[0], ends=each[1], error=None)._check_text()
        return [name or "" for name in self._text(slice(0, self.width), is_name=True)]

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join the rows of one or more parts, which must have the same source."""
        if len(parts) == 1:
            return parts[0]
        return replace(
            parts[0],
            starts=np.concatenate([part.starts for part in parts]),
            ends=np.concatenate([part.ends for part in parts]),
            is_quoted=np.concatenate([part.is_quoted for part in parts]),
        )

    def text(self, column: int) -> Text:
        """Return a column as text; an empty cell without quotation marks is no value."""
        return self._text(slice(column, None, self.width), is_name=False)

    def _text(self, cells: slice, *, is_name: bool) -> Text:
        starts, ends, is_quoted = self.starts[cells], self.ends[cells], self.is_quoted[cells]
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

    def place(self, row: int, column: int) -> Place:
        """Return the place of a cell."""
        return Place.in_text(self.source, self.span(self.width * row + column))

    def span(self, cell: int) -> Span:
        """Return the span of a cell in the file, with its quotation marks."""
        begin, quoted = self.source.start, int(self.is_quoted[cell])
        return Span(begin + int(self.starts[cell]) - quoted, begin + int(self.ends[cell]) + quoted)


def parts_of(
    grammar: Grammar, source: Source, engine: Engine, hint: str, begin: int = 0
) -> Iterator[Cells]:
    """Parse a text from the byte `begin` on, and yield its rows in parts, in their order.

    Several threads parse a large text. All rows must have the width of the first one, as in
    `Cells.of`. hint: the advice on a syntax error. Raises FormatError for a syntax error.
    """
    width: int | None = None

    def cells_of(stream: ParseStream) -> Cells:
        return Cells.of(grammar, source, stream, width)

    for stream, ready in grammar.results(
        source,
        engine,
        hint=lambda _: hint,
        begin=begin,
        boundary=ROW,
        tokens=max(TOKENS, len(source.data) // _SHORTEST),
        work=cells_of,
        largest=_PART,
    ):
        if stream.steps.size:
            is_ready = ready is not None and ready.width == width
            cells = ready if ready is not None and is_ready else cells_of(stream)
            width = cells.width
            yield cells


def _not_utf8(source: Source, at: int) -> FormatError:
    """Return the error for the byte at the offset `at`, which is not UTF-8."""
    return FormatError(
        f"the byte 0x{source.data[at - source.start]:02x} is not UTF-8",
        source=source,
        span=Span(at, at + 1),
        hint="convert the file to UTF-8, for example with iconv -f latin1 -t utf-8",
        code="table-text",
    )


def _wrong_width(source: Source, span: Span, size: int, width: int) -> FormatError:
    """Return the error for a row that has more or fewer cells than there are names.

    size: the number of its cells. width: the number of names.
    """
    return FormatError(
        f"the row has {counted(size, 'cell')}, but the first row has {counted(width, 'name')}",
        source=source,
        span=span,
        hint="put a cell with a delimiter or a line break in quotation marks",
        code="csv-row",
    )
