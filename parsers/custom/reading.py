"""Parse a text to columns: as a whole, or in chunks of whole records."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import numpy as np

from exset.core.errors import FormatError, Place
from exset.core.kernels import Engine
from exset.core.source import Source, Span
from exset.grammars.columns.arrays import Longs
from exset.grammars.tables.columns import Numbers
from exset.parsers.custom import values as v
from exset.parsers.custom.builder import Builder
from exset.parsers.custom.columns import Columns, Rows, Values
from exset.parsers.custom.conversions import Conversion
from exset.parsers.custom.fragment import Fragment, Part
from exset.parsers.custom.lists import item_marks
from exset.parsers.custom.shape import Shape
from exset.parsers.custom.spans import Spans, Text
from exset.parsers.engine.division import Sizes
from exset.parsers.engine.driver import ANY_STEP
from exset.parsers.engine.errors import syntax_error
from exset.parsers.engine.expectation import CLOSERS
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.stream import ParseStream, Rejection
from exset.parsers.engine.window import Window

_TOKENS: Final = 1 << 17
_MOST_MARKS: Final = 1 << 10
"""How many open brackets before a chunk have a place for messages."""

_NONE: Final = np.empty(0, np.int64)
_END: Final = ParseStream(np.empty(0, np.int16), _NONE, _NONE, np.empty(0, np.int16), _NONE)


@dataclass
class Reading:
    """One parse of a text, which gives the text's columns.

    conversions: how to convert terminals. make: a function that makes a builder, which builds the
    rows of all tables. text: the bytes of the current chunk. places: the places of the brackets
    that were opened before this chunk and are still open.
    """

    grammar: Grammar
    shape: Shape
    conversions: Mapping[str, Conversion]
    input: Source | Window
    engine: Engine
    make: Callable[[], Builder]
    compiled: bool
    builder: Builder = field(init=False)
    text: Text = field(init=False)
    places: dict[int, Place] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.builder, self.text = self.make(), Text(self._source)

    def whole(self, sizes: Sizes) -> Columns | None:
        """Parse a whole text in several threads, and return its columns.

        Return None if it finds no places where records probably begin. Raises Rejection for a
        syntax error, and FormatError for a token that its dtype cannot store. If there are several
        errors, it raises any one of them.
        """
        assert isinstance(self.input, Source)
        found = item_marks(self.grammar, self.shape, self.input, self.engine, sizes.first)
        if found is None or (depth := found.marks.depth) is None:
            return None
        free = deque[Builder]()

        def work(stream: ParseStream) -> Fragment | None:
            try:
                builder = free.pop()
            except IndexError:
                builder = self.make()
            fragment = builder.fragment(stream, depth)
            if fragment is not None and self._convert(fragment.parts, with_actions=False):
                fragment = None  # the calling thread raises the error
            free.append(builder)
            return fragment

        parts = self.grammar.divided(self.input, self.engine, sizes, *found, work)
        for stream, fragment in parts:
            if fragment is None or not self.builder.join(fragment):
                for _ in self.builder.add(stream):
                    pass
        for _ in self.builder.add(_END, end=self._source.end):
            pass
        return self._cut()

    def chunks(self) -> Iterator[Columns]:
        """Yield the columns of each chunk. If the builder makes no cuts, there is one chunk.

        Raises FormatError for a syntax error, and for a token that its dtype cannot store.
        """
        streams = self.grammar.streams(self.input, self.engine, boundary=ANY_STEP, tokens=_TOKENS)
        try:
            for stream in streams:
                for _ in self.builder.add(stream):
                    yield self._cut()
        except Rejection as rejection:
            raise self._error(rejection) from None
        for _ in self.builder.add(_END, end=self._source.end):
            yield self._cut()
        yield self._cut()

    @property
    def _source(self) -> Source:
        return self.input if isinstance(self.input, Source) else self.input.source

    def _cut(self) -> Columns:
        """Return the columns of all records so far, and begin the next chunk."""
        text = self.text = self.text._replace(source=self._source)
        events = self.builder.events
        waiting = self._checked()
        parts, rows = self.builder.cut()
        names = tuple(self.shape.children)
        tables = {
            name: _rows(
                parts.get(events.rows[name], Part()), parts.get(events.parents[name], Part())
            )
            for name in names
        }
        found = {
            key: self._values(key, parts.get(event, Part()))
            for key, event in events.columns.items()
        }
        assert [len(tables[name].starts) for name in names] == rows.tolist()
        if isinstance(self.input, Window):
            self.text = text.moved(text.source, waiting, compiled=self.compiled)
            self._place_marks(text.source)
            self.input.release(int(self.builder.position))
        return Columns(self.shape, tables, found)

    def _values(self, key: tuple[str, str], part: Part) -> Values:
        table, terminal = key
        is_one = self.shape.children[table][terminal] == (1, 1)
        owners = None if is_one else _joined(part.third)
        what = self.conversions.get(terminal)
        if what is not None and what.dtype is not None:
            pieces = [numbers for numbers in part.values if numbers is not None]
            found = np.concatenate(pieces or [np.empty(0, what.dtype)])
            return Values(lambda order: Numbers.of(found[order]), owners)
        spans, text, compiled = (
            Spans(_joined(part.first), _joined(part.second)),
            self.text,
            self.compiled,
        )
        return Values(lambda order: v.read_text(text, spans.take(order), compiled=compiled), owners)

    def _checked(self) -> Spans:
        """Convert the numbers of all rows so far. Return the spans of the tokens that are not in a
        row yet.

        Raises FormatError for the first token that cannot be converted.
        """
        wrong, text = self._convert(self.builder.parts), self.text
        kinds, waiting = self.builder.waiting()
        for terminal, what in self.conversions.items():
            mine = np.flatnonzero(kinds == self.grammar.terminal(terminal))
            if len(mine):
                some = Spans(waiting.starts[mine], waiting.ends[mine])
                _, found = v.read(text, terminal, what, some, compiled=self.compiled)
                wrong += filter(None, [found])
        if wrong:
            raise v.error_of(text, min(wrong))
        return waiting

    def _convert(self, parts: Mapping[int, Part], *, with_actions: bool = True) -> list[v.Wrong]:
        """Convert or check the tokens in `parts`, and return the wrong tokens.

        parts: the part of each event. The result has at most one wrong token for each piece of a
        part.
        """
        wrong, text, compiled = list[v.Wrong](), self.text, self.compiled
        for (_, terminal), event in self.builder.events.columns.items():
            what, part = self.conversions.get(terminal), parts.get(event)
            if what is None or part is None or not (with_actions or what.action is None):
                continue
            for piece, values in enumerate(part.values):
                if values is None:
                    some = part.first[piece].astype(np.int64), part.second[piece].astype(np.int64)
                    part.values[piece], found = v.read(
                        text, terminal, what, Spans(*some), compiled=compiled
                    )
                    wrong += filter(None, [found])
        return wrong

    def _error(self, rejection: Rejection) -> FormatError:
        """Return the error at which a parse ends.

        This is the syntax error. But if a token before the syntax error cannot be converted, it is
        the error of this token.
        """
        self.text = self.text._replace(source=self._source)
        try:
            self.builder.collect()
            self._checked()
        except FormatError as error:
            return error
        marks = self.builder.opened()
        for mark, offset in rejection.opened:
            if marks and CLOSERS.get(marks[-1][0]) == mark:
                marks.pop()
            else:
                marks.append((mark, offset))
        source = self.text.source
        place = None
        if marks and marks[-1][1] < source.start:
            place = self.places.get(marks[-1][1])
            marks = marks if place is not None else []
        whole = Rejection(rejection.offset, rejection.expected, marks, rejection.stack)
        return syntax_error(source, 0, whole, self.grammar.display_name, lambda _: None, place)

    def _place_marks(self, source: Source) -> None:
        """Store the places of the innermost open brackets, because the chunk's bytes will be
        dropped.
        """
        known, self.places = self.places, {}
        for _, offset in islice(reversed(self.builder.opened()), _MOST_MARKS):
            if offset in known:
                self.places[offset] = known[offset]
            elif offset >= source.start:
                self.places[offset] = Place.in_text(source, Span(offset, offset + 1))


def _joined(pieces: list[Longs]) -> Longs:
    """Join arrays to one int64 array, and empty the list `pieces` to free the arrays' memory."""
    joined = np.concatenate(pieces, dtype=np.int64) if pieces else _NONE
    pieces.clear()
    return joined


def _rows(rows: Part, parents: Part) -> Rows:
    return Rows(
        starts=_joined(rows.first),
        ends=_joined(rows.second),
        children=_joined(parents.first),
        parents=_joined(parents.second),
        tables=_joined(parents.third),
    )
