"""`exset diff`: show where the meanings of two files differ."""

import math
from itertools import chain
from typing import TYPE_CHECKING

import click

from exset.cli.format_options import FormatCommand
from exset.cli.inputs import CommonOptions, view_options
from exset.cli.options import option
from exset.cli.output import data_error, data_errors, usage_error
from exset.cli.paths import file_argument
from exset.cli.reports import SHOWN_VERBOSE, Report, json_option, json_rows
from exset.comparing import diff as compare
from exset.core.errors import Findings, with_source_name
from exset.core.text import safe, with_article
from exset.io import files

if TYPE_CHECKING:
    from exset.runtime.reports.differences import Differences

SHOWN = 10
"""The number of differences that are shown without `-v`."""


@click.command(cls=FormatCommand)
@file_argument("one", "ONE")
@file_argument("other", "OTHER")
@option(
    "--tolerance",
    metavar="T",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Treat two numbers as equal if they differ by at most T; for numbers above 1, by at most T"
    " times the larger number (default: 0).",
)
@option("--html", metavar="FILE", help="Also write the differences to this file, as an HTML page.")
@json_option(
    *("equal", "what", "compared", "differing", "first", "counts", "findings"),
    file="one",
    other="other",
)
@view_options
def diff(one: str, other: str, tolerance: float, html: str | None, common: CommonOptions) -> Report:
    """Compare what two files mean, even if their formats differ.

    \b
      exset diff train.ex train.bex
      exset diff --tolerance 1e-6 old.ex new.ex

    The files must be of one family, such as .ex and .bex of Lens. exset compares values, not their
    spelling. For example, 0 and 00 are equal in a column ASCII_INT of aeon, and so are all base64
    texts of the same bytes.

    exset shows the first 10 differences, or 100 with -v. The exit code is 1 if the files differ.
    With -q, exset shows no differences.
    """
    if not tolerance < math.inf:
        usage_error(f"--tolerance must be a number from 0, not {tolerance}")
    if one == other == "-":
        usage_error("standard input can be read only once")
    first, second = common.load(one), common.load(other)
    family = first.format.family
    if family != second.format.family:
        nouns = [with_article(each.noun) for each in (family, second.format.family)]
        data_error(f"{safe(one)} is {nouns[0]}, but {safe(other)} is {nouns[1]}")
    is_long = common.verbosity > 0 or html is not None or json_rows() is not None
    keep = SHOWN_VERBOSE if is_long else SHOWN
    with with_source_name(f"{one} and {other}"):
        differences = compare(first.model, second.model, tolerance=tolerance, keep=keep)
    names = f"{safe(first.name)} and {safe(second.name)}"
    lines, shown = [], SHOWN_VERBOSE if common.verbosity > 0 else SHOWN
    if common.verbosity >= 0 and not differences:
        within = f", within {tolerance:g}" if tolerance else ""
        lines = [f"{names} are equal in meaning{within}: {family.counted(len(first.model))}"]
    elif common.verbosity >= 0:
        of = f"{differences.differing:,} of {differences.compared:,} {differences.what}"
        lines = [*map(str, differences.first[:shown]), f"{names} differ: {of}"]
    findings = common.new_findings(chain(first.findings, second.findings))
    if html is not None:
        _write_page(html, (first.name, second.name), differences, findings)
    return Report(
        differences.to_dict(),
        findings,
        lines,
        shown=0,
        failed=bool(differences),
    )


def _write_page(
    path: str, names: tuple[str, str], differences: "Differences", findings: Findings
) -> None:
    from exset.reporting import report_of_differences
    from exset.reports.page import page

    with data_errors(ImportError):
        reported = report_of_differences(names, differences, findings)
        files.write(path, page("exset diff", [reported]))
