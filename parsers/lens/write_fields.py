"""Write as text the fields of a Lens set, and the fields that events do not inherit."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from exset.grammars.columns.arrays import Longs, constant
from exset.grammars.lens.columns import REAL_FIELDS, WORDS, Events, SetHeader
from exset.parsers.lens.write_plan import NOTHING
from exset.parsers.lens.write_strings import is_bare, quoted
from exset.parsers.shared import numerals

KEYWORDS: Final = {field: f"{word}:".encode() for field, word in WORDS.items()}
"""The words for the real fields, as they are in a text."""
_DEFAULT: Final = SetHeader()
_MULTIPLIER: Final = np.int64(6364136223846793005)  # of a hash


def set_fields(header: SetHeader, compact: bool) -> bytes:
    """Return the text of the set's fields that differ from the defaults, and of the `;` after them.

    Without `;` Lens reads the first example's number of events or proc as part of the header.
    """
    space = b"" if compact else b" "
    words = [
        KEYWORDS[name] + space + numerals.reals(header.real(name).reshape(1))[0]
        for name in REAL_FIELDS
        if header.real(name).tobytes() != _DEFAULT.real(name).tobytes()
    ]
    if header.proc is not None:
        words.insert(0, b"proc:" + space + _string(header.proc, compact))
        if len(words) == 1 and not compact and is_bare(header.proc):
            words.append(b"")  # a bare word would take in the `;`
    return _joined(words, compact) + b";\n"


def _joined(words: Sequence[bytes], compact: bool) -> bytes:
    """Join words to a text. Compact text has a space only after `-` for NaN, where it is needed."""
    if not compact:
        return b" ".join(words)
    spaced = (word + b" " if word.endswith(b":-") else word for word in words[:-1])
    return b"".join([*spaced, *words[-1:]])


def _string(raw: bytes, compact: bool) -> bytes:
    """Return a string as text. In compact text, a string without delimiters has a space after
    it.
    """
    return quoted(raw) + (b" " if compact and is_bare(raw) else b"")


def own_fields(events: Events, compact: bool) -> tuple[Longs, list[bytes]]:
    """Write, for each of m events, the fields that it does not inherit.

    Return the distinct texts, and for each event the index of its text: int64 [m], NOTHING for an
    event that inherits all fields.
    """
    reals = [events.real(name) for name in REAL_FIELDS]
    has_any = events.proc.present.copy()
    for column in reals:
        has_any |= column.present
    having = np.flatnonzero(has_any)
    if not having.size:
        return constant(NOTHING, len(events), np.int64), []
    columns = list[Longs]()
    for column in reals:
        if column.present.any():
            bits = column.values[having].view(np.uint32).astype(np.int64)
            columns.append(np.where(column.present[having], bits, NOTHING))
    if events.proc.present.any():
        procs = events.proc.take(having)
        columns.append(np.where(procs.present, procs.distinct()[1], NOTHING))
    first, codes = _distinct(columns)
    texts = _texts(events.take(having[first]), compact)
    # Different fields may have the same text, such as different NaNs.
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    own = np.full(len(events), NOTHING, np.int64)
    own[having] = np.array([numbers[text] for text in texts], np.int64)[codes]
    return own, list(numbers)


def _distinct(columns: list[Longs]) -> tuple[Longs, Longs]:
    """Return the index of one row for each distinct row of columns, and the number of each row."""
    # Equal rows have equal hashes; collisions are detected below.
    hashes = np.zeros(columns[0].size, np.int64)
    for column in columns:
        hashes = hashes * _MULTIPLIER + column
    _, codes = np.unique(hashes, return_inverse=True)
    first = np.empty(int(codes.max()) + 1, np.int64)
    first[codes] = np.arange(codes.size)
    if all((column == column[first[codes]]).all() for column in columns):
        return first, codes
    _, first, codes = np.unique(
        np.stack(columns, axis=1), axis=0, return_index=True, return_inverse=True
    )
    return first, codes.reshape(-1)


def _texts(events: Events, compact: bool) -> list[bytes]:
    words: list[list[bytes]] = [[] for _ in range(len(events))]
    for name in REAL_FIELDS:
        column = events.real(name)
        at = np.flatnonzero(column.present)
        for event, text in zip(at.tolist(), numerals.reals(column.values[at]), strict=True):
            words[event].append(KEYWORDS[name] + text)
    for event, raw in enumerate(events.proc):
        if raw is not None:
            words[event].append(b"proc:" + _string(raw, compact))
    return [_joined(each, compact).rstrip(b" ") for each in words]
