"""Report where Lens reads a text in an unexpected way, in the order of the text."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from exset.core.errors import Findings, Place
from exset.grammars.lens.findings import LONG, LONG_STRING, finding_at
from exset.parsers.engine.errors import shown
from exset.parsers.engine.numbers import has_empty_exponent
from exset.parsers.lens import steps as c
from exset.parsers.lens import string_kernels as passes
from exset.parsers.lens.steps import KEPT, Columns, Ints, Note, Tokens
from exset.parsers.lens.tokens import Quoted, Text

_INFINITE: Final = re.compile(rb"[-+]?[0-9.]+e999", re.IGNORECASE)  # the usual way to write it

_LIKE_NUMBERS: Final = frozenset((b"nan", b"inf", b"infinity", b"-nan", b"-inf", b"na"))
_IS_TAIL: Final = np.isin(np.arange(256), list(b"eEpP+-"))  # by byte
_OVERFLOW: Final = "lens-overflow"
_NUMBER_TAIL: Final = "lens-number-tail"


class StringsOf(NamedTuple):
    """The strings of a chunk of a text, by purpose, such as names of groups or procs of events.

    Each distinct proc of events is included once.
    """

    header_proc: Quoted
    name: Quoted
    proc: Quoted
    event_proc: Quoted
    group: Quoted


class Meaning(NamedTuple):
    """A chunk of a text, and the values that were found in it.

    counts: the number of steps of each kind in the chunk. hard: the indices of tokens that are
    reals in an unusual notation.
    """

    text: Text
    tokens: Tokens
    columns: Columns
    counts: Ints
    hard: Ints
    strings: StringsOf


def report(chunk: Meaning, groups: Iterable[bytes | None], findings: Findings) -> None:
    """Add the findings of a chunk to `findings`. groups: the distinct group names."""
    text, tokens, columns, counts, hard, strings = chunk
    kept: list[tuple[int, str, int, int, int]] = []
    for code, at in (
        *_counts(tokens, counts),
        *_strings(strings),
        *_groups(text, strings.group, groups),
        *_reals(text, tokens, hard),
    ):
        for rank, token in enumerate(np.sort(at)[:KEPT].tolist()):
            times = len(at) - rank if rank == KEPT - 1 else 1
            kept.append((token, code, times, 0, 0))
    for kind in np.flatnonzero(columns.noted).tolist():
        many = int(columns.noted[kind])
        for rank, (token, first, second) in enumerate(columns.notes[kind, :many].tolist()):
            times = many - rank if rank == KEPT - 1 else 1
            kept.append((token, Note(kind).code, times, first, second))
    for token, code, times, first, second in sorted(kept):
        words = {"raw": shown(text.raw(token)), "first": first, "second": second, **LONG_STRING}
        findings.add(finding_at(code, text.place(token), **words), times)


class Alternation:
    """Checks whether the examples of a set alternate: one example has only inputs, the next only
    targets.
    """

    def __init__(self) -> None:
        self._count = 0
        self._holds = True
        self._place: Place | None = None  # of the first `;` to remove

    def add(self, chunk: Meaning) -> None:
        """Check the examples of the next chunk, unless earlier chunks show that examples do not
        alternate.
        """
        offsets = chunk.columns.event_offsets
        for count in (min(2, len(offsets) - 1), len(offsets) - 1):  # two are enough in most files
            if not self._holds or not count:
                return
            uses = chunk.columns.uses[:, : offsets[count]] >= 0
            inputs, targets = np.logical_or.reduceat(uses, offsets[:count], axis=1)
            is_first = np.arange(self._count, self._count + count) % 2 == 0
            self._holds = bool(np.all((inputs == is_first) & (targets != is_first)))
        self._count += count
        if self._place is None:
            end = chunk.tokens.before[chunk.tokens.steps == c.EXAMPLE][0] - 1
            self._place = chunk.text.place(end)

    @property
    def holds(self) -> bool:
        """Whether all examples that were added so far alternate."""
        return self._holds

    def report(self, findings: Findings) -> None:
        """Add a finding if the examples alternate, after all were added."""
        pairs, rest = divmod(self._count, 2)
        if self._holds and self._place is not None and not rest:
            findings.add(finding_at("lens-split-examples", self._place, count=pairs))


def _is_harmless(code: str, raw: bytes) -> bool:
    if code == _OVERFLOW:
        return _INFINITE.fullmatch(raw) is not None
    return code == _NUMBER_TAIL and not has_empty_exponent(raw)


def _counts(tokens: Tokens, count: Ints) -> Iterator[tuple[str, Ints]]:
    if count[c.EATEN_COUNT]:
        yield "lens-eaten-count", tokens.before[tokens.steps == c.EATEN_COUNT] - 1
    if count[c.EATEN_COUNTS]:
        yield "lens-old-counts", tokens.before[tokens.steps == c.EATEN_COUNTS] - 2


def _strings(strings: StringsOf) -> Iterator[tuple[str, Ints]]:
    for quoted in strings:
        if quoted.found & ~passes.EMPTY:
            lengths = quoted.spans[:, 1] - quoted.spans[:, 0]
            yield "lens-bare-word", quoted.tokens_with(passes.SWALLOWING)
            yield "lens-nul", quoted.tokens_with(passes.WITH_NUL)
            yield "lens-refuses", quoted.pairs[lengths > LONG, 0]
    yield "lens-empty-name", strings.name.tokens_with(passes.EMPTY)
    yield "lens-set-proc", strings.header_proc.pairs[strings.header_proc.pairs[:, 0] >= 0, 0]


def _groups(
    text: Text, quoted: Quoted, groups: Iterable[bytes | None]
) -> Iterator[tuple[str, Ints]]:
    if any(name is not None and name.lower() in _LIKE_NUMBERS for name in groups):
        words = quoted.pairs[quoted.pairs[:, 0] >= 0, 0]
        like = [t for t in words.tolist() if text.raw(t).lower() in _LIKE_NUMBERS]
        yield "lens-group-number", np.array(like, np.int64)


def _reals(text: Text, tokens: Tokens, hard: Ints) -> Iterator[tuple[str, Ints]]:
    if len(hard):
        last = text.buffer[text.ends[hard] - 1 - text.base]
        is_whole = ((last >= ord("0")) & (last <= ord("9"))) | (last == ord("."))
        is_long = text.ends[hard] - text.starts[hard] > 1
        for code, some in (
            (_OVERFLOW, hard[is_whole & np.isinf(tokens.reals[hard])]),
            (_NUMBER_TAIL, hard[is_long & _IS_TAIL[last]]),
        ):
            found = [each for each in some.tolist() if not _is_harmless(code, text.raw(each))]
            yield code, np.array(found, np.int64)
