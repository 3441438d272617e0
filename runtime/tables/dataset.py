"""Datasets of tables: each column is a field, each row a sample."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from exset.core.errors import Findings
from exset.core.limits import DEFAULT, Limits
from exset.grammars.columns.arrays import chosen_rows
from exset.grammars.tables.columns import Lists, Numbers, TableColumn
from exset.grammars.tables.table import Table
from exset.runtime.training.dataset import Dataset, Values, checked_names


class TableDataset(Dataset):
    """The rows of a table. A field is an array; text, bytes and records are objects in it.

    Columns of lists of numbers are in `ragged`. A missing number is 0. If some rows of a column
    have no value, there is a further field, `NAME.present`, bool.
    """

    def __init__(
        self,
        table: Table,
        *,
        fields: Iterable[str] | None = None,
        findings: Findings | None = None,
        limits: Limits = DEFAULT,
    ) -> None:
        """Make a dataset of a table; `fields`: the names of the arrays of a batch, by default all.

        Raises ValueError for repeated and for unknown fields.
        """
        self.table = table
        masks = [
            f"{name}.present" for name, column in table.columns.items() if not column.present.all()
        ]
        known = (*table.names, *(name for name in masks if name not in table.columns))
        self._fields = known if fields is None else checked_names("fields", fields, known)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the arrays of a batch, in order."""
        return self._fields

    @property
    def ragged(self) -> tuple[str, ...]:
        """The names of the columns of lists of numbers."""
        return tuple(name for name in self._fields if _is_ragged(self.table.columns.get(name)))

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"TableDataset({len(self)} rows, {len(self._fields)} fields)"

    def batch(self, indices: ArrayLike) -> dict[str, Values]:
        """Return the arrays of the rows at some indices. Raises the errors of `Dataset.batch`."""
        rows = chosen_rows(indices, len(self))
        found: dict[str, Values] = {}
        for name in self._fields:
            if name not in self.table.columns:
                of = self.table.columns[name.removesuffix(".present")]
                found[name] = of.present[rows]
                continue
            column = self.table.columns[name].take(rows)
            if isinstance(column, Numbers):
                found[name] = np.array(column.values)
            elif isinstance(column, Lists) and _is_ragged(column):
                assert isinstance(column.items, Numbers)
                found[f"{name}.values"] = np.array(column.items.values)
                found[f"{name}.offsets"] = np.array(column.offsets)
            else:
                found[name] = np.empty(rows.size, object)
                found[name][:] = [column[row] for row in range(rows.size)]
        return found


def _is_ragged(column: TableColumn | None) -> bool:
    return isinstance(column, Lists) and isinstance(column.items, Numbers)
