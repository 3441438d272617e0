"""Protocols for the functions of a family that convert its models to tables and back."""

from typing import TYPE_CHECKING, Any, Protocol

from exset.core.limits import Limits
from exset.core.protocols import Level, Model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from exset.core.errors import Findings
    from exset.grammars.tables.table import Table


class ToTable(Protocol):
    """A function that makes a table from a model of a family."""

    def __call__(
        self,
        model: Any,
        /,
        *,
        level: Level,
        findings: "Findings",
        limits: Limits,
        **options: object,
    ) -> "Table":
        """Return the table of a model. Its metadata let `FromTable` make the same model again.

        Raises FormatError if no table can store the model at this level, and TypeError for an
        unknown option.
        """


class FromTable(Protocol):
    """A function that makes a model of a family from a table."""

    def __call__(
        self,
        table: "Table",
        /,
        *,
        findings: "Findings",
        limits: Limits,
        lossy: bool,
        **options: object,
    ) -> Model:
        """Return the model of a table.

        The table's metadata, or the names of its columns, say what the columns are. Raises
        FormatError for columns that a model cannot store. With `lossy`, drops such columns and adds
        a finding for each.
        """


class TableLayoutOf(Protocol):
    """A function that finds the table's columns for a model that comes in chunks."""

    def __call__(
        self,
        chunks: "Iterable[Any]",
        /,
        *,
        level: Level,
        findings: "Findings",
        limits: Limits,
        **options: object,
    ) -> object:
        """Return columns and options for `TablesOf`. Raises FormatError where `ToTable` would."""


class TablesOf(Protocol):
    """A function that makes a table from each chunk of a model."""

    def __call__(
        self,
        chunks: "Iterable[Any]",
        layout: Any,
        /,
        *,
        findings: "Findings",
        limits: Limits,
    ) -> "Iterator[Table]":
        """Yield a table for each chunk. Joined, these tables are the table of the model.

        All of them have the same columns.
        """
