"""The findings of CSV files, such as cells of text that spreadsheets or pandas would change."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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
_CODES: Final = ("csv-formula", "csv-missing", "csv-zeros")


@dataclass
class ChangedCells:
    """Collects the cells of a text column that Excel or pandas would change when they read the
    file.

    It keeps the first cell and the number of cells for each code of a finding.
    """

    _first: dict[str, tuple[Place, str]] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)

    def add(self, text: Text, place: Callable[[int], Place]) -> None:
        """Add the next rows of the column. place: returns the place of one of these rows."""
        lengths = text.lengths
        filled = np.flatnonzero(lengths)
        if filled.size:
            for code, rows in _changed(text, lengths, filled):
                if rows.size:
                    row = int(rows[0])
                    if code not in self._first:
                        self._first[code] = place(row), safe(str(text[row])[:40])
                    self._counts[code] += int(rows.size)

    def report(self, findings: Findings) -> None:
        """Add one finding for each code, if at least one cell has it."""
        for code in _CODES:
            if code in self._first:
                place, cell = self._first[code]
                findings.add(finding_at(code, place, cell=cell), self._counts[code])


def _changed(text: Text, lengths: Longs, filled: Longs) -> Iterator[tuple[str, Longs]]:
    """Yield each code of a finding, with the rows of the cells to which it applies.

    lengths: the length of each cell, in bytes. filled: the rows of the cells that are not empty.
    """
    first = text.data[text.offsets[:-1][filled]]
    is_formula = np.isin(first, np.frombuffer(b"=+-@", np.uint8)) & (lengths[filled] > 1)
    yield "csv-formula", filled[is_formula]
    yield "csv-missing", _rows_of(text, filled, first)
    zeros = filled[(first == ord("0")) & (lengths[filled] > 1)]
    digits = np.concatenate(([0], np.cumsum((text.data >= 48) & (text.data <= 57))))
    count = digits[text.offsets[1:][zeros]] - digits[text.offsets[:-1][zeros]]
    yield "csv-zeros", zeros[count == lengths[zeros]]


def _rows_of(text: Text, filled: Longs, first: Bytes) -> Longs:
    """Return the rows whose text pandas reads as a missing value, such as NA.

    filled: the rows of the cells that are not empty. first: the first byte of each of these cells.
    """
    found: list[Longs] = []
    lengths, begins = text.lengths, text.offsets[:-1]
    for word in _MISSING:
        rows = filled[(first == ord(word[0])) & (lengths[filled] == len(word))]
        for i, letter in enumerate(word.encode()):
            rows = rows[text.data[begins[rows] + i] == letter]
        found.append(rows)
    return np.sort(np.concatenate(found))
