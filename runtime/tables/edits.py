"""Values and names of the columns of tables, for `exset.edit`."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Numbers
from exset.grammars.tables.table import Table


def values_of(table: Table, name: str) -> "NDArray[np.number] | Iterable[bytes]":
    """Return the values of a column: numbers or text.

    In a row without a value, the number is NaN and the text is empty. Raises ValueError for an
    unknown column, and for one without single numbers or text.
    """
    if name not in table.columns:
        raise ValueError(
            f"the table has no column {name!r}: its columns are {', '.join(table.names)}"
        )
    column = table[name]
    if isinstance(column, Strings):
        return (value or b"" for value in Strings.__iter__(column))
    if not isinstance(column, Numbers) or column.shape or column.values.dtype.kind in "mM":
        raise ValueError(f"the column {name!r} has no single numbers or texts")
    values: NDArray[np.number] = column.values
    return values if column.present.all() else np.where(column.present, values, np.nan)


def with_columns(table: Table, change: Callable[[str], str]) -> Table:
    """Return a table with the name of each column replaced by what `change` returns.

    Raises ValueError if two columns get the same name.
    """
    return table.renamed({name: change(name) for name in table.names})
