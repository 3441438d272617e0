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
    has_any = events.proc.present.copy()
    codes = np.zeros(len(events), np.int64)
    for name in REAL_FIELDS:
        column = events.real(name)
        if column.present.any():
            has_any |= column.present
            bits = column.values.view(np.uint32).astype(np.int64)
            codes = _both(codes, np.where(column.present, bits, -1))
    if events.proc.present.any():
        codes = _both(codes, np.where(events.proc.present, events.proc.distinct()[1], -1))
    having = np.flatnonzero(has_any)
    if not having.size:
        return constant(NOTHING, len(events), np.int64), []
    _, first, codes = np.unique(codes[having], return_index=True, return_inverse=True)
    texts = _texts(events.take(having[first]), compact)
    # Different fields may have the same text, such as different NaNs.
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    own = np.full(len(events), NOTHING, np.int64)
    own[having] = np.array([numbers[text] for text in texts], np.int64)[codes]
    return own, list(numbers)


def _both(a: Longs, b: Longs) -> Longs:
    """Combine two columns to one, whose rows are equal only if they are equal in both columns."""
    of_a: Longs
    of_b: Longs
    of_a, of_b = (np.unique(each, return_inverse=True)[1] for each in (a, b))
    return of_a * (int(of_b.max(initial=0)) + 1) + of_b


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
