"""What Lens reads in a text but people are caught by, as findings in the order of their places."""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.errors import Findings
from exset.grammars.lens_traps import trap
from exset.parsers import lens_columns as c
from exset.parsers.engine.errors import shown
from exset.parsers.engine.numbers import has_empty_exponent
from exset.parsers.lens_columns import NOTES, Columns, Ints, Tokens
from exset.parsers.lens_tokens import Text

_MEANT: Final = re.compile(rb"[-+]?(infinity|[0-9.]+e999)", re.IGNORECASE)  # as good as infinity
_SAVED: Final = 4096  # bytes of a string beyond which Lens crashes when it saves the set as text
_COLLECTED: Final = 100


def report(
    text: Text, tokens: Tokens, columns: Columns, pairs: Ints, units: Ints, findings: Findings
) -> None:
    """Add a finding for every trap.

    pairs: the first token of each string and the one after its last; units: as in `check_units`.
    """
    doubts = [
        *_counts(text, tokens),
        *_words(text, pairs),
        *_numbers(text, tokens),
        *_units(text, tokens, units),
        *_values(text, tokens, columns),
    ]
    places = [
        (int(token), code, len(at) - rank if rank == _COLLECTED - 1 else 1)
        for code, at in doubts
        for rank, token in enumerate(at[:_COLLECTED])
    ]
    noted = min(columns.state[c.NOTED], len(columns.notes))
    numbers = dict[tuple[int, str], tuple[int, int]]()
    for kind, token, first, second in columns.notes[:noted]:
        places.append((int(token), NOTES[kind], 1))
        numbers[int(token), NOTES[kind]] = int(first), int(second)
    for token, code, times in sorted(places):
        first, second = numbers.get((token, code), (0, 0))
        words = {"raw": shown(text.raw(token)), "first": first, "second": second}
        findings.add(trap(code, text.place(token), **words), times)


def _counts(text: Text, tokens: Tokens) -> Iterator[tuple[str, Ints]]:
    for step, code, back in (
        (c.EATEN_COUNT, "lens-eaten-count", 1),
        (c.EATEN_COUNTS, "lens-old-counts", 2),
    ):
        yield code, tokens.tokens_before[tokens.steps == step] - back


def _words(text: Text, pairs: Ints) -> Iterator[tuple[str, Ints]]:
    starts, ends = text.bounds(pairs)
    first = pairs[:, 0]
    bare = text.is_a("BARE")[first] & (pairs[:, 1] == first + 1)
    swallowed = bare & (
        _contains(text.buffer == ord(";"), starts, ends) | _ends_in(text, starts, ends, b":")
    )
    yield "lens-bare-word", first[swallowed]
    yield "lens-nul", first[_contains(text.buffer == 0, starts, ends)]
    yield "lens-long-string", first[ends - starts > _SAVED]


def _contains(marked: NDArray[np.bool_], starts: Ints, ends: Ints) -> NDArray[np.bool_]:
    places = np.flatnonzero(marked)
    within: NDArray[np.bool_] = np.searchsorted(places, starts) < np.searchsorted(places, ends)
    return within


def _ends_in(text: Text, starts: Ints, ends: Ints, letters: bytes) -> NDArray[np.bool_]:
    if not len(text.buffer):
        return np.zeros(len(starts), np.bool_)
    last = np.isin(text.buffer[ends - 1], np.frombuffer(letters, np.uint8))
    found: NDArray[np.bool_] = last & (ends > starts)
    return found


def _numbers(text: Text, tokens: Tokens) -> Iterator[tuple[str, Ints]]:
    value = text.is_a("VALUE")
    glued = value[1:] & value[:-1] & (text.starts[1:] == text.ends[:-1])
    yield "lens-glued-numbers", np.flatnonzero(glued) + 1
    real = text.is_a("VALUE", "REAL")
    tails = np.flatnonzero(real & _ends_in(text, text.starts, text.ends, b"eEpP+-"))
    empty = [has_empty_exponent(text.raw(token)) for token in tails.tolist()]
    yield "lens-number-tail", tails[np.array(empty, np.bool_)]
    infinite = np.flatnonzero(real & np.isinf(tokens.reals)).tolist()
    by_chance = [token for token in infinite if not _MEANT.fullmatch(text.raw(token))]
    yield "lens-overflow", np.array(by_chance, np.int64)


def _units(text: Text, tokens: Tokens, units: Ints) -> Iterator[tuple[str, Ints]]:
    token, is_first = units[:, 0], units[:, 0] == units[:, 1]
    number = tokens.ints[token]
    dashed = ~text.is_a("STAR")[token]
    if len(token):
        dashed &= text.buffer[text.starts[token]] == ord("-")
    glued = np.zeros(len(text), np.bool_)
    glued[1:] = text.starts[1:] == text.ends[:-1]
    yield "lens-zero-span", token[dashed & (number == 0)]
    yield "lens-blank-span", token[dashed & (number < 0) & ~glued[token]]
    yield "lens-span-chain", token[dashed & (number < 0) & ~is_first & (np.roll(number, 1) < 0)]


def _values(text: Text, tokens: Tokens, columns: Columns) -> Iterator[tuple[str, Ints]]:
    steps, before = tokens.steps, tokens.tokens_before
    firsts = before[steps == c.FIRST_UNIT] - 1
    yield "lens-negative-first", firsts[tokens.ints[firsts] < 0]
    frequencies = before[steps == c.FREQUENCY] - 1
    yield "lens-negative-frequency", frequencies[tokens.reals[frequencies] < 0]
    starts, ends = text.bounds(columns.name)
    named = columns.name[:, 0] >= 0
    yield "lens-empty-name", columns.name[named & (starts == ends), 0]
    yield "lens-set-proc", columns.header_proc[:1][columns.header_proc[:1] >= 0]
