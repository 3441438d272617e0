"""The flat arrays of a table that comes in chunks: first their shapes, then their parts."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from exset.core.errors import FormatError, Place
from exset.grammars.tables import flat
from exset.grammars.tables.survey import Survey, in_batches
from exset.grammars.tables.table import Table

_BATCH: Final = 1 << 24
"""The approximate number of bytes of the values in a batch."""

Parts: TypeAlias = dict[str, tuple[int, flat.Array]]
"""A part of each array by name: the index in the whole array at which it begins, and the part."""


@dataclass(frozen=True)
class FlatTables:
    """A table that comes in chunks, as flat arrays: each column becomes one or more arrays.

    `arrays`: the arrays of the table without rows. `shapes`: the shapes of the whole arrays.
    `stored`: the metadata, and the form (the kind of values) of each column.
    """

    tables: Iterable[Table]
    survey: Survey
    arrays: dict[str, flat.Array]
    stored: dict[str, Any]
    shapes: dict[str, tuple[int, ...]]
    _offsets: set[str]

    @classmethod
    def of(
        cls, tables: Iterable[Table], watch: Callable[[Table], None] | None = None
    ) -> "FlatTables":
        """Read all chunks once, to find the shapes of the arrays.

        watch: called with each chunk. Raises FormatError if two columns need arrays with the same
        name.
        """
        survey = Survey.of(tables if watch is None else _watched(tables, watch))
        try:
            arrays, stored = flat.flattened(survey.first, survey.absent)
        except ValueError as error:
            raise FormatError(str(error), place=Place("table"), code="table-holds") from None
        lengths, offsets = flat.lengths_of(stored["columns"], survey)
        shapes = {name: (lengths[name], *array.shape[1:]) for name, array in arrays.items()}
        return cls(tables, survey, arrays, {**stored, "rows": survey.rows}, shapes, offsets)

    def parts(self) -> Iterator[tuple[Table, Parts]]:
        """Yield the table in batches of rows: each batch, and the part of each array for it.

        A part comes with the index at which it begins. The batches do not depend on the chunks.
        """
        begins, last = dict.fromkeys(self.arrays, 0), dict.fromkeys(self._offsets, 0)
        batches = in_batches(self.tables, self.survey.rows_of(_BATCH))
        # Offsets have an element even without rows.
        for table in batches if self.survey.rows else (self.survey.first,):
            parts: Parts = {}
            for name, array in flat.flattened(table, self.survey.absent)[0].items():
                begin = begins[name]
                if name in self._offsets:
                    array = array[1 if begin else 0 :] + last[name]
                    last[name] = int(array[-1]) if array.size else last[name]
                parts[name] = begin, array
                begins[name] += len(array)
            yield table, parts


def _watched(tables: Iterable[Table], watch: Callable[[Table], None]) -> Iterator[Table]:
    for table in tables:
        watch(table)
        yield table
