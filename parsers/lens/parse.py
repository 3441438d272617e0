"""Lens example files, text (.ex): bytes to `ExampleSet`; `render` is the inverse.

The language is `grammars/lens.lark`; the manual page "Example Files" describes it, and Lens 2.63
(example.c, util.c) decides. What Lens reads is read, with the values that it gets; what it crashes
or hangs on is an error. A `proc:` is Tcl and stays text. Only what belongs to the text itself is
lost: comments, blanks, the spelling of numbers and strings.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, ParamSpec, TypeVar

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine, Kernels
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source, Span
from exset.grammars.lens.columns import REAL_FIELDS, SetHeader
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.lens.findings import MAX_GROUPS, finding_at, too_many_groups
from exset.io.files import Blocks
from exset.parsers.engine import driver
from exset.parsers.engine.driver import Block
from exset.parsers.engine.errors import syntax_error
from exset.parsers.engine.stream import ParseStream, Rejection
from exset.parsers.engine.window import Window
from exset.parsers.lens import steps as c
from exset.parsers.lens.actions import act, event_offsets
from exset.parsers.lens.assemble import example_set, strings_of
from exset.parsers.lens.checks import (
    check_event_counts,
    check_integers,
    check_strings,
    hint,
    impossible,
    swallowed,
)
from exset.parsers.lens.lint import StringsOf, report
from exset.parsers.lens.list_order import arrange, room_for
from exset.parsers.lens.steps import Columns, Ints, Tokens, empty_columns
from exset.parsers.lens.tokens import GRAMMAR, Text

KERNELS: Final = Kernels(
    "exset.parsers.lens.steps",
    "exset.parsers.lens.list_actions",
    "exset.parsers.lens.actions",
    "exset.parsers.lens.list_order",
)
COMPILED_FROM: Final = 100_000
"""Bytes of text from which it pays to compile, or to load what is compiled."""

_BOM: Final = b"\xef\xbb\xbf"
_LAST_COMMENT: Final = re.compile(rb"(?:\A|[\r\n])(#[^\r\n]*)\Z")
_SMALLEST: Final = 4  # bytes: Lens looks for the magic of a binary file first
_BLOCK: Final = 1 << 20
_FEW_TOKENS: Final = 1 << 16  # at a time, of a text that is read as it comes

P = ParamSpec("P")
R = TypeVar("R")


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> ExampleSet:
    """The examples of a text, in normal form.

    `findings` collects what Lens accepts but people are caught by. `engine`: "reference" has Lark
    itself run the grammar, "table" the tables that it is lowered to, compiled whatever the size;
    "auto" runs the tables, compiled if the text is long. Raises FormatError where Lens refuses,
    crashes or hangs, and LimitError.
    """
    size = len(source.data)
    parts = list(_Reading(source, size, limits, findings, engine).sets(_slices(source)))
    return parts[0] if len(parts) == 1 else ExampleSet.joined(parts)


def stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[ExampleSet]:
    """The examples of a text that is read as it comes: sets of them, one at least.

    An example is yielded when its line is there, as Lens reads it from a pipe. The sets have one
    header; together they are what `parse` gives for the same bytes, with the same findings, and the
    same error after all that comes before it. The reference engine reads to the end first.
    """
    head = blocks.head(_SMALLEST)
    if _LAST_COMMENT.search(head):
        head = blocks.head(_SMALLEST + 1)
    window = Window(blocks, b";")
    known = Source(blocks.name, head), blocks.size or 0
    yield from _Reading(*known, limits, findings, engine, window).sets(window.fed())


def _slices(source: Source) -> Iterator[memoryview]:
    data = memoryview(source.data)
    return (data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK))


def _after(blocks: Iterator[Block], count: int) -> Iterator[Block]:
    for block in blocks:
        yield block[count:]
        count = max(count - len(block), 0)


class _Reading:
    """A text being read, part by part; each part but the last ends with an example."""

    def __init__(
        self,
        source: Source,
        size: int,
        limits: Limits,
        findings: Findings | None,
        engine: Engine,
        window: Window | None = None,
    ) -> None:
        """Look at the first bytes; size: of the whole, 0 if it is not known.

        Without a window the source is the whole text.
        """
        self.source = source
        self.window = window
        self.size = size
        self.limits = limits
        self.findings = Findings() if findings is None else findings
        self.engine = engine
        self.begin = _begin(source, self.findings)
        self.header: SetHeader | None = None
        self.done: Columns | None = None
        self.events = 0
        self.groups: set[bytes | None] = set()

    def sets(self, blocks: Iterator[Block]) -> Iterator[ExampleSet]:
        """The examples of the parts."""
        try:
            for part in self.streams(blocks):
                if len(part.steps) or self.header is None:
                    yield from self.examples(part)
                if self.window is not None and len(part.ends):
                    self.window.give_up(int(part.ends[-1]) + self.begin)
        except Rejection as rejection:
            raise self.error(rejection) from None
        if finding := too_many_groups(len(self.groups), Place.of(self.source.name)):
            self.findings.add(finding)

    def streams(self, blocks: Iterator[Block]) -> Iterator[ParseStream]:
        """The parse streams of the parts. Raises Rejection."""
        if self.begin:
            blocks = _after(blocks, self.begin)
        if self.engine == "reference":
            from exset.parsers.engine import reference  # which imports Lark

            yield from reference.streams(GRAMMAR, b"".join(blocks), boundary=c.EXAMPLE)
        elif self.window is None:
            yield from driver.streams(
                GRAMMAR, blocks, boundary=c.EXAMPLE, compiled=self.is_compiled()
            )
        else:
            yield from driver.streams(
                GRAMMAR,
                blocks,
                boundary=c.EXAMPLE,
                compiled=self.is_compiled,
                tokens=_FEW_TOKENS,
                eager=True,
            )

    def is_compiled(self) -> bool:
        """Whether kernels are compiled: for a long text, as far as its length is known."""
        size = self.size if self.window is None else max(self.size, self.window.seen)
        return KERNELS.worthwhile(size, self.engine, loading=COMPILED_FROM)

    def run(self, kernel: Callable[P, R]) -> Callable[P, R]:
        """A function that can be compiled, compiled if the text is to be read so."""
        return KERNELS.compiled(kernel) if self.is_compiled() else kernel

    def error(self, rejection: Rejection) -> FormatError:
        """Why the grammar is broken."""
        if self.window is not None:
            self.source = self.window.source
        moved = rejection.moved(self.begin)
        before = self.source.data[: moved.offset - self.source.start]
        return syntax_error(
            GRAMMAR, self.source, moved, lambda *found: swallowed(before, found[0]) or hint(*found)
        )

    def examples(self, stream: ParseStream) -> Iterator[ExampleSet]:
        """The examples of a part; before an error those that come before it."""
        if self.window is not None:
            self.source = self.window.source
        compiled = self.is_compiled()
        text = Text(self.source, stream, self.begin, compiled=compiled, limits=self.limits)
        count = np.bincount(stream.steps, minlength=len(c.STEPS))
        try:
            tokens, columns, hard, strings = self.meaning(stream, text, count)
        except FormatError:
            ends = np.flatnonzero(stream.steps == c.EXAMPLE)
            if len(ends) < 2:
                raise
            for half in stream.parts(int(ends[(len(ends) - 1) // 2]) + 1):
                yield from self.examples(half)
            return
        if self.header is None:
            [proc] = text.strings(strings.header_proc)
            reals_of_set = zip(REAL_FIELDS, columns.header.tolist(), strict=True)
            self.header = SetHeader(proc=proc, **dict(reals_of_set))
        self.events += len(columns.inputs)
        examples = example_set(text, columns, strings, self.header)
        report(text, tokens, columns, count, hard, strings, examples.groups, self.findings)
        if len(self.groups) <= MAX_GROUPS:
            self.groups.update(examples.groups)
        yield examples

    def meaning(
        self, stream: ParseStream, text: Text, count: Ints
    ) -> tuple[Tokens, Columns, Ints, StringsOf]:
        """The tokens of a part, what they mean, reals to doubt, strings. Raises FormatError."""
        reals, ints, hard = text.numbers()
        spans = (text.starts, text.ends)
        before = stream.tokens_before
        tokens = Tokens(stream.steps, before, *spans, ints, reals, text.buffer, text.base)
        check_integers(text, tokens.ints)
        offsets = event_offsets(tokens, count)
        if count[c.NUM_EVENTS]:
            check_event_counts(text, tokens, np.diff(offsets), self.events, self.limits)
        values = text.count("VALUE", "UNKNOWN") if count[c.DENSE_VALUES] else 0
        units = text.count("UNIT", "STAR") if count[[c.UNITS, c.ALL_UNITS]].any() else 0
        columns = done = empty_columns(count, offsets, values, units)
        if self.done is not None:
            c.go_on(columns, self.done)
        if self.run(act)(tokens, columns, self.limits.max_expand):
            raise impossible(text, columns, self.limits)
        if columns.state[c.UNORDERED]:
            arranged, numbers = room_for(columns)
            self.run(arrange)(columns, arranged, numbers)
            columns = arranged
        strings = strings_of(text, columns)
        for quoted in strings:
            check_strings(text, quoted, self.limits)
        self.done = done
        return tokens, columns, hard, strings


def _begin(source: Source, findings: Findings) -> int:
    """The first byte to parse; what Lens says of the file's first bytes (readExampleSet)."""
    data, place = source.data, Place.of(source.name)
    if not data:
        raise FormatError("the file is empty", source=source, span=Span(0, 0), code="lens-empty")
    if len(data) < _SMALLEST:
        what = f"a file of {len(data)} bytes, which it calls empty"
        advice = "add a line break, or `;` before the first example"
        findings.add(finding_at("lens-refuses", place, what=what, hint=advice))
    elif len(data) == _SMALLEST and (unseen := _LAST_COMMENT.search(data)):
        raise FormatError(
            "Lens takes no comment in a file of 4 bytes that does not end in a line break",
            source=source,
            span=Span(*unseen.span(1)),
            hint="add a line break",
        )
    if data.startswith(_BOM):
        what, advice = "a byte order mark before the text", "save the file as UTF-8 without it"
        findings.add(finding_at("lens-refuses", place, what=what, hint=advice))
        return len(_BOM)
    return 0
