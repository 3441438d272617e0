"""Parse aeon's manifests (.tsv, .csv) into `Manifest`; `manifest_text` writes them.

`grammars/manifest.lark` defines the syntax. Where aeon's user guide and its parsers differ, exset
follows the parsers. There are three: the last public parser (7938b99), the parser from the time of
the user guide (f99a69a), and an old parser (v0.2.7). This module checks fields of numbers and
base64. `exset.runtime.aeon.elements` decodes such fields, and `exset.runtime.aeon.manifest_files`
checks files.
"""

from collections.abc import Iterator
from copy import copy
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import Finding, Findings, FormatError, Place
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
from exset.io.blocks import Blocks
from exset.parsers.aeon import manifest_columns as c
from exset.parsers.aeon import manifest_dialects as dialects
from exset.parsers.aeon.manifest_checks import check_elements
from exset.parsers.aeon.manifest_columns import KERNELS
from exset.parsers.engine.division import read_divided
from exset.parsers.engine.grammar import size_of
from exset.parsers.engine.recovery import with_later_errors
from exset.parsers.engine.stream import ParseStream
from exset.parsers.engine.window import Window

_TOKENS: Final = 1 << 16
_FIELDS: Final = 1 << 10
_LINE_END: Final = b"\n"


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    dialect: Dialect | str | None = None,
) -> Manifest:
    """Parse a text to a manifest.

    dialect: "head", "seed" or "csv"; by default, exset detects it from the first line. findings:
    collects likely mistakes that aeon accepts, and elements that aeon cannot read. engine: as in
    `Grammar.parse`. Raises FormatError for a text that aeon rejects, or on which aeon crashes.
    Raises ValueError for an unknown dialect.
    """
    findings = Findings() if findings is None else findings
    chosen = dialect_of(source, findings, dialect)

    def read(findings: Findings, is_divided: bool) -> Manifest:
        first, *others = _Parser(source, findings, engine, chosen).manifests(is_divided)
        return first.concat(*others) if others else first

    return read_divided(source, findings, read)


def stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    dialect: Dialect | str | None = None,
) -> Iterator[Manifest]:
    """Parse a manifest in chunks: yield one or more manifests, each with the records of a chunk.

    Joined, these manifests equal the result of `parse` for the same bytes, with the same findings.
    An error is raised after all records before it. A record is yielded when the next record begins.
    """
    findings = Findings() if findings is None else findings
    head = b"" if dialect is not None else dialects.beginning(blocks)
    source = Source(blocks.name, head)
    chosen = dialect_of(source, findings, dialect)
    window = Window(blocks, _LINE_END, (_LINE_END,))
    yield from _Parser(source, findings, engine, chosen, window).manifests()


def dialect_of(source: Source, findings: Findings, dialect: Dialect | str | None) -> Dialect:
    """Return `dialect`, detected from the first lines if it is None. Report unusual dialects."""
    chosen = dialects.guess_dialect(source.data) if dialect is None else Dialect(dialect)
    if dialect is None and chosen is not Dialect.HEAD:
        if advice := foreign(source.data):
            message = "this is not a manifest"
            raise FormatError(message, source=source, span=Span(0, 1), hint=advice)
        advice = ""
        if dialects.is_header_without_at(source.data):
            advice = "if the first line is the header, put `@` before it; "
        elif chosen is Dialect.CSV:
            advice = "to make a manifest of a table, use exset manifest build --types; "
        place = Place(source.name)
        findings.add(finding_at("aeon-dialect", place, dialect=chosen, advice=advice))
    return chosen


