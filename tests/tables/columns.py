"""The values of the columns of tables."""

from exset.grammars.tables.columns import TableColumn


def items(column: TableColumn) -> list[object]:
    """Return the values of a column as a list."""
    return [column[row] for row in range(len(column))]
