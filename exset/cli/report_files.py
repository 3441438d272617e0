"""The option `--report FORM=FILE`: reports of a check for other tools."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from exset.cli.options import option
from exset.io import files
from exset.reports import FORMS, written

if TYPE_CHECKING:
    from exset.reports import Run

_NAMES = ", ".join(sorted(FORMS))

report_option = option(
    "--report",
    "reports",
    metavar="FORM=FILE",
    multiple=True,
    help=f"Also write a report to FILE; FORM is one of {_NAMES}.",
)


def forms_of(reports: Sequence[str]) -> dict[str, str]:
    """Parse texts `FORM` or `FORM=FILE`. Return the file of each form; "" is standard output.

    Raises ValueError for an unknown form, and for several reports on standard output.
    """
    found = {}
    for report in reports:
        form, _, path = report.partition("=")
        if form not in FORMS:
            raise ValueError(f"unknown report {form!r}: choose {_NAMES}")
        found[form] = path
    if sum(not path for path in found.values()) > 1:
        raise ValueError("only one report fits on standard output: write --report FORM=FILE")
    return found


def write_report(run: "Run", form: str, path: str) -> None:
    """Write a report to the file `path`, or to standard output if `path` is "".

    Raises OSError if the report cannot be written.
    """
    text = written(run, form)
    if path:
        files.write(path, text.encode("utf-8"))
    else:
        click.echo(text, nl=False)
