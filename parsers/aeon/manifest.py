"""Parse aeon's manifests (.tsv, .csv) into `Manifest`; `manifest_text` writes them.

The language is `grammars/manifest.lark`. Where aeon's user guide and its parsers differ, exset
follows the parsers: the last public one (7938b99), that of the user guide (f99a69a), and an old one
(v0.2.7). Fields of numbers and base64 are checked; `exset.runtime.aeon.elements` decodes them, and
`exset.runtime.aeon.manifest_files` checks files.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.lookalikes import foreign
from exset.core.source import Source, Span
from exset.core.text import counted, invalid_utf8
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_findings import finding_at
from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.grammars.columns.arrays import Longs, constant, row_indices
from exset.grammars.columns.strings import Strings
from exset.parsers.aeon import manifest_columns as c
from exset.parsers.aeon import manifest_dialects as dialects
from exset.parsers.aeon.manifest_checks import check_elements
from exset.parsers.aeon.manifest_columns import KERNELS
from exset.parsers.engine.recovery import with_later_errors
from exset.parsers.engine.stream import ParseStream

_TOKENS: Final = 1 << 16
_FIELDS: Final = 1 << 10


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    dialect: Dialect | str | None = None,
) -> Manifest:
    """Parse a manifest.

    dialect: "head", "seed" or "csv", by default guessed from the first line. findings: collects
    likely mistakes that aeon accepts, and elements that aeon fails to read. engine: as in
    `Grammar.parse`. Raises FormatError where aeon rejects the text or crashes, and ValueError for
    an unknown dialect.
    """
    findings = Findings() if findings is None else findings
    chosen = dialects.guess_dialect(source.data) if dialect is None else Dialect(dialect)
    if dialect is None and chosen is not Dialect.HEAD:
        if advice := foreign(source.data):
            message = "this is not a manifest"
            raise FormatError(message, source=source, span=Span(0, 1), hint=advice)
        has_words = dialects.is_header_without_at(source.data)
        advice = "if the first line is the header, put `@` before it; else " if has_words else ""
        place = Place(source.name)
        findings.add(finding_at("aeon-dialect", place, dialect=chosen, advice=advice))
    return _Parser(source, findings, engine, chosen).parse()


class _Parser:
    """Collects the records of a text from chunks, each of which ends with a record."""

    def __init__(
        self, source: Source, findings: Findings, engine: Engine, dialect: Dialect
    ) -> None:
        self.source = source
        self.findings = findings
        self.engine = engine
        self.dialect = dialect
        self.grammar = dialects.GRAMMARS[dialect]
        self.compiled = KERNELS.use_compiled(len(source.data), engine)
        self.find = KERNELS.choose(c.find_fields, self.compiled)
        self.buffer = np.frombuffer(source.data, np.uint8)
        names = ["BREAK", "COMMA_CELL" if dialect is Dialect.CSV else "CELL"]
        self.line_break, self.cell = map(self.grammar.terminal, names)
        self.types: tuple[ElementType, ...] | None = None
        self.width: int | None = None
        self.data = np.empty(len(source.data), np.uint8)  # the system provides memory on use
        self.offsets = np.zeros(_FIELDS, np.int64)
        self.lines = np.empty(_FIELDS, np.int32)
        self.state = np.zeros(c.STATE_SIZE, np.int64)
        self.state[c.LINE] = 1
        self.fields = 0

    def parse(self) -> Manifest:
        streams = self.grammar.parse(
            self.source,
            self.engine,
            hint=dialects.hint,
            boundary=dialects.RECORD,
            tokens=_TOKENS,
            check=self.check,
        )
        for stream in streams:
            try:
                self.add_chunk(stream)
            except FormatError as error:
                record = dialects.RECORD
                raise with_later_errors(error, stream, streams, record, self.check) from None
        records = int(self.state[c.RECORDS])
        types = self.types or ()
        width = len(types) if self.width is None else self.width
        self.report(len(types), width)
        return Manifest.unchecked(
            dialect=self.dialect,
            types=types,
            width=width,
            fields=Strings.unchecked(
                data=self.data[: self.offsets[self.fields]],
                offsets=self.offsets[: self.fields + 1],
                present=constant(True, self.fields, np.bool_),
            ),
            lines=self.lines[:records],
        )

    def check(self, stream: ParseStream) -> None:
        """Raise the error of a chunk after an error: the records and other findings are lost."""
        self.findings = Findings()
        if self.width is not None:
            self.add_chunk(stream)

    def add_chunk(self, stream: ParseStream) -> None:
        """Add the records of a chunk."""
        begin = 0
        if stream.steps.size and stream.steps[0] == dialects.HEADER:
            begin = int(stream.tokens_before[0])
            self.types = tuple(
                ElementType(self.grammar.terminals[kind])
                for kind in stream.kinds[:begin].tolist()
                if self.grammar.terminals[kind] in dialects.TYPES
            )
        if self.width is None:
            self.set_width(stream, begin)
        width = self.width or 0
        before = int(self.state[c.RECORDS])
        _make_room(self.lines, before + stream.steps.size)
        starts, ends = (np.empty(stream.kinds.size - begin, np.int64) for _ in range(2))
        self.state[c.WRONG] = -1
        spans = stream.kinds, stream.starts, stream.ends
        marks = begin, self.line_break, self.cell, width
        self.find(self.buffer, *spans, *marks, starts, ends, self.lines, self.state)
        if self.state[c.WRONG] >= 0:
            raise self.wrong_width(stream)
        count = (int(self.state[c.RECORDS]) - before) * width
        starts, ends = starts[:count], ends[:count]
        self.add_fields(starts, ends)
        if self.types and count:
            text = self.source, self.buffer, self.types, width
            check_elements(*text, starts, ends, self.compiled, self.findings)

    def set_width(self, stream: ParseStream, begin: int) -> None:
        """Set the number of fields of a record, from the first one."""
        width = self.fields_of(stream, begin)
        if self.dialect is Dialect.HEAD or not width:
            self.width = len(self.types or ()) if self.types or width else None
            return
        if self.types is None:
            self.types = (ElementType.FILE,) * width
        elif width < len(self.types):
            self.width = len(self.types)
            raise self.error(
                stream,
                begin,
                f"the record has {counted(width, 'field')}, but the header has"
                f" {counted(len(self.types), 'type')}: aeon crashes",
            )
        self.width = width

    def fields_of(self, stream: ParseStream, token: int) -> int:
        """Return the number of fields of the record after a line break, 0 for no record."""
        kinds = stream.kinds[token + 1 :]
        breaks = np.flatnonzero(kinds == self.line_break)
        count = int(breaks[0]) if breaks.size else kinds.size
        return count + (count > 0 and bool(kinds[0] == self.cell))

    def add_fields(self, starts: Longs, ends: Longs) -> None:
        """Copy fields into the columns."""
        _make_room(self.offsets, self.fields + starts.size + 1)
        offsets = self.offsets[self.fields : self.fields + starts.size + 1]
        at = int(offsets[0])
        if self.compiled:
            copy = KERNELS.compiled(c.copy_fields)
            copy(self.buffer, starts, ends, self.data, offsets[1:], at)
        else:
            np.cumsum(ends - starts, out=offsets[1:])
            offsets[1:] += at
            self.data[at : offsets[-1]] = self.buffer[row_indices(starts, ends - starts)]
        self.fields += starts.size

    def report(self, types: int, width: int) -> None:
        """Add the findings about the manifest as a whole."""
        place = Place(self.source.name)
        if not self.state[c.RECORDS]:
            self.findings.add(finding_at("aeon-no-records", place))
        if width > types:
            self.findings.add(finding_at("aeon-extra-fields", place, width=width, types=types))
        if (at := invalid_utf8(self.source.data)) is not None:
            byte = f"0x{self.source.data[at]:02x}"
            place = Place.in_text(self.source, Span(at, at + 1))
            self.findings.add(finding_at("aeon-not-utf8", place, byte=byte))
        if count := int(self.state[c.RETURNS]):
            at = int(self.state[c.RETURN])
            place = Place.in_text(self.source, Span(at, at + 1))
            self.findings.add(finding_at("aeon-carriage-return", place), count)

    def wrong_width(self, stream: ParseStream) -> FormatError:
        """Return the error for a record with another number of fields."""
        token = int(self.state[c.WRONG])
        width, expected = self.fields_of(stream, token), self.width or 0
        if self.dialect is Dialect.HEAD:
            other = f"the header has {counted(expected, 'type')}"
        else:
            other = f"the first record has {expected}"
        return self.error(stream, token, f"the record has {counted(width, 'field')}, but {other}")

    def error(self, stream: ParseStream, token: int, message: str) -> FormatError:
        """Return the error for the record after a line break."""
        start = int(stream.ends[token])
        end = self.source.data.find(b"\n", start)
        span = Span(start, len(self.source.data) if end < 0 else end)
        hint = dialects.width_hint(self.source.data[span.start : span.end], self.dialect)
        place = Place.in_text(self.source, span)
        return FormatError(message, place=place, hint=hint, code="aeon-record-width")


def _make_room(array: NDArray[np.generic], size: int) -> None:
    """Enlarge an array in place to at least a size; there must be no views of it."""
    if size > array.size:
        array.resize(max(size, 2 * array.size), refcheck=False)
