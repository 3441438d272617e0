"""Parse the files in a data directory of Kaldi that are tables of keys and values."""

import re
from typing import Final

import numpy as np

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.core.text import invalid_utf8
from exset.grammars.siblings.findings import KALDI
from exset.parsers.siblings.words import Words, grammar

GRAMMAR: Final = grammar(
    "kaldi_table", {"KEY": "a key", "VALUE": "a value", "LINE": "the end of the line"}
)
_UNUSUAL: Final = re.compile(
    "[\r\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]"
)


def parse(
    source: Source, *, is_words: bool, findings: Findings, engine: Engine
) -> dict[bytes, bytes]:
    """Return the values of a file by key; if a key is repeated, its first value counts.

    is_words: whether a value is a text that may contain blanks; if not, blanks only separate
    fields. Raises FormatError for a syntax error.
    """
    hint = "write each line as: key, one space, value; no line begins with a space"
    words = Words.of(GRAMMAR, source, engine, KALDI, findings, hint)
    keys, lines, values = words.where("KEY"), words.where("LINE"), words.where("VALUE")
    is_last = words.starts[lines] - words.base >= len(source.data)
    is_empty = (np.diff(lines) == 1) & ~is_last[1:]
    words.report("kaldi-line", lines[:-1][is_empty], what="is empty")
    found, before = dict[bytes, bytes](), b""
    has_value = set((values - 1).tolist())
    for token in keys.tolist():
        key, raw = words.raw(token), words.raw(token + 1) if token in has_value else b""
        value = raw[1:].rstrip(b"\r") if is_words else b" ".join(raw.split())
        if what := _wrong(raw, is_words=is_words):
            words.report("kaldi-line", [token], what=what)
        if key <= before:
            what = "is on two lines" if key in found else "comes too late: sort the keys by bytes"
            words.report("kaldi-order", [token], what=what)
        before = max(before, key)
        found.setdefault(key, value)
    if source.data and not source.data.endswith(b"\n"):
        words.report("kaldi-line", keys[-1:], what="has no line break at its end")
    return found


def _wrong(raw: bytes, *, is_words: bool) -> str:
    """Return what is wrong with `raw`, the text after a key; "" if nothing is.

    The text must be a blank and a value. is_words: whether the value is several words.
    """
    if not raw.strip():
        return "has no value"
    if invalid_utf8(raw) is not None:
        return "is not UTF-8"
    if found := _UNUSUAL.search(raw.decode()):
        return f"has the character U+{ord(found[0]):04X}"
    if raw[:1] != b" " or raw[1:2].isspace() or raw[-1:].isspace():
        return "needs exactly one space after the key, and none at its end"
    return "has two blanks or a tab in a row" if is_words and re.search(rb"[ ]{2}|\t", raw) else ""
