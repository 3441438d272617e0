"""The ids of a sample list as a column. Its rows are strings, or ranges of integers."""

import re
from typing import Final, TypeAlias

import numpy as np

from exset.core.errors import FormatError
from exset.grammars.columns.arrays import Longs, offsets_of
from exset.grammars.columns.inputs import shown
from exset.grammars.columns.spans import Spans, normal_spans
from exset.grammars.columns.strings import Strings

Id: TypeAlias = str | int
Ids: TypeAlias = Strings | Spans
"""A column of ids: Strings, or Spans, which hold integers as their longest runs."""

_DECIMAL: Final = re.compile(rb"0|-?[1-9]\d{0,17}")


def id_values(ids: Ids) -> list[Id]:
    """Return all ids as a list: as text, or as integers with all numbers of the ranges."""
    if isinstance(ids, Spans):
        return [*ids.numbers().tolist()]
    return [(each or b"").decode("utf-8", "surrogateescape") for each in ids]


def ids_at(ids: Ids, rows: Longs) -> list[Id]:
    """Return the ids with the indices `rows` as a list of texts or integers.

    rows: indices among all ids. Each number of a range counts as an id. Ranges without a chosen id
    are not expanded.
    """
    return (
        id_values(ids.take(rows)) if isinstance(ids, Strings) else [*_numbers(ids, rows).tolist()]
    )


def take_ids(ids: Ids, rows: Longs, offsets: Longs) -> tuple[Ids, Longs]:
    """Return the ids with the indices `rows` as a column, and the offsets of each file's ids in it.

    rows: indices among all ids, grouped by file. offsets: file i has the indices
    rows[offsets[i]:offsets[i + 1]]. The returned offsets are int64 [files + 1].
    """
    if isinstance(ids, Strings):
        return ids.take(rows), offsets
    return normal_spans(_numbers(ids, rows), offsets)


def integer_ids(ids: Strings, offsets: Longs) -> tuple[Spans, Longs]:
    """Convert ids that are text to spans of integers. Return the spans, and the offsets of each
    file's spans.

    offsets: file i has the ids offsets[i]:offsets[i + 1]. Raises FormatError for an id that is not
    an integer in normal decimal form; 007 is not.
    """
    numbers = np.empty(len(ids), np.int64)
    for row, word in enumerate(ids):
        if not _DECIMAL.fullmatch(word or b""):
            message = f"the id {shown(ids.text(row))} is not an integer"
            raise FormatError(message, code="lbann-range")
        numbers[row] = int(word or b"")
    return normal_spans(numbers, offsets)


def overlaps(spans: Spans, offsets: Longs) -> Longs:
    """Return the indices of the files in which two spans contain the same integer id.

    offsets: file i has the spans offsets[i]:offsets[i + 1].
    """
    row = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    order = np.lexsort((spans.first, row))
    row, first, last = row[order], spans.first[order], spans.last[order]
    meets = (row[1:] == row[:-1]) & (first[1:] <= last[:-1])
    return np.unique(row[1:][meets])


def _numbers(spans: Spans, rows: Longs) -> Longs:
    begins = offsets_of(spans.counts)
    span = np.searchsorted(begins, rows, side="right") - 1
    return spans.first[span] + rows - begins[span]
