"""Table: named columns with the same number of rows, and metadata."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike

from exset.core.html import table as html_table
from exset.core.text import counted, safe
from exset.grammars.columns.arrays import chosen_rows
from exset.grammars.columns.rows import FrozenColumns
from exset.grammars.columns.sequence import UnitSequence
from exset.grammars.tables.build import column_of
from exset.grammars.tables.columns import Row, TableColumn, concat_fields, type_of

if TYPE_CHECKING:
    import pandas
    import xarray

_MOST_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Table(FrozenColumns, UnitSequence[Row, "Table"]):
    """Rows and named columns. Each family converts to tables and back, and so to all other
    families.

    columns: `Numbers`, `Text`, `Strings` (bytes), `Lists` or `Records`, by name; a dot in a name
    divides it into parts, as in `inputs.onset`. rows: the number of rows. metadata: a JSON object
    with facts about the whole table, such as the family from which it was converted; formats store
    it under the name `exset`.

    The class supports the Arrow PyCapsule protocol, without a copy where possible:
    `pyarrow.table(table)` and `polars.DataFrame(table)` accept it, `Table.from_arrow(frame)`
    converts back, and duckdb reads a Python variable that is a table. Raises ValueError, which
    names the column, for a wrong type or length.
    """

    columns: dict[str, TableColumn]
    rows: int
    metadata: dict[str, Any]

    def __post_init__(self) -> None:
        for name, column in self.columns.items():
            if len(column) != self.rows:
                raise ValueError(f"{name}: expected {counted(self.rows, 'row')}, not {len(column)}")

    @classmethod
    def of(cls, columns: Mapping[str, object], metadata: Mapping[str, Any] | None = None) -> Self:
        """Return a table of the given columns: arrays or lists, by name; see `column_of`.

        Raises ValueError, which names the column, for values that a column cannot have.
        """
        made: dict[str, TableColumn] = {}
        for name, given in columns.items():
            made[name] = column_of(name, given, len(next(iter(made.values()))) if made else None)
        rows = len(next(iter(made.values()))) if made else 0
        return cls(made, rows, dict(metadata or {}))

    @classmethod
    def from_arrow(cls, data: object) -> Self:
        """Return the table of an object with `__arrow_c_stream__`, such as a DataFrame.

        Fields of structs become columns with a dot in the name. NaN in a DataFrame of pandas stays
        a present number. Raises FormatError for a type that exset does not have, TypeError for
        another object, and ImportError without nanoarrow.
        """
        from exset.grammars.tables.arrow_import import imported
        from exset.grammars.tables.frames import is_pandas, with_nan

        columns, rows, metadata = imported(data)
        if is_pandas(data):
            columns = with_nan(columns, data)
        return cls(columns, rows, metadata)

    @classmethod
    def concat(cls, tables: Sequence[Self]) -> Self:
        """Join the rows of one or more tables with the same columns; the metadata are those of the
        first.

        Raises ValueError for tables whose columns differ in name or type.
        """
        first = tables[0]
        for other in tables[1:]:
            if other.types != first.types:
                raise ValueError(
                    f"concat: the tables differ in columns: {_difference(first, other)}"
                )
        columns = concat_fields([table.columns for table in tables])
        rows = sum(table.rows for table in tables)
        return cls.unchecked(columns=columns, rows=rows, metadata=first.metadata)

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        count = f"{counted(self.rows, 'row')}, {counted(len(self.columns), 'column')}"
        names = [f"{safe(name)}: {safe(each)}" for name, each in self.types.items()]
        names[_MOST_SHOWN:] = ["..."] if len(names) > _MOST_SHOWN else []
        return f"Table({count}{': ' if names else ''}{', '.join(names)})"

    def _repr_html_(self) -> str:
        names = [*self.columns][:_MOST_SHOWN]
        rows = ([str(self.columns[name][row]) for name in names] for row in range(self.rows))
        return html_table(repr(self), names, rows, self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    @property
    def types(self) -> dict[str, str]:
        """The types of the columns as text, by name."""
        return {name: type_of(column) for name, column in self.columns.items()}

    @overload
    def __getitem__(self, index: str) -> TableColumn: ...
    @overload
    def __getitem__(self, index: SupportsIndex) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> "Table": ...
    def __getitem__(self, index: str | slice | SupportsIndex) -> "TableColumn | Table | Row":
        """Return a column by its name, a row by its index, or the table of a slice.

        Raises KeyError, which lists the names, for an unknown name, and IndexError for an index
        out of bounds.
        """
        if not isinstance(index, str):
            return super().__getitem__(index)
        if index not in self.columns:
            raise KeyError(f"no column {index!r}: choose one of {', '.join(self.columns)}")
        return self.columns[index]

    def __contains__(self, item: object) -> bool:
        """Return whether a column has the name `item`, or a row equals `item`."""
        return item in self.columns if isinstance(item, str) else any(item == row for row in self)

    def __iter__(self) -> Iterator[Row]:
        """Yield each row."""
        return map(self._unit, range(self.rows))

    def _unit(self, row: int) -> Row:
        return Row((name, column[row]) for name, column in self.columns.items())

    def _some(self, rows: slice) -> "Table":
        return self.select(rows)

    def select(self, which: ArrayLike | slice) -> Self:
        """Return the rows that a slice, a mask, or indices choose.

        Raises IndexError for an index out of bounds, and ValueError for another type of `which`.
        """
        return self.take(chosen_rows(which, self.rows))

    def take(self, indices: "np.ndarray[Any, np.dtype[np.int64]]") -> Self:
        """Return the rows at the indices, int64 [k]. Raises IndexError for an index out of
        bounds.
        """
        columns = {name: column.take(indices) for name, column in self.columns.items()}
        return self.unchecked(columns=columns, rows=indices.size, metadata=self.metadata)

    def with_columns(self, **columns: object) -> Self:
        """Return the table with the given columns added or replaced.

        Raises ValueError, which names the column, for wrong values. For names with a dot, write
        `table.with_columns(**{"inputs.onset": array})`.
        """
        n = self.rows if self.columns else None
        made = {name: column_of(name, given, n) for name, given in columns.items()}
        return type(self).of({**self.columns, **made}, self.metadata)

    def without_columns(self, *names: str) -> Self:
        """Return the table without the named columns. Raises KeyError for an unknown name."""
        for name in names:
            _ = self[name]
        kept = {name: column for name, column in self.columns.items() if name not in names}
        return self.with_unchecked(columns=kept)

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Return the table with new names for some columns: {old: new}.

        Raises KeyError for an unknown name, ValueError if two columns would have the same name.
        """
        for name in names:
            _ = self[name]
        columns = {names.get(name, name): column for name, column in self.columns.items()}
        if len(columns) < len(self.columns):
            raise ValueError("renamed: two columns would have the same name")
        return self.with_unchecked(columns=columns)

    def with_metadata(self, metadata: Mapping[str, Any]) -> Self:
        """Return the table with other metadata, a JSON object."""
        return self.with_unchecked(metadata=dict(metadata))

    def __arrow_c_schema__(self) -> object:
        """Return an Arrow schema as a PyCapsule. Raises ImportError without nanoarrow."""
        from exset.grammars.tables.arrow_export import exported

        stream = exported(self.columns, self.rows, self.metadata)
        return stream.get_schema().__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return an Arrow stream of one batch as a PyCapsule. Raises ImportError without nanoarrow.

        A requested schema is ignored, as the protocol allows.
        """
        from exset.grammars.tables.arrow_export import exported

        return exported(self.columns, self.rows, self.metadata).__arrow_c_stream__()

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a pandas DataFrame; the columns `example` and `event`, if any, become its index.

        A column of numbers in which some rows have no value gets a nullable dtype of pandas.
        Raises ImportError without pandas.
        """
        from exset.grammars.tables.frames import to_pandas

        return to_pandas(self.columns, self.rows)

    def to_xarray(self) -> "xarray.Dataset":
        """Return an xarray Dataset with the dimension `row`; the names of groups label the units.

        Raises ImportError without xarray, and ValueError for lists and records.
        """
        from exset.grammars.tables.frames import to_xarray

        return to_xarray(self.columns)


def _difference(one: Table, other: Table) -> str:
    names = dict.fromkeys((*one.types, *other.types))
    name = next(name for name in names if one.types.get(name) != other.types.get(name))
    found = (table.types.get(name, "missing") for table in (one, other))
    return f"{name} is {' in one table and '.join(found)} in another"
