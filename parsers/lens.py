"""Lens example files, text (.ex): bytes to `ExampleSet` and back.

The language is `grammars/lens.lark`; the manual page "Example Files" describes it, and Lens 2.63
(example.c, util.c) decides. What Lens reads is read, with the values that it gets; what it crashes
or hangs on is an error. A `proc:` is Tcl and stays text. Only what belongs to the text itself is
lost: comments, blanks, the spelling of numbers and strings.
"""

import re
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from exset.errors import Findings, FormatError, Place
from exset.grammars.arrays import offsets_of, row_indices
from exset.grammars.columns import Ragged, Reals, Strings
from exset.grammars.examples import ExampleSet
from exset.grammars.lens_traps import trap
from exset.grammars.parts import REAL_FIELDS, Events, Ranges, SetHeader
from exset.limits import DEFAULT, Limits
from exset.parsers import lens_columns as c
from exset.parsers.engine import reference
from exset.parsers.engine.errors import syntax_error
from exset.parsers.engine.stream import Rejection
from exset.parsers.lens_actions import act, event_counts
from exset.parsers.lens_checks import (
    check_event_counts,
    check_integers,
    check_strings,
    check_units,
    hint,
    impossible,
)
from exset.parsers.lens_columns import Columns, Ints, Tokens, empty_columns
from exset.parsers.lens_doubts import report
from exset.parsers.lens_text import render
from exset.parsers.lens_tokens import GRAMMAR, Text
from exset.source import Source, Span

__all__ = ["parse", "render"]

T = TypeVar("T", bound=np.generic)

_BOM: Final = b"\xef\xbb\xbf"
_LAST_COMMENT: Final = re.compile(rb"(?:\A|[\r\n])(#[^\r\n]*)\Z")
_SMALLEST: Final = 4  # bytes: Lens looks for the magic of a binary file first
_GROUPS: Final = 12
_MAX_NOTES: Final = 10_000


def parse(
    source: Source, *, limits: Limits = DEFAULT, findings: Findings | None = None
) -> ExampleSet:
    """The examples of a text, in normal form.

    `findings` collects what Lens accepts but people are caught by. Raises FormatError where Lens
    refuses, crashes or hangs, and LimitError.
    """
    findings = Findings() if findings is None else findings
    begin = _begin(source, findings)
    try:
        stream = reference.run(GRAMMAR, source.data[begin:])
    except Rejection as rejection:
        moved = Rejection(rejection.offset + begin, rejection.expected)
        raise syntax_error(GRAMMAR, source, moved, hint) from None
    text = Text(source, stream, begin)
    tokens = Tokens(stream.steps.astype(np.int64), stream.tokens_before, text.ints(), text.reals())
    check_integers(text, tokens.ints)
    counts = event_counts(tokens)
    check_event_counts(text, tokens, counts, limits)
    columns = empty_columns(tokens.steps, offsets_of(counts), _MAX_NOTES)
    if act(tokens, columns, limits.max_expand):
        raise impossible(text, columns, limits)
    pairs = _strings_given(columns)
    units = _units(columns)
    check_strings(text, tokens, pairs, limits)
    check_units(text, tokens, units)
    report(text, tokens, columns, pairs, units, findings)
    examples = _example_set(text, tokens, columns)
    if len(examples.groups) > _GROUPS:
        what = f"{len(examples.groups)} group names; it crashes on more than {_GROUPS}"
        advice = "builds of Lens that mend registerGroupName load it"
        findings.add(trap("lens-refuses", Place.of(source.name), what=what, hint=advice))
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


def _strings_given(columns: Columns) -> Ints:
    pairs = (
        columns.header_proc[None],
        columns.name,
        columns.proc,
        columns.event_proc,
        columns.group,
    )
    given = np.concatenate(pairs)
    return np.unique(given[given[:, 0] >= 0], axis=0)


def _units(columns: Columns) -> Ints:
    """int64[units, 2]: the token of each number in a sparse range, and of the first one there."""
    count = columns.state[c.NUM_RANGES]
    run, sparse = columns.run[:count], columns.sparse[:count]
    starts, lengths = run[sparse, 0], (run[:, 1] - run[:, 0])[sparse]
    return np.stack([row_indices(starts, lengths), np.repeat(starts, lengths)], axis=1)


def _example_set(text: Text, tokens: Tokens, columns: Columns) -> ExampleSet:
    lists, count = columns.state[c.NUM_LISTS], columns.state[c.NUM_RANGES]
    [proc] = text.strings(columns.header_proc[None])
    reals = dict(zip(REAL_FIELDS, columns.header.tolist(), strict=True))
    named = columns.group[:count, 0] >= 0
    group = np.full(count, -1, np.int32)
    groups, group[named] = text.strings(columns.group[:count][named]).distinct()
    sparse = columns.sparse[:count]
    return ExampleSet.normal(
        header=SetHeader(proc=proc, **reals),
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
            values=_runs(tokens.reals, columns.run[:count], ~sparse),
            units=_runs(tokens.ints.astype(np.int32), columns.run[:count], sparse),
        ),
        groups=groups,
    )


def _runs(numbers: NDArray[T], run: Ints, wanted: NDArray[np.bool_]) -> Ragged[T]:
    """The numbers between each pair of tokens where wanted, elsewhere none."""
    lengths = np.where(wanted, run[:, 1] - run[:, 0], 0)
    return Ragged(numbers[row_indices(run[:, 0], lengths)], offsets_of(lengths))


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
