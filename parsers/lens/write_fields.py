"""The fields of Lens text that both ways of writing share: the set's, and those of events."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from exset.grammars.columns.arrays import Longs, constant
from exset.grammars.lens.columns import REAL_FIELDS, Events, SetHeader
from exset.parsers.lens.write_strings import is_bare, quoted
from exset.parsers.shared import numerals

WORDS: Final = dict(
    zip(
        REAL_FIELDS,
        (b"max:", b"min:", b"grace:", b"defI:", b"actI:", b"defT:", b"actT:"),
        strict=True,
    )
)
"""How text calls the real fields."""

_CLOSES: Final = (b";", b")", b"}", b"]")


def tight(words: Sequence[bytes]) -> bytes:
    """Words of the language with only the blanks that keep them apart.

    That is, between two numbers and after a dash that is NaN; a bare word must bring its own.
    """
    parts = list(words[:1])
    for before, word in pairwise(words):
        is_dash = before.endswith(b"-") and not word.startswith(_CLOSES)
        if is_dash or (before[-1:].isdigit() and word[:1].isdigit()):
            parts.append(b" ")
        parts.append(word)
    return b"".join(parts)


def joined(words: Sequence[bytes], compact: bool) -> bytes:
    """Words with blanks between them."""
    return tight(words) if compact else b" ".join(words)


def field(word: bytes, text: bytes, compact: bool) -> bytes:
    """A field outside event lists."""
    return word + text if compact else b"%s %s" % (word, text)


def string_field(word: bytes, raw: bytes, compact: bool) -> bytes:
    """A string outside event lists; in compact text a bare word brings the blank after it."""
    return field(word, quoted(raw) + _after(raw, compact), compact)


def _after(raw: bytes, compact: bool) -> bytes:
    return b" " if compact and is_bare(raw) else b""


def set_fields(header: SetHeader, compact: bool) -> bytes:
    """What the set says that is not the default, and the `;` that ends it.

    Without it Lens takes the first example's number of events or proc for a part of the header.
    """
    default = SetHeader()
    values = np.array([header.real(name) for name in REAL_FIELDS])
    words = [
        field(WORDS[name], text, compact)
        for name, value, text in zip(REAL_FIELDS, values, numerals.reals(values), strict=True)
        if value.tobytes() != default.real(name).tobytes()
    ]
    # A proc may be a bare word, which would take in the `;`.
    blank = b" " if header.proc is not None and not words and not compact else b""
    if header.proc is not None:
        words.insert(0, string_field(b"proc:", header.proc, compact))
    return joined(words, compact) + blank + b";\n"


def own_fields(events: Events, compact: bool) -> tuple[Longs, list[bytes]]:
    """What events say in an event list: the distinct texts, and which of them each has, or -1.

    The numbers are int64 [m].
    """
    has_any = events.proc.given.copy()
    codes = np.zeros(len(events), np.int64)
    for name in REAL_FIELDS:
        column = events.real(name)
        if column.given.any():
            has_any |= column.given
            bits = column.values.view(np.uint32).astype(np.int64)
            codes = _both(codes, np.where(column.given, bits, -1))
    if events.proc.given.any():
        codes = _both(codes, np.where(events.proc.given, events.proc.distinct()[1], -1))
    having = np.flatnonzero(has_any)
    if not having.size:
        return constant(-1, len(events), np.int64), []
    _, first, codes = np.unique(codes[having], return_index=True, return_inverse=True)
    texts = _texts(events.take(having[first]), compact)
    # Fields may differ and read the same, as NaN of several kinds do.
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    own = np.full(len(events), -1, np.int64)
    own[having] = np.array([numbers[text] for text in texts], np.int64)[codes]
    return own, list(numbers)


def _both(a: Longs, b: Longs) -> Longs:
    """Numbers that are equal where those of both columns are."""
    of_a: Longs
    of_b: Longs
    of_a, of_b = (np.unique(each, return_inverse=True)[1] for each in (a, b))
    return of_a * (int(of_b.max(initial=0)) + 1) + of_b


def _texts(events: Events, compact: bool) -> list[bytes]:
    words: list[list[bytes]] = [[] for _ in range(len(events))]
    for name in REAL_FIELDS:
        column = events.real(name)
        at = np.flatnonzero(column.given)
        for event, text in zip(at.tolist(), numerals.reals(column.values[at]), strict=True):
            words[event].append(WORDS[name] + text)
    for event, raw in enumerate(events.proc):
        if raw is not None:
            words[event].append(b"proc:" + quoted(raw) + _after(raw, compact))
    return [joined(each, compact).rstrip(b" ") for each in words]
