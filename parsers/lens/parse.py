"""Parse Lens example files, text (.ex), to an `ExampleSet`; the module `render` writes them.

`grammars/lens.lark` defines the syntax. The manual page "Example Files" describes it. Where the
manual and Lens 2.63 (example.c, util.c) differ, exset follows Lens. A text that Lens reads gives
the same values as in Lens. A text on which Lens crashes or hangs is an error. A `proc:` is Tcl
code, and remains text. The set does not contain comments, white space, or the notation of numbers
and strings.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source, Span
from exset.core.text import counted
from exset.grammars.lens.columns import SetHeader
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
from exset.parsers.lens.assemble import example_set, header_of, strings_of
from exset.parsers.lens.hints import hint
from exset.parsers.lens.lint import Alternation, Meaning, report
from exset.parsers.lens.list_order import arrange, room_for
from exset.parsers.lens.steps import Before, Tokens, empty_columns
from exset.parsers.lens.tokens import GRAMMAR, KERNELS, Text

_BOM: Final = b"\xef\xbb\xbf"
_LAST_COMMENT: Final = re.compile(rb"(?:\A|[\r\n])(#[^\r\n]*)\Z")
SMALLEST: Final = 4  # bytes, CR LF as one: Lens first reads four, to detect a binary file
_TOKENS: Final = 1 << 18  # in a chunk


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> ExampleSet:
    """Return the examples of a text, in normal form.

    `findings` collects the likely mistakes that Lens accepts. `engine`: with "reference", Lark runs
    the grammar. With "table", compiled code runs tables made from the grammar. With "auto", the
    code is compiled only if the text is long. Raises FormatError for a text that Lens refuses, or
    on which Lens crashes or hangs. Raises LimitError for a text beyond the limits.
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
    """Yield the examples of a text in one or more sets, while the text is still being read.

    An example is yielded when its line is complete, because Lens could then read it from a pipe.
    All sets have the same header. Joined, the sets equal the result of `parse` for the same bytes,
    with the same findings. An error is raised after all examples before the error. The reference
    engine reads the whole text first.
    """
    size = SMALLEST
    while len(_translated(head := blocks.head(size))) < SMALLEST and len(head) == size:
        size += 1
    if _LAST_COMMENT.search(head):
        head = blocks.head(size + 1)
    window = Window(blocks, b";")
    yield from Reading(Source(blocks.name, head), limits, findings, engine, window).sets()


class Chunk(NamedTuple):
    """The examples of one chunk of a text.

    expanded: the total number of events that the event lists in the chunk name. A limit applies to
    this number for the whole text.
    """

    meaning: Meaning
    examples: ExampleSet
    expanded: int


