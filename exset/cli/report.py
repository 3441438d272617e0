"""`exset report`: write a page about files, for a browser."""

import click

from exset.cli.commands import Command
from exset.cli.inputs import CommonOptions, access_options, base_option, reading_options
from exset.cli.options import option
from exset.cli.output import data_errors
from exset.cli.paths import some_files
from exset.cli.reports import Report, json_option
from exset.core.errors import Findings
from exset.core.text import counted, safe
from exset.io import files as io_files


@click.command(cls=Command)
@some_files
@option("-o", "--output", metavar="FILE", required=True, help="Write the page to this file: .html.")
@option("--title", metavar="TEXT", help="Give the page a title.")
@option("--whole", is_flag=True, help="Read large files as a whole, not only their beginning.")
@json_option("files", "counts", "findings", output="output")
@base_option
@access_options
@reading_options
def report(
    files: tuple[str, ...],
    output: str,
    title: str | None,
    whole: bool,
    base: str,
    common: CommonOptions,
) -> Report:
    """Write a page about files: findings, statistics, pictures.

    \b
      exset report train.ex test.ex -o report.html
      exset report --base /data train.tsv -o report.html

    The page is a single file, which loads nothing and runs nothing. exset reads the beginning of a
    large file, and the page says how much that is. Reports need matplotlib and jinja2:
    pip install 'exset[plot]'.
    """
    from exset.reporting import ReportOptions, report_of
    from exset.reports.page import page

    how = ReportOptions(whole, base, common.access, common.format, common.limits, common.options)
    found, pages = Findings(), []
    with data_errors(ImportError):
        for number, path in enumerate(files):
            about, findings = report_of(path, how, number)
            pages.append(about)
            found.add_all(findings)
        io_files.write(output, page(title or "exset report", pages))
    status = [f"{safe(output)}: {counted(len(files), 'file')}"]
    return Report({"files": len(files)}, found, status=status, shown=0)