class _Parser:
    """Collects the records of a text that comes in chunks. Each chunk ends with a record.

    window: gives the chunks. If it is None, the source is the whole text.
    """

    def __init__(
        self,
        source: Source,
        findings: Findings,
        engine: Engine,
        dialect: Dialect,
        window: Window | None = None,
    ) -> None:
        self.source = source
        self.window = window
        self.findings = findings
        self.engine = engine
        self.dialect = dialect
        self.grammar = dialects.GRAMMARS[dialect]
        self.buffer = np.frombuffer(source.data, np.uint8)
        self.compiled = False
        names = ["BREAK", "COMMA_CELL" if dialect is Dialect.CSV else "CELL"]
        self.line_break, self.cell = map(self.grammar.terminal, names)
        self.types: tuple[ElementType, ...] | None = None
        self.width: int | None = None
        self.make_columns(self.buffer.size)
        self.state = np.zeros(c.STATE_SIZE, np.int64)
        self.state[c.LINE] = 1
        self.fields = 0
        self.records = 0  # the records that were yielded
        self.checked = 0  # the bytes known to be UTF-8
        self.not_utf8: Finding | None = None
        self.first_return: Place | None = None

    def manifests(self, is_divided: bool = False) -> Iterator[Manifest]:
        """Yield one manifest, or one for each chunk if there is a window or `is_divided` is true.

        is_divided: whether several threads may read a large text.
        """
        text = self.window or self.source
        chunks = self.grammar.results(
            text,
            self.engine,
            hint=dialects.hint,
            boundary=dialects.RECORD,
            tokens=_TOKENS,
            check=self.check,
            work=self.ahead if is_divided else None,
        )
        for stream, ready in chunks:
            if ready is not None:
                yield self.joined(ready)
                continue
            self.compiled = KERNELS.use_compiled(size_of(text), self.engine)
            if self.window is not None:
                self.source = self.window.source
                self.buffer = np.frombuffer(self.source.data, np.uint8)
                self.make_columns(self.buffer.size)
                self.check_utf8(is_end=False)
            try:
                self.add_chunk(stream)
            except FormatError as error:
                if self.window is not None:
                    raise
                rest, record = (later for later, _ in chunks), dialects.RECORD
                raise with_later_errors(error, stream, rest, record, self.check) from None
            if self.fields and (is_divided or self.window is not None):
                yield self.taken()
                if self.window is not None:
                    self.window.release(int(stream.ends[-1]))
        if self.window is not None:
            self.source = self.window.source
        self.check_utf8(is_end=True)
        manifest = self.taken()
        self.report(len(manifest.types), manifest.width)
        if self.window is None or not self.records:
            yield manifest

    def taken(self) -> Manifest:
        """Return the records that were added since the last call."""
        fields, records, types = self.fields, int(self.state[c.RECORDS]), self.types or ()
        self.records += records
        self.state[c.RECORDS] = self.fields = 0
        manifest = Manifest.unchecked(
            dialect=self.dialect,
            types=types,
            width=len(types) if self.width is None else self.width,
            fields=Strings.unchecked(
                data=self.data[: self.offsets[fields]],
                offsets=self.offsets[: fields + 1],
                present=constant(True, fields, np.bool_),
            ),
            lines=self.lines[:records],
        )
        self.make_columns(self.buffer.size)
        return manifest

    def make_columns(self, size: int) -> None:
        """Make empty columns for up to `size` bytes of fields. Columns take memory only when
        filled.
        """
        self.data = np.empty(size, np.uint8)
        self.offsets, self.lines = np.zeros(_FIELDS, np.int64), np.empty(_FIELDS, np.int32)

    def ahead(self, stream: ParseStream) -> Self | None:
        """Return another parser with the records of a later chunk, for use in a thread."""
        if self.width is None:
            return None
        other = copy(self)
        other.findings, other.state = Findings(), np.zeros(c.STATE_SIZE, np.int64)
        other.make_columns(int(stream.ends[-1] - stream.starts[0]))
        other.add_chunk(stream)
        return other

    def joined(self, other: Self) -> Manifest:
        """Return the records of the next chunk. `other`: the result of `ahead` for this chunk."""
        other.lines += self.state[c.LINE]
        self.records += int(other.state[c.RECORDS])
        self.state[c.LINE] += other.state[c.LINE]
        self.state[c.RETURNS] += other.state[c.RETURNS]
        self.first_return = self.first_return or other.first_return
        self.findings.add_all(other.findings)
        return other.taken()

    def check(self, stream: ParseStream) -> None:
        """Raise FormatError if a chunk after the first error has an error. Store no records."""
        begin = self.first_token(stream)
        if self.width is None:
            self.set_width(stream, begin)
        self.find_fields(stream, begin, self.width or 0)
        if self.state[c.WRONG] >= 0:
            raise self.wrong_width(stream)

    def add_chunk(self, stream: ParseStream) -> None:
        """Add the records of a chunk. At an error, add the records before it, and raise it."""
        begin = self.first_token(stream)
        if begin:
            self.types = tuple(
                ElementType(self.grammar.terminals[kind])
                for kind in stream.kinds[:begin].tolist()
                if self.grammar.terminals[kind] in dialects.TYPES
            )
        if self.width is None:
            self.set_width(stream, begin)
        width = self.width or 0
        starts, ends = self.find_fields(stream, begin, width)
        self.add_fields(starts, ends)
        if self.types and starts.size:
            check_elements(
                self.source,
                self.buffer,
                self.types,
                width,
                starts,
                ends,
                compiled=self.compiled,
                findings=self.findings,
            )
        if self.state[c.WRONG] >= 0:
            raise self.wrong_width(stream)

    def first_token(self, stream: ParseStream) -> int:
        """Return the index of a chunk's first token after the header; 0 if there is no header."""
        has_header = stream.steps.size and stream.steps[0] == dialects.HEADER
        return int(stream.tokens_before[0]) if has_header else 0

    def find_fields(self, stream: ParseStream, begin: int, width: int) -> tuple[Longs, Longs]:
        """Return where each field of the records starts and ends in the buffer: int64 [fields].

        `begin`: the first token of a record. Stops at a record that does not have `width` fields.
        """
        before = int(self.state[c.RECORDS])
        _make_room(self.lines, before + stream.steps.size)
        starts, ends = (np.empty(stream.kinds.size - begin, np.int64) for _ in range(2))
        self.state[c.WRONG] = -1
        base, returns = self.source.start, int(self.state[c.RETURNS])
        find = KERNELS.choose(c.find_fields, self.compiled)
        find(
            self.buffer,
            stream.kinds,
            stream.starts - base if base else stream.starts,
            stream.ends - base if base else stream.ends,
            begin,
            self.line_break,
            self.cell,
            width,
            starts,
            ends,
            self.lines,
            self.state,
        )
        if not returns and self.state[c.RETURNS] and self.first_return is None:
            at = int(self.state[c.RETURN]) + base
            self.first_return = Place.in_text(self.source, Span(at, at + 1))
        count = (int(self.state[c.RECORDS]) - before) * width
        return starts[:count], ends[:count]

    def set_width(self, stream: ParseStream, begin: int) -> None:
        """Set the number of fields of all records: that of the record after the token `begin`."""
        width = self.fields_of(stream, begin)
        if self.dialect is Dialect.HEAD:
            self.width = len(self.types or ()) if self.types or width else None
            return
        if not width:
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
        """Return the field count of the record after the line break `token`; 0 if there is none."""
        kinds = stream.kinds[token + 1 :]
        breaks = np.flatnonzero(kinds == self.line_break)
        count = int(breaks[0]) if breaks.size else kinds.size
        if count and kinds[0] == self.cell:  # the separator follows an empty first field
            count += 1
        return count

    def add_fields(self, starts: Longs, ends: Longs) -> None:
        """Add fields to the columns: copy their bytes, buffer[starts[i]:ends[i]]."""
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
        """Add findings about the whole manifest. width: the number of fields of each record."""
        place = Place(self.source.name)
        if not self.records:
            self.findings.add(finding_at("aeon-no-records", place))
        if width > types:
            self.findings.add(finding_at("aeon-extra-fields", place, width=width, types=types))
        if self.not_utf8 is not None:
            self.findings.add(self.not_utf8)
        if self.first_return is not None:
            count = int(self.state[c.RETURNS])
            self.findings.add(finding_at("aeon-carriage-return", self.first_return), count)

    def check_utf8(self, is_end: bool) -> None:
        """Find the first byte that is not UTF-8, in the lines added since the last call."""
        if self.not_utf8 is not None:
            return
        data = self.source.data[self.checked - self.source.start :]
        if not is_end:
            data = data[: data.rfind(_LINE_END) + 1]
        if (at := invalid_utf8(data)) is not None:
            span = Span(self.checked + at, self.checked + at + 1)
            place, byte = Place.in_text(self.source, span), f"0x{data[at]:02x}"
            self.not_utf8 = finding_at("aeon-not-utf8", place, byte=byte)
        self.checked += len(data)

    def wrong_width(self, stream: ParseStream) -> FormatError:
        """Return the error for the first record with a wrong number of fields."""
        token = int(self.state[c.WRONG])
        width, expected = self.fields_of(stream, token), self.width or 0
        if self.dialect is Dialect.HEAD:
            other = f"the header has {counted(expected, 'type')}"
        else:
            other = f"the first record has {expected}"
        return self.error(stream, token, f"the record has {counted(width, 'field')}, but {other}")

    def error(self, stream: ParseStream, token: int, message: str) -> FormatError:
        """Return an error for the record after the line break `token`."""
        start = int(stream.ends[token])
        line = self.source.data[start - self.source.start :].partition(_LINE_END)[0]
        hint = dialects.width_hint(line, self.dialect)
        place = Place.in_text(self.source, Span(start, start + len(line)))
        return FormatError(message, place=place, hint=hint, code="aeon-record-width")


def _make_room(array: NDArray[np.generic], size: int) -> None:
    """Enlarge an array in place to at least `size` elements. There must be no views of it."""
    if size > array.size:
        array.resize(max(size, 2 * array.size), refcheck=False)
