"""The findings of WebDataset, TFRecord and MDS. Their codes are stable."""

from typing import Final

from exset.core.errors import FormatError, Place
from exset.grammars.columns.findings import Rules

RULES: Final = Rules("exset.grammars.tables:shards.findings")
finding_at: Final = RULES.finding
"""Make a finding from its code, its place, and the values that fill in its message."""


def cannot_hold(column: str, problem: str, row: int | None = None) -> FormatError:
    """Return the error for a column that a format cannot store, or for its value in one row.

    column: its name, or "" for the whole table. problem: why, as a sentence.
    """
    field = f"columns[{column!r}]" + ("" if row is None else f"[{row}]")
    place = Place("table", field=field if column else None)
    hint = "change or drop what it cannot store, or choose another format, such as NPZ"
    return FormatError(problem, place=place, hint=hint, code="table-holds")
