"""Continue after an error: find the next record of a rejected text, and the errors in the rest.

This module runs only for rejected texts. It shortens the stack of parser states to what it would be
if the wrong record were complete. Then it runs the lowered grammar from the next record.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np

from exset.core.errors import MOST_ERRORS, Finding, FormatError, LimitError
from exset.core.source import Source
from exset.parsers.engine import tables as t
from exset.parsers.engine.driver import Driver, blocks
from exset.parsers.engine.expectation import CLOSERS
from exset.parsers.engine.stream import ParseStream, Rejection
from exset.parsers.engine.tables import Lowered

_REACH: Final = 1 << 20  # bytes in which the next record must begin
_TOKENS: Final = 1 << 12


@dataclass(frozen=True)
class Records:
    """How to find the next record of a language after an error.

    - steps: the numbers of the steps that complete a record, or a header that ends as records do.
    - end: the byte that ends a record.
    - begin: the byte that begins a record, if no byte ends a record.
    - skipped: a pattern for text, such as a comment, in which brackets and the byte `end` or
      `begin` have no meaning.
    - header: the numbers of the steps that may complete a header that later checks may need.
    """

    steps: tuple[int, ...]
    end: bytes = b""
    begin: bytes = b""
    skipped: str = r"(?!)"
    header: tuple[int, ...] = ()


Check = Callable[[ParseStream], object]
"""A reader's function for a stream of records; it raises FormatError for a wrong record."""


def errors_after(
    lowered: Lowered,
    records: Records,
    source: Source,
    first: Rejection,
    *,
    compiled: bool,
    describe: Callable[[Rejection], FormatError],
    check: Check | None,
) -> Iterator[FormatError]:
    """Yield the errors of a text after its first rejection, at most one for each record.

    Stops if it cannot find the next record: after an error in a header that all records need, or in
    a bracket that is never closed. `compiled`: whether to use the compiled kernel. `describe`: a
    function that returns the error for a rejection. `check`: a function that raises the errors that
    the reader finds in a stream.
    """
    rejection = first
    while True:
        stack = _without_record(lowered, rejection.stack, records.steps)
        begin = _next_record(lowered, records, source, rejection)
        if not len(stack) or begin is None:
            return
        driver = Driver(
            lowered,
            begin=begin,
            stack=stack,
            boundary=records.steps[0],
            compiled=lambda: compiled,
            tokens=_TOKENS,
        )
        try:
            for stream in driver.streams(blocks(source, begin)):
                if check is not None:
                    yield from _errors_in(stream, records.steps[0], check)
            return
        except Rejection as found:
            rejection = found
            yield describe(found)


def with_later_errors(
    error: FormatError,
    failed: ParseStream,
    rest: Iterator[ParseStream],
    record: int,
    check: Check,
) -> FormatError:
    """Return `error`, the error of the stream `failed`, together with the errors of later records.

    `rest`: the streams after `failed`. `record`: the step that completes a record. `check`: a
    function that raises the errors that the reader finds in a stream. The errors are in the order
    of the text.
    """
    if isinstance(error, LimitError):
        return error
    found = [error.finding]
    for finding in _findings_in(chain([failed], rest), record, check):
        if finding.place != error.place:
            found.append(finding)
        if len(found) > MOST_ERRORS:
            break
    return in_order(found)


def in_order(found: Sequence[Finding]) -> FormatError:
    """Return one error for several findings, sorted by their places.

    The finding with the first place becomes the error; the others become its later errors.
    """

    def start(finding: Finding) -> int:
        span = None if finding.place is None else finding.place.span
        return -1 if span is None else span.start

    first, *others = sorted(found, key=start)
    error = FormatError.of(first)
    for other in others:
        error.add(other)
    return error


def _findings_in(streams: Iterable[ParseStream], record: int, check: Check) -> Iterator[Finding]:
    """Yield the error of each wrong record in the streams, then the syntax errors after them."""
    try:
        for stream in streams:
            for error in _errors_in(stream, record, check):
                yield error.finding
    except LimitError:
        pass
    except FormatError as syntax:
        yield from syntax.findings


def _errors_in(stream: ParseStream, record: int, check: Check) -> Iterator[FormatError]:
    """Yield the error of each wrong record in a stream. Raise a LimitError at once.

    `record`: the step that completes a record. `check`: a function that raises the errors of a
    stream.
    """
    try:
        check(stream)
    except LimitError:
        raise
    except FormatError as error:
        halves = stream.halves(record)
        if not halves:
            yield error
        for half in halves:
            yield from _errors_in(half, record, check)


def _without_record(lowered: Lowered, stack: Sequence[int], steps: Sequence[int]) -> Sequence[int]:
    """Return the stack of parser states as if the current record were complete.

    Return an empty stack if the parser is not in a record. steps: the steps that complete a record.
    """
    tables = lowered.tables
    rules = tables.rules.reshape(-1, t.RULE_SIZE)
    origins = np.unique(rules[np.isin(rules[:, t.STEP], steps)][:, t.ORIGIN])
    goto = tables.goto.reshape(-1, tables.sizes[t.NONTERMINALS])
    reached = goto[:, origins].max(axis=1, initial=0)
    states = np.asarray(stack, np.int32)  # there may be one for each byte of the text
    is_before = reached[states] != 0
    if not is_before.any():
        return ()
    depth = len(states) - int(is_before[::-1].argmax())
    return np.append(states[:depth], reached[states[depth - 1]].astype(np.int32)).data


def _next_record(
    lowered: Lowered, records: Records, source: Source, rejection: Rejection
) -> int | None:
    """Return the offset of the next record after a rejection. Return None if it is not certain."""
    at = rejection.offset - source.start
    text = source.view[at : at + _REACH]
    if records.begin:
        found = bytes(text).find(records.begin)
        return None if found < 0 else rejection.offset + found
    brackets = [mark for mark in (*CLOSERS, *CLOSERS.values()) if mark in lowered.literals]
    marks = re.escape("".join(brackets).encode() + records.end)
    pattern = re.compile(rb"(?:%b)|([%b])" % (records.skipped.encode(), marks))
    is_inside = _is_inside(lowered, records, rejection)
    opened = [mark for mark, _ in rejection.opened] if is_inside else []
    for match in pattern.finditer(text):
        mark = match[1]
        if mark == records.end and not opened:
            return rejection.offset + match.end()
        if mark is None or mark == records.end:
            continue
        if opened and mark.decode() == CLOSERS.get(opened[-1]):
            opened.pop()
        elif mark.decode() in CLOSERS:
            opened.append(mark.decode())
    return None


def _is_inside(lowered: Lowered, records: Records, rejection: Rejection) -> bool:
    """Return whether, at a rejection, the parser is in a token that may contain the end of a
    record.

    The end of a record is the byte that ends records. An example of such a token is a string.
    """
    tables, [byte] = lowered.tables, records.end
    start = tables.lexer[rejection.stack[-1]]
    lexing = tables.moves[start + tables.classes[byte]]
    kind = int(tables.moves[lexing + tables.sizes[t.CLASSES]]) - t.TERMINALS
    return bool(lexing) and kind >= 0 and lowered.literals[kind] != records.end.decode()
