"""Write columns of numbers as text: the shortest decimals that read back exactly."""

import re
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Floats, Longs, T, is_constant, offsets_of
from exset.grammars.columns.ragged import Ragged

_CHUNK: Final = 1 << 20  # numbers joined at once
_WORDS: Final = {"nan": "-", "inf": "1e999", "-inf": "-1e999"}
_SCIENTIFIC: Final = re.compile(r"(-?)(\d)(?:\.(\d+))?e([-+]\d+)")


def reals(values: Floats) -> list[bytes]:
    """Return each binary32 number as its shortest decimal that reads back exactly.

    -0 becomes `-0`, NaN becomes `-`, and infinity becomes a decimal that overflows.
    """
    table, codes = _distinct(values)
    return [table[code] for code in codes.tolist()]


def real_rows(rows: Ragged[np.float32]) -> list[bytes]:
    """Return each row of numbers as one text, with a space before every number."""
    table, codes = _distinct(rows.values)
    return _rows([b" " + text for text in table], codes, rows.offsets)


def unit_rows(rows: Ragged[np.int32]) -> list[bytes]:
    """Return each row of integers as one text. For example, the row 4, -6 becomes ` 4-6`.

    A space precedes every integer that is not negative.
    """
    distinct, codes = _unique(rows.values)
    table = [b"%d" % n if n < 0 else b" %d" % n for n in distinct.tolist()]
    return _rows(table, codes, rows.offsets)


def _distinct(values: Floats) -> tuple[list[bytes], Longs]:
    """Return the texts of the distinct numbers, and the index of each number's text: int64 [n]."""
    if is_constant(values):
        return _texts(values[:1]), np.zeros(values.size, np.int64)
    patterns, codes = _unique(values.view(np.uint32))
    return _texts(patterns.view(np.float32)), codes


def _unique(values: NDArray[T]) -> tuple[NDArray[T], Longs]:
    """Return the distinct values, ascending, and for each element its index in the distinct values.

    This is faster than `np.unique(..., return_inverse=True)`, which sorts indices.
    """
    ordered = np.sort(values)
    is_new = np.ones(values.size, np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    distinct = ordered[is_new]  # np.unique without inverse loads numpy.ma
    return distinct, np.searchsorted(distinct, values)


def _texts(values: Floats) -> list[bytes]:
    return [_text(text).encode() for text in values.astype("U").tolist()]


def _text(text: str) -> str:
    """Return the text of a number, changed from NumPy's notation to exset's."""
    if text in _WORDS:
        return _WORDS[text]
    if "e" not in text:
        return text.removesuffix(".0")
    parts = _SCIENTIFIC.fullmatch(text)
    assert parts, text
    sign, whole, part, exponent = parts[1], parts[2], parts[3] or "", int(parts[4])
    if part == "0":
        part = ""
    if -5 < exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{whole}{part}"
    if 0 <= exponent < 10:
        whole += part[:exponent].ljust(exponent, "0")
        return sign + whole + ("." + part[exponent:] if part[exponent:] else "")
    return f"{sign}{whole}{'.' if part else ''}{part}e{exponent:+03d}"


def _rows(table: list[bytes], codes: NDArray[np.intp], offsets: Longs) -> list[bytes]:
    """Return each row of numbers as one text.

    table: the texts of the distinct numbers. codes: for each number, the index of its text in
    `table`. offsets: where the numbers of each row begin, and the end of the last row.
    """
    if not table:
        return [b""] * (offsets.size - 1)
    texts = np.array(table, "S")
    cells = texts.view(np.uint8).reshape(len(table), texts.itemsize)
    lengths = np.count_nonzero(cells, axis=1)
    chunks = []
    for start in range(0, codes.size, _CHUNK):
        picked = cells[codes[start : start + _CHUNK]]
        chunks.append(picked[picked != 0].tobytes())
    joined = b"".join(chunks)
    ends = offsets_of(lengths[codes])[offsets].tolist()
    return [joined[a:b] for a, b in pairwise(ends)]
