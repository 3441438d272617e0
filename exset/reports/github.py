"""Write a run of checks as commands for GitHub Actions, which shows them next to the lines."""

from typing import Final

from exset.reports.rows import Row, Run, Severity

_COMMANDS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "note": "notice"}

_IN_DATA: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY: Final = _IN_DATA | str.maketrans({":": "%3A", ",": "%2C"})


def report(run: Run) -> str:
    """Return a command for each row whose check found something wrong.

    Source: GitHub Docs, "Workflow commands for GitHub Actions".
    """
    return "".join(f"{_command(row)}\n" for row in run.rows if row.is_bad)


def _command(row: Row) -> str:
    properties = {"file": row.path, "line": row.line, "col": row.column, "title": row.rule}
    given = ",".join(
        f"{name}={str(value).translate(_IN_PROPERTY)}"
        for name, value in properties.items()
        if value not in (None, "")
    )
    text = (row.message or row.about or row.name).translate(_IN_DATA)
    return f"::{_COMMANDS[row.severity]} {given}::{text}"
