"""What a reader can learn about a column from its rows alone, without its type."""

from dataclasses import dataclass
from typing import Self

from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, TableColumn, Text, first_wrong_text


@dataclass(frozen=True)
class Seen:
    """What a reader can learn from the rows of a column, or of several of its chunks.

    `has_rows`: whether any row has a value. `lengths`: up to two different lengths of lists.
    `is_text`: whether all strings are UTF-8. `items`: the same about the items of lists.
    """

    has_rows: bool
    lengths: frozenset[int] = frozenset()
    is_text: bool = True
    items: "Seen | None" = None

    @classmethod
    def of(cls, column: TableColumn) -> Self:
        """Return what a reader can learn from the rows of one chunk."""
        has_rows = bool(column.present.any())
        if isinstance(column, Lists):
            lengths = column.lengths[column.present]
            some = {int(lengths.min()), int(lengths.max())} if has_rows else set()
            return cls(has_rows, frozenset(some), items=Seen.of(column.items))
        if isinstance(column, Strings):
            is_text = isinstance(column, Text) or first_wrong_text(column) is None
            return cls(has_rows, is_text=is_text)
        return cls(has_rows)

    def __or__(self, other: "Seen") -> "Seen":
        """Return what a reader can learn from the rows of both columns or chunks."""
        lengths = self.lengths | other.lengths
        items = self.items and other.items and self.items | other.items
        return Seen(
            self.has_rows or other.has_rows,
            frozenset({min(lengths), max(lengths)} if lengths else ()),
            self.is_text and other.is_text,
            items,
        )