class Reading:
    """Reads a text in chunks; each chunk except the last ends with an example.

    window: gives the chunks. If it is None, the source is the whole text.
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
        self.before = Before(left=limits.max_expand)
        self.groups: set[bytes | None] = set()
        self.alternation = Alternation()

    @property
    def expanded(self) -> int:
        """The total number of events that the event lists read so far name."""
        return self.limits.max_expand - self.before.left

    def sets(self) -> Iterator[ExampleSet]:
        """Yield one set for each chunk, with the examples of the chunk."""
        chunks = GRAMMAR.results(
            self.window or self.source,
            self.engine,
            hint=hint,
            begin=self.begin,
            boundary=c.EXAMPLE,
            tokens=_TOKENS,
            work=self.ahead,
        )
        for stream, ready in chunks:
            begun = self.before
            try:
                if ready is not None and self.fits(ready):
                    yield self.taken(ready)
                elif len(stream.steps) or self.header is None:
                    yield from self.examples(stream)
            except FormatError as error:
                if self.window is not None:
                    raise
                self.before, rest = begun, (later for later, _ in chunks)
                raise with_later_errors(error, stream, rest, c.EXAMPLE, self.check) from None
            if self.window is not None and len(stream.ends):
                self.window.release(int(stream.ends[-1]))
        self.alternation.report(self.findings)
        if finding := too_many_groups(len(self.groups), Place(self.source.name)):
            self.findings.add(finding)

    def examples(self, stream: ParseStream) -> Iterator[ExampleSet]:
        """Yield the examples of a chunk in one or more sets.

        If an example has an error, yield the examples before it, then raise the error.
        """
        if self.window is not None:
            self.source = self.window.source
        try:
            chunk = self.chunk(stream, self.before)
        except FormatError:
            halves = stream.halves(c.EXAMPLE)
            if not halves:
                raise
            for half in halves:
                yield from self.examples(half)
            return
        yield self.taken(chunk)

    def ahead(self, stream: ParseStream) -> Chunk:
        """Return the examples of a later chunk, before the chunks that precede it are read.

        It assumes that the preceding chunks have at most one event for each byte, and no event
        lists.
        """
        events = int(stream.starts[0]) if len(stream.starts) else 0
        return self.chunk(stream, self.before._replace(left=self.limits.max_expand, events=events))

    def fits(self, chunk: Chunk) -> bool:
        """Return whether the assumptions of `ahead` for a chunk are true, now that earlier chunks
        are read.
        """
        text = chunk.meaning.text
        return chunk.expanded <= self.before.left and self.before.events <= text.starts[0]

    def taken(self, chunk: Chunk) -> ExampleSet:
        """Return the examples of the next chunk. Add the chunk's findings and totals to those of
        the text.
        """
        meaning, examples, _ = chunk
        self.header = examples.header
        self.count(chunk)
        report(meaning, examples.groups, self.findings)
        self.alternation.add(meaning)
        if len(self.groups) <= MAX_GROUPS:
            self.groups.update(examples.groups)
        return examples

    def count(self, chunk: Chunk) -> None:
        """Add the events and examples of a chunk to the totals."""
        meaning, examples, expanded = chunk
        self.before = Before(
            self.before.left - expanded,
            self.before.examples + len(examples),
            self.before.events + examples.num_events,
            meaning.columns.header,
        )

    def check(self, stream: ParseStream) -> None:
        """Check a chunk after an earlier error. Raise FormatError if this chunk has an error, too.

        A chunk that is a single example counts as one example, even if it has an error.
        """
        try:
            self.count(self.chunk(stream, self.before))
        except FormatError:
            if not stream.halves(c.EXAMPLE):
                self.before = self.before._replace(examples=self.before.examples + 1)
            raise

    def chunk(self, stream: ParseStream, before: Before) -> Chunk:
        """Run the actions on a chunk, and return its examples.

        `before`: facts about the text before the chunk. Raises FormatError for an error that the
        grammar cannot detect.
        """
        # Use the size of the whole text or, if that is unknown, of the bytes read so far.
        compiled = KERNELS.use_compiled(size_of(self.window or self.source), self.engine)
        text = Text(self.source, stream, compiled=compiled, limits=self.limits)
        counts = np.bincount(stream.steps, minlength=len(c.STEPS))
        reals, ints, hard = text.numbers()
        spans = (text.starts, text.ends)
        tokens = Tokens(
            stream.steps, stream.tokens_before, *spans, ints, reals, text.buffer, text.base
        )
        checks.check_integers(text, tokens.ints)
        offsets = event_offsets(tokens, counts)
        if counts[c.NUM_EVENTS]:
            checks.check_event_counts(text, tokens, np.diff(offsets), before.events, self.limits)
        values = text.count("VALUE", "UNKNOWN") if counts[c.DENSE_VALUES] else 0
        units = text.count("UNIT", "STAR") if counts[[c.UNITS, c.ALL_UNITS]].any() else 0
        columns = done = empty_columns(counts, offsets, values, units, before)
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
        header = self.header or header_of(text, columns, strings)
        examples = example_set(text, columns, strings, header)
        meaning = Meaning(text, tokens, columns, counts, hard, strings)
        return Chunk(meaning, examples, before.left - int(done.state[c.LEFT]))


def _translated(data: bytes) -> bytes:
    """Return `data` with each CRLF replaced by LF, as Tcl does when it reads a file."""
    return data.replace(b"\r\n", b"\n")


def begin_of(source: Source, findings: Findings) -> int:
    """Check the first bytes of a text as Lens does. Return the offset at which to begin to parse.

    Source: Lens, readExampleSet.
    """
    data, place = source.data, Place(source.name)
    if not data:
        raise FormatError("the file is empty", source=source, span=Span(0, 0), code="lens-empty")
    size = len(_translated(data[: 2 * SMALLEST + 1]))
    if size < SMALLEST:
        what = f"the file has {counted(size, 'byte')} (CR LF counts as 1), and Lens calls it empty"
        advice = "add line breaks at the end"
        findings.add(finding_at("lens-refuses", place, what=what, hint=advice))
    elif size == SMALLEST and (unseen := _LAST_COMMENT.search(data)):
        message = "Lens rejects a file of 4 bytes whose comment does not end with a line break"
        advice = "add a line break after the comment"
        raise FormatError(message, source=source, span=Span(*unseen.span(1)), hint=advice)
    if data.startswith(_BOM):
        what, advice = (
            "a byte order mark before the text",
            "save the file as UTF-8 without a byte order mark",
        )
        findings.add(finding_at("lens-refuses", place, what=what, hint=advice))
        return len(_BOM)
    return 0
