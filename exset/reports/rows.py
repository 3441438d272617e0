"""The rows of a report: what was checked, and the result."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["passed", "failed", "error", "skipped"]
"""`failed`: a wrong result; `error`: no result, for example after a crash."""

Severity: TypeAlias = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Row:
    """One check and its result.

    - `name`: the name of the check, unique in a run. `groups`: the groups to which it belongs.
    - `rule`: the code of the rule; `about`: the rule in words.
    - `path`, `line` and `column`: the place in the checked file; lines and columns count from 1.
    - `byte`: the offset of the place in a binary file.
    - `fingerprint`: stays the same if a mistake moves to another line of the file.
    """

    name: str
    status: Status
    rule: str
    about: str = ""
    groups: Sequence[str] = ()
    severity: Severity = "error"
    messages: Sequence[str] = ()
    path: str = ""
    line: int | None = None
    column: int | None = None
    byte: int | None = None
    fingerprint: str = ""
    seconds: float = 0.0

    @property
    def message(self) -> str:
        """All messages as one text."""
        return "; ".join(self.messages)

    @property
    def is_bad(self) -> bool:
        """Whether the check found something wrong."""
        return self.status in ("failed", "error")


@dataclass(frozen=True)
class Run:
    """All rows of a run, with its title and a summary in words."""

    title: str
    version: str
    summary: str
    rows: Sequence[Row]

    def count(self, *statuses: Status) -> int:
        """Return how many rows have one of these statuses."""
        return sum(row.status in statuses for row in self.rows)

    @property
    def by_group(self) -> dict[str, list[Row]]:
        """The rows of each group. The groups are in the order in which they first occur."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            for group in row.groups or ("all",):
                found.setdefault(group, []).append(row)
        return found
