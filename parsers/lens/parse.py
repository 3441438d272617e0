"""Parse Lens example files, text (.ex), into an `ExampleSet`; `render` is the inverse.

`grammars/lens.lark` defines the syntax. The manual page "Example Files" describes it; where the
manual and Lens 2.63 (example.c, util.c) differ, exset follows Lens. A text that Lens reads gives
the values that Lens gets; a text on which Lens crashes or hangs is an error. A `proc:` is Tcl and
stays text. Only the form of the text is lost: comments, white space, and the notation of numbers
and strings.
"""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source, Span
from exset.core.text import counted
from exset.grammars.lens.columns import REAL_FIELDS, SetHeader
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.lens.findings import MAX_GROUPS, finding_at, too_many_groups
from exset.io.blocks import Blocks
from exset.parsers.engine.grammar import size_of
from exset.parsers.engine.recovery import with_later_errors
from exset.parsers.engine.stream import ParseStream
from exset.parsers.engine.window import Window
from exset.parsers.lens import checks
from exset.parsers.lens import steps as c
from exset.parsers.lens.actions import act, event_offsets
from exset.parsers.lens.assemble import example_set, strings_of
from exset.parsers.lens.hints import hint
from exset.parsers.lens.lint import Alternation, Meaning, report
from exset.parsers.lens.list_order import arrange, room_for
from exset.parsers.lens.steps import Columns, Tokens, empty_columns
from exset.parsers.lens.tokens import GRAMMAR, KERNELS, Text

_BOM: Final = b"\xef\xbb\xbf"
_LAST_COMMENT: Final = re.compile(rb"(?:\A|[\r\n])(#[^\r\n]*)\Z")
SMALLEST: Final = 4  # bytes, CR LF as one: Lens first reads four, to detect a binary file
_TOKENS: Final = 1 << 18  # in a chunk
_FEW_TOKENS: Final = 1 << 16  # in a chunk of a text that is still being read


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> ExampleSet:
    """Return the examples of a text, in normal form.

    `findings` collects the likely mistakes that Lens accepts. `engine`: "reference" lets Lark run
    the grammar; "table" runs tables made from the grammar, always compiled; "auto" runs the tables,
    compiled if the text is long. Raises FormatError for a text that Lens refuses, or on which Lens
    crashes or hangs, and LimitError.
    """
    chunks = list(Reading(source, limits, findings, engine).sets())
    return chunks[0] if len(chunks) == 1 else ExampleSet.joined(chunks)


def stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[ExampleSet]:
    """Yield the examples of a text in one or more sets, as the text arrives.

    An example is yielded when its line is complete, as Lens reads it from a pipe. The sets have the
    same header. Joined, they equal the result of `parse` for the same bytes, with the same
    findings; an error comes after all sets before it. The reference engine first reads to the end.
    """
    size = SMALLEST
    while len(_translated(head := blocks.head(size))) < SMALLEST and len(head) == size:
        size += 1
    if _LAST_COMMENT.search(head):
        head = blocks.head(size + 1)
    window = Window(blocks, b";")
    yield from Reading(Source(blocks.name, head), limits, findings, engine, window).sets()


