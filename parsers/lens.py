"""Lens example files, text (.ex): bytes to `ExampleSet`; `exset.parsers.lens_text` is the way back.

The language is `grammars/lens.lark`; the manual page "Example Files" describes it, and Lens 2.63
(example.c, util.c) decides. What Lens reads is read, with the values that it gets; what it crashes
or hangs on is an error. A `proc:` is Tcl and stays text. Only what belongs to the text itself is
lost: comments, blanks, the spelling of numbers and strings.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, ParamSpec, TypeVar

import numpy as np

from exset import kernels
from exset.errors import Findings, FormatError, Place
from exset.grammars.examples import ExampleSet
from exset.grammars.lens_traps import too_many_groups, trap
from exset.grammars.parts import REAL_FIELDS, SetHeader
from exset.kernels import Engine
from exset.limits import DEFAULT, Limits
from exset.parsers import lens_columns as c
from exset.parsers.engine import table
from exset.parsers.engine.errors import syntax_error
from exset.parsers.engine.stream import ParseStream, Rejection
from exset.parsers.lens_actions import act, event_offsets
from exset.parsers.lens_arranging import arrange, room_for
from exset.parsers.lens_checks import (
    check_event_counts,
    check_integers,
    check_strings,
    hint,
    impossible,
    swallowed,
)
from exset.parsers.lens_columns import Columns, Tokens, empty_columns
from exset.parsers.lens_doubts import report
from exset.parsers.lens_set import example_set, strings_of
from exset.parsers.lens_tokens import GRAMMAR, Text
from exset.source import Source, Span

KERNELS: Final = kernels.Kernels(
    "exset.parsers.lens_columns",
    "exset.parsers.lens_lists",
    "exset.parsers.lens_actions",
    "exset.parsers.lens_arranging",
)
COMPILED_FROM: Final = 100_000
"""Bytes of text from which it pays to compile, or to load what is compiled."""

_BOM: Final = b"\xef\xbb\xbf"
_LAST_COMMENT: Final = re.compile(rb"(?:\A|[\r\n])(#[^\r\n]*)\Z")
_SMALLEST: Final = 4  # bytes: Lens looks for the magic of a binary file first
_BLOCK: Final = 1 << 20

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
    findings = Findings() if findings is None else findings
    reading = _Reading(source, limits, findings, engine)
    parts = [reading.examples(stream) for stream in reading.streams()]
    examples = parts[0] if len(parts) == 1 else ExampleSet.joined(parts)
    if finding := too_many_groups(len(examples.groups), Place.of(source.name)):
        findings.add(finding)
    return examples


class _Reading:
    """A text being read, part by part; each part but the last ends with an example."""

    def __init__(self, source: Source, limits: Limits, findings: Findings, engine: Engine) -> None:
        self.source = source
        self.limits = limits
        self.findings = findings
        self.engine = engine
        self.begin = _begin(source, findings)
        self.compiled = kernels.worthwhile(
            len(source.data),
            engine,
            loading=COMPILED_FROM,
            using=COMPILED_FROM,
            loaded=KERNELS.is_loaded,
        )
        self.header: SetHeader | None = None
        self.done: Columns | None = None
        self.events = 0

    def run(self, kernel: Callable[P, R]) -> Callable[P, R]:
        """A function that can be compiled, compiled if the text is to be read so."""
        return KERNELS.compiled(kernel) if self.compiled else kernel

    def streams(self) -> Iterator[ParseStream]:
        """The parse streams of the parts; FormatError where the grammar is broken."""
        data = memoryview(self.source.data)[self.begin :]
        try:
            if self.engine == "reference":
                from exset.parsers.engine import reference  # which imports Lark

                yield reference.run(GRAMMAR, bytes(data))
            else:
                blocks = (data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK))
                yield from table.streams(
                    GRAMMAR, blocks, boundary=c.EXAMPLE, compiled=self.compiled
                )
        except Rejection as rejection:
            moved = Rejection(rejection.offset + self.begin, rejection.expected)
            before = self.source.data[: moved.offset]
            raise syntax_error(
                GRAMMAR, self.source, moved, lambda *found: swallowed(before) or hint(*found)
            ) from None

    def examples(self, stream: ParseStream) -> ExampleSet:
        """The examples of a part."""
        text = Text(self.source, stream, self.begin, compiled=self.compiled, limits=self.limits)
        count = np.bincount(stream.steps, minlength=len(c.STEPS))
        reals, ints, hard = text.numbers()
        spans = (text.starts, text.ends)
        before = stream.tokens_before
        tokens = Tokens(stream.steps, before, *spans, ints, reals, text.buffer, text.base)
        check_integers(text, tokens.ints)
        offsets = event_offsets(tokens, count)
        self.events += int(offsets[-1])
        if count[c.NUM_EVENTS]:
            check_event_counts(text, tokens, self.events, self.limits)
        values = text.count("VALUE", "UNKNOWN") if count[c.DENSE_VALUES] else 0
        units = text.count("UNIT", "STAR") if count[[c.UNITS, c.ALL_UNITS]].any() else 0
        columns = empty_columns(count, offsets, values, units)
        if self.done is not None:
            c.go_on(columns, self.done)
        if self.run(act)(tokens, columns, self.limits.max_expand):
            raise impossible(text, columns, self.limits)
        self.done = columns
        if columns.state[c.UNORDERED]:
            arranged, numbers = room_for(columns)
            self.run(arrange)(columns, arranged, numbers)
            columns = arranged
        strings = strings_of(text, columns)
        for quoted in strings:
            check_strings(text, quoted, self.limits)
        if self.header is None:
            [proc] = text.strings(strings.header_proc)
            reals_of_set = zip(REAL_FIELDS, columns.header.tolist(), strict=True)
            self.header = SetHeader(proc=proc, **dict(reals_of_set))
        examples = example_set(text, columns, strings, self.header)
        report(text, tokens, columns, count, hard, strings, examples.groups, self.findings)
        return examples


def _begin(source: Source, findings: Findings) -> int:
    """The first byte to parse; what Lens says of the file's first bytes (readExampleSet)."""
    data, place = source.data, Place.of(source.name)
    if not data:
        raise FormatError("the file is empty", source=source, span=Span(0, 0), code="lens-empty")
    if len(data) < _SMALLEST:
        what = f"a file of {len(data)} bytes, which it calls empty"
        advice = "add a line break, or `;` before the first example"
        findings.add(trap("lens-refuses", place, what=what, hint=advice))
    elif len(data) == _SMALLEST and (unseen := _LAST_COMMENT.search(data)):
        raise FormatError(
            "Lens takes no comment in a file of 4 bytes that does not end in a line break",
            source=source,
            span=Span(*unseen.span(1)),
            hint="add a line break",
        )
    if data.startswith(_BOM):
        what, advice = "a byte order mark before the text", "save the file as UTF-8 without it"
        findings.add(trap("lens-refuses", place, what=what, hint=advice))
        return len(_BOM)
    return 0
