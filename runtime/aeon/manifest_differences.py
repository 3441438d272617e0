"""In what two manifests differ, whatever their dialects."""

from __future__ import annotations

import numpy as np

from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.columns.arrays import Flags
from exset.grammars.columns.strings import Strings
from exset.runtime.aeon.elements import Elements, elements
from exset.runtime.reports.differences import (
    Comparer,
    Differences,
    Show,
    shown,
    unequal,
    unequal_strings,
)

_NUMBERS = (ElementType.ASCII_INT, ElementType.ASCII_FLOAT)


def differences(one: Manifest, other: Manifest, tolerance: float, keep: int, /) -> Differences:
    """Compare records field by field; see `exset.diff`.

    Of columns of numbers it is the numbers that are compared, if both have them; fields that aeon
    drops are not.
    """
    found = Comparer("records", len(one), len(other), tolerance, keep)
    if one.types != other.types and len(one) and len(other):
        found.differ("types", shown(one.types), shown(other.types))
    records = found.units
    for column in range(min(len(one.types), len(other.types))):
        a, b = one.column(column), other.column(column)
        mask = unequal_strings(records, a, b)
        if mask.any() and one.types[column] == other.types[column] in _NUMBERS:
            x, y = elements(one, column), elements(other, column)
            rows = np.flatnonzero(mask)
            rows = rows[~(_failed(x, len(one))[rows] | _failed(y, len(other))[rows])]
            mask[rows] = unequal(x.numbers[rows], y.numbers[rows], tolerance)
        found.at(
            records,
            mask,
            f".fields[{column}]",
            _field(a),
            _field(b),
        )
    return found.done()


def _failed(column: Elements, count: int) -> Flags:
    """Which elements there are not."""
    failed = np.zeros(count, np.bool_)
    failed[[error.record for error in column.errors]] = True
    return failed


def _field(column: Strings) -> Show:
    """What shows a field of a column."""
    return lambda row: repr(column.text(row))
