"""Decide whether the first line of a table has the names of the columns."""

import os
from collections import Counter
from collections.abc import Sequence
from typing import Final

SAMPLE: Final = 100
"""The number of rows that show what the columns of a table contain."""


def is_header_likely(rows: Sequence[Sequence[str]], labels: Sequence[str]) -> bool:
    """Return whether the first row of a table probably has the names of its columns.

    The fields of the first row must be neither numbers nor paths. In addition, one of these must be
    true:

    - A column has only numbers, or only paths, in the rows below.
    - The first label occurs once, and all other labels occur several times.

    `rows`: the first rows of the table, of which at most `SAMPLE` are used. `labels`: the whole
    column of labels; empty if the table has no such column.
    """
    if not rows or any(_kind(field) for field in rows[0]):
        return False
    others = Counter(labels[1:])
    if len(others) > 1 and labels[0] not in others and min(others.values()) > 1:
        return True
    kinds = [[_kind(field) for field in row] for row in rows[1:SAMPLE]]
    return any(column[0] and len(set(column)) == 1 for column in zip(*kinds, strict=False))


def _kind(field: str) -> str:
    """Return the type of a field: "number" or "path". Return "" for any other text."""
    try:
        float(field)
    except ValueError:
        return "path" if os.path.dirname(field) or os.path.splitext(field)[1] else ""
    return "number"
