"""Reports of checks for other tools: GitHub, JSON, JUnit, Markdown, SARIF and TAP.

The results of checks are a `Run`, which has `Row`s; `written` returns its report. Reports do not
depend on the kind of check.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final, cast

from exset.reports.rows import Row, Run, Severity, Status

__all__ = ["FORMS", "Row", "Run", "Severity", "Status", "written"]

FORMS: Final[Mapping[str, str]] = {
    "github": "exset.reports.github",
    "json": "exset.reports.as_json",
    "junit": "exset.reports.junit",
    "markdown": "exset.reports.markdown",
    "sarif": "exset.reports.sarif",
    "tap": "exset.reports.tap",
}
"""The forms of a report, each with the module that writes it."""


def written(run: Run, form: str) -> str:
    """Return a report as text; `form` is one of `FORMS`."""
    write = cast(Callable[[Run], str], import_module(FORMS[form]).report)
    return write(run)
