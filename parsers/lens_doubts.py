"""What Lens reads in a text but people are caught by, as findings in the order of their places."""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.errors import Findings
from exset.grammars.arrays import offsets_of, row_indices
from exset.grammars.lens_traps import LONG, LONG_STRING, trap
from exset.parsers import lens_columns as c
from exset.parsers.engine.errors import shown
from exset.parsers.engine.numbers import has_empty_exponent
from exset.parsers.lens_columns import KEPT, NOTES, Columns, Ints, Tokens
from exset.parsers.lens_tokens import Text

_INFINITE: Final = re.compile(rb"[-+]?[0-9.]+e999", re.IGNORECASE)  # the usual way to write it

_LIKE_NUMBERS: Final = frozenset((b"nan", b"inf", b"infinity", b"-nan", b"-inf", b"na"))
_LONGEST: Final = max(map(len, _LIKE_NUMBERS))
_BEGINS: Final = np.isin(np.arange(256), list(b"nNiI-"))  # by byte


def report(text: Text, tokens: Tokens, columns: Columns, pairs: Ints, findings: Findings) -> None:
    """Add a finding for every trap.

    pairs: the first token of each string and the one after its last.
    """
    doubts: list[tuple[int, str, int, int, int]] = []
    for code, at in (*_counts(tokens), *_strings(text, pairs), *_headers(text, columns)):
        for rank, token in enumerate(at[:KEPT].tolist()):
            times = len(at) - rank if rank == KEPT - 1 else 1
            doubts.append((token, code, times, 0, 0))
    for kind in np.flatnonzero(columns.noted).tolist():
        count = int(columns.noted[kind])
        for rank, (token, first, second) in enumerate(columns.notes[kind, :count].tolist()):
            if not _is_harmless(kind, text.raw(token)):
                times = count - rank if rank == KEPT - 1 else 1
                doubts.append((token, NOTES[kind], times, first, second))
    for token, code, times, first, second in sorted(doubts):
        words = {"raw": shown(text.raw(token)), "first": first, "second": second, **LONG_STRING}
        findings.add(trap(code, text.place(token), **words), times)


def _is_harmless(kind: int, raw: bytes) -> bool:
    if kind == c.OVERFLOW:
        return _INFINITE.fullmatch(raw) is not None
    return kind == c.NUMBER_TAIL and not has_empty_exponent(raw)


def _counts(tokens: Tokens) -> Iterator[tuple[str, Ints]]:
    yield "lens-eaten-count", tokens.before[tokens.steps == c.EATEN_COUNT] - 1
    yield "lens-old-counts", tokens.before[tokens.steps == c.EATEN_COUNTS] - 2


def _strings(text: Text, pairs: Ints) -> Iterator[tuple[str, Ints]]:
    first = pairs[:, 0]
    starts, ends = text.bounds(pairs)
    lengths = ends - starts
    data = text.buffer[row_indices(starts - text.base, lengths)]
    offsets = offsets_of(lengths)
    bare = text.is_a(first, "BARE") & (pairs[:, 1] == first + 1) & (lengths > 0)
    ends_in_colon = np.append(data, np.uint8(0))[offsets[1:] - 1] == ord(":")
    yield "lens-bare-word", first[bare & (_any(data == ord(";"), offsets) | ends_in_colon)]
    yield "lens-nul", first[_any(data == 0, offsets)]
    yield "lens-refuses", first[lengths > LONG]


def _any(marked: NDArray[np.bool_], offsets: Ints) -> NDArray[np.bool_]:
    """Which rows have a mark."""
    places = np.flatnonzero(marked)
    bounds = np.searchsorted(places, offsets)
    found: NDArray[np.bool_] = bounds[1:] > bounds[:-1]
    return found


def _headers(text: Text, columns: Columns) -> Iterator[tuple[str, Ints]]:
    starts, ends = text.bounds(columns.name)
    named = columns.name[:, 0] >= 0
    yield "lens-empty-name", columns.name[named & (starts == ends), 0]
    yield "lens-set-proc", columns.header_proc[:1][columns.header_proc[:1] >= 0]
    group = columns.group[: columns.state[c.NUM_RANGES], 0]
    words = group[group >= 0]
    short = words[text.ends[words] - text.starts[words] <= _LONGEST]
    first = _BEGINS[text.buffer[text.starts[short] - text.base]]
    like_numbers = [t for t in short[first].tolist() if text.raw(t).lower() in _LIKE_NUMBERS]
    yield "lens-group-number", np.array(like_numbers, np.int64)
