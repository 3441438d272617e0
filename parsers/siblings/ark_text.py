"""Parse archives of Kaldi in text form."""

from typing import Any, Final

import numpy as np

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.grammars.siblings.archive import Archive
from exset.grammars.siblings.findings import ARK
from exset.parsers.siblings.words import Words, counts_between, grammar

GRAMMAR: Final = grammar(
    "kaldi_ark",
    {"KEY": "a key", "OPEN": "`[`", "CLOSE": "`]`", "NUMBER": "a number"},
    {"LINE": "the end of the line"},
)
_HINT: Final = "write the key, a space, and the numbers in [ ]: one line for each row of a matrix"


def parse(source: Source, *, findings: Findings, engine: Engine) -> Archive:
    """Return the objects of an archive: matrices and vectors.

    An object in brackets is a vector if its numbers begin on the line of its key; otherwise it is
    a matrix. An object without brackets is a vector. The numbers are int32 if no object of the
    archive has brackets, else float32. Raises FormatError for a text that Kaldi cannot read,
    such as 1.5 in an archive of int32.
    """
    words = Words.of(GRAMMAR, source, engine, ARK, findings, _HINT)
    keys, lines = words.where("KEY"), words.where("LINE")
    ends, numbers = np.append(keys[1:], len(words)), words.where("NUMBER")
    has_open = words.is_a("OPEN", among=np.minimum(keys + 1, len(words) - 1))
    after = np.where(has_open, keys + 2, keys + 1)
    is_matrix = has_open & words.is_a("LINE", among=np.minimum(after, len(words) - 1))
    counts = counts_between(numbers, np.append(keys, len(words)))
    in_line = counts_between(numbers, np.append(lines, len(words)))
    firsts = np.searchsorted(lines, keys), np.searchsorted(lines, ends)
    rows, cols = np.full(keys.size, -1, np.int64), counts.astype(np.int64)
    if is_matrix.any():
        rows[has_open & (counts == 0)] = 0
    for at in np.flatnonzero(is_matrix).tolist():
        found = in_line[firsts[0][at] : firsts[1][at]]
        found = found[found > 0]
        rows[at], cols[at] = found.size, found[0] if found.size else 0
        for row in np.flatnonzero(found != cols[at])[:1].tolist():
            given = {"row": row, "found": found[[row]], "expected": cols[[at]]}
            words.refuse("ark-text", keys[at], **given)
    words.report("ark-kaldiio", words.before(b"\r"), what="carriage returns")
    values: Any = words.float32s(numbers)
    if not has_open.any() and keys.size:
        values = words.integers(numbers)
        words.refuse("ark-integer", numbers[values != values.astype(np.int32)])
        values = values.astype(np.int32)
    return Archive(words.strings(keys), rows, cols, values)
