"""Convert columns of arrays of one shape to columns of lists, and back."""

from math import prod

import numpy as np

from exset.grammars.columns.arrays import compact
from exset.grammars.tables.columns import Lists, Numbers, TableColumn


def as_lists(column: Numbers) -> Lists:
    """Return a column of arrays as a column of lists of what the arrays have along their first
    axis.

    The rows must be arrays: `float32[2, 3]` becomes `list<float32[3]>`. Rows without a value still
    have none.
    """
    size = column.shape[0]
    rows = column.values[column.present]
    items = Numbers.of(rows.reshape(rows.shape[0] * size, *column.shape[1:]))
    return Lists.of(items, np.where(column.present, size, 0), column.present)


def as_nested_lists(column: Numbers) -> Numbers | Lists:
    """Return arrays as lists of lists, with one level of lists for each axis."""
    if not column.shape:
        return column
    lists = as_lists(column)
    assert isinstance(lists.items, Numbers)
    return Lists(as_nested_lists(lists.items), lists.offsets, lists.present)


def as_numbers(column: TableColumn, shape: tuple[int, ...]) -> Numbers | None:
    """Return lists, or lists of lists, as a column of arrays of the given shape; None if a
    list has another shape.

    Rows may lack a value, but items of a list may not. The result takes `prod(shape)` numbers for
    each row, also for a row without a value, so the caller must check this size first.
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
