"""Rows of one shape as lists, and lists of one length as rows of one shape."""

from math import prod

import numpy as np

from exset.grammars.columns.arrays import compact
from exset.grammars.tables.columns import Lists, Numbers, TableColumn


def as_lists(column: Numbers) -> Lists:
    """Return rows of arrays as lists, one level deeper; absent rows become absent lists.

    The column must have a shape: `float32[2, 3]` becomes `list<float32[3]>`.
    """
    size = column.shape[0]
    rows = column.values[column.present]
    items = Numbers.of(rows.reshape(rows.shape[0] * size, *column.shape[1:]))
    return Lists.of(items, np.where(column.present, size, 0), column.present)


def as_nested_lists(column: Numbers) -> Numbers | Lists:
    """Return rows of arrays as lists of lists, as deep as their shape."""
    if not column.shape:
        return column
    lists = as_lists(column)
    assert isinstance(lists.items, Numbers)
    return Lists(as_nested_lists(lists.items), lists.offsets, lists.present)


def as_numbers(column: TableColumn, shape: tuple[int, ...]) -> Numbers | None:
    """Return lists of lists as rows of one shape, or None if the lists have another shape.

    Absent rows may be in the column, but not in the items. The result has the rows of the column,
    each of `prod(shape)` numbers, so the caller checks this size.
    """
    present, inner = column.present, column
    for i, size in enumerate(shape):
        if isinstance(inner, Numbers) and inner.shape == shape[i:]:
            break
        if not isinstance(inner, Lists) or (i and not inner.present.all()):
            return None
        if (inner.lengths[inner.present] != size).any():
            return None
        inner = inner.items
    if not isinstance(inner, Numbers) or inner is column:
        return inner if isinstance(inner, Numbers) and inner.shape == shape else None
    if not inner.present.all() or inner.values.size != present.sum() * prod(shape):
        return None
    values = np.zeros((present.size, *shape), inner.values.dtype)
    values[present] = inner.values.reshape(int(present.sum()), *shape)
    return Numbers.of(values, compact(present))
