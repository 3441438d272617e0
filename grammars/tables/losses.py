"""Report the columns, values and metadata of a table that a format cannot store."""

from dataclasses import dataclass, replace

from exset.core.errors import Findings, FormatError, Place
from exset.grammars.tables.findings import finding_at


@dataclass(frozen=True)
class Losses:
    """Reports what a format cannot store, before anything is written: as an error or, if
    `is_lossy`, as findings.
    """

    is_lossy: bool
    findings: Findings

    def report(
        self,
        column: str,
        problem: str,
        row: int | None = None,
        hint: str | None = None,
        times: int = 1,
    ) -> None:
        """Report that a column, or its value in one row, cannot be stored.

        problem: a sentence, such as "CSV cannot store lists". hint: what to do, by default to
        choose another format. times: in how many rows, if `row` is the first of several. Raises
        FormatError unless lossy.
        """
        field = f"columns[{column!r}]" + ("" if row is None else f"[{row}]")
        self._report(field, problem, hint, times)

    def report_metadata(self, problem: str) -> None:
        """Report that the metadata cannot be stored; see `report`."""
        self._report("metadata", problem)

    def _report(self, field: str, problem: str, hint: str | None = None, times: int = 1) -> None:
        place = Place("table", field=field)
        if not self.is_lossy:
            default = "choose another format, or drop what it cannot store"
            hint = default if hint is None else f"{hint}; or drop it"
            hint = f"{hint}: <--lossy or lossy=True>"
            raise FormatError(problem, place=place, hint=hint, code="table-holds")
        finding = finding_at("table-dropped", place, what=problem)
        self.findings.add(finding if hint is None else replace(finding, hint=hint), times)
