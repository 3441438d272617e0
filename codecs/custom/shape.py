"""The tables that a layout describes: one for the layout itself, and one for each array of
records.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from construct import Construct

from exset.codecs.custom.translation import Length, WideTree
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.program import Program

ROOT = "root"
"""The name of the table of the layout itself, which has one row."""


@dataclass(frozen=True)
class Shape:
    """The table and the column that each field becomes.

    tables: for each table, the paths of its columns, by their names. above: for each table but the
    first, the table whose rows contain its rows. engine: the layout that the engine runs.
    """

    declaration: Construct
    tree: WideTree
    engine: Layout

    @classmethod
    def of(cls, declaration: Construct) -> Self:
        """Return the shape of a declaration. Raises TypeError if the engine cannot run it."""
        tree = WideTree(declaration)
        made = cls(declaration, tree, Layout(None, tree))
        if ROOT in made.records:
            raise TypeError(f"{ROOT}: an array of records cannot have this name")
        return made

    @property
    def program(self) -> Program:
        """The program that the engine runs."""
        return self.engine.program

    @cached_property
    def records(self) -> tuple[str, ...]:
        """The paths of the arrays of records; an outer array comes before the arrays in it."""
        rows = self.program.rows
        return tuple(sorted((path for path in rows if rows[path].is_records), key=_depth))

    @cached_property
    def tables(self) -> dict[str, dict[str, str]]:
        """The columns of each table: the path of each field, by the name of its column."""
        found: dict[str, dict[str, str]] = {name: {} for name in (ROOT, *self.records)}
        for path in self.program.leaves:
            if not self.is_hidden(path):
                table = self.table_of(path)
                found[table][path if table == ROOT else path[len(table) + 1 :]] = path
        return found

    @cached_property
    def above(self) -> dict[str, str]:
        """For each table but the first, the table whose rows contain its rows."""
        return {name: self.table_of(name) for name in self.records}

    def is_hidden(self, path: str) -> bool:
        """Return whether a field has no column, because the lengths of lists already show this
        count.

        The count of an array of records that may be absent has a column: without this column, an
        absent array would look like an empty array.
        """
        if path not in self.tree.hidden:
            return False
        counted = self.tree.computed[path]
        is_records = isinstance(counted, Length) and counted.path in self.records
        return not (is_records and path in self.program.owners)

    def table_of(self, path: str) -> str:
        """Return the name of the table that has a field, or of the table above an array of
        records.
        """
        inside = [name for name in self.records if path.startswith(f"{name}.")]
        return max(inside, key=len, default=ROOT)

    def is_list(self, path: str) -> bool:
        """Return whether a field has several values in each row of its table."""
        return path in self.program.rows

    def below(self, table: str) -> Iterator[str]:
        """Yield the names of the tables directly below a table: of the arrays in its records."""
        return (name for name, above in self.above.items() if above == table)


def _depth(path: str) -> int:
    return path.count(".")
