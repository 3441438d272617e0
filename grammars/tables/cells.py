"""Limit the cells of a table whose rows may each have other columns."""

from typing import Final

from exset.core.errors import LimitError
from exset.core.limits import Limits, limit_hint
from exset.core.source import Source

_CELL: Final = 9  # bytes of a number, and of whether it is there
_RATIO: Final = 64


def check_cells(source: Source, rows: int, columns: int, limits: Limits) -> None:
    """Raise LimitError if the cells of a table take much more memory than the file's bytes.

    Cells without a value take no bytes in the file. So n rows, each with a name of its
    own, have n * n cells.
    """
    if rows * columns * _CELL > max(limits.max_array, _RATIO * len(source.data)):
        message = (
            f"too many cells without a value: the table has {rows:,} rows and {columns:,} columns"
        )
        raise LimitError(message, source=source, hint=limit_hint("max_array"))
