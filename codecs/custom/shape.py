"""The tables that a layout describes: a table for the layout itself, and one for each array of
records.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from construct import Construct

from exset.codecs.custom.translation import Length, WideTree, nodes_in
from exset.codecs.engine import ir
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.program import Program

ROOT = "root"
"""The name of the table of the layout itself, which has one row."""


@dataclass(frozen=True)
class Shape:
    """Says for each field of a declaration which column of which table the field becomes.

    engine: the layout that the engine runs. Paths are those of the engine's fields.
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
        """The program into which the engine has converted the declaration."""
        return self.engine.program

    @cached_property
    def records(self) -> tuple[str, ...]:
        """The paths of the arrays of records. An outer array comes before the arrays inside it."""
        rows = self.program.rows
        return tuple(sorted((path for path in rows if rows[path].is_records), key=_depth))

    @cached_property
    def tables(self) -> dict[str, dict[str, str]]:
        """The columns of each table: {table name: {column name: path of its field}}."""
        found: dict[str, dict[str, str]] = {name: {} for name in (ROOT, *self.records)}
        for path in self.program.leaves:
            if not self.is_hidden(path):
                table = self.table_of(path)
                found[table][path if table == ROOT else path[len(table) + 1 :]] = path
        return found

    @cached_property
    def above(self) -> dict[str, str]:
        """For each table except the first, the table above, whose rows contain its rows."""
        return {name: self.table_of(name) for name in self.records}

    @cached_property
    def is_open(self) -> bool:
        """Whether the layout has a field that ends with the data."""
        nodes = nodes_in(self.tree.root)
        return any(isinstance(each, ir.Rows | ir.Blob) and each.count is None for each in nodes)

    def is_hidden(self, path: str) -> bool:
        """Return whether the field at `path` is a count without a column of its own.

        The lengths of the counted lists already show such a count. But the count of an array of
        records that may be absent has a column: without this column, an absent array would look
        like an empty array.
        """
        if path not in self.tree.hidden:
            return False
        counted = self.tree.computed[path]
        is_records = isinstance(counted, Length) and counted.path in self.records
        return not (is_records and path in self.program.owners)

    def table_of(self, path: str) -> str:
        """Return the name of the table that has the field at `path`.

        For an array of records, return the table above the array's own table.
        """
        inside = [name for name in self.records if path.startswith(f"{name}.")]
        return max(inside, key=len, default=ROOT)

    def is_list(self, path: str) -> bool:
        """Return whether the field at `path` may have several values in one row of its table."""
        return path in self.program.rows

    def below(self, table: str) -> Iterator[str]:
        """Yield the names of the tables of the arrays directly in the records of `table`."""
        return (name for name, above in self.above.items() if above == table)


def _depth(path: str) -> int:
    return path.count(".")
