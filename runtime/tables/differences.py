"""Compare two tables by meaning; see `exset.diff`. Metadata are not compared."""

import numpy as np

from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn
from exset.grammars.tables.table import Table
from exset.runtime.reports.column_diff import ColumnDiff, Pairs
from exset.runtime.reports.differences import Differences


def differences(one: Table, other: Table, tolerance: float, keep: int, /) -> Differences:
    """Compare tables row by row and column by column; the order of the columns has no meaning.

    tolerance: how much two numbers may differ. keep: how many differences to keep.
    """
    diff = ColumnDiff("rows", len(one), len(other), tolerance, keep)
    for name in dict.fromkeys((*one.names, *other.names)):
        types = one.types.get(name, "nothing"), other.types.get(name, "nothing")
        if types[0] != types[1]:
            diff.add(f"columns.{name}", *types)
        else:
            _compare(diff, diff.units, name, one.columns[name], other.columns[name])
    return diff.result()


def _compare(
    diff: ColumnDiff, pairs: Pairs, name: str, one: TableColumn, other: TableColumn
) -> None:
    if isinstance(one, Strings) and isinstance(other, Strings):
        diff.strings(pairs, name, one, other)
        return
    columns = one.present, other.present
    differ = one.present[pairs.one] != other.present[pairs.other]
    diff.mark(
        pairs, differ, f".{name}", columns, lambda has, row: "a value" if has[row] else "nothing"
    )
    both = pairs.where(~differ & one.present[pairs.one])
    if isinstance(one, Numbers) and isinstance(other, Numbers):
        if one.shape:
            _arrays(diff, both, name, one, other)
        else:
            diff.numbers(both, name, one.values, other.values)
    elif isinstance(one, Lists) and isinstance(other, Lists):
        items = diff.rows(both, name, one.offsets, other.offsets, "item")
        _compare(diff, items, "value", one.items, other.items)
    elif isinstance(one, Records) and isinstance(other, Records):
        for field, column in one.fields.items():
            _compare(diff, both, f"{name}.{field}", column, other.fields[field])


def _arrays(diff: ColumnDiff, pairs: Pairs, name: str, one: Numbers, other: Numbers) -> None:
    """Compare the column `name` of two tables, in which each row is an array of the same
    shape, element by element.

    diff: gets the differences. pairs: the pairs of rows to compare.
    """
    size = int(np.prod(one.shape))
    offsets = [np.arange(len(each) + 1, dtype=np.int64) * size for each in (one, other)]
    items = diff.rows(pairs, name, offsets[0], offsets[1], "number")
    diff.numbers(items, "value", one.values.reshape(-1), other.values.reshape(-1))