class Reading:
    """A text that is read in chunks; each chunk but the last ends with an example.

    Without a `window` the source is the whole text.
    """

    def __init__(
        self,
        source: Source,
        limits: Limits,
        findings: Findings | None,
        engine: Engine,
        window: Window | None = None,
    ) -> None:
        self.source = source
        self.window = window
        self.limits = limits
        self.findings = Findings() if findings is None else findings
        self.engine = engine
        self.begin = begin_of(source, self.findings)
        self.header: SetHeader | None = None
        self.done: Columns | None = None
        self.before = 0  # examples, also those with an error
        self.events = 0
        self.groups: set[bytes | None] = set()
        self.alternation = Alternation()

    @property
    def expanded(self) -> int:
        """The number of units in the spans that were read so far."""
        return 0 if self.done is None else self.limits.max_expand - int(self.done.state[c.LEFT])

    def sets(self) -> Iterator[ExampleSet]:
        """Yield the examples of each chunk."""
        chunks = GRAMMAR.parse(
            self.window or self.source,
            self.engine,
            hint=hint,
            begin=self.begin,
            boundary=c.EXAMPLE,
            tokens=_TOKENS if self.window is None else _FEW_TOKENS,
        )
        for chunk in chunks:
            begun = self.done, self.before
            try:
                if len(chunk.steps) or self.header is None:
                    yield from self.examples(chunk)
            except FormatError as error:
                if self.window is not None:
                    raise
                self.done, self.before = begun
                raise with_later_errors(error, chunk, chunks, c.EXAMPLE, self.check) from None
            if self.window is not None and len(chunk.ends):
                self.window.release(int(chunk.ends[-1]))
        self.alternation.report(self.findings)
        if finding := too_many_groups(len(self.groups), Place(self.source.name)):
            self.findings.add(finding)

    def examples(self, stream: ParseStream) -> Iterator[ExampleSet]:
        """Yield the examples of a chunk; if one has an error, first those before the error."""
        if self.window is not None:
            self.source = self.window.source
        # Use the size of the whole text or, if that is unknown, of the bytes read so far.
        compiled = KERNELS.use_compiled(size_of(self.window or self.source), self.engine)
        text = Text(self.source, stream, compiled=compiled, limits=self.limits)
        try:
            chunk = self.meaning(stream, text)
        except FormatError:
            halves = stream.halves(c.EXAMPLE)
            if not halves:
                raise
            for half in halves:
                yield from self.examples(half)
            return
        if self.header is None:
            [proc] = text.strings(chunk.strings.header_proc)
            reals_of_set = zip(REAL_FIELDS, chunk.columns.header.tolist(), strict=True)
            self.header = SetHeader(proc=proc, **dict(reals_of_set))
        self.events += chunk.columns.uses.shape[1]
        examples = example_set(text, chunk.columns, chunk.strings, self.header)
        report(chunk, examples.groups, self.findings)
        self.alternation.add(chunk)
        if len(self.groups) <= MAX_GROUPS:
            self.groups.update(examples.groups)
        yield examples

    def check(self, stream: ParseStream) -> None:
        """Check a chunk that follows an error: raise FormatError for a further error.

        If the chunk is a single example with an error, this example is counted.
        """
        compiled = KERNELS.use_compiled(size_of(self.source), self.engine)
        try:
            self.meaning(stream, Text(self.source, stream, compiled=compiled, limits=self.limits))
        except FormatError:
            if not stream.halves(c.EXAMPLE):
                self.before += 1
            raise

    def meaning(self, stream: ParseStream, text: Text) -> Meaning:
        """Run the actions on a chunk. Raises FormatError."""
        count = np.bincount(stream.steps, minlength=len(c.STEPS))
        reals, ints, hard = text.numbers()
        spans = (text.starts, text.ends)
        before = stream.tokens_before
        tokens = Tokens(stream.steps, before, *spans, ints, reals, text.buffer, text.base)
        checks.check_integers(text, tokens.ints)
        offsets = event_offsets(tokens, count)
        if count[c.NUM_EVENTS]:
            checks.check_event_counts(text, tokens, np.diff(offsets), self.events, self.limits)
        values = text.count("VALUE", "UNKNOWN") if count[c.DENSE_VALUES] else 0
        units = text.count("UNIT", "STAR") if count[[c.UNITS, c.ALL_UNITS]].any() else 0
        limit = self.limits.max_expand
        columns = done = empty_columns(count, offsets, values, units, limit)
        if self.done is not None:
            c.resume(columns, self.done)
        if self.before:
            columns.state[[c.IN_HEADER, c.BEFORE]] = 0, self.before
        KERNELS.choose(act, text.compiled)(tokens, columns)
        if columns.state[c.REASON]:
            raise checks.impossible(text, columns, self.limits)
        if columns.state[c.UNORDERED]:
            arranged, numbers = room_for(columns)
            KERNELS.choose(arrange, text.compiled)(columns, arranged, numbers)
            columns = arranged
        strings = strings_of(text, columns)
        for quoted in strings:
            checks.check_strings(text, quoted, self.limits)
        self.done = done
        self.before += int(count[c.EXAMPLE])
        return Meaning(text, tokens, columns, count, hard, strings)


def _translated(data: bytes) -> bytes:
    """Return bytes with each CRLF replaced by LF, as Tcl reads them."""
    return data.replace(b"\r\n", b"\n")


def begin_of(source: Source, findings: Findings) -> int:
    """Check the first bytes as Lens does (readExampleSet), and return where to begin to parse."""
    data, place = source.data, Place(source.name)
    if not data:
        raise FormatError("the file is empty", source=source, span=Span(0, 0), code="lens-empty")
    size = len(_translated(data[: 2 * SMALLEST + 1]))
    if size < SMALLEST:
        what = f"the file has {counted(size, 'byte')} (CR LF counts as 1), and Lens calls it empty"
        advice = "add line breaks at the end"
        findings.add(finding_at("lens-refuses", place, what=what, hint=advice))
    elif size == SMALLEST and (unseen := _LAST_COMMENT.search(data)):
        message = "Lens rejects a comment in a file of 4 bytes without a line break at its end"
        advice = "add a line break"
        raise FormatError(message, source=source, span=Span(*unseen.span(1)), hint=advice)
    if data.startswith(_BOM):
        what, advice = (
            "a byte order mark before the text",
            "save the file as UTF-8 without a byte order mark",
        )
        findings.add(finding_at("lens-refuses", place, what=what, hint=advice))
        return len(_BOM)
    return 0
