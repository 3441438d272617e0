"""The findings of CSV files, and the cells of text that spreadsheets and pandas change."""

from collections.abc import Callable
from typing import Final

import numpy as np

from exset.core.errors import Findings, Place
from exset.core.text import safe
from exset.grammars.columns.arrays import Bytes, Longs
from exset.grammars.columns.findings import Rules
from exset.grammars.tables.columns import Text

RULES: Final = Rules("exset.grammars.tables:csv.findings")
finding_at: Final = RULES.finding
"""Make a finding from its code, its place, and the values that fill in its message."""

_MISSING: Final = (
    *("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
"""The words that pandas.read_csv reads as missing values."""


def check_text(text: Text, findings: Findings, place: Callable[[int], Place]) -> None:
    """Add a finding for each kind of cells that Excel or pandas would change.

    place: returns the place of a row.
    """
    lengths = text.lengths
    filled = np.flatnonzero(lengths)
    if not filled.size:
        return
    first = text.data[text.offsets[:-1][filled]]
    is_formula = np.isin(first, np.frombuffer(b"=+-@", np.uint8)) & (lengths[filled] > 1)
    zeros = filled[(first == ord("0")) & (lengths[filled] > 1)]
    digits = np.concatenate(([0], np.cumsum((text.data >= 48) & (text.data <= 57))))
    count = digits[text.offsets[1:][zeros]] - digits[text.offsets[:-1][zeros]]
    for code, rows in (
        ("csv-formula", filled[is_formula]),
        ("csv-missing", _rows_of(text, filled, first)),
        ("csv-zeros", zeros[count == lengths[zeros]]),
    ):
        if rows.size:
            row = int(rows[0])
            cell = safe(str(text[row])[:40])
            findings.add(finding_at(code, place(row), cell=cell), int(rows.size))


def _rows_of(text: Text, filled: Longs, first: Bytes) -> Longs:
    """Return the rows whose text is a word that pandas reads as missing."""
    found: list[Longs] = []
    lengths, begins = text.lengths, text.offsets[:-1]
    for word in _MISSING:
        rows = filled[(first == ord(word[0])) & (lengths[filled] == len(word))]
        for i, letter in enumerate(word.encode()):
            rows = rows[text.data[begins[rows] + i] == letter]
        found.append(rows)
    return np.sort(np.concatenate(found))
