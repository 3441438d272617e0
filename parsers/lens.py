"""Lens example files, text (.ex): bytes to `ExampleSet`; `exset.parsers.lens_text` is the way back.

The language is `grammars/lens.lark`; the manual page "Example Files" describes it, and Lens 2.63
(example.c, util.c) decides. What Lens reads is read, with the values that it gets; what it crashes
or hangs on is an error. A `proc:` is Tcl and stays text. Only what belongs to the text itself is
lost: comments, blanks, the spelling of numbers and strings.
"""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from exset import kernels
from exset.errors import Findings, FormatError, Place
from exset.grammars.arrays import offsets_of
from exset.grammars.columns import Ragged, Reals, Strings
from exset.grammars.examples import ExampleSet
from exset.grammars.lens_traps import too_many_groups, trap
from exset.grammars.parts import REAL_FIELDS, Events, Ranges, SetHeader
from exset.kernels import Engine
from exset.limits import DEFAULT, Limits
from exset.parsers import lens_columns as c
from exset.parsers.engine import table
from exset.parsers.engine.errors import syntax_error
from exset.parsers.engine.stream import ParseStream, Rejection
from exset.parsers.lens_actions import act, event_counts
from exset.parsers.lens_checks import (
    check_event_counts,
    check_integers,
    check_strings,
    hint,
    impossible,
    swallowed,
)
from exset.parsers.lens_columns import Columns, Ints, Tokens, empty_columns
from exset.parsers.lens_doubts import report
from exset.parsers.lens_tokens import GRAMMAR, Text
from exset.source import Source, Span

KERNELS: Final = kernels.Kernels(
    "exset.parsers.lens_columns", "exset.parsers.lens_lists", "exset.parsers.lens_actions"
)
COMPILED_FROM: Final = 100_000
"""Bytes of text from which it pays to compile, or to load what is compiled."""

_BOM: Final = b"\xef\xbb\xbf"
_LAST_COMMENT: Final = re.compile(rb"(?:\A|[\r\n])(#[^\r\n]*)\Z")
_SMALLEST: Final = 4  # bytes: Lens looks for the magic of a binary file first
_BLOCK: Final = 1 << 20


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
    examples = parts[0] if len(parts) == 1 else parts[0].concat(*parts[1:])
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
        self.act = KERNELS.compiled(act) if self.compiled else act
        self.header: SetHeader | None = None
        self.done: Columns | None = None
        self.events = 0

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
        text = Text(self.source, stream, self.begin)
        reals, ints = text.numbers(self.compiled)
        spans = (text.starts, text.ends)
        before = stream.tokens_before
        tokens = Tokens(stream.steps, before, *spans, ints, reals, text.buffer, text.base)
        check_integers(text, tokens.ints)
        counts = event_counts(tokens)
        self.events += int(counts.sum())
        check_event_counts(text, tokens, self.events, self.limits)
        kinds = np.bincount(stream.kinds, minlength=len(GRAMMAR.terminals))
        values = kinds[[GRAMMAR.terminal(name) for name in ("VALUE", "UNKNOWN")]].sum()
        units = kinds[[GRAMMAR.terminal(name) for name in ("UNIT", "STAR")]].sum()
        columns = empty_columns(stream.steps, offsets_of(counts), values, units)
        if self.done is not None:
            c.go_on(columns, self.done)
        if self.act(tokens, columns, self.limits.max_expand):
            raise impossible(text, columns, self.limits)
        pairs = _strings_given(columns)
        check_strings(text, pairs, self.limits)
        report(text, tokens, columns, pairs, self.findings)
        if self.header is None:
            [proc] = text.strings(columns.header_proc[None])
            reals_of_set = zip(REAL_FIELDS, columns.header.tolist(), strict=True)
            self.header = SetHeader(proc=proc, **dict(reals_of_set))
        self.done = columns
        return _example_set(text, columns, self.header)


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


def _strings_given(columns: Columns) -> Ints:
    """The strings of a part, each once: the same proc may be that of many events."""
    of_events = columns.event_proc[np.unique(columns.event_proc[:, 0], return_index=True)[1]]
    of_set = columns.header_proc[None]
    group = columns.group[: columns.state[c.NUM_RANGES]]
    given = np.concatenate((of_set, columns.name, columns.proc, of_events, group))
    return given[given[:, 0] >= 0]


def _example_set(text: Text, columns: Columns, header: SetHeader) -> ExampleSet:
    lists, count = columns.state[c.NUM_LISTS], columns.state[c.NUM_RANGES]
    named = columns.group[:count, 0] >= 0
    group = np.full(count, -1, np.int32)
    groups, group[named] = text.strings(columns.group[:count][named]).distinct()
    return ExampleSet.normal(
        header=header,
        name=text.strings(columns.name),
        proc=text.strings(columns.proc),
        frequency=columns.frequency,
        event_offsets=columns.event_offsets,
        events=_events(text, columns),
        lists=columns.lists[: lists + 1],
        ranges=Ranges(
            group=group,
            first=columns.first[:count].astype(np.int32),
            value=columns.value[:count],
            values=Ragged(
                columns.values[: columns.state[c.NUM_VALUES]], columns.value_ends[: count + 1]
            ),
            units=Ragged(
                columns.units[: columns.state[c.NUM_UNITS]], columns.unit_ends[: count + 1]
            ),
        ),
        groups=groups,
    )


def _events(text: Text, columns: Columns) -> Events:
    count = len(columns.inputs)
    reals = {
        field: Reals(columns.reals[row], columns.given[row])
        if columns.given.shape[1]
        else Reals.none(count)
        for row, field in enumerate(REAL_FIELDS)
    }
    proc = text.strings(columns.event_proc) if len(columns.event_proc) else Strings.none(count)
    return Events(proc=proc, inputs=columns.inputs, targets=columns.targets, **reals)
