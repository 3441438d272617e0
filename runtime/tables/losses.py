"""Drop the columns that a format cannot hold, if the user allows losses."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from exset.core.errors import Findings, FormatError
from exset.grammars.tables.columns import TableColumn
from exset.grammars.tables.findings import finding_at
from exset.grammars.tables.table import Table
from exset.runtime.tables.seen import Seen


def report_dropped(errors: Iterable[FormatError], findings: Findings) -> None:
    """Add a finding for each column that is dropped; `errors`: the reasons."""
    for error in errors:
        findings.add(finding_at("table-dropped", error.place, what=error.message))


@dataclass
class Held(Iterable[Table]):
    """The chunks of a table; if `lossy`, without the columns that a format cannot store.

    encode: raises FormatError for a column that the format cannot store. After an iteration,
    `first` is the table without rows, `rows` the number of rows, and `seen` has, for each column,
    what a reader can learn from its rows.
    """

    tables: Iterable[Table]
    encode: Callable[[str, TableColumn], object]
    lossy: bool
    findings: Findings
    first: Table = field(default_factory=lambda: Table.of({}), init=False)
    rows: int = field(default=0, init=False)
    seen: dict[str, Seen] = field(default_factory=dict, init=False)
    _dropped: dict[str, FormatError] | None = field(default=None, init=False)

    def __iter__(self) -> Iterator[Table]:
        if self._dropped is None:
            self._dropped = self._unheld() if self.lossy else {}
        self.rows, self.seen = 0, {}
        for table in self.tables:
            table = table.without_columns(*self._dropped)
            for name, column in table.columns.items():
                seen = Seen.of(column)
                self.seen[name] = self.seen[name] | seen if name in self.seen else seen
            self.first, self.rows = table[:0], self.rows + table.rows
            yield table

    @contextmanager
    def in_order(self) -> Iterator[None]:
        """In this context, raise the error of the first column that has one, as for a whole table.

        A chunk may show the error of a later column first.
        """
        try:
            yield
        except FormatError as error:
            if error.code == "table-holds" and not self.lossy:
                for first in self._errors().values():
                    raise first from None
            raise

    def _unheld(self) -> dict[str, FormatError]:
        """Return the error of each column that the format cannot store, and add a finding for
        each.
        """
        errors = self._errors()
        report_dropped(errors.values(), self.findings)
        return errors

    def _errors(self) -> dict[str, FormatError]:
        """Return the error of each column that the format cannot store, in the order of the
        columns.
        """
        errors: dict[str, FormatError] = {}
        names: tuple[str, ...] = ()
        for table in self.tables:
            names = table.names
            for name in names:
                try:
                    if name not in errors:
                        self.encode(name, table.columns[name])
                except FormatError as error:
                    errors[name] = error
        return {name: errors[name] for name in names if name in errors}
