"""Join columns of which each row has a value in at most one."""

from collections.abc import Sequence

import numpy as np

from exset.grammars.tables.columns import TableColumn, concat_columns, spread


def coalesced(columns: Sequence[TableColumn]) -> TableColumn:
    """Return a column that has all values of the given ones, each in its row.

    columns: one or more, of one length and of one type, except that numbers may have different
    dtypes. No row may have a value in several of them.
    """
    filled = [column for column in columns if column.present.any()]
    if len(filled) < 2:
        return filled[0] if filled else columns[0]
    rows = [np.flatnonzero(column.present) for column in filled]
    dense = concat_columns([each.take(some) for each, some in zip(filled, rows, strict=True)])
    order = np.argsort(np.concatenate(rows))
    return spread(dense.take(order), np.concatenate(rows)[order], len(filled[0]))
